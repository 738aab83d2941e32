/** Request id and W3C trace context, in and out; first in the middleware list. */
import { HindsightError } from '../errors.ts';
import { openTrace, traceparentOf } from '../telemetry/trace.ts';
import { withTrace } from '../telemetry/trace-context.ts';
import type { HttpMiddleware } from './request-state.ts';
import type { RouteTable } from './route-table.ts';
import { whenClosed } from './when-closed.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * Keeps the caller's trace id and sampling flag under a span of our own. Ids that do not fit are replaced, never echoed. What the request causes runs under
 * the same trace, whichever front end answers it.
 */
export function trace(table: RouteTable): HttpMiddleware {
  return async (ctx, next) => {
    const opened = openTrace(ctx.get('traceparent'));
    const requestId = ctx.get('x-request-id');
    const aborted = new AbortController();
    ctx.state.traceId = opened.traceId;
    ctx.state.requestId = REQUEST_ID.test(requestId) ? requestId : opened.traceId;
    ctx.state.signal = aborted.signal;
    ctx.state.route = table.find(ctx.method, ctx.path);
    whenClosed(ctx.res, () => {
      if (!ctx.res.writableFinished) aborted.abort(new HindsightError('ERR_CALLER_GONE'));
    });
    ctx.set('X-Request-Id', ctx.state.requestId);
    ctx.set('traceparent', traceparentOf(opened));
    await withTrace(opened, ctx.state.route.route?.path ?? 'no route', next);
  };
}
