/** Request id and W3C trace context, in and out; first in the middleware list. */
import { randomBytes } from 'node:crypto';
import type { HttpMiddleware } from './request-state.ts';
import type { RouteTable } from './route-table.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
/** W3C Trace Context, section 3.2: later versions may append fields, version ff and all-zero ids are invalid. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})(?:$|-)/;

/** Keeps the caller's trace id and sampling flag under a span of our own. Ids that do not fit are replaced, never echoed. */
export function trace(table: RouteTable): HttpMiddleware {
  return async (ctx, next) => {
    const [, traceId = randomBytes(16).toString('hex'), flags = '00'] = TRACEPARENT.exec(ctx.get('traceparent')) ?? [];
    const requestId = ctx.get('x-request-id');
    const aborted = new AbortController();
    ctx.state.traceId = traceId;
    ctx.state.requestId = REQUEST_ID.test(requestId) ? requestId : traceId;
    ctx.state.signal = aborted.signal;
    ctx.state.route = table.find(ctx.method, ctx.path);
    // the request's own close event fires as soon as its body is read
    ctx.res.on('close', () => {
      if (!ctx.res.writableFinished) aborted.abort();
    });
    ctx.set('X-Request-Id', ctx.state.requestId);
    ctx.set('traceparent', `00-${traceId}-${randomBytes(8).toString('hex')}-${flags}`);
    await next();
  };
}
