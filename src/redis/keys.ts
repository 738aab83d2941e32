/** Names of Redis keys: what callers send never stands in them, so that no value can reach into another's key. */
import { createHash } from 'node:crypto';

export type RedisKeyKind = 'dirty' | 'limit' | 'used' | 'turns' | 'state' | 'dropped' | 'returned';

/**
 * `<prefix>:<kind>:<hash>`: the hash is 32 hex characters of sha256 over the parts, each with its length before it, so that
 * ("a:b", "c") and ("a", "b:c") differ. Tenants and subjects are not readable in Redis.
 */
export function redisKey(prefix: string, kind: RedisKeyKind, ...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:${part}`);
  return `${prefix}:${kind}:${hash.digest('hex').slice(0, 32)}`;
}
