import { expect } from 'chai';
import { SERVICE_TENANT, type AuditFacts, type AuditTrail } from '../../../../src/domain/audit.ts';
import { HindsightError } from '../../../../src/errors.ts';
import { genesisOf, hashOf } from '../../../../src/telemetry/audit/record.ts';
import { openTrail, type TrailParts } from '../../../../src/telemetry/audit/trail.ts';
import { verifyAudit } from '../../../../src/telemetry/audit/verify.ts';
import { ANCHOR_KEY, createTestAuditStore, type TestAuditStore } from '../../../support/audit-store.ts';

interface Bench {
  readonly store: TestAuditStore;
  readonly trail: AuditTrail;
  readonly states: boolean[];
  readonly dropped: () => number;
  /** Lets the pause after a failure end. */
  readonly retry: () => void;
}

let processes = 0;

async function bench(store = createTestAuditStore(), more: Partial<TrailParts> = {}): Promise<Bench> {
  const states: boolean[] = [];
  let dropped = 0;
  let wake: (() => void)[] = [];
  const trail = await openTrail({
    store,
    key: ANCHOR_KEY,
    clock: () => 1_777_777_777_000,
    processId: `p${(processes += 1)}`,
    policyRevision: 'r1',
    about: { pid: 1 },
    sleep: () => new Promise((resolve) => wake.push(resolve)),
    onState: (up) => void states.push(up),
    onDropped: () => (dropped += 1),
    ...more,
  });
  const retry = (): void => {
    for (const end of wake) end();
    wake = [];
  };
  return { store, trail, states, dropped: () => dropped, retry };
}

const facts = (tenant: string, operation = 'memory_write'): AuditFacts => ({ record_type: 'operation', tenant, operation });
const ticks = async (n = 20): Promise<void> => {
  for (let i = 0; i < n; i += 1) await Promise.resolve();
};
const failure = (promise: Promise<void>): Promise<string> =>
  promise.then(
    () => 'none',
    (error: unknown) => (error instanceof HindsightError ? error.code : String(error)),
  );
/** Resolved by hand. */
function latch(): { readonly promise: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const promise = new Promise<void>((resolve) => (open = resolve));
  return { promise, open: () => open() };
}

