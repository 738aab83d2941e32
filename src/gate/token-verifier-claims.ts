/** From the claims of a verified token to a Principal: checked by schema, never repaired; used by token-verifier alone. */
import type { JWTPayload } from 'jose';
import { z } from 'zod';
import { CLAIM_NAMES, TENANT_PATTERN, type ClaimNames } from '../config/issuers.ts';
import { isNamespacePattern } from '../domain/namespace.ts';
import { ACTORS, ownerOf, ownNamespaceOf, SCOPES, type Principal } from '../domain/principal.ts';
import { grantsOf, type AccessPolicy } from './access-grants.ts';

/** No control, format, surrogate or line-separator characters: such ids look alike in logs and pages. */
const UNSAFE_ID = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const id = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((v) => !UNSAFE_ID.test(v) && v.trim() !== '');
const names = z.array(id(128)).max(64);
const scopeText = z.string().max(4_096);

/** RFC 9068 section 2.2 for sub, iat, exp, scope and client_id; the others are this product's. */
const claimsSchema = z.object({
  sub: id(256),
  tenant: z.string().regex(TENANT_PATTERN),
  iat: z.number(),
  exp: z.number(),
  scope: scopeText.optional(),
  scp: z.union([scopeText, z.array(id(128)).max(64)]).optional(),
  roles: names.optional(),
  teams: names.optional(),
  namespaces: z.array(z.string().refine(isNamespacePattern)).max(64).optional(),
  client_id: id(256).optional(),
  actor: z.enum(ACTORS).optional(),
  jti: id(256).optional(),
  sid: id(256).optional(),
});

const known: ReadonlySet<string> = new Set(SCOPES);

export interface ClaimRules {
  readonly issuer: string;
  readonly maxTokenAgeSeconds: number;
  readonly tenants: readonly string[] | undefined;
  /** Where this issuer puts a claim, if not under the claim's own name. */
  readonly claims?: ClaimNames | undefined;
}

/**
 * The principal, or the name of the claim that is wrong (never its value). Scopes that this service does not know are left
 * out; an absent actor is an agent, the lesser one. A life (exp - iat) longer than the issuer's maximum is refused at once
 * rather than cut short.
 */
export function principalFrom(payload: JWTPayload, rules: ClaimRules, access: AccessPolicy): Principal | { readonly fault: string } {
  const parsed = claimsSchema.safeParse(renamed(payload, rules.claims ?? {}));
  if (!parsed.success) return { fault: String(parsed.error.issues[0]?.path[0] ?? 'claims') };
  const claims = parsed.data;
  if (claims.exp <= claims.iat || claims.exp - claims.iat > rules.maxTokenAgeSeconds) return { fault: 'exp' };
  if (rules.tenants !== undefined && !rules.tenants.includes(claims.tenant)) return { fault: 'tenant' };
  const scope = claims.scope ?? claims.scp ?? [];
  const scopes = typeof scope === 'string' ? scope.split(' ') : scope;
  return Object.freeze({
    issuer: rules.issuer,
    sub: claims.sub,
    tenant: claims.tenant,
    actor: claims.actor ?? 'agent',
    clientId: claims.client_id,
    scopes: new Set(scopes.filter((s) => known.has(s))),
    namespaces: claims.namespaces && Object.freeze(claims.namespaces),
    roles: Object.freeze(claims.roles ?? []),
    teams: Object.freeze(claims.teams ?? []),
    grants: grantsOf(access, claims),
    credential: Object.freeze({ jti: claims.jti, sid: claims.sid, issuedAt: claims.iat }),
    owner: ownerOf(rules.issuer, claims.sub),
    ownNamespace: ownNamespaceOf(rules.issuer, claims.sub),
    expiresAt: Math.floor(claims.exp),
  });
}

/** The payload under our names. A claim that has another name is not read under ours as well. */
function renamed(payload: JWTPayload, names: ClaimNames): Record<string, unknown> {
  const out: Record<string, unknown> = { ...payload };
  for (const claim of CLAIM_NAMES) {
    const at = names[claim];
    if (at === undefined) continue;
    delete out[claim];
    if (claim === 'scope') delete out['scp'];
    const value = valueAt(payload, at);
    // scp takes a list and a text
    if (value !== undefined) out[claim === 'scope' ? 'scp' : claim] = value;
  }
  return out;
}

/** A claim by its name, or by a JSON pointer (RFC 6901) into a claim. */
function valueAt(payload: JWTPayload, at: string): unknown {
  const path = at.startsWith('/')
    ? at
        .slice(1)
        .split('/')
        .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    : [at];
  let value: unknown = payload;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}
