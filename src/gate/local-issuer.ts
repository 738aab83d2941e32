/** The token issuer of local mode: an ES256 key pair in DATA_DIR; serve and the token command mint with it, the verifier trusts its public half. */
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, SignJWT, type JSONWebKeySet, type JWK } from 'jose';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { LOCAL_TENANT, type Config } from '../config.ts';
import { systemClock, type Clock } from '../domain/clock.ts';
import { SCOPES, type Actor, type ScopeName } from '../domain/principal.ts';
import { HindsightError } from '../errors.ts';
import type { AccessPolicy } from './access-grants.ts';
import { readOrCreateSecret } from './keys-file.ts';
import { principalFrom } from './token-verifier-claims.ts';
import type { TrustedIssuer } from './token-verifier.ts';

const ALGORITHM = 'ES256';
export const LOCAL_TOKEN_AGE_SECONDS = 90 * 86_400;
export const AGENT_SCOPES: readonly ScopeName[] = ['memory:read', 'memory:write', 'memory:forget'];
const LOCAL_SUB = 'local';
/** What the claims grant is not asked here, only whether they are well-formed. */
const NO_RULES: AccessPolicy = { version: 1, without_namespaces: [], rules: [] };

const privateJwkSchema = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
  d: z.string(),
  kid: z.string(),
});

export interface TokenFacts {
  readonly tenant: string;
  readonly sub: string;
  readonly scopes: readonly string[];
  readonly actor: Actor;
  readonly clientId?: string | undefined;
  readonly namespaces?: readonly string[] | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly teams?: readonly string[] | undefined;
  /** At most 90 days, which is also the default. */
  readonly ttlSeconds?: number | undefined;
  readonly audience?: string | undefined;
}

export interface LocalIssuer {
  /** A signed token, typ at+jwt (RFC 9068). Throws ERR_CONFIG_INVALID for a life outside 1 s .. 90 d and for claims the verifier would refuse. */
  mint(facts: TokenFacts): Promise<string>;
  /** For MCP clients: actor agent; read, write, forget; tenant and sub `local`, every namespace. */
  mintAgentToken(): Promise<string>;
  /** For curl and the page: actor user, every scope. */
  mintUserToken(): Promise<string>;
  /** What the verifier needs to trust it. */
  readonly trusted: TrustedIssuer;
}

/**
 * Opens DATA_DIR/issuer.jwk, made with mode 0600 if there is none. Throws ERR_CONFIG_UNSAFE outside local mode and for a
 * file that others may read or that is damaged.
 */
export async function openLocalIssuer(
  config: { readonly dataDir: string; readonly auth: Pick<Config['auth'], 'localIssuer'> },
  clock: Clock = systemClock,
): Promise<LocalIssuer> {
  const { localIssuer } = config.auth;
  if (localIssuer === undefined)
    throw new HindsightError('ERR_CONFIG_UNSAFE', { params: { detail: 'the local token issuer exists in local mode only' } });
  const path = join(config.dataDir, 'issuer.jwk');
  const jwk = parseKey(await readOrCreateSecret(path, makeKey), path);
  const key = await importJWK(jwk, ALGORITHM);
  const { d: _private, ...publicJwk } = jwk;
  const jwks: JSONWebKeySet = { keys: [{ ...publicJwk, alg: ALGORITHM, use: 'sig' }] };

  const trusted = {
    issuer: localIssuer.issuer,
    audience: localIssuer.audience,
    algorithms: [ALGORITHM],
    jwks,
    requireTyp: true,
    maxTokenAgeSeconds: LOCAL_TOKEN_AGE_SECONDS,
    tenants: localIssuer.tenants,
  };

  const mint = async (facts: TokenFacts): Promise<string> => {
    const ttlSeconds = facts.ttlSeconds ?? LOCAL_TOKEN_AGE_SECONDS;
    if (!Number.isInteger(ttlSeconds) || ttlSeconds < 1 || ttlSeconds > LOCAL_TOKEN_AGE_SECONDS)
      throw invalid(`a token lives from 1 to ${LOCAL_TOKEN_AGE_SECONDS} seconds`);
    const now = Math.floor(clock() / 1_000);
    const claims = {
      jti: randomUUID(),
      sub: facts.sub,
      iat: now,
      exp: now + ttlSeconds,
      tenant: facts.tenant,
      scope: facts.scopes.join(' '),
      actor: facts.actor,
      client_id: facts.clientId,
      namespaces: facts.namespaces && [...facts.namespaces],
      roles: facts.roles && [...facts.roles],
      teams: facts.teams && [...facts.teams],
    };
    const principal = principalFrom(claims, trusted, NO_RULES);
    if ('fault' in principal) throw invalid(`the token’s ${principal.fault} is not valid`);
    return new SignJWT(claims)
      .setProtectedHeader({ alg: ALGORITHM, typ: 'at+jwt', kid: jwk.kid })
      .setIssuer(trusted.issuer)
      .setAudience(facts.audience ?? trusted.audience)
      .sign(key);
  };
  const own = { tenant: LOCAL_TENANT, sub: LOCAL_SUB, namespaces: ['**'] };
  return {
    mint,
    mintAgentToken: () => mint({ ...own, scopes: AGENT_SCOPES, actor: 'agent', clientId: 'local-agent' }),
    mintUserToken: () => mint({ ...own, scopes: SCOPES, actor: 'user', clientId: 'local-user' }),
    trusted,
  };
}

async function makeKey(): Promise<string> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return `${JSON.stringify({ ...jwk, kid: await calculateJwkThumbprint(jwk) })}\n`;
}

function parseKey(text: string, path: string): JWK & { readonly kid: string } {
  try {
    return privateJwkSchema.parse(JSON.parse(text));
  } catch {
    // the cause would hold the key's text
    throw new HindsightError('ERR_CONFIG_UNSAFE', {
      params: { detail: `${path} is damaged: restore it, or remove it to have a new one made` },
    });
  }
}

function invalid(detail: string): HindsightError {
  return new HindsightError('ERR_CONFIG_INVALID', { params: { detail } });
}
