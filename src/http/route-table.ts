/** The routes in @koa/router: exact, case-sensitive paths with `:name` segments; what a request matches is known before its token or body is. */
import { Router } from '@koa/router';
import type { Principal } from '../domain/principal.ts';
import { HindsightError } from '../errors.ts';
import { pathParameters } from './binding.ts';
import type { HttpContext, RequestState, Route, RouteMatch } from './request-state.ts';

export interface RouteTable {
  readonly routes: readonly Route[];
  /** What the router knows under a path; asked once for a request, before everything else. */
  find(method: string, path: string): RouteMatch;
}

type Known = Pick<RouteMatch, 'path' | 'methods' | 'mount'>;

const UNKNOWN: RouteMatch = { route: undefined, path: undefined, methods: [], mount: undefined, params: {} };

/**
 * A path without parameters wins over one with them, whatever the method: /v1/memories/search is never read as a memory_id. The match
 * is kept and its route is run at the end of the middleware list: router.routes() would match a second time, and where two paths fit it
 * could choose another route than the one whose scope and body limit were checked.
 */
export function createRouteTable(routes: readonly Route[]): RouteTable {
  const router = new Router<RequestState>({ strict: true, sensitive: true });
  const byName = new Map<string | undefined, Route>();
  const byPath = new Map<Layer['path'], Known>();
  // the router answers in the order of registration
  for (const route of [...routes].sort((a, b) => pathParameters(a.path).length - pathParameters(b.path).length)) {
    const { method, path } = route;
    const name = `${method} ${path}`;
    router.register(path, [method], (ctx) => route.handle(ctx), { name });
    byName.set(name, route);
    byPath.set(path, knownOf(path, routes));
  }

  return {
    routes,
    find: (method, path) => {
      const matched = router.match(path, method);
      const first = matched.path[0];
      const known = first === undefined ? undefined : byPath.get(first.path);
      if (first === undefined || known === undefined) return UNKNOWN;
      const layer = matched.pathAndMethod.find((candidate) => candidate.path === first.path);
      return { ...known, route: byName.get(layer?.name), params: paramsOf(first, path) };
    },
  };
}

type Layer = ReturnType<Router<RequestState>['match']>['path'][number];

/** The captured text itself: the router's own params pass broken percent-encoding off as text. */
function paramsOf(layer: Layer, path: string): Record<string, string> {
  const params: Record<string, string> = {};
  if (layer.paramNames.length === 0) return params;
  const captures = layer.captures(path);
  for (const [i, { name }] of layer.paramNames.entries()) params[name] = captures[i] ?? '';
  return params;
}

/** All that is declared under one path, by any method. */
function knownOf(path: string, routes: readonly Route[]): Known {
  const own = routes.filter((route) => route.path === path);
  const methods = own.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return { path, methods: [...methods, 'OPTIONS'], mount: own[0]?.mount };
}

/** The caller of a route that needs a token; ERR_AUTH_MISSING when authentication did not run. */
export function principalOf(ctx: HttpContext): Principal {
  if (ctx.state.principal === undefined) throw new HindsightError('ERR_AUTH_MISSING');
  return ctx.state.principal;
}
