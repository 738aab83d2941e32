/** The audit log in this process: what the trail stores can be looked at, tampered with, refused or held back. */
import type { AuditLine, AuditLog, AuditRecord, AuditStore } from '../../src/domain/audit.ts';
import { HindsightError } from '../../src/errors.ts';
import { createAuditLog } from '../../src/memory/audit-log.ts';
import { anchorKey, type AnchorKey } from '../../src/telemetry/audit/anchor-key.ts';
import { recordId } from '../../src/telemetry/audit/record.ts';

export const ANCHOR_KEY: AnchorKey = anchorKey(Buffer.alloc(32, 7));

export interface TestAuditStore extends AuditStore {
  /** By id; what stands here is what there is. */
  readonly documents: Map<string, AuditRecord>;
  /** Sizes of the groups that came, refused ones among them. */
  readonly groups: number[];
  away: boolean;
  /** Resolves before a group is stored. */
  gate: Promise<void>;
  all(): readonly AuditRecord[];
}

export function createTestAuditStore(): TestAuditStore {
  const documents = new Map<string, AuditRecord>();
  const store: TestAuditStore = {
    documents,
    groups: [],
    away: false,
    gate: Promise.resolve(),
    all: () => [...documents.values()],
    async append(lines: readonly AuditLine[]) {
      store.groups.push(lines.length);
      await store.gate;
      if (store.away) throw new HindsightError('ERR_STORE_UNAVAILABLE');
      for (const { chain, seq, line } of lines)
        if (!documents.has(recordId(chain, seq))) documents.set(recordId(chain, seq), JSON.parse(line) as AuditRecord);
    },
    async page(tenant, filter, { limit }) {
      const { operation } = filter;
      const records = store.all().filter((r) => r.tenant === tenant && (operation === undefined || r.operation === operation));
      return { records: records.reverse().slice(0, limit), next: undefined };
    },
    async lastAnchor() {
      const last = store.all().findLast(({ signature }) => signature !== undefined);
      return last === undefined ? undefined : { chain: last.chain, seq: last.seq, hash: last.hash };
    },
    async snapshot() {
      return {
        async *records(tenant) {
          const sorted = [...documents.entries()].sort(([, a], [, b]) =>
            a.chain === b.chain ? a.seq - b.seq : a.chain < b.chain ? -1 : 1,
          );
          for (const [id, record] of sorted) if (tenant === undefined || record.tenant === tenant) yield { id, record };
        },
        hashes: async (ids) => new Map(ids.flatMap((id) => (documents.has(id) ? [[id, documents.get(id)?.hash ?? ''] as const] : []))),
        close: async () => undefined,
      };
    },
  };
  return store;
}

/** A log without records unless a store is given. */
export function testAuditLog(store: AuditStore = createTestAuditStore()): AuditLog {
  return createAuditLog({ store, key: ANCHOR_KEY, cursorKey: Buffer.alloc(32, 1) });
}
