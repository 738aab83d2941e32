/** When each former SERVICE_SECRET was replaced, told by the first records of processes; the check of the audit log believes none beyond that. */
import { SERVICE_TENANT, type AuditRecord, type AuditSnapshot } from '../../domain/audit.ts';
import type { AnchorKey } from './anchor-key.ts';
import { hashOf } from './record.ts';

type Signer = Pick<AnchorKey, 'keyId' | 'verifies'>;

/** How long a process that was begun with a former secret may go on after the change: replicas are started anew one after another. */
const OVERLAP_MS = 3_600_000;

/** Whose signature a record claims to have; undefined for a key nobody here has. */
export function signerOf(key: AnchorKey, { key_id: keyId }: AuditRecord): Signer | undefined {
  return [key, ...key.former].find((known) => known.keyId === keyId);
}

/** Whether a record is signed with a secret that had been replaced by then; `begins`: it is the first of its process. */
export type SignedLate = (record: AuditRecord, begins: boolean) => boolean;

/**
 * A former secret is replaced when, after its own first process, one begins with a newer secret or the present one. Walks the service's chains once where
 * there are former secrets. Errors: ERR_STORE_*, or the reason of `signal`.
 */
export async function readKeyChanges(snapshot: AuditSnapshot, key: AnchorKey, signal: AbortSignal | undefined): Promise<SignedLate> {
  if (key.former.length === 0) return () => false;
  const starts: { readonly keyId: string; readonly atMs: number }[] = [];
  for await (const { record } of snapshot.records(SERVICE_TENANT)) {
    signal?.throwIfAborted();
    if (record.record_type !== 'start' || record.signature === undefined) continue;
    const signer = signerOf(key, record);
    // the hash of what stands there: a time that was changed says nothing
    if (signer?.verifies(hashOf({ ...record }), record.signature) === true)
      starts.push({ keyId: signer.keyId, atMs: Date.parse(record.at) });
  }
  starts.sort((a, b) => a.atMs - b.atMs);
  const firstMs = (keyId: string): number => starts.find((start) => start.keyId === keyId)?.atMs ?? Infinity;
  const replacedMs = new Map<string, number>();
  for (const { keyId } of key.former) {
    if (keyId === key.keyId) continue;
    const begunMs = firstMs(keyId);
    // a process with an older secret replaces nothing; the present one may have come back
    const replaces = (other: string): boolean => other !== keyId && (other === key.keyId || firstMs(other) > begunMs);
    const next = starts.find((start) => start.atMs > begunMs && replaces(start.keyId));
    if (next !== undefined) replacedMs.set(keyId, next.atMs);
  }
  return (record, begins) => Date.parse(record.at) > (replacedMs.get(record.key_id ?? '') ?? Infinity) + (begins ? 0 : OVERLAP_MS);
}