describe('telemetry/audit/trail', () => {
  it('links each tenant’s records into a chain of its own, from a first link that the chain’s name gives', async () => {
    const { store, trail } = await bench();
    await Promise.all([trail.append(facts('a'), true), trail.append(facts('b'), true), trail.append(facts('a'), true)]);
    const of = (tenant: string) => store.all().filter((record) => record.tenant === tenant);
    const [first, second] = of('a');
    expect(first).to.include({ seq: 1, prev_hash: genesisOf(first!.chain), policy_revision: 'r1', at: '2026-05-03T03:09:37.000Z' });
    expect(second).to.include({ seq: 2, prev_hash: first!.hash, chain: first!.chain });
    expect(of('b')[0]!.chain).not.to.equal(first!.chain);
    for (const record of store.all()) expect(record.hash).to.equal(hashOf({ ...record }));
  });

  it('stores in groups: what comes while one is on its way leaves together when that is acknowledged, at most 200', async () => {
    const store = createTestAuditStore();
    const { trail, retry } = await bench(store);
    await trail.append(facts('a'), true);
    await ticks();
    const { promise, open } = latch();
    store.gate = promise;
    const all = Array.from({ length: 451 }, () => trail.append(facts('a'), true));
    await ticks();
    expect(store.groups.at(-1)).to.equal(1);
    open();
    await Promise.all(all.slice(0, 401));
    retry(); // the moment in which a crowd gathers
    await Promise.all(all);
    expect(store.groups.slice(-4)).to.deep.equal([1, 200, 200, 50]);
  });

  it('sends what somebody waits for at once, alone or after a crowd, and what came meanwhile in one', async () => {
    const pauses: number[] = [];
    const { store, trail } = await bench(undefined, { sleep: async (ms) => void pauses.push(ms) });
    await trail.append(facts('a'), true);
    await ticks();
    const before = store.groups.length;
    await Promise.all([trail.append(facts('a'), true), trail.append(facts('a'), true), trail.append(facts('a'), true)]);
    await ticks();
    expect(store.groups.slice(before)).to.deep.equal([1, 2]);
    await trail.append(facts('a'), true);
    expect(store.groups.slice(before)).to.deep.equal([1, 2, 1]);
    expect(pauses).to.deep.equal([]);
  });

  it('begins a record: tells its place at once, lets what it tells of be sent first, and takes none after its end', async () => {
    const { store, trail } = await bench();
    await trail.append(facts('a'), true);
    await ticks();
    const before = store.groups.length;
    const { seq, stored } = trail.begin(facts('a'));
    await ticks();
    expect([seq, store.groups.length]).to.deep.equal([2, before]);
    await stored;
    expect(store.all().find((record) => record.tenant === 'a' && record.seq === seq)).to.include({ operation: 'memory_write' });
    store.away = true;
    expect(await failure(trail.begin(facts('a')).stored)).to.equal('ERR_AUDIT_UNAVAILABLE');
    store.away = false;
    await trail.close();
    const late = trail.begin(facts('a'));
    expect([late.seq, await failure(late.stored)]).to.deep.equal([0, 'ERR_AUDIT_UNAVAILABLE']);
  });

  it('makes smaller groups of long records, so that no request is cut in two', async () => {
    const store = createTestAuditStore();
    const { trail } = await bench(store, { sleep: async () => undefined });
    const long = { ...facts('a'), detail: { text: 'x'.repeat(400_000) } };
    await Promise.all(Array.from({ length: 5 }, () => trail.append(long, true)));
    expect(Math.max(...store.groups)).to.equal(2);
  });

  it('lets a write wait until its group is stored, and a read not', async () => {
    const store = createTestAuditStore();
    const { trail } = await bench(store);
    await trail.append(facts('a'), true);
    const { promise, open } = latch();
    store.gate = promise;
    let written = false;
    const write = trail.append(facts('a'), true).then(() => (written = true));
    await trail.append(facts('a', 'memory_search'), false);
    await ticks();
    expect(written).to.equal(false);
    open();
    await write;
    expect(store.all().filter(({ tenant }) => tenant === 'a')).to.have.length.at.least(2);
  });

  it('says that it is down, lets no write through, keeps the records, and stores them in order when it is up again', async () => {
    const store = createTestAuditStore();
    const { trail, states, retry } = await bench(store);
    await trail.append(facts('a'), true);
    store.away = true;
    expect(await failure(trail.append(facts('a'), true))).to.equal('ERR_AUDIT_UNAVAILABLE');
    expect([trail.up, states]).to.deep.equal([false, [false]]);
    await trail.append(facts('a', 'memory_search'), false);
    store.away = false;
    const late = trail.append(facts('a'), true);
    retry();
    await late;
    expect([trail.up, states]).to.deep.equal([true, [false, true]]);
    const records = store.all().filter(({ tenant }) => tenant === 'a');
    expect(records.map(({ seq }) => seq)).to.deep.equal([1, 2, 3, 4]);
    expect((await verifyAudit(await store.snapshot(), ANCHOR_KEY, 'a')).fault_count).to.equal(0);
  });

  it('counts the reads that a full queue does not take, takes writes all the same, and tells of the gap in the chain', async () => {
    const store = createTestAuditStore();
    const { trail, dropped, retry } = await bench(store, { maxQueued: 10 });
    store.away = true;
    expect(await failure(trail.append(facts('a'), true))).to.equal('ERR_AUDIT_UNAVAILABLE');
    for (let i = 0; i < 30; i += 1) await trail.append(facts('a', 'memory_search'), false);
    const lost = dropped();
    expect(lost).to.be.within(19, 22);
    store.away = false;
    const write = trail.append(facts('a'), true);
    retry();
    await write;
    await trail.close();
    const gaps = store.all().filter(({ record_type }) => record_type === 'gap');
    expect(gaps.map(({ tenant, count, reason }) => [tenant, count, reason])).to.deep.equal([['a', lost, 'queue full']]);
    expect((await verifyAudit(await store.snapshot(), ANCHOR_KEY, undefined)).faults).to.deep.equal([]);
  });

  it('does not sign off while the log is away, and takes nothing after its end', async () => {
    const store = createTestAuditStore();
    const { trail } = await bench(store);
    await trail.append(facts('a'), true);
    store.away = true;
    expect(await failure(trail.append(facts('a'), true))).to.equal('ERR_AUDIT_UNAVAILABLE');
    await trail.close();
    expect(store.all().map(({ record_type }) => record_type)).not.to.include('stop');
    expect(await failure(trail.append(facts('a'), true))).to.equal('ERR_AUDIT_UNAVAILABLE');
    expect(await failure(trail.append(facts('a'), false))).to.equal('none');
  });

  it('tries once more at its end while the log is away, and then no more, so that the process can end', async () => {
    const store = createTestAuditStore();
    const { trail, retry } = await bench(store);
    await trail.append(facts('a'), true);
    store.away = true;
    expect(await failure(trail.append(facts('a'), true))).to.equal('ERR_AUDIT_UNAVAILABLE');
    await trail.close();
    const before = store.groups.length;
    for (let i = 0; i < 5; i += 1) {
      retry();
      await ticks();
    }
    expect(store.groups.length - before).to.equal(1);
  });

  it('anchors the heads that moved, signed, and nothing when nothing moved', async () => {
    const { store, trail } = await bench();
    await Promise.all([trail.append(facts('a'), true), trail.append(facts('b'), true)]);
    const anchors = () => store.all().filter(({ record_type }) => record_type === 'anchor');
    trail.anchor();
    await trail.append(facts('a'), true);
    expect(anchors()).to.have.length(1);
    const [anchor] = anchors();
    const heads = store.all().filter(({ tenant, seq }) => tenant !== SERVICE_TENANT && seq === 1);
    expect(anchor!.heads!.map(({ hash }) => hash)).to.deep.equal(heads.map(({ hash }) => hash));
    expect(anchor).to.include({ tenant: SERVICE_TENANT, key_id: ANCHOR_KEY.keyId });
    expect(ANCHOR_KEY.verifies(anchor!.hash, anchor!.signature!)).to.equal(true);
    trail.anchor();
    await trail.append(facts('b'), true);
    expect(anchors()[1]!.heads!.map(({ seq }) => seq)).to.deep.equal([2]);
    trail.anchor(); // the write after the second one
    await ticks();
    const count = store.all().length;
    trail.anchor();
    trail.anchor();
    await ticks();
    expect([store.all().length, anchors().length]).to.deep.equal([count, 3]);
  });

  it('gathers records that nobody waits for a moment, and sends them with the first that somebody waits for', async () => {
    const { trail, store, retry } = await bench();
    await ticks();
    const before = store.all().length;
    for (let i = 0; i < 3; i += 1) void trail.append(facts('a', 'memory_search'), false);
    await ticks();
    expect(store.all()).to.have.length(before);
    await trail.append(facts('a'), true);
    expect(store.all()).to.have.length(before + 4);
    void trail.append(facts('a', 'memory_search'), false);
    await ticks();
    expect(store.all()).to.have.length(before + 4);
    retry(); // the moment is over
    await ticks();
    expect(store.all()).to.have.length(before + 5);
    void trail.append(facts('a', 'memory_search'), false);
    await trail.flush();
    expect(store.all()).to.have.length(before + 6);
  });

  it('sends a full group at once', async () => {
    const { trail, store } = await bench();
    await ticks();
    const before = store.all().length;
    for (let i = 0; i < 200; i += 1) void trail.append(facts('a', 'memory_search'), false);
    await ticks();
    expect(store.all()).to.have.length(before + 200);
  });

  it('names the last anchor of the log in a new process’s first record, and all heads in the last of an ending one', async () => {
    const first = await bench();
    await first.trail.append(facts('a'), true);
    await first.trail.close();
    const stop = first.store.all().at(-1)!;
    expect(stop.record_type).to.equal('stop');
    expect(stop.heads!.map(({ seq }) => seq).sort()).to.deep.equal([1, 1]);
    const second = await bench(first.store);
    await second.trail.append(facts('a'), true);
    const start = first.store
      .all()
      .filter(({ record_type }) => record_type === 'start')
      .at(-1)!;
    expect([start.seq, start.heads]).to.deep.equal([1, [{ chain: stop.chain, seq: stop.seq, hash: stop.hash }]]);
  });
});
