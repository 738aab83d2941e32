/** The routes in @koa/router: exact, case-sensitive paths with `:name` segments; what a request matches is known before its token or body is. */
import { Router } from '@koa/router';
import type { Principal } from '../domain/principal.ts';
import { HindsightError } from '../errors.ts';
import { pathParameters } from './binding.ts';
import type { HttpContext, HttpMiddleware, RequestState, Route, RouteMatch } from './request-state.ts';

export interface RouteTable {
  readonly routes: readonly Route[];
  /** What the router knows under a path, asked first of all. */
  find(method: string, path: string): RouteMatch;
  /** Runs the route that was found; last in the middleware list. */
  readonly dispatch: HttpMiddleware;
}

type Known = Pick<RouteMatch, 'path' | 'methods' | 'mount'>;

const UNKNOWN: RouteMatch = { route: undefined, path: undefined, methods: [], mount: undefined, params: {} };

/** A path without parameters wins over one with them, whatever the method: /v1/memories/search is never read as a memory_id. */
export function createRouteTable(routes: readonly Route[]): RouteTable {
  const router = new Router<RequestState>({ strict: true, sensitive: true, exclusive: 'specificity' });
  const byName = new Map<string, Route>();
  const byPath = new Map<string, Known>();
  // fewest parameters first and the methods of a path together: so find() and the router's own choice are always the same route
  const paths = [...new Set(routes.map(({ path }) => path))].sort((a, b) => pathParameters(a).length - pathParameters(b).length);
  for (const path of paths) {
    const own = routes.filter((route) => route.path === path);
    byPath.set(path, knownOf(path, own));
    for (const route of own) {
      byName.set(nameOf(route.method, path), route);
      router.register(path, [route.method], (ctx) => route.handle(ctx), { name: nameOf(route.method, path) });
    }
  }

  return {
    routes,
    find: (method, path) => {
      const layer = router.match(path, method).path[0];
      const known = layer === undefined ? undefined : byPath.get(String(layer.path));
      if (layer === undefined || known === undefined) return UNKNOWN;
      // the router's own params keep broken percent-encoding as if it were text, so the captured text itself goes on
      const captures = layer.captures(path);
      return {
        ...known,
        route: byName.get(nameOf(method === 'HEAD' ? 'GET' : method, String(layer.path))),
        params: Object.fromEntries(layer.paramNames.map(({ name }, i) => [name, captures[i] ?? ''])),
      };
    },
    dispatch: router.routes() as HttpMiddleware,
  };
}

function nameOf(method: string, path: string): string {
  return `${method} ${path}`;
}

/** All that is declared under one path, by any method. */
function knownOf(path: string, routes: readonly Route[]): Known {
  const methods = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return { path, methods: [...methods, 'OPTIONS'], mount: routes[0]?.mount };
}

/** The caller of a route that needs a token; ERR_AUTH_MISSING when authentication did not run. */
export function principalOf(ctx: HttpContext): Principal {
  if (ctx.state.principal === undefined) throw new HindsightError('ERR_AUTH_MISSING');
  return ctx.state.principal;
}
