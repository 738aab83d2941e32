/** Principals for tests that start behind the token verifier. */
import { ownerOf, ownNamespaceOf, RIGHTS, type Actor, type Principal } from '../../src/domain/principal.ts';
import { grantsOf, type AccessPolicy } from '../../src/gate/access-grants.ts';

export interface PrincipalOptions {
  readonly sub?: string;
  readonly tenant?: string;
  readonly actor?: Actor;
  readonly scopes?: readonly string[];
  readonly namespaces?: readonly string[] | undefined;
  readonly clientId?: string;
  readonly roles?: readonly string[];
  readonly teams?: readonly string[];
  /** What lies behind a token of the shipped access policy unless given. */
  readonly access?: AccessPolicy;
}

/** What policies/access.yaml says when it ships; a test holds the two together. */
export const SHIPPED_ACCESS: AccessPolicy = {
  version: 1,
  without_namespaces: ['shared', 'shared.**'],
  rules: [{ namespaces: ['**'], rights: [...RIGHTS] }],
};

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
    roles: options.roles ?? [],
    teams: options.teams ?? [],
    grants: grantsOf(options.access ?? SHIPPED_ACCESS, options),
    owner: ownerOf(ISSUER, sub),
    ownNamespace: ownNamespaceOf(ISSUER, sub),
    expiresAt: 4_102_444_800,
  };
}
