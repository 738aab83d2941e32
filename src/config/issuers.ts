/** The issuers file: several token issuers, each with its own keys, audience and tenants; read by config at start-up. */
import { z } from 'zod';
import { isSafeKeysUrl } from './hosts.ts';

/** Signature algorithms that need no shared secret: the only ones an issuer may use (RFC 8725, section 3.1). */
export const ASYMMETRIC_ALGORITHMS = [
  'ES256',
  'ES384',
  'ES512',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'EdDSA',
  'Ed25519',
] as const;
export type SignatureAlgorithm = (typeof ASYMMETRIC_ALGORITHMS)[number];

/** One per family: with RS256 alone a PS256 signature by the same RSA key is refused. */
export const DEFAULT_ALGORITHMS: readonly SignatureAlgorithm[] = ['ES256', 'RS256', 'EdDSA'];
export const DEFAULT_TOKEN_AGE_SECONDS = 86_400;
export const DEFAULT_CLOCK_TOLERANCE_SECONDS = 5;
export const DEFAULT_KEYS_AGE_SECONDS = 600;
export const TENANT_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** Claims that an issuer may keep under a name of its own. */
export const CLAIM_NAMES = ['sub', 'tenant', 'scope', 'roles', 'teams', 'namespaces', 'client_id', 'actor', 'sid'] as const;
/** The issuer's name for a claim, or a JSON pointer (RFC 6901) into one of its claims, such as /realm_access/roles. */
export type ClaimNames = { readonly [claim in (typeof CLAIM_NAMES)[number]]?: string | undefined };

/** What a remote issuer's tokens must look like. */
export interface RemoteIssuer {
  readonly issuer: string;
  readonly audience: string;
  /** Where its public keys (RFC 7517) stand. */
  readonly keys: { readonly url: string } | { readonly file: string };
  readonly keysMaxAgeSeconds: number;
  readonly algorithms: readonly SignatureAlgorithm[];
  readonly requireTyp: boolean;
  readonly maxTokenAgeSeconds: number;
  readonly clockToleranceSeconds: number;
  readonly claims: ClaimNames;
  /** Tenants this issuer may sign for; undefined = any (only where it is the one issuer). */
  readonly tenants: readonly string[] | undefined;
}

/** An issuer's name: `|` is refused because the subject hash is made from issuer|sub. */
export function isIssuerName(value: string): boolean {
  return /^[\x21-\x7b\x7d\x7e]{1,512}$/.test(value);
}

const issuerName = z.string().refine(isIssuerName, 'must be 1 to 512 visible ASCII characters without "|"');
const tenantName = z.string().regex(TENANT_PATTERN, 'must be 1 to 64 characters of [A-Za-z0-9_.-], the first a letter or digit');

const claimName = z
  .string()
  .max(256)
  .refine(
    (v) => (v.startsWith('/') ? /^(?:\/(?:[^~/]|~[01])+){1,4}$/.test(v) : v !== ''),
    'must be a claim’s name, or a JSON pointer into one',
  )
  .optional();

/** Keys that an issuers file names: public ones of asymmetric algorithms. A private key does not belong on this machine. */
export const keysFileSchema = z.looseObject({
  keys: z
    .array(
      z
        .looseObject({ kty: z.enum(['EC', 'RSA', 'OKP'], { error: 'must be EC, RSA or OKP' }) })
        .refine((key) => key['d'] === undefined && key['k'] === undefined, 'must not hold a private key'),
    )
    .min(1)
    .max(100),
});

export const issuersFileSchema = z.strictObject({
  version: z.literal(1),
  issuers: z
    .array(
      z
        .strictObject({
          issuer: issuerName,
          audience: z.string().min(1).max(512),
          jwks_url: z
            .string()
            .refine(isSafeKeysUrl, 'must be an https:// URL (http:// only on a loopback host), without user name or password')
            .optional(),
          keys_file: z.string().min(1).max(1_000).optional(),
          keys_max_age_seconds: z.int().min(60).max(3_600).default(DEFAULT_KEYS_AGE_SECONDS),
          algorithms: z
            .array(z.enum(ASYMMETRIC_ALGORITHMS))
            .min(1)
            .default([...DEFAULT_ALGORITHMS]),
          require_typ: z.boolean().default(false),
          max_token_age_seconds: z.int().min(60).max(31_536_000).default(DEFAULT_TOKEN_AGE_SECONDS),
          clock_tolerance_seconds: z.int().min(0).max(60).default(DEFAULT_CLOCK_TOLERANCE_SECONDS),
          claims: z
            .strictObject(
              Object.fromEntries(CLAIM_NAMES.map((name) => [name, claimName])) as Record<(typeof CLAIM_NAMES)[number], typeof claimName>,
            )
            .default({}),
          tenants: z.array(tenantName).min(1).max(10_000).optional(),
        })
        .refine((row) => (row.jwks_url === undefined) !== (row.keys_file === undefined), 'must name one of jwks_url and keys_file')
        .transform((row): RemoteIssuer => ({
          issuer: row.issuer,
          audience: row.audience,
          keys: row.keys_file === undefined ? { url: row.jwks_url ?? '' } : { file: row.keys_file },
          keysMaxAgeSeconds: row.keys_max_age_seconds,
          algorithms: row.algorithms,
          requireTyp: row.require_typ,
          maxTokenAgeSeconds: row.max_token_age_seconds,
          clockToleranceSeconds: row.clock_tolerance_seconds,
          claims: row.claims,
          tenants: row.tenants,
        })),
    )
    .max(64),
});

/**
 * Sentences about issuers that could sign for each other's tenants: with two issuers or more each must name its tenants,
 * and no tenant may stand twice. Empty = safe.
 */
export function issuerConflicts(issuers: readonly Pick<RemoteIssuer, 'issuer' | 'tenants'>[]): string[] {
  const faults: string[] = [];
  const names = issuers.map((i) => i.issuer);
  if (new Set(names).size !== names.length) faults.push('two issuers have the same name');
  if (issuers.length < 2) return faults;
  if (issuers.some((i) => i.tenants === undefined))
    faults.push('with several issuers each must name the tenants it may sign for (JWT_TENANTS, or "tenants" in the issuers file)');
  const all = issuers.flatMap((i) => i.tenants ?? []);
  if (new Set(all).size !== all.length) faults.push('a tenant is named by two issuers');
  return faults;
}
