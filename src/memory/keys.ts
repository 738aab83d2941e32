/** memory_reveal and memory_keys_delete: what was sealed comes out for a person alone, and the end of a tenant's keys is an administrator's. */
import type { KeysDeleteAnswer, KeysDeleteInput, RevealAnswer, RevealInput } from '../domain/wire/keys.ts';
import { HindsightError } from '../errors.ts';
import { openValues } from '../keys/sealed-values.ts';
import type { MemoryDeps } from './deps.ts';
import type { CallContext } from './gateway.ts';
import { shownStatuses } from './statuses.ts';

/**
 * The sealed values of a memory that the caller may read. A memory without any answers none.
 * @throws ERR_ACTOR_FORBIDDEN for agents and services; ERR_MEMORY_NOT_FOUND for what is absent and for what may not be seen; ERR_KEY_DELETED,
 * ERR_SEAL_BROKEN, ERR_KEYS_UNAVAILABLE.
 */
export async function reveal(deps: MemoryDeps, input: RevealInput, call: CallContext): Promise<Omit<RevealAnswer, 'trace_id'>> {
  const { principal } = call;
  if (principal.actor !== 'user') throw new HindsightError('ERR_ACTOR_FORBIDDEN');
  const by = deps.guard.scope(
    { memoryIds: [input.memory_id] },
    { principal, action: 'read', reach: 'granted', statuses: shownStatuses(principal), nowMs: deps.clock() },
  );
  const [stored] = deps.guard.permitted(await deps.index.get(by), by);
  if (stored === undefined) throw new HindsightError('ERR_MEMORY_NOT_FOUND');
  const { record } = stored;
  const values = await openValues(deps.tenantKeys, record);
  return { memory_id: record.memory_id, version: record.version, values: values.map(({ field, kind, value }) => ({ field, kind, value })) };
}

/**
 * Deletes the keys of the caller's own tenant: everything sealed for it is unreadable for good, in copies and snapshots too.
 * @throws ERR_ACTOR_FORBIDDEN for agents and services; ERR_REQUEST_INVALID when `tenant` is not the token's.
 */
export async function deleteKeys(deps: MemoryDeps, input: KeysDeleteInput, call: CallContext): Promise<Omit<KeysDeleteAnswer, 'trace_id'>> {
  const { principal } = call;
  if (principal.actor !== 'user') throw new HindsightError('ERR_ACTOR_FORBIDDEN');
  if (input.tenant !== principal.tenant)
    throw new HindsightError('ERR_REQUEST_INVALID', {
      params: { detail: 'tenant is not the one of the token' },
      faults: [{ pointer: '/tenant', message: 'is not the tenant of the token' }],
    });
  const { deleted, purged } = await deps.deleteTenantKeys(principal.tenant);
  return { tenant: principal.tenant, keys_deleted: deleted, purged };
}
