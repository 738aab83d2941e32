/** Every failure as an RFC 9457 problem, with one log line and one metric for each request. */
import { STATUS_CODES } from 'node:http';
import type { Clock } from '../domain/clock.ts';
import { ERRORS, toHindsightError, type HindsightError } from '../errors.ts';
import type { Audit } from '../operations/audit.ts';
import type { EventLog } from '../operations/watch.ts';
import { challenge } from './authenticate.ts';
import { hasBody } from './body.ts';
import type { HttpConfig } from './http-config.ts';
import { setRefusedRateLimit } from './rate-limit-headers.ts';
import type { HttpContext, HttpMiddleware } from './request-state.ts';

export const PROBLEM_TYPE = 'application/problem+json';

/** An unread body up to this size is read away so that the connection can be used again; a longer one closes it. */
const DISCARD_BYTES = 1_048_576;

export interface HttpMetrics {
  /** `route` is the declared path, or `unknown`: never what the client sent. */
  requestDone(method: string, route: string, status: number, durationMs: number): void;
}

/** The problem document: public text of the error table, JSON pointers, the trace id; never a stack, never upstream text. */
export function problemOf(error: HindsightError, traceId: string): Record<string, unknown> {
  return {
    type: `urn:hindsight-es:error:${error.code}`,
    title: STATUS_CODES[error.status] ?? 'Error',
    status: error.status,
    detail: error.message,
    instance: `urn:hindsight-es:trace:${traceId}`,
    code: error.code,
    trace_id: traceId,
    ...(error.faults.length === 0 ? {} : { errors: error.faults.map(({ pointer, message }) => ({ pointer, message })) }),
  };
}

/** Turns what is thrown further in into a response. */
export function reportProblems(config: Pick<HttpConfig, 'publicUrl' | 'prm'>): HttpMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = toHindsightError(thrown);
      ctx.state.error = error;
      // a mounted handler that already wrote its own head cannot be answered a second time
      if (ctx.respond === false || ctx.headerSent) throw error;
      respond(ctx, error, config);
    }
  };
}

function respond(ctx: HttpContext, error: HindsightError, config: Pick<HttpConfig, 'publicUrl' | 'prm'>): void {
  const mount = ctx.state.route.mount;
  const wwwAuthenticate = challenge(error, mount?.path ?? '', config);
  const presented = mount?.presentError?.(error, ctx.state.body);
  ctx.status = error.status;
  ctx.body = presented?.body ?? JSON.stringify(problemOf(error, ctx.state.traceId));
  ctx.set('Content-Type', presented?.contentType ?? PROBLEM_TYPE);
  if (wwwAuthenticate !== undefined) ctx.set('WWW-Authenticate', wwwAuthenticate);
  if (error.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(Math.max(1, Math.ceil(error.retryAfterSeconds))));
  setRefusedRateLimit(ctx, error);
  if (error.code === 'ERR_METHOD_NOT_ALLOWED') ctx.set('Allow', ctx.state.route.methods.join(', '));
  if (!ctx.req.complete && hasBody(ctx.req) && !(Number(ctx.req.headers['content-length']) <= DISCARD_BYTES))
    ctx.set('Connection', 'close');
}

interface WatchParts {
  readonly clock: Clock;
  readonly logger: EventLog;
  readonly metrics: HttpMetrics;
  /** Told of every request that was refused. */
  readonly audit?: Pick<Audit, 'refused'> | undefined;
}

/** One log line and one metric for each request, whatever became of it. */
export function watchRequests(parts: WatchParts): HttpMiddleware {
  const { clock, logger, metrics, audit } = parts;
  return async (ctx, next) => {
    const startedAt = clock();
    try {
      await next();
    } finally {
      const tookMs = clock() - startedAt;
      const { error } = ctx.state;
      const route = ctx.state.route.path ?? 'unknown';
      metrics.requestDone(ctx.state.route.path === undefined ? 'unknown' : ctx.method, route, ctx.status, tookMs);
      const facts = { trace_id: ctx.state.traceId, method: ctx.method, route, status: ctx.status, took_ms: tookMs };
      if (error === undefined) logger.info(facts, 'request done');
      else if (ctx.state.inOperation === true) logger.info({ ...facts, code: error.code }, 'request done');
      else {
        const cause = error.cause === undefined ? {} : { err: error.cause };
        logger[ERRORS[error.code].level]({ ...facts, code: error.code, ...cause }, 'request refused');
        audit?.refused({ error, principal: ctx.state.principal, traceId: ctx.state.traceId, method: ctx.method, route });
      }
    }
  };
}
