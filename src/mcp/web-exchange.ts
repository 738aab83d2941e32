/** Between Koa and the SDK's web-standard transport: Koa keeps the response, the transport gives a Response to copy from. */
import { Readable } from 'node:stream';
import type { HttpContext } from '../http/request-state.ts';
import { idOf } from './json-rpc.ts';

/** Headers that the transport reads; credentials and the rest stay outside. */
const READ_HEADERS = ['accept', 'content-type', 'mcp-session-id', 'mcp-protocol-version'] as const;

export function webRequest(ctx: HttpContext): Request {
  const headers = new Headers();
  for (const name of READ_HEADERS) {
    const value = ctx.get(name);
    if (value !== '') headers.set(name, value);
  }
  return new Request('http://localhost/mcp', { method: ctx.method, headers });
}

/** Copies the transport's response; an error of the transport gets the id of the message it answers. */
export async function reply(ctx: HttpContext, response: Response, body: unknown): Promise<void> {
  if (response.body === null) {
    ctx.body = null;
    ctx.status = response.status;
    copyHeaders(ctx, response);
    return;
  }
  ctx.status = response.status;
  copyHeaders(ctx, response);
  if (isEventStream(response)) {
    ctx.set('Cache-Control', 'no-store, no-transform');
    // Koa destroys the stream when the client goes away, which cancels it in the transport
    ctx.body = Readable.fromWeb(response.body);
    // or the head waits for the first event, which a listening stream may never have
    ctx.flushHeaders();
    return;
  }
  const text = await response.text();
  ctx.body = response.ok ? text : JSON.stringify({ ...(JSON.parse(text) as object), id: idOf(body) });
  ctx.type = 'application/json';
}

export function isEventStream(response: Response): boolean {
  return response.headers.get('content-type') === 'text/event-stream';
}

function copyHeaders(ctx: HttpContext, response: Response): void {
  for (const name of ['content-type', 'mcp-session-id', 'x-accel-buffering']) {
    const value = response.headers.get(name);
    if (value !== null) ctx.set(name, value);
  }
}
