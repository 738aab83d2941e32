/** Who is calling: made by gate/token-verifier from a verified token, and by nobody else. */
import { createHash } from 'node:crypto';
import { isNamespace } from './namespace.ts';

export const ACTORS = ['user', 'agent', 'service'] as const;
export type Actor = (typeof ACTORS)[number];

export const SCOPES = [
  'memory:read',
  'memory:write',
  'memory:forget',
  'memory:share',
  'memory:erase',
  'memory:confirm',
  'memory:audit',
  'memory:reveal',
  'memory:admin',
] as const;
export type ScopeName = (typeof SCOPES)[number];

/** What can be done in a namespace; each is granted apart. */
export const RIGHTS = ['read', 'write', 'forget', 'share'] as const;
export type Right = (typeof RIGHTS)[number];

/** Namespace patterns: a right holds where `within` and the right's own patterns both cover. The own namespace needs none. */
export type Grants = Readonly<Record<Right | 'within', readonly string[]>>;

/** What names one token among its subject's: revocation goes by it. */
export interface Credential {
  readonly jti: string | undefined;
  readonly sid: string | undefined;
  /** Seconds since the epoch. */
  readonly issuedAt: number;
}

export interface Principal {
  readonly issuer: string;
  readonly sub: string;
  readonly tenant: string;
  readonly actor: Actor;
  readonly clientId: string | undefined;
  readonly scopes: ReadonlySet<string>;
  /** Patterns from the token; undefined = own (read, write) and shared.** (read). */
  readonly namespaces: readonly string[] | undefined;
  readonly roles: readonly string[];
  readonly teams: readonly string[];
  /** Made from the token's namespaces, roles and teams by the access policy. */
  readonly grants: Grants;
  /** Absent for jobs, which no token stands for. */
  readonly credential?: Credential;
  /** Issuer-qualified subject hash: what records carry as owner. */
  readonly owner: string;
  /** The principal's own namespace. */
  readonly ownNamespace: string;
  /** Seconds since the epoch at which the token ends; 0 for jobs. */
  readonly expiresAt: number;
}

/** Own namespace: `user.` + sub where sub fits a segment, else `user.` + the first 26 characters of base32(sha256(issuer|sub)). */
export function ownNamespaceOf(issuer: string, sub: string): string {
  const direct = `user.${sub}`;
  // a sub that looks like the hash of another must not own the other's namespace
  if (!sub.includes('.') && isNamespace(direct) && !/^[a-z2-7]{26}$/.test(sub)) return direct;
  return `user.${base32(createHash('sha256').update(`${issuer}|${sub}`).digest()).slice(0, 26)}`;
}

/** Owner mark of records: 32 hex characters of sha256(issuer|sub). */
export function ownerOf(issuer: string, sub: string): string {
  return createHash('sha256').update(`${issuer}|${sub}`).digest('hex').slice(0, 32);
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** RFC 4648 base32, lower case, unpadded. */
function base32(bytes: Uint8Array): string {
  let bits = 0;
  let value = 0;
  let out = '';
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      out += BASE32[(value >>> bits) & 31];
    }
    value &= (1 << bits) - 1;
  }
  return bits > 0 ? out + BASE32[(value << (5 - bits)) & 31] : out;
}
