import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import type { RescanMark } from '../../../src/domain/ports.ts';
import { HindsightError } from '../../../src/errors.ts';
import { createPendingSweep } from '../../../src/jobs/pending-sweep.ts';
import { createRescanJudge, type RescanFinding } from '../../../src/jobs/rescan-judge.ts';
import { createRescanSample, nightOf } from '../../../src/jobs/rescan-sample.ts';
import { createRescanJob } from '../../../src/jobs/rescan.ts';
import { serviceReads } from '../../../src/memory/service-reads.ts';
import { createSetAside } from '../../../src/memory/set-aside.ts';
import { createTurnLinks } from '../../../src/memory/turn-links.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { memoryRecord } from '../../support/records.ts';
import { rejection } from '../../support/rejection.ts';

const { signal } = new AbortController();
const run = { nudged: false, signal };

/** The jobs over the in-process index; the text rules quarantine what says "evil" and block what says "worst". */
function jobsOf(world: World) {
  const findings: RescanFinding[] = [];
  const judged: string[] = [];
  let kept: { mark: RescanMark; seq: number } | undefined;
  let fault: Error | undefined;
  const heads = (): MemoryRecord[] => [...world.index.heads.values()].map(({ record }) => record);
  const old = (since = ''): MemoryRecord[] =>
    heads()
      .filter((r) => r.status === 'active' && r.guard.policy_revision !== 'r2' && r.updated_at > since)
      .sort((a, b) => (a.memory_id < b.memory_id ? -1 : 1));
  const setAside = createSetAside(world.deps, createTurnLinks(world.deps));
  const judge = createRescanJudge({
    load: (refs) => serviceReads(world.deps).loadAll(refs),
    judge: async (record) => {
      if (fault !== undefined) throw fault;
      const text = record.content ?? '';
      judged.push(text);
      return text.includes('worst')
        ? { verdict: 'block', ruleIds: ['worst'] }
        : text.includes('evil')
          ? { verdict: 'quarantine', ruleIds: ['evil'] }
          : { verdict: 'allow', ruleIds: [] };
    },
    policyRevision: 'r2',
    setAside,
    onFinding: (finding) => void findings.push(finding),
  });
  const unchecked: number[] = [];
  const open = () =>
    createRescanJob({
      queue: {
        judgedBefore: async () => {
          const [all, times] = [old(), old().map((r) => r.updated_at)];
          return all.length === 0 ? [] : [{ tenant: 'acme', count: all.length, latest: times.sort().at(-1) ?? '' }];
        },
        refsJudgedBefore: async (_tenant, { since, after = '', limit }) => {
          const refs = old(since).filter((r) => r.memory_id > after);
          return { refs: refs.slice(0, limit), next: refs.length < limit ? undefined : refs[limit - 1]?.memory_id };
        },
      },
      marks: {
        mark: async () => (kept === undefined ? undefined : { mark: kept.mark, at: { seq_no: kept.seq, primary_term: 1 } }),
        keepMark: async (_tenant, mark, at) => {
          if (kept?.seq !== at?.seq_no) return 'conflict';
          kept = { mark, seq: (kept?.seq ?? 0) + 1 };
          return 'kept';
        },
      },
      judge,
      policyRevision: 'r2',
      clock: world.deps.clock,
      rest: async () => undefined,
      onUnchecked: (records) => void unchecked.push(records),
    });
  return { open, judge, setAside, findings, judged, unchecked, mark: () => kept?.mark, fail: (error?: Error) => void (fault = error) };
}

const plant = (world: World, fields: Partial<MemoryRecord>): string => {
  const record = memoryRecord(fields);
  world.index.plant(record);
  return record.memory_id;
};
const at = (world: World, id: string): MemoryRecord | undefined => world.index.heads.get(id)?.record;

