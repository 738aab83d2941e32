/** The HTTP front end: every request goes through the one list of middleware below, in that order. */
import Koa from 'koa';
import type { Clock } from '../domain/clock.ts';
import { HindsightError } from '../errors.ts';
import type { AnyOperation } from '../operations/define.ts';
import type { Audit } from '../operations/audit.ts';
import type { Invoke } from '../operations/invoke.ts';
import { bodyPoints, type AddressLimiter, type Limiter } from '../operations/limits.ts';
import { fieldNames } from '../operations/parse.ts';
import type { EventLog } from '../operations/watch.ts';
import { authenticate, type TokenVerifier } from './authenticate.ts';
import { readJsonBody, refuseBody } from './body.ts';
import type { HttpConfig } from './http-config.ts';
import { listen, type Listening } from './listen.ts';
import type { MountedHandler } from './mount.ts';
import { buildOpenApi } from './openapi.ts';
import { answerOptions, checkOrigin } from './origin-check.ts';
import { reportProblems, watchRequests, type HttpMetrics } from './problem.ts';
import { setRateLimit } from './rate-limit-headers.ts';
import type { HttpMiddleware, RequestState } from './request-state.ts';
import { createRouteTable, principalOf, type RouteTable } from './route-table.ts';
import { operationRoutes } from './routes.ts';
import {
  healthRoutes,
  metadataRoutes,
  metricsRoute,
  mountRoutes,
  openApiRoute,
  type MetricsPage,
  type Readiness,
} from './system-routes.ts';
import { securityHeaders } from './security-headers.ts';
import { trace } from './trace.ts';

export interface HttpServerParts {
  readonly operations: readonly AnyOperation[];
  readonly invoke: Invoke;
  readonly verifier: TokenVerifier;
  readonly limiter: Limiter & AddressLimiter;
  readonly config: HttpConfig;
  readonly readiness: Readiness;
  readonly metrics: HttpMetrics & MetricsPage;
  readonly audit?: Pick<Audit, 'refused'> | undefined;
  readonly logger: EventLog;
  readonly clock: Clock;
  readonly mounts: readonly MountedHandler[];
}

export interface HttpServer {
  readonly app: Koa<RequestState>;
  readonly table: RouteTable;
  /** Port 0 takes a free one. ERR_PORT_IN_USE when another program holds it. */
  listen(port: number, host: string): Promise<Listening>;
}

/** Nothing listens yet; whether the address may be bound is the configuration's decision. */
export function createHttpServer(parts: HttpServerParts): HttpServer {
  const { operations, config, mounts } = parts;
  const table = createRouteTable([
    ...healthRoutes(parts.readiness),
    ...metadataRoutes(config, mounts),
    metricsRoute(parts.metrics),
    openApiRoute(() => (document ??= buildOpenApi(table.routes, operations, config))),
    ...operationRoutes(operations, parts.invoke),
    ...mountRoutes(mounts),
  ]);
  let document: Record<string, unknown> | undefined;
  const names: ReadonlySet<string> = new Set(operations.flatMap((operation) => [...fieldNames(operation)]));

  let boundTo = '';
  const app = new Koa<RequestState>();
  const list: readonly HttpMiddleware[] = [
    trace(table),
    securityHeaders(),
    watchRequests(parts),
    reportProblems(config),
    checkOrigin(config, () => boundTo),
    answerOptions(),
    limitAddress(parts.limiter),
    authenticate(parts.verifier),
    limitPrincipal(parts.limiter),
    requireRoute(),
    parseBody(names, parts.limiter),
    dispatch(),
  ];
  for (const middleware of list) app.use(middleware);
  // problems are answered and logged above; what arrives here is a response stream that broke
  app.on('error', (err: unknown) => parts.logger.debug({ err }, 'response ended early'));
  return {
    app,
    table,
    listen: (port, host) => {
      boundTo = host;
      return listen(app, port, host);
    },
  };
}

/** Before a token is verified, because that costs more than counting. The address is the connection's own: X-Forwarded-For is a claim. */
function limitAddress(limiter: AddressLimiter): HttpMiddleware {
  return async (ctx, next) => {
    if (ctx.state.route.route?.access !== 'open') await limiter.coarse(ctx.req.socket.remoteAddress ?? '');
    await next();
  };
}

/** A point of the `http` bucket for every authenticated request, and more for a long body, before that is read. */
function limitPrincipal(limiter: Limiter): HttpMiddleware {
  return async (ctx, next) => {
    const { principal } = ctx.state;
    const declared = Number(ctx.req.headers['content-length'] ?? 0);
    if (principal !== undefined) setRateLimit(ctx, 'http', await limiter.consume(principal, 'http', 1 + bodyPoints(declared)));
    await next();
  };
}

/** 404 and 405 come after authentication: without a token, unknown paths look like all others. */
function requireRoute(): HttpMiddleware {
  return async (ctx, next) => {
    const { route, path } = ctx.state.route;
    if (route === undefined) throw new HindsightError(path === undefined ? 'ERR_ROUTE_NOT_FOUND' : 'ERR_METHOD_NOT_ALLOWED');
    if (route.scope !== undefined && !principalOf(ctx).scopes.has(route.scope))
      throw new HindsightError('ERR_SCOPE_MISSING', { params: { scope: route.scope } });
    await next();
  };
}

function parseBody(names: ReadonlySet<string>, limiter: Limiter): HttpMiddleware {
  return async (ctx, next) => {
    const limitBytes = ctx.state.route.route?.bodyLimitBytes ?? 0;
    const { principal } = ctx.state;
    // a chunked body told no length before
    const onRead = async (bytes: number): Promise<void> => {
      const points = ctx.req.headers['content-length'] === undefined ? bodyPoints(bytes) : 0;
      if (principal !== undefined && points > 0) setRateLimit(ctx, 'http', await limiter.consume(principal, 'http', points));
    };
    if (limitBytes === 0) refuseBody(ctx.req);
    else ctx.state.body = await readJsonBody(ctx.req, limitBytes, names, onRead);
    await next();
  };
}

function dispatch(): HttpMiddleware {
  return async (ctx) => {
    await ctx.state.route.route?.handle(ctx);
  };
}
