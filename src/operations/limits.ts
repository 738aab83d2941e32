/** The rate limiter as operations and front ends see it; gate/rate-limiter implements it, compose passes it in. */
import type { Principal } from '../domain/principal.ts';

/** State of the bucket a call was counted in. */
export interface LimitResult {
  /** Points of a window. */
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window starts anew. */
  readonly resetSeconds: number;
  /** Length of the window, where known. */
  readonly windowSeconds?: number;
}

export interface Limiter {
  /**
   * Takes `cost` points from the principal's and the tenant's bucket of that operation (`http` is the coarse one that every
   * authenticated request passes). ERR_RATE_LIMITED with `seconds` and retryAfterSeconds when either is used up.
   */
  consume(principal: Principal, operation: string, cost: number): Promise<LimitResult>;
}

/** The outermost limit: what it protects is the verification of tokens. */
export interface AddressLimiter {
  /** One point of a network address. ERR_RATE_LIMITED when it is used up. */
  coarse(address: string): Promise<void>;
}
