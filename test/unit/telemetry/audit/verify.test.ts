import { expect } from 'chai';
import fc from 'fast-check';
import { SERVICE_TENANT, type AuditRecord, type AuditReport } from '../../../../src/domain/audit.ts';
import { auditVerifyAnswer } from '../../../../src/domain/wire/audit.ts';
import { anchorKey } from '../../../../src/telemetry/audit/anchor-key.ts';
import { chainOf, genesisOf, hashOf, recordId } from '../../../../src/telemetry/audit/record.ts';
import { openTrail } from '../../../../src/telemetry/audit/trail.ts';
import { verifyAudit } from '../../../../src/telemetry/audit/verify.ts';
import { ANCHOR_KEY, createTestAuditStore, type TestAuditStore } from '../../../support/audit-store.ts';

const NOW_MS = 1_777_777_777_000;
const PARTS = {
  policyRevision: 'r1',
  about: {},
  sleep: async () => undefined,
  onState: () => undefined,
  onDropped: () => undefined,
};

/** A process that writes 9 records of tenant a (anchored after 3 and 6) and 3 of b, and ends or is killed. */
async function written(
  end: 'stopped' | 'killed',
  processId = 'p1',
  store = createTestAuditStore(),
  key = ANCHOR_KEY,
  clock: () => number = () => NOW_MS,
): Promise<TestAuditStore> {
  const trail = await openTrail({ ...PARTS, store, key, clock, processId });
  for (let i = 1; i <= 9; i += 1) {
    await trail.append({ record_type: 'operation', tenant: 'a', operation: 'memory_write', count: i }, true);
    if (i % 3 !== 0) continue;
    await trail.append({ record_type: 'operation', tenant: 'b', operation: 'memory_search', count: i }, true);
    if (i < 9) trail.anchor();
  }
  if (end === 'stopped') await trail.close();
  return store;
}

const check = async (store: TestAuditStore, tenant: string | undefined = 'a'): Promise<AuditReport> =>
  verifyAudit(await store.snapshot(), ANCHOR_KEY, tenant);
const faults = async (store: TestAuditStore, tenant?: string): Promise<string[]> =>
  (await check(store, tenant)).faults.map(({ kind, seq, to_seq: to }) => `${kind} ${seq}${to === undefined ? '' : `-${to}`}`);

const chainIn = (store: TestAuditStore, tenant = 'a'): string => store.all().find((record) => record.tenant === tenant)!.chain;
const at = (store: TestAuditStore, seq: number, tenant = 'a'): AuditRecord => store.documents.get(recordId(chainIn(store, tenant), seq))!;
const put = (store: TestAuditStore, record: AuditRecord): void => void store.documents.set(recordId(record.chain, record.seq), record);
const drop = (store: TestAuditStore, seq: number, tenant = 'a'): void => void store.documents.delete(recordId(chainIn(store, tenant), seq));
const rehashed = (record: AuditRecord): AuditRecord => ({ ...record, hash: hashOf({ ...record }) });

/** From a place on, as somebody would who knows how chains are made but has no key. */
function relink(store: TestAuditStore, from: number): void {
  const chain = chainIn(store);
  for (let seq = from; store.documents.has(recordId(chain, seq)); seq += 1) {
    const prev = seq === 1 ? genesisOf(chain) : at(store, seq - 1).hash;
    put(store, rehashed({ ...at(store, seq), prev_hash: prev }));
  }
}

