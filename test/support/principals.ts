/** Principals for tests that start behind the token verifier. */
import { ownerOf, ownNamespaceOf, type Actor, type Principal } from '../../src/domain/principal.ts';

export interface PrincipalOptions {
  readonly sub?: string;
  readonly tenant?: string;
  readonly actor?: Actor;
  readonly scopes?: readonly string[];
  readonly namespaces?: readonly string[] | undefined;
  readonly clientId?: string;
}

const ISSUER = 'https://issuer.test';

/** A verified caller; user `ann` of tenant `acme` with read, write and forget unless said otherwise. */
export function principal(options: PrincipalOptions = {}): Principal {
  const sub = options.sub ?? 'ann';
  return {
    issuer: ISSUER,
    sub,
    tenant: options.tenant ?? 'acme',
    actor: options.actor ?? 'user',
    clientId: options.clientId,
    scopes: new Set(options.scopes ?? ['memory:read', 'memory:write', 'memory:forget']),
    namespaces: options.namespaces,
    roles: [],
    teams: [],
    owner: ownerOf(ISSUER, sub),
    ownNamespace: ownNamespaceOf(ISSUER, sub),
    expiresAt: 4_102_444_800,
  };
}
