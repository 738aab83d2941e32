/** Writes of the memory index: creation, whole replacement and partial update, each under its id and position. */
import type { Client } from '@elastic/elasticsearch';
import type { MemoryRecord, SeqNo } from '../domain/memory.ts';
import type { CreateOutcome, MemoryIndex, PatchOutcome } from '../domain/ports.ts';
import { openAdmitted, type Admitted } from '../domain/sealed.ts';
import { HindsightError } from '../errors.ts';
import { bulk, itemAway, type BulkItem } from './bulk.ts';
import { errorStatus, isMissingIndex, mapStoreError, RETRY } from './client.ts';
import { placementOf } from './placement.ts';
import { indexable, recordJson } from './record-json.ts';
import type { Schema } from './schema.ts';

export type MemoryWrites = Pick<MemoryIndex, 'create' | 'createMany' | 'replace' | 'patchMany' | 'saveVersion'>;

export function createMemoryWrites(client: Client, schema: Schema, noteWritten: MemoryIndex['noteWritten']): MemoryWrites {
  const aliasOf = (tenant: string): string => placementOf(schema.prefix, tenant).memory;

  /**
   * One document write after its index exists; once more when the index went away in between (a tenant dropped by another process).
   * A conflict of version or of an existing id is an answer, not an error.
   */
  const writeOne = async (tenant: string, kind: 'memory' | 'versions', write: () => Promise<unknown>): Promise<'done' | 'conflict'> => {
    for (let attempt = 1; ; attempt += 1) {
      await schema.ensureTenant(tenant, kind);
      try {
        await write();
        return 'done';
      } catch (error) {
        if (errorStatus(error) === 409) return 'conflict';
        if (!isMissingIndex(error) || attempt > 1) throw mapStoreError(error);
        schema.forgetTenant(tenant);
      }
    }
  };

  const createRecords = async (records: readonly MemoryRecord[]): Promise<readonly CreateOutcome[]> => {
    const [first] = records;
    if (first === undefined) return [];
    const { tenant } = first;
    if (records.some((record) => record.tenant !== tenant))
      throw new HindsightError('ERR_INTERNAL', { cause: new Error('a bulk of two tenants') });
    const send = (): Promise<BulkItem[]> => bulk(client, aliasOf(tenant), createLines(records), { requireAlias: true, repeatable: true });
    await schema.ensureTenant(tenant);
    let items = await send();
    if (items.some((item) => item.errorType === 'index_not_found_exception')) {
      schema.forgetTenant(tenant);
      await schema.ensureTenant(tenant);
      items = await send();
    }
    if (items.every(itemAway)) {
      throw new HindsightError('ERR_STORE_UNAVAILABLE', { cause: new Error(`all ${items.length} items: ${items[0]?.errorType ?? ''}`) });
    }
    noteWritten(tenant, [...new Set(records.map((record) => record.namespace))]);
    return items.map(createOutcome);
  };

  return {
    async create(box) {
      const record = openAdmitted(box);
      const [outcome] = await createRecords([record]);
      if (outcome?.outcome === 'failed') throw new HindsightError('ERR_STORE_REJECTED', { cause: new Error(outcome.reason) });
      return outcome ?? { outcome: 'failed', reason: 'no answer' };
    },

    createMany: (boxes: readonly Admitted<MemoryRecord>[]) => createRecords(boxes.map(openAdmitted)),

    async replace(box, at) {
      const record = openAdmitted(box);
      const { tenant, memory_id: id } = record;
      const position = { if_seq_no: at.seq_no, if_primary_term: at.primary_term };
      const done = await writeOne(tenant, 'memory', () =>
        client.index({ index: aliasOf(tenant), id, document: indexable(record), require_alias: true, ...position }),
      );
      if (done === 'conflict') return 'conflict';
      noteWritten(tenant, [record.namespace]);
      return 'replaced';
    },

    async patchMany(tenant, patches) {
      if (patches.length === 0) return [];
      await schema.ensureTenant(tenant);
      const operations = patches.map(({ memoryId, patch, at }) => `${updateLine(memoryId, at)}{"doc":${recordJson(patch)}}\n`);
      const items = await bulk(client, aliasOf(tenant), operations, { requireAlias: true });
      return items.map(patchOutcome);
    },

    async saveVersion(box) {
      const record = openAdmitted(box);
      const { tenant, memory_id: memoryId, version } = record;
      const index = placementOf(schema.prefix, tenant).versions;
      await writeOne(tenant, 'versions', () =>
        client.index({ index, id: versionId(memoryId, version), document: indexable(record), op_type: 'create' }, RETRY),
      );
    },
  };
}

function* createLines(records: readonly MemoryRecord[]): Generator<string> {
  for (const record of records) yield `{"create":{"_id":${JSON.stringify(record.memory_id)}}}\n${recordJson(record)}\n`;
}

/** `_id` of a version's copy. */
export function versionId(memoryId: string, version: number): string {
  return `${memoryId}@${version}`;
}

function updateLine(id: string, at: SeqNo): string {
  return `{"update":{"_id":${JSON.stringify(id)},"if_seq_no":${at.seq_no},"if_primary_term":${at.primary_term}}}\n`;
}

/**
 * 409 is 'exists': the record is there, also when this very request was sent twice because its first answer was lost.
 * Reasons are exception types, never Elasticsearch's sentences, which may quote content.
 */
function createOutcome(item: BulkItem): CreateOutcome {
  if (item.status === 201 || item.status === 200) return { outcome: 'created' };
  if (item.status === 409) return { outcome: 'exists' };
  return { outcome: 'failed', reason: itemAway(item) ? 'unavailable' : (item.errorType ?? 'rejected') };
}

function patchOutcome(item: BulkItem): PatchOutcome {
  if (item.status < 300) return 'replaced';
  if (item.status === 409) return 'conflict';
  if (item.status === 404) return 'missing';
  return itemAway(item) ? 'away' : 'refused';
}