describe('rescan job', () => {
  it('quarantines what the rules of today would quarantine or block, with its rules, and never raises its trust', async () => {
    const world = createWorld();
    const jobs = jobsOf(world);
    const [evil, worst, fine] = ['an evil text', 'the worst text', 'a fine text'].map((content) =>
      plant(world, { content, trust_tier: 2 }),
    );
    const job = jobs.open();
    expect(await job.due()).to.deep.equal(['acme']);
    expect(await job.run('acme', run)).to.equal('idle');
    expect(at(world, evil ?? '')).to.deep.include({ status: 'quarantined', version: 2, trust_tier: 2, content: 'an evil text' });
    expect(at(world, worst ?? '')?.guard).to.deep.equal({ verdict: 'block', rule_ids: ['worst'], policy_revision: 'r2' });
    expect(at(world, fine ?? '')).to.deep.include({ status: 'active', version: 1 });
    expect(world.index.copies.has(`${evil}@1`), 'the version before is kept').to.equal(true);
    expect(jobs.findings.map(({ action }) => action)).to.deep.equal(['quarantined', 'quarantined']);
    expect(jobs.unchecked).to.deep.equal([3, 0]);
    expect(await job.due(), 'done').to.deep.equal([]);
  });

  it('only reports what a person has confirmed, and leaves what was let in with as grave a verdict', async () => {
    const world = createWorld();
    const jobs = jobsOf(world);
    const confirmed = plant(world, { content: 'evil, but mine', trust_tier: 4 });
    const decided = plant(world, { content: 'evil too', guard: { verdict: 'quarantine', rule_ids: ['evil'], policy_revision: 'r1' } });
    await jobs.open().run('acme', run);
    expect([confirmed, decided].map((id) => at(world, id)?.status)).to.deep.equal(['active', 'active']);
    expect(jobs.findings.map(({ memoryId, action }) => [memoryId, action])).to.deep.equal([[confirmed, 'reported']]);
  });

  it('goes page by page, goes on in another process where it stood, and takes a page again that failed', async () => {
    const world = createWorld();
    const jobs = jobsOf(world);
    for (let i = 0; i < 250; i += 1) plant(world, { content: `text ${i}` });
    expect(await jobs.open().run('acme', run)).to.equal('more');
    expect(jobs.mark()?.checked).to.equal(100);
    jobs.fail(new HindsightError('ERR_GUARD_UNAVAILABLE'));
    await rejection(jobs.open().run('acme', run));
    jobs.fail();
    expect(jobs.mark()?.checked, 'nothing is skipped').to.equal(100);
    const other = jobs.open();
    expect(await other.due()).to.deep.equal(['acme']);
    expect(jobs.unchecked.at(-1)).to.equal(150);
    expect(await other.run('acme', run)).to.equal('more');
    expect(await other.run('acme', run)).to.equal('idle');
    expect(new Set(jobs.judged).size).to.equal(250);
    expect(jobs.judged).to.have.length(250);
    expect(jobs.mark()).to.deep.include({ checked: 250, policy_revision: 'r2' });
    expect(jobs.mark()).not.to.have.property('begun_at');
  });

  it('looks again only at what a process of the old policies wrote since', async () => {
    const world = createWorld();
    const jobs = jobsOf(world);
    for (let i = 0; i < 5; i += 1) plant(world, { content: `text ${i}` });
    const job = jobs.open();
    await job.due();
    await job.run('acme', run);
    world.time.nowMs += 60_000;
    const late = plant(world, { content: 'evil and late', updated_at: new Date(world.time.nowMs).toISOString() });
    world.time.nowMs += 60_000;
    expect(await job.due()).to.deep.equal(['acme']);
    await job.run('acme', run);
    expect(jobs.judged.slice(5)).to.deep.equal(['evil and late']);
    expect(at(world, late)?.status).to.equal('quarantined');
  });

  it('begins nothing new when it is to stop, and half a page is taken again', async () => {
    const world = createWorld();
    const jobs = jobsOf(world);
    plant(world, { content: 'evil' });
    const stop = new AbortController();
    stop.abort();
    expect(await jobs.open().run('acme', { nudged: false, signal: stop.signal })).to.equal('idle');
    expect(jobs.mark()).to.equal(undefined);
    expect(jobs.judged).to.deep.equal([]);
  });
});

describe('nightly sample', () => {
  it('is drawn once a night and tenant, by a seed of both', async () => {
    const world = createWorld();
    const jobs = jobsOf(world);
    const id = plant(world, { content: 'evil', guard: { verdict: 'allow', rule_ids: [], policy_revision: 'r2' } });
    const claimed = new Set<string>();
    const seeds: number[] = [];
    const reports: string[] = [];
    const job = createRescanSample({
      queue: {
        withRecords: async () => ['acme'],
        drawn: async (_tenant, { size, seed }) => {
          expect(size).to.equal(200);
          seeds.push(seed);
          return [memoryRecord({ memory_id: id })];
        },
      },
      marks: { claimNight: async (tenant, night) => !claimed.has(tenant + night) && Boolean(claimed.add(tenant + night)) },
      judge: jobs.judge,
      clock: world.deps.clock,
      onReport: (_tenant, night, { held }) => void reports.push(`${night} ${held}`),
    });
    const night = async (): Promise<void> => {
      for (const tenant of await job.due()) await job.run(tenant, run);
    };
    await night();
    await night();
    expect(at(world, id)?.status).to.equal('quarantined');
    world.time.nowMs += 86_400_000;
    await night();
    expect(reports).to.deep.equal(['2026-03-01 1', '2026-03-02 0']);
    expect(new Set(seeds).size).to.equal(2);
    expect(seeds.every((seed) => Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31)).to.equal(true);
  });

  it('counts the hours before 03:00 UTC to the night before', () => {
    expect(nightOf(Date.parse('2026-03-02T02:59:59Z'))).to.equal('2026-03-01');
    expect(nightOf(Date.parse('2026-03-02T03:00:00Z'))).to.equal('2026-03-02');
  });
});

describe('sweep of pending writes', () => {
  it('rejects as expired what waited for seven days and nothing else', async () => {
    const world = createWorld();
    const { setAside } = jobsOf(world);
    const before = (ms: number): string => new Date(world.time.nowMs - ms).toISOString();
    const over = plant(world, { status: 'pending', created_at: before(7 * 86_400_000) });
    const waiting = plant(world, { status: 'pending', created_at: before(7 * 86_400_000 - 1) });
    const quarantined = plant(world, { status: 'quarantined', created_at: before(30 * 86_400_000) });
    const expired: string[] = [];
    const job = createPendingSweep({
      pending: { createdUntil: async () => [...world.index.heads.values()].map(({ record }) => record) },
      index: world.index,
      setAside,
      clock: world.deps.clock,
      onExpired: (_tenant, memoryId) => void expired.push(memoryId),
    });
    expect(await job.run('*', run)).to.equal('idle');
    expect(expired).to.deep.equal([over]);
    expect(at(world, over)).to.deep.include({ status: 'rejected', reason: 'expired', version: 2 });
    expect([waiting, quarantined].map((id) => at(world, id)?.status)).to.deep.equal(['pending', 'quarantined']);
  });
});
