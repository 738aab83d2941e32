/** What stands on every answer of the service, those of Node's parser among them. */
import type { HttpMiddleware } from './request-state.ts';

/** API answers are data: never sniffed, kept, framed or run (OWASP REST security cheat sheet). */
export const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
} as const;

export function securityHeaders(): HttpMiddleware {
  return async (ctx, next) => {
    ctx.set(SECURITY_HEADERS);
    await next();
  };
}
