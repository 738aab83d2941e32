/** The routes as a table: exact, case-sensitive paths with `:name` segments; nothing is normalised into a match. */
import type { Principal } from '../domain/principal.ts';
import { HindsightError } from '../errors.ts';
import type { HttpContext, Route, RouteMatch } from './request-state.ts';

export interface RouteTable {
  readonly routes: readonly Route[];
  find(method: string, path: string): RouteMatch;
}

const UNKNOWN: RouteMatch = { route: undefined, path: undefined, methods: [], mount: undefined, params: {} };

/** A path without parameters wins over one with them: /v1/memories/search is never read as a memory_id. */
export function createRouteTable(routes: readonly Route[]): RouteTable {
  const byPath = new Map<string, Route[]>();
  for (const route of routes) byPath.set(route.path, [...(byPath.get(route.path) ?? []), route]);
  const patterns = [...byPath.keys()].filter((path) => path.includes('/:')).map((path) => ({ path, segments: path.split('/') }));

  return {
    routes,
    find: (method, path) => {
      if (byPath.has(path) && !path.includes('/:')) return answer(method, path, {});
      const segments = path.split('/');
      for (const pattern of patterns) {
        const params = matchSegments(pattern.segments, segments);
        if (params !== null) return answer(method, pattern.path, params);
      }
      return UNKNOWN;
    },
  };

  function answer(method: string, path: string, params: Record<string, string>): RouteMatch {
    const candidates = byPath.get(path) ?? [];
    const methods = candidates.flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]));
    const wanted = method === 'HEAD' ? 'GET' : method;
    const route = candidates.find((candidate) => candidate.method === wanted);
    return { route, path, methods: [...methods, 'OPTIONS'], mount: candidates[0]?.mount, params };
  }
}

function matchSegments(pattern: readonly string[], segments: readonly string[]): Record<string, string> | null {
  if (pattern.length !== segments.length) return null;
  const params: Record<string, string> = {};
  for (const [i, want] of pattern.entries()) {
    const have = segments[i] ?? '';
    if (want.startsWith(':')) {
      if (have === '') return null;
      params[want.slice(1)] = have;
    } else if (want !== have) return null;
  }
  return params;
}

/** The caller of a route that needs a token; ERR_AUTH_MISSING when authentication did not run. */
export function principalOf(ctx: HttpContext): Principal {
  if (ctx.state.principal === undefined) throw new HindsightError('ERR_AUTH_MISSING');
  return ctx.state.principal;
}
