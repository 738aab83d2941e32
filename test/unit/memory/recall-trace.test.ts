import { expect } from 'chai';
import type { Recall } from '../../../src/domain/recall.ts';
import { createRecallTrace, type ClosableRecallTrace, type RecallTraceParts } from '../../../src/memory/recall/trace.ts';
import { testTenantKeys } from '../../support/key-rings.ts';
import { createTestRecallStore, type TestRecallStore } from '../../support/recall-store.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const clock = (): number => NOW;
const TRACE = 'a'.repeat(32);

interface Bench {
  readonly store: TestRecallStore;
  readonly trace: ClosableRecallTrace;
  readonly keys: ReturnType<typeof testTenantKeys>;
  readonly states: boolean[];
  readonly dropped: () => number;
  /** Pauses that were asked for, ms. */
  readonly pauses: number[];
  /** Lets the pause that runs end, and all that follows from it. */
  readonly elapse: () => Promise<void>;
}

function bench(more: Partial<RecallTraceParts> = {}): Bench {
  const store = createTestRecallStore(clock);
  const keys = testTenantKeys(clock);
  const states: boolean[] = [];
  const pauses: number[] = [];
  let dropped = 0;
  let due: (() => void) | undefined;
  const trace = createRecallTrace({
    store,
    keys: keys.tenantKeys,
    on: true,
    after: (ms, run) => {
      pauses.push(ms);
      due = run;
      return () => (due = undefined);
    },
    onState: (up) => void states.push(up),
    onDropped: (count) => (dropped += count),
    ...more,
  });
  const elapse = async (): Promise<void> => {
    due?.();
    await settled();
  };
  return { store, trace, keys, states, pauses, dropped: () => dropped, elapse };
}

