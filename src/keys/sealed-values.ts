/** What of a memory was masked and is kept on its user's wish: several values in one sealed text, bound to their memory; only reveal opens it. */
import type { MemoryRecord } from '../domain/memory.ts';
import type { TenantKeys } from '../domain/ports.ts';

export interface SealedValue {
  /** Where it stood: content, title, metadata … */
  readonly field: string;
  /** Kind as in `masked`. */
  readonly kind: string;
  readonly value: string;
}

/** What the sealed text belongs to: versions of a memory carry it along, another memory cannot. */
export function sealedAad(memoryId: string): string {
  return `${memoryId}/sealed`;
}

/** The two record fields; nothing for no values. Errors: as TenantKeys. */
export async function sealValues(
  keys: Pick<TenantKeys, 'seal'>,
  { tenant, memory_id }: Pick<MemoryRecord, 'tenant' | 'memory_id'>,
  values: readonly SealedValue[],
): Promise<Pick<MemoryRecord, 'sealed' | 'key_id'>> {
  if (values.length === 0) return {};
  const { sealed, keyId } = await keys.seal(tenant, JSON.stringify(values), sealedAad(memory_id));
  return { sealed, key_id: keyId };
}

/** The values of a record, none for one that keeps none. Errors: ERR_KEY_DELETED, ERR_SEAL_BROKEN, and as TenantKeys. */
export async function openValues(
  keys: Pick<TenantKeys, 'open'>,
  { tenant, memory_id, sealed, key_id }: Pick<MemoryRecord, 'tenant' | 'memory_id' | 'sealed' | 'key_id'>,
): Promise<readonly SealedValue[]> {
  // null in a forgotten memory that had some
  if (typeof sealed !== 'string' || typeof key_id !== 'string') return [];
  return JSON.parse(await keys.open(tenant, sealed, key_id, sealedAad(memory_id))) as readonly SealedValue[];
}
