/** Revocations in Redis, for several replicas and for whatever ends sessions elsewhere: one key for each, which ends with the token. */
import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { HindsightError } from '../errors.ts';
import type { Breaker } from './breaker.ts';

interface Mark {
  readonly kind: 'jti' | 'sub' | 'sid';
  readonly issuer: string;
  readonly id: string;
}

/**
 * `<prefix>:revoked:<jti|sub|sid>:<sha256 of issuer|id in hex>`. Its value is `*` (every token), or the Unix time in seconds before which
 * tokens must have been issued to be refused; its TTL is the life that the longest of them has left.
 */
export function revocationKey(prefix: string, { kind, issuer, id }: Mark): string {
  return `${prefix}:revoked:${kind}:${createHash('sha256').update(`${issuer}|${id}`).digest('hex')}`;
}

/** Throws ERR_AUTH_UNDECIDED while Redis is away: a token that may have been revoked is not believed. */
export function redisRevocations(parts: { readonly redis: Redis; readonly breaker: Breaker; readonly prefix: string }): {
  find(marks: readonly Mark[]): Promise<readonly (number | undefined)[]>;
} {
  const { redis, breaker, prefix } = parts;
  return {
    async find(marks) {
      const values = await breaker.run<readonly (string | null)[]>(
        () => redis.mget(marks.map((mark) => revocationKey(prefix, mark))),
        () => {
          throw new HindsightError('ERR_AUTH_UNDECIDED');
        },
      );
      return values.map((value) => (value === null ? undefined : timeOf(value)));
    },
  };
}

/** A value that is no time revokes everything: whoever wrote it meant to revoke. */
function timeOf(value: string): number {
  return /^\d{1,12}$/.test(value) ? Number(value) : Infinity;
}
