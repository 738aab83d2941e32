/** Host and Origin: the wall against DNS rebinding and foreign pages, and the CORS answer for the pages that are allowed. */
import { isLoopbackHost } from '../config/hosts.ts';
import { HindsightError } from '../errors.ts';
import type { HttpConfig } from './http-config.ts';
import type { HttpContext, HttpMiddleware } from './request-state.ts';

const ALLOWED_REQUEST_HEADERS = [
  'authorization',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'traceparent',
  'x-request-id',
].join(', ');
const EXPOSED_HEADERS = 'ETag, Mcp-Session-Id, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id, traceparent';
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
const PREFLIGHT_MAX_AGE_SECONDS = '600';

/**
 * ERR_ORIGIN_FORBIDDEN unless Host is one of ours and Origin, when there is one, is our own or allowed by name (MCP 2025-11-25,
 * transports: servers MUST validate Origin). An absent Origin is not a browser page and passes. Bound to a loopback address, pages of
 * this port are our own under every loopback name, whichever of them Host says.
 */
export function checkOrigin(config: Pick<HttpConfig, 'hosts' | 'origins'>, boundTo: () => string): HttpMiddleware {
  const hosts = new Set(config.hosts.map((host) => host.toLowerCase()));
  const origins = new Set(config.origins);

  return async (ctx, next) => {
    const host = soleHeader(ctx, 'host')?.toLowerCase();
    if (host === undefined || !(hosts.has(host) || hosts.has(withoutPort(host)))) throw new HindsightError('ERR_ORIGIN_FORBIDDEN');
    const origin = ctx.get('origin');
    if (ctx.state.route.route?.anyOrigin === true) ctx.set('Access-Control-Allow-Origin', '*');
    else {
      ctx.vary('Origin');
      if (origin !== '') {
        // Host was checked before, so a page of that very host is our own
        const ownPage = origin === `http://${host}` || origin === `https://${host}`;
        if (!origins.has(origin) && !ownPage && !isLoopbackPage(origin, ctx.req.socket.localPort, boundTo()))
          throw new HindsightError('ERR_ORIGIN_FORBIDDEN');
        ctx.set('Access-Control-Allow-Origin', origin);
        ctx.set('Access-Control-Expose-Headers', EXPOSED_HEADERS);
      }
    }
    await next();
  };
}

/** Answers OPTIONS for every known path without a token: what the path takes, and the preflight headers for pages. */
export function answerOptions(): HttpMiddleware {
  return async (ctx, next) => {
    const { path, methods } = ctx.state.route;
    if (ctx.method !== 'OPTIONS' || path === undefined) {
      await next();
      return;
    }
    ctx.status = 204;
    ctx.set('Allow', methods.join(', '));
    if (ctx.get('origin') !== '' && ctx.get('access-control-request-method') !== '') {
      ctx.set('Access-Control-Allow-Methods', methods.join(', '));
      ctx.set('Access-Control-Allow-Headers', ALLOWED_REQUEST_HEADERS);
      ctx.set('Access-Control-Max-Age', PREFLIGHT_MAX_AGE_SECONDS);
    }
  };
}

/** A header's value when it was sent exactly once. Node keeps the first of several and drops the rest, so the raw list is asked. */
export function soleHeader(ctx: HttpContext, name: string): string | undefined {
  const raw = ctx.req.rawHeaders;
  let value: string | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    const field = raw[i];
    if (field?.length !== name.length || field.toLowerCase() !== name) continue;
    if (value !== undefined) return undefined;
    value = raw[i + 1];
  }
  return value;
}

function isLoopbackPage(origin: string, port: number | undefined, boundTo: string): boolean {
  return isLoopbackHost(boundTo) && LOOPBACK_NAMES.some((name) => origin === `http://${name}:${port}`);
}

function withoutPort(host: string): string {
  return host.replace(/:\d{1,5}$/, '');
}
