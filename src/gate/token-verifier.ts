/** Bearer token to Principal, the first thing that happens to a request: http and mcp call it before they read a body. */
import { createHash } from 'node:crypto';
import { decodeJwt, errors, jwtVerify, type JSONWebKeySet } from 'jose';
import type { Clock } from '../domain/clock.ts';
import type { Principal } from '../domain/principal.ts';
import { HindsightError } from '../errors.ts';
import { DEFAULT_CLOCK_TOLERANCE_SECONDS, type ClaimNames } from '../config/issuers.ts';
import type { AccessPolicy } from './access-grants.ts';
import type { Revocations } from './revocations.ts';
import { principalFrom } from './token-verifier-claims.ts';
import {
  fetchKeySet,
  fixedKeys,
  KEYS_MAX_AGE_MS,
  KeysUnavailable,
  readKeySet,
  refreshedKeys,
  type KeyLookup,
} from './token-verifier-jwks.ts';

export const TOKEN_MAX_BYTES = 8_192;
/** Compact JWS (RFC 7515 section 7.1) to the letter: decoders forgive white space, and one token must have one spelling. */
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
/** Saves about 150 us a request (measured: a verification takes 200 us, whatever the algorithm). */
const CACHE_TTL_MS = 30_000;
const CACHE_MAX_ENTRIES = 10_000;
const REQUIRED_CLAIMS = ['exp', 'sub', 'iat', 'aud'];
const TYP_LESS_STRICT = /^(?:application\/)?(?:at\+)?jwt$/i;
const TYP_STRICT = /^(?:application\/)?at\+jwt$/i;

export interface TrustedIssuer {
  /** The iss claim, exactly. */
  readonly issuer: string;
  readonly audience: string;
  /** Asymmetric ones only. */
  readonly algorithms: readonly string[];
  /** A URL to fetch them from, a file, or the keys themselves. */
  readonly jwks: string | { readonly file: string } | JSONWebKeySet;
  /** How long keys serve that could not be read anew; ten minutes when absent. */
  readonly keysMaxAgeSeconds?: number | undefined;
  /** True: typ must be at+jwt (RFC 9068). False: absent or JWT does too; any other typ is refused in both cases. */
  readonly requireTyp: boolean;
  /** Longest time from iat to exp, and to now. */
  readonly maxTokenAgeSeconds: number;
  /** How far its clock and ours may be apart; 5 when absent. */
  readonly clockToleranceSeconds?: number | undefined;
  /** Where it puts claims that do not stand under their own name. */
  readonly claims?: ClaimNames | undefined;
  /** Tenants it may sign for; undefined = any. */
  readonly tenants?: readonly string[] | undefined;
}

export interface TokenVerifier {
  /**
   * The principal of a token of one of the trusted issuers. Throws ERR_AUTH_KEYS_UNAVAILABLE when the issuer's keys cannot
   * be read, ERR_AUTH_UNDECIDED when revocations cannot, and ERR_AUTH_INVALID, always with the same text, for everything else; the reason is in `cause` for the log.
   */
  verify(token: string): Promise<Principal>;
}

interface Issuer extends TrustedIssuer {
  readonly keys: KeyLookup;
}

/**
 * A verifier for these issuers. The unverified iss only chooses the issuer; the token is then checked against that issuer's
 * keys, algorithms, audience and tenants alone. Keys in the token itself (jwk, jku, x5u, x5c) are never looked at
 * (RFC 8725 sections 3.1, 3.8, 3.9, 3.10).
 */
export function createTokenVerifier(parts: {
  readonly issuers: readonly TrustedIssuer[];
  readonly clock: Clock;
  /** What roles and teams may do where. */
  readonly access: AccessPolicy;
  readonly revocations: Revocations;
}): TokenVerifier {
  const { clock, access, revocations } = parts;
  const issuers = new Map<string, Issuer>();
  for (const row of parts.issuers) {
    if (row.algorithms.length === 0 || row.algorithms.some((a) => !/^(?:ES|RS|PS|Ed)/.test(a)))
      throw new TypeError('an issuer needs asymmetric algorithms');
    issuers.set(row.issuer, { ...row, keys: keysOf(row, clock) });
  }
  const cache = new Map<string, { readonly principal: Principal; readonly untilMs: number }>();

  async function check(token: string): Promise<Principal> {
    const issuer = issuers.get(String(decodeJwt(token).iss));
    if (issuer === undefined) throw new Error('iss is not trusted');
    const { payload, protectedHeader } = await jwtVerify(token, issuer.keys, {
      issuer: issuer.issuer,
      audience: issuer.audience,
      algorithms: [...issuer.algorithms],
      requiredClaims: REQUIRED_CLAIMS,
      maxTokenAge: issuer.maxTokenAgeSeconds,
      clockTolerance: issuer.clockToleranceSeconds ?? DEFAULT_CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(clock()),
    });
    const { typ } = protectedHeader;
    if (protectedHeader.b64 !== undefined) throw new Error('b64'); // jose reads it only where crit names it (RFC 7797)
    if (typ === undefined ? issuer.requireTyp : !(issuer.requireTyp ? TYP_STRICT : TYP_LESS_STRICT).test(typ)) throw new Error('typ');
    const principal = principalFrom(payload, { ...issuer, tenants: issuer.tenants }, access);
    if ('fault' in principal) throw new Error(`claim ${principal.fault}`);
    return principal;
  }

  /** A good token's principal is remembered; whether it was revoked never is. */
  async function identified(token: string): Promise<Principal> {
    const key = createHash('sha256').update(token).digest('base64');
    const hit = cache.get(key);
    if (hit !== undefined && clock() < hit.untilMs) return hit.principal;
    cache.delete(key);
    const principal = await check(token);
    if (cache.size >= CACHE_MAX_ENTRIES) for (const oldest of cache.keys()) if (cache.delete(oldest)) break;
    cache.set(key, { principal, untilMs: Math.min(clock() + CACHE_TTL_MS, principal.expiresAt * 1_000) });
    return principal;
  }

  return {
    async verify(token) {
      if (token.length > TOKEN_MAX_BYTES || !COMPACT.test(token)) throw rejected(new Error('not a compact token of at most 8 KB'));
      let principal: Principal;
      try {
        principal = await identified(token);
      } catch (error) {
        if (error instanceof KeysUnavailable)
          throw new HindsightError('ERR_AUTH_KEYS_UNAVAILABLE', { cause: error, retryAfterSeconds: error.retryAfterSeconds });
        throw rejected(error);
      }
      if (await revocations.revoked(principal)) throw rejected(new Error('revoked'));
      return principal;
    },
  };
}

function keysOf({ jwks, keysMaxAgeSeconds }: TrustedIssuer, clock: Clock): KeyLookup {
  const maxAgeMs = keysMaxAgeSeconds === undefined ? KEYS_MAX_AGE_MS : keysMaxAgeSeconds * 1_000;
  if (typeof jwks === 'string') return refreshedKeys(() => fetchKeySet(jwks), clock, maxAgeMs);
  if ('file' in jwks) {
    const { file } = jwks;
    if (typeof file === 'string') return refreshedKeys(() => readKeySet(file), clock, maxAgeMs);
  }
  return fixedKeys(jwks as JSONWebKeySet);
}

/** One text for every rejected token; jose's errors carry the claims, so only their code and message go on to the log. */
function rejected(error: unknown): HindsightError {
  const reason = error instanceof errors.JOSEError ? `${error.code}: ${error.message}` : error instanceof Error ? error.message : 'unknown';
  return new HindsightError('ERR_AUTH_INVALID', { cause: new Error(reason) });
}
