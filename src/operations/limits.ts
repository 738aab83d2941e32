/** The rate limiter as operations and front ends see it; gate/rate-limiter implements it, compose passes it in. */
import type { Principal } from '../domain/principal.ts';

/** State of the bucket a call was counted in. */
export interface LimitResult {
  /** The bucket's name, where it is not that of the operation. */
  readonly policy?: string;
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

export interface TurnLimiter {
  /**
   * ERR_TURN_SEARCHED when this principal's turn was taken within the last ten minutes. The answered function gives it back, for a call
   * that failed.
   */
  oncePerTurn(principal: Principal, operation: string, turnId: string): Promise<() => Promise<void>>;
}

/** The outermost limit: what it protects is the verification of tokens. */
export interface AddressLimiter {
  /** One point of a network address. ERR_RATE_LIMITED when it is used up. */
  coarse(address: string): Promise<void>;
}

/** About 2.5 ms of work, as much as a point of any other cost: a batch of hostile texts costs 1.4 s of processor for each MB (measured). */
export const CHARS_PER_POINT = 2_048;
/** Names of the contract are shorter: only what a caller thinks up is longer. */
const CONTRACT_NAME_CHARS = 24;
/** An authenticated request costs a point more for every 64 KiB of its body: parsing 8 MiB takes some 0.2 s. */
export const BODY_BYTES_PER_POINT = 65_536;

/**
 * Points for the size of a call, on top of what it costs anyhow: 1 for every 2,048 characters of all its texts (long names among them). Numbers count one character each: vectors are stored as they come.
 */
export function textPoints(input: unknown): number {
  return Math.floor(textChars(input) / CHARS_PER_POINT);
}

/** Points of the `http` bucket for a body of that size, besides the one of the request. */
export function bodyPoints(bytes: number): number {
  return Number.isFinite(bytes) ? Math.floor(Math.max(0, bytes) / BODY_BYTES_PER_POINT) : 0;
}

/** No recursion of its own bound is needed: bodies are at most 64 levels deep (http/json). */
function textChars(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value === 'number') return 1;
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) {
    if (typeof value[0] === 'number') return value.length;
    let sum = 0;
    for (const part of value) sum += textChars(part);
    return sum;
  }
  let sum = 0;
  for (const [name, part] of Object.entries(value)) sum += (name.length > CONTRACT_NAME_CHARS ? name.length : 0) + textChars(part);
  return sum;
}
