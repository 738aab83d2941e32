/** The service itself as a principal, narrowed to one owner and namespace: jobs and link upkeep see of a tenant what the record at hand may see. */
import type { MemoryRecord } from '../domain/memory.ts';
import type { Principal } from '../domain/principal.ts';

/** Reads only, in the record's own namespace and as its owner; results are written back by position, not by right. */
export function systemPrincipal(record: Pick<MemoryRecord, 'tenant' | 'owner' | 'namespace'>): Principal {
  return {
    issuer: 'system',
    sub: 'jobs',
    tenant: record.tenant,
    actor: 'service',
    clientId: undefined,
    scopes: new Set(['memory:read']),
    namespaces: [record.namespace],
    grants: { within: [record.namespace], read: ['**'], write: [], forget: [], share: [] },
    roles: [],
    teams: [],
    owner: record.owner,
    ownNamespace: record.namespace,
    expiresAt: 0,
  };
}
