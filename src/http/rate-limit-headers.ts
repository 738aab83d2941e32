/** RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-11): the policy a call was counted under and where the caller stands in it. */
import type { HindsightError } from '../errors.ts';
import type { LimitResult } from '../operations/limits.ts';
import type { HttpContext } from './request-state.ts';

/** The bucket nearest to the work is told: an operation's own replaces the coarse `http` one. */
export function setRateLimit(ctx: HttpContext, policy: string, { limit, remaining, resetSeconds, windowSeconds }: LimitResult): void {
  const window = windowSeconds === undefined ? '' : `;w=${Math.ceil(windowSeconds)}`;
  ctx.set('RateLimit-Policy', `"${policy}";q=${limit}${window}`);
  ctx.set('RateLimit', `"${policy}";r=${Math.max(0, remaining)};t=${Math.max(0, Math.ceil(resetSeconds))}`);
}

/** The same for the bucket that refused a call; nothing where the refusal does not name it (that of a network address is not told). */
export function setRefusedRateLimit(ctx: HttpContext, { code, params }: HindsightError): void {
  const { policy, limit, seconds, window_seconds: windowSeconds } = params;
  if (code !== 'ERR_RATE_LIMITED' || typeof policy !== 'string' || typeof limit !== 'number') return;
  const known = typeof windowSeconds === 'number' ? { windowSeconds } : {};
  setRateLimit(ctx, policy, { limit, remaining: 0, resetSeconds: Number(seconds), ...known });
}