/** The keys of these tests answer by setImmediate. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

let made = 0;
const recall = (more: Partial<Recall> = {}): Recall => ({
  recall_id: `recall-${(made += 1)}`,
  trace_id: TRACE,
  tenant: 'acme',
  owner: 'ann',
  actor: 'user',
  operation: 'memory_search',
  namespaces: ['user.ann'],
  at: '2026-03-01T12:00:00.000Z',
  query: 'where is the xylograph?',
  hits: [{ memory_id: `memory-${made}`, score: 0.7, parts: { vector: 0.7 } }],
  ...more,
});

describe('memory/recall/trace', () => {
  it('takes a recall without touching the store, and stores what gathered meanwhile in one group', async () => {
    const { store, trace, pauses, elapse } = bench();
    for (let i = 0; i < 3; i += 1) trace.note(recall());
    await settled();
    expect([store.groups, pauses]).to.deep.equal([[], [2_000]]);
    await elapse();
    expect([store.groups, store.documents.size]).to.deep.equal([[3], 3]);
    trace.note(recall());
    await elapse();
    expect(store.groups).to.deep.equal([3, 1]);
  });

  it('sends a full group at once, and takes what comes while it is under way', async () => {
    const { store, trace, elapse } = bench();
    let open = (): void => undefined;
    store.gate = new Promise((resolve) => (open = resolve));
    for (let i = 0; i < 250; i += 1) trace.note(recall());
    await settled();
    expect(store.groups).to.deep.equal([200]);
    open();
    await settled();
    await elapse();
    expect([store.groups, store.documents.size]).to.deep.equal([[200, 50], 250]);
  });

  it('keeps the query sealed with the tenant’s key, bound to its recall', async () => {
    const { store, trace, keys } = bench();
    const [one, two] = [recall(), recall()];
    trace.note(one);
    trace.note(two);
    await trace.flush();
    expect(JSON.stringify([...store.documents.values()])).not.to.contain('xylograph');
    const { sealed = '', key_id: keyId = '' } = store.documents.get(one.recall_id) ?? {};
    expect(await keys.tenantKeys.open('acme', sealed, keyId, `${one.recall_id}/recall`)).to.equal('where is the xylograph?');
    let moved = '';
    await keys.tenantKeys.open('acme', sealed, keyId, `${two.recall_id}/recall`).catch((error: { code: string }) => (moved = error.code));
    expect(moved).to.equal('ERR_SEAL_BROKEN');
  });

  it('goes on without queries for a tenant whose key was deleted', async () => {
    const { store, trace, keys, dropped } = bench();
    await keys.deleteTenantKeys('acme');
    trace.note(recall());
    await trace.flush();
    expect([...store.documents.values()].map((r) => ['sealed' in r, r.hits.length])).to.deep.equal([[false, 1]]);
    expect(dropped()).to.equal(0);
  });

  it('keeps what an unreachable store did not take, tries again ever more slowly, and counts what goes beyond its bound', async () => {
    const { store, trace, states, dropped, pauses, elapse } = bench({ maxQueued: 5 });
    store.away.add('*');
    for (let i = 0; i < 3; i += 1) trace.note(recall());
    await elapse();
    await elapse();
    await elapse();
    expect([states, pauses, dropped()]).to.deep.equal([[false], [2_000, 1_000, 2_000, 4_000], 0]);
    for (let i = 0; i < 4; i += 1) trace.note(recall());
    expect(dropped()).to.equal(2);
    store.away.clear();
    await elapse();
    expect([states, store.documents.size, dropped()]).to.deep.equal([[false, true], 5, 2]);
  });

  it('does not let a tenant whose index is away keep the others from theirs', async () => {
    const { store, trace, states } = bench();
    store.away.add('lost');
    for (let i = 0; i < 300; i += 1) trace.note(recall({ tenant: i % 100 === 99 ? 'acme' : 'lost' }));
    await trace.flush();
    expect([...store.documents.values()].map(({ tenant }) => tenant)).to.deep.equal(['acme', 'acme', 'acme']);
    expect(states).to.deep.equal([false]);
    store.away.clear();
    await trace.flush();
    expect(store.documents.size).to.equal(300);
  });

  it('asks a store that is away for three tenants at most, not for every one', async () => {
    const { store, trace } = bench();
    store.away.add('*');
    for (let i = 0; i < 50; i += 1) trace.note(recall({ tenant: `tenant-${i}` }));
    await trace.flush();
    expect(store.groups).to.have.length(3);
    // those are the last in turn now
    store.away.clear();
    for (const i of [0, 1, 2]) store.away.add(`tenant-${i}`);
    await trace.flush();
    expect([...new Set([...store.documents.values()].map(({ tenant }) => tenant))]).to.have.length(47);
  });

  it('stores what it holds when it is closed, and gives up, counted, what it cannot', async () => {
    const well = bench();
    well.trace.note(recall());
    await well.trace.close();
    well.trace.note(recall());
    expect([well.store.documents.size, well.dropped()]).to.deep.equal([1, 0]);

    const ill = bench();
    ill.store.away.add('*');
    ill.trace.note(recall());
    await ill.trace.close();
    expect([ill.store.documents.size, ill.dropped()]).to.deep.equal([0, 1]);
  });

  it('takes nothing when it is switched off, and reads what there was', async () => {
    const { store, trace } = bench({ on: false });
    store.documents.set('x', { ...recall(), recall_id: 'x' });
    trace.note(recall());
    expect((await trace.find('acme', { traceId: TRACE, owner: 'ann' })).map(({ recall_id: id }) => id)).to.deep.equal(['x']);
  });

  it('says which memories a person’s trace returned, each once, and nothing of a trace that is not theirs', async () => {
    const { trace } = bench();
    const hit = (memory_id: string) => ({ memory_id, score: 0.5, parts: {} });
    trace.note(recall({ hits: [hit('m1'), hit('m2')] }));
    trace.note(recall({ operation: 'memory_context', at: '2026-03-01T12:00:01.000Z', hits: [hit('m2'), hit('m3')] }));
    trace.note(recall({ owner: 'bob', hits: [hit('m4')] }));
    trace.note(recall({ trace_id: 'b'.repeat(32), hits: [] }));
    expect(await trace.returned('acme', 'ann', TRACE)).to.deep.equal(['m1', 'm2', 'm3']);
    expect(await trace.returned('acme', 'ann', 'b'.repeat(32))).to.deep.equal([]);
    expect(await trace.returned('acme', 'eve', TRACE)).to.equal(undefined);
    expect(await trace.returned('umbrella', 'ann', TRACE)).to.equal(undefined);
  });
});