describe('telemetry/audit/verify', () => {
  it('finds nothing in what a process wrote, signed off or not, and says which', async () => {
    const stopped = await check(await written('stopped'));
    expect(stopped).to.include({ chains: 1, records: 9, open_chains: 0, unanchored: 0, fault_count: 0 });
    const killed = await check(await written('killed'));
    expect(killed).to.include({ chains: 1, records: 9, open_chains: 1, unanchored: 3, fault_count: 0 });
    const all = await verifyAudit(await (await written('stopped')).snapshot(), ANCHOR_KEY, undefined);
    expect(all).to.include({ chains: 3, open_chains: 0, fault_count: 0 });
  });

  it('takes the torn tail of a killed process for what it is, whatever of its last group was stored', async () => {
    for (const last of [8, 7, 6]) {
      const store = await written('killed');
      for (let seq = 9; seq > last; seq -= 1) drop(store, seq);
      expect(await check(store), String(last)).to.include({ fault_count: 0, open_chains: 1, unanchored: last - 6 });
    }
  });

  it('says where a record was edited', async () => {
    for (const seq of [1, 4, 9]) {
      const store = await written('stopped');
      put(store, { ...at(store, seq), operation: 'memory_get' });
      expect(await faults(store)).to.deep.equal([`edited ${seq}`]);
    }
  });

  it('says that a signature was added to a record that has none', async () => {
    const store = await written('stopped');
    put(store, { ...at(store, 4), signature: 'a text of somebody’s own' });
    expect(await faults(store)).to.deep.equal(['edited 4']);
  });

  it('names a record without form by whole numbers, so that its answer can be given', async () => {
    for (const seq of [5.5, '5', -3, 1e300, 'x', [5, 6], null]) {
      const store = await written('stopped');
      store.documents.set('odd', { ...at(store, 4), seq: seq as number });
      const report = await check(store);
      expect(report.fault_count).to.be.above(0);
      expect(auditVerifyAnswer.safeParse({ ...report, intact: false, trace_id: '' }).success, String(seq)).to.equal(true);
    }
  });

  it('says where an edited record with a new hash breaks the chain', async () => {
    const store = await written('stopped');
    put(store, rehashed({ ...at(store, 4), operation: 'memory_get' }));
    expect(await faults(store)).to.deep.equal(['broken 5']);
  });

  it('finds by the anchors a chain that was made anew from an edited record on', async () => {
    const store = await written('stopped');
    put(store, { ...at(store, 2), operation: 'memory_get' });
    relink(store, 2);
    expect(await faults(store)).to.deep.equal(['rewritten 3', 'rewritten 6', 'rewritten 9']);
  });

  it('says which records were deleted', async () => {
    const one = await written('stopped');
    drop(one, 5);
    expect(await faults(one)).to.deep.equal(['missing 5']);
    const several = await written('stopped');
    for (const seq of [1, 2, 3]) drop(several, seq);
    expect(await faults(several)).to.deep.equal(['missing 1-3']);
    const closedUp = await written('stopped');
    drop(closedUp, 5);
    for (const seq of [6, 7, 8, 9]) {
      const record = at(closedUp, seq);
      drop(closedUp, seq);
      put(closedUp, { ...record, seq: seq - 1 });
    }
    relink(closedUp, 5);
    expect(await faults(closedUp)).to.deep.equal(['rewritten 6', 'truncated 9']);
  });

  it('says where records changed places', async () => {
    const swapped = await written('stopped');
    const [four, five] = [at(swapped, 4), at(swapped, 5)];
    put(swapped, { ...four, seq: 5 });
    put(swapped, { ...five, seq: 4 });
    expect(await faults(swapped)).to.deep.equal(['edited 4', 'edited 5', 'broken 6']);
    const rehash = await written('stopped');
    put(rehash, rehashed({ ...four, seq: 5 }));
    put(rehash, rehashed({ ...five, seq: 4 }));
    expect(await faults(rehash)).to.deep.equal(['broken 4', 'broken 5', 'broken 6']);
  });

  it('says where a tail was cut off that an anchor has seen, a whole chain among them', async () => {
    const killed = await written('killed');
    for (const seq of [5, 6, 7, 8, 9]) drop(killed, seq);
    expect(await faults(killed)).to.deep.equal(['truncated 5-6']);
    const stopped = await written('stopped');
    drop(stopped, 9);
    expect(await faults(stopped)).to.deep.equal(['truncated 9']);
    const whole = await written('stopped');
    for (let seq = 1; seq <= 9; seq += 1) drop(whole, seq);
    expect(await faults(whole)).to.deep.equal(['truncated 1-9']);
  });

  it('finds out about anchors that were cut off, by the first record of the next process', async () => {
    const store = await written('killed');
    await written('stopped', 'p2', store);
    const first = store.all().filter(({ chain, tenant }) => chain.startsWith('p1-') && tenant === SERVICE_TENANT);
    const last = first.at(-1)!;
    store.documents.delete(recordId(last.chain, last.seq));
    expect(await faults(store)).to.deep.equal([`truncated ${last.seq}`]);
  });

  it('believes no anchor that the key of the service has not signed, and none that was changed', async () => {
    const store = await written('killed');
    const anchor = store.all().find(({ record_type }) => record_type === 'anchor')!;
    put(store, rehashed({ ...anchor, heads: [] }));
    expect(await faults(store)).to.include(`forged ${anchor.seq}`);
    const other = anchorKey(Buffer.alloc(32, 9));
    put(store, { ...rehashed({ ...anchor, heads: [] }), signature: other.sign(hashOf({ ...anchor, heads: [] })) });
    expect(await faults(store)).to.include(`forged ${anchor.seq}`);
  });

  it('after a change of SERVICE_SECRET says once for each process that its word cannot be checked, and what is wrong besides', async () => {
    const store = await written('stopped');
    const changed = anchorKey(Buffer.alloc(32, 9));
    const found = async (key: typeof changed): Promise<string[]> => {
      const report = await verifyAudit(await store.snapshot(), key, 'a');
      return report.faults.map(
        ({ kind, chain, seq, to_seq: to }) => `${kind} ${chain.split('-')[0]} ${seq}${to === undefined ? '' : `-${to}`}`,
      );
    };
    expect(await found(changed)).to.deep.equal(['unknown_key p1 1-4']);
    put(store, { ...at(store, 5), operation: 'memory_get' });
    expect(await found(changed)).to.have.members(['unknown_key p1 1-4', 'edited p1 5']);
    // what the new key vouches for is checked as ever
    await written('killed', 'p2', store, changed);
    expect(await found(changed)).to.have.members(['unknown_key p1 1-4', 'edited p1 5']);
  });

  it('checks with the keys of former secrets what they signed, and signs nothing with them', async () => {
    const store = await written('stopped');
    const key = anchorKey(Buffer.alloc(32, 9), [Buffer.alloc(32, 8), Buffer.alloc(32, 7)]);
    await written('stopped', 'p2', store, key);
    const report = async (): Promise<AuditReport> => verifyAudit(await store.snapshot(), key, 'a');
    expect(await report()).to.include({ fault_count: 0, chains: 2, open_chains: 0, unanchored: 0 });
    const signers = new Set(
      store
        .all()
        .filter(({ chain }) => chain.startsWith('p2'))
        .flatMap(({ key_id: id }) => id ?? []),
    );
    expect([...signers]).to.deep.equal([key.keyId]);
    put(store, { ...at(store, 2), operation: 'memory_get' });
    relink(store, 2);
    expect((await report()).faults.map(({ kind, seq }) => `${kind} ${seq}`)).to.deep.equal(['rewritten 3', 'rewritten 6', 'rewritten 9']);
  });

  describe('of a secret that was replaced', () => {
    const old = ANCHOR_KEY;
    const OLD_SEED = Buffer.alloc(32, 7);
    const HOUR_MS = 3_600_000;
    const present = anchorKey(Buffer.alloc(32, 9), [OLD_SEED]);
    const told = async (store: TestAuditStore, key = present): Promise<string[]> => {
      const { faults: found } = await verifyAudit(await store.snapshot(), key, 'a');
      const ofTenant = new Set(store.all().flatMap(({ chain, tenant }) => (tenant === 'a' ? [chain] : [])));
      return found.map(({ kind, chain, seq, to_seq: to }) => {
        const whose = ofTenant.has(chain) ? 'a' : 'service';
        return `${kind} ${chain.split('-')[0]} ${whose} ${seq}${to === undefined ? '' : `-${to}`}`;
      });
    };
    /** p1 under the old one, then p2 under the present one. */
    const changed = async (end: 'stopped' | 'killed' = 'stopped'): Promise<TestAuditStore> => {
      const store = await written(end, 'p1', undefined, old);
      return written('stopped', 'p2', store, present, () => NOW_MS + HOUR_MS);
    };
    const at3 = NOW_MS + 3 * HOUR_MS;

    it('believes what was signed before', async () => {
      expect(await told(await changed())).to.deep.equal([]);
    });

    it('tells a process that begins with it later, and all that it vouches for', async () => {
      const store = await written('stopped', 'p3', await changed(), old, () => NOW_MS + HOUR_MS + 1);
      expect(await told(store)).to.have.members(['former_key p3 service 1-4', 'former_key p3 a 1-9']);
    });

    it('lets a process that had begun go on for an hour, and tells what it signs after that', async () => {
      const goesOn = async (untilMs: number): Promise<string[]> => {
        let nowMs = NOW_MS;
        const store = createTestAuditStore();
        const slow = await openTrail({ ...PARTS, store, key: old, clock: () => nowMs, processId: 'p1' });
        await slow.append({ record_type: 'operation', tenant: 'a', count: 1 }, true);
        slow.anchor();
        await slow.flush();
        await written('stopped', 'p2', store, present, () => NOW_MS + HOUR_MS);
        nowMs = untilMs;
        await slow.append({ record_type: 'operation', tenant: 'a', count: 2 }, true);
        slow.anchor();
        await slow.close();
        return told(store);
      };
      expect(await goesOn(NOW_MS + 2 * HOUR_MS)).to.deep.equal([]);
      expect(await goesOn(NOW_MS + 2 * HOUR_MS + 1)).to.deep.equal(['former_key p1 service 3-4']);
    });

    it('believes no signature of it in a chain that another key began', async () => {
      const store = await written('killed', 'p1', undefined, old);
      await written('killed', 'p2', store, present, () => NOW_MS + HOUR_MS);
      const last = store
        .all()
        .filter(({ chain, tenant }) => chain.startsWith('p2-') && tenant === SERVICE_TENANT)
        .at(-1)!;
      const forged = rehashed({ ...last, record_type: 'stop', key_id: old.keyId, seq: last.seq + 1, prev_hash: last.hash, heads: [] });
      put(store, { ...forged, signature: old.sign(forged.hash) });
      expect(await told(store)).to.deep.equal([`forged p2 service ${forged.seq}`]);
    });

    it('takes no process with an older secret for the change to a newer one, and a secret that comes back for the present one', async () => {
      const [first, second, third] = [5, 6, 7].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];
      const at1 = await written('stopped', 'p1', undefined, anchorKey(first));
      const at2 = await written('stopped', 'p2', at1, anchorKey(second), () => NOW_MS + HOUR_MS);
      await written('stopped', 'p3', at2, anchorKey(first), () => NOW_MS + HOUR_MS + 9);
      await written('stopped', 'p4', at2, anchorKey(second), () => NOW_MS + 2 * HOUR_MS);
      await written('stopped', 'p5', at2, anchorKey(third), () => at3);
      const late = ['former_key p3 service 1-4', 'former_key p3 a 1-9'];
      expect(await told(at2, anchorKey(third, [first, second]))).to.have.members(late);
      expect(await told(at2, anchorKey(third, [second, first]))).to.have.members(late);
      const back = await written('stopped', 'p2', await written('stopped', 'p1', undefined, old), present, () => NOW_MS + HOUR_MS);
      await written('stopped', 'p3', back, old, () => NOW_MS + 2 * HOUR_MS);
      expect(await told(back, anchorKey(OLD_SEED, [Buffer.alloc(32, 9)]))).to.deep.equal([]);
    });
  });

  it('finds chains and records that were never written by the service', async () => {
    const invented = await written('stopped');
    const chain = chainIn(invented).replace('p1-', 'p9-');
    put(invented, rehashed({ ...at(invented, 1), chain, prev_hash: genesisOf(chain) }));
    expect(await faults(invented)).to.deep.equal(['forged 1']);
    const longer = await written('stopped');
    put(longer, rehashed({ ...at(longer, 9), seq: 10, prev_hash: at(longer, 9).hash }));
    expect(await faults(longer)).to.deep.equal(['forged 10']);
    const another = await written('stopped');
    const unnamed = chainOf('p1', 'c');
    put(another, rehashed({ ...at(another, 1), tenant: 'c', chain: unnamed, prev_hash: genesisOf(unnamed) }));
    expect(await faults(another, 'c')).to.deep.equal(['forged 1']);
  });

  it('looks at one tenant’s chains alone, besides those of the anchors', async () => {
    const store = await written('stopped');
    put(store, { ...at(store, 2, 'b'), operation: 'memory_get' });
    expect(await faults(store, 'a')).to.deep.equal([]);
    expect(await faults(store, 'b')).to.deep.equal(['edited 2']);
  });

  it('property: any single change to any field of any record is found', async () => {
    const store = await written('stopped');
    const records = store.all();
    const change = fc.record({
      record: fc.constantFrom(...records),
      field: fc.constantFrom('tenant', 'operation', 'count', 'at', 'seq', 'prev_hash', 'hash', 'policy_revision', 'memory_ids', 'chain'),
      value: fc.constantFrom<unknown>('b', 'memory_get', 42, '2026-05-03T03:09:38.000Z', ['x'], 'f'.repeat(64), undefined),
    });
    await fc.assert(
      fc.asyncProperty(change, async ({ record, field, value }) => {
        const before = ({ ...record } as Record<string, unknown>)[field];
        fc.pre(JSON.stringify(before) !== JSON.stringify(value));
        const id = recordId(record.chain, record.seq);
        store.documents.set(id, { ...record, [field]: value });
        const report = await verifyAudit(await store.snapshot(), ANCHOR_KEY, undefined);
        store.documents.set(id, record);
        expect(report.fault_count).to.be.above(0);
      }),
      { numRuns: 300 },
    );
    expect((await verifyAudit(await store.snapshot(), ANCHOR_KEY, undefined)).fault_count).to.equal(0);
  });

  it('stops for the caller’s reason when the caller goes away', async () => {
    const snapshot = await (await written('stopped')).snapshot();
    const abort = new AbortController();
    let read = 0;
    const watched = {
      ...snapshot,
      async *records(tenant: string | undefined) {
        for await (const stored of snapshot.records(tenant)) {
          if ((read += 1) === 3) abort.abort(new Error('gone'));
          yield stored;
        }
      },
    };
    const outcome = await verifyAudit(watched, ANCHOR_KEY, undefined, abort.signal).catch((error: unknown) => error);
    expect([String(outcome), read]).to.deep.equal(['Error: gone', 3]);
  });
});
