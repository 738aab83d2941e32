/** Scanning again at read (guard.md, scenario G13): a new rule holds for old records on every read, once each, and never over a person's decision. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { MemoryRecord } from '../../../../src/domain/memory.ts';
import { STATUSES } from '../../../../src/domain/memory.ts';
import { VERDICTS, type Verdict } from '../../../../src/domain/trust.ts';
import { rescanStage, type HeldBack, type TextJudge } from '../../../../src/guard/screening/rescan.ts';
import type { ScreenOptions } from '../../../../src/guard/guard.ts';
import { createWorld, type World } from '../../../support/memory-world.ts';
import { principal } from '../../../support/principals.ts';
import { memoryRecord } from '../../../support/records.ts';
import { rejection } from '../../../support/rejection.ts';

const PAST: MemoryRecord['guard'] = { verdict: 'allow', rule_ids: [], policy_revision: 'r0' };

interface Judge {
  readonly judge: TextJudge;
  readonly seen: string[];
}

/** Gives the verdict for texts that hold the word, and lets all others in. */
function judgeOf(verdict: Verdict, word = 'POISON'): Judge {
  const seen: string[] = [];
  return {
    seen,
    judge: async (record) => {
      seen.push(record.content ?? '');
      return JSON.stringify(record).includes(word) ? { verdict, ruleIds: ['r-1'] } : { verdict: 'allow', ruleIds: [] };
    },
  };
}

const keeps = async (verdict: Verdict, fields: Partial<MemoryRecord>, options: ScreenOptions = {}): Promise<boolean> =>
  rescanStage({ judge: judgeOf(verdict).judge, policyRevision: 'r1' }).keep(
    memoryRecord({ content: 'POISON', guard: PAST, trust_tier: 0, ...fields }),
    options,
  );

function worldWith(judge: TextJudge, heldBack: HeldBack[] = []): World {
  const stage = rescanStage({ judge, policyRevision: 'r1', onHeldBack: (found) => void heldBack.push(found) });
  return createWorld({ guard: { screenStages: [stage] } });
}

describe('rescan at read', () => {
  it('holds back what would now be blocked, quarantined or pending, and from prompts what would be a candidate', async () => {
    const kept = await Promise.all(VERDICTS.map((verdict) => keeps(verdict, {})));
    expect(kept).to.deep.equal([true, true, true, true, false, false, false]);
    expect(await keeps('candidate', {}, { prompt: true })).to.equal(false);
    expect(await keeps('candidate', { status: 'candidate' }, { prompt: true })).to.equal(true);
  });

  it('does not go over a decision: a confirmed text, or one let in with a verdict as grave', async () => {
    expect(await keeps('confirm', { trust_tier: 3 })).to.equal(false);
    expect(await keeps('confirm', { trust_tier: 4 })).to.equal(true);
    expect(await keeps('quarantine', { trust_tier: 4 })).to.equal(false);
    expect(await keeps('confirm', { trust_tier: 3, guard: { ...PAST, verdict: 'confirm' } })).to.equal(true);
    expect(await keeps('block', { guard: { ...PAST, verdict: 'quarantine' } })).to.equal(false);
  });

  it('judges neither what was let in under the present revision nor what is held back already nor what is not shown', async () => {
    const { judge, seen } = judgeOf('block');
    const stage = rescanStage({ judge, policyRevision: 'r1' });
    expect(stage.keep(memoryRecord({ content: 'POISON' }), {})).to.equal(true);
    for (const status of ['pending', 'quarantined'] as const)
      expect(stage.keep(memoryRecord({ content: 'POISON', guard: PAST, status }), {})).to.equal(true);
    expect(stage.keep(memoryRecord({ content: 'POISON', guard: PAST }), { unshown: true })).to.equal(true);
    expect(seen).to.deep.equal([]);
  });

  it('judges a version once, and again what differs in version, trust or the texts shown', async () => {
    const { judge, seen } = judgeOf('block');
    const found: HeldBack[] = [];
    const stage = rescanStage({ judge, policyRevision: 'r1', onHeldBack: (held) => void found.push(held) });
    const record = memoryRecord({ content: 'POISON', guard: PAST });
    for (const fields of [{}, {}, { version: 2 }, { trust_tier: 1 }, { tags: ['x'] }, { tenant: 'other' }, {}])
      await stage.keep({ ...record, ...fields }, {});
    expect(seen).to.have.length(5);
    expect(found.map(({ memoryId, verdict, ruleIds, first }) => [memoryId, verdict, ruleIds[0], first])).to.deep.equal(
      [true, false, true, true, true, true, false].map((first) => [record.memory_id, 'block', 'r-1', first]),
    );
  });

  it('keeps no more than 20,000 findings, those used last', async () => {
    const { judge, seen } = judgeOf('allow');
    const stage = rescanStage({ judge, policyRevision: 'r1' });
    const record = memoryRecord({ guard: PAST });
    await stage.keep(record, {});
    for (let version = 2; version <= 20_001; version += 1) {
      await stage.keep({ ...record, version }, {});
      if (version === 10_000) await stage.keep(record, {});
    }
    expect(seen).to.have.length(20_001);
    await stage.keep(record, {});
    expect(seen).to.have.length(20_001);
    await stage.keep({ ...record, version: 2 }, {});
    expect(seen).to.have.length(20_002);
  }).timeout(10_000);

  it('returns only confirmed memories while the judge fails, and the ones of this revision', async () => {
    const world = worldWith(() => Promise.reject(new Error('no rules')));
    for (const [i, guard] of [PAST, { ...PAST, policy_revision: 'r1' }].entries())
      for (const trust_tier of [3, 4])
        world.index.plant(
          memoryRecord({ content: `tea ${i} ${trust_tier}`, lex_uni: 'tea', fingerprint: `${i}${trust_tier}`, guard, trust_tier }),
        );
    const { hits, degraded } = await world.memory.search({ query: 'tea' }, world.call());
    expect(hits.map(({ content }) => content)).to.have.members(['tea 0 4', 'tea 1 3', 'tea 1 4']);
    expect(degraded).to.deep.equal(['guard']);
  });

  it('leaves the held-back text within reach of forgetting', async () => {
    const world = worldWith(judgeOf('quarantine').judge);
    const record = memoryRecord({ content: 'POISON tea', lex_uni: 'tea', guard: PAST });
    world.index.plant(record);
    expect((await world.memory.search({ query: 'tea' }, world.call())).hits).to.deep.equal([]);
    const plan = await world.memory.forget({ query: 'tea', min_score: 0, dry_run: true }, world.call());
    expect(plan).to.include({ count: 1 });
    expect(JSON.stringify(plan)).not.to.include('POISON');
  });

  it('answers for the history of a held-back memory as for the memory itself', async () => {
    const world = worldWith(judgeOf('quarantine').judge);
    const record = memoryRecord({ content: 'POISON tea', guard: PAST, version: 2 });
    world.index.plant(record);
    world.index.plantVersion({ ...record, content: 'green tea', version: 1 });
    const { memory_id } = record;
    const reads = [world.memory.get({ memory_id }, world.call()), world.memory.history({ memory_id }, world.call())];
    for (const read of reads) expect((await rejection(read)).code).to.equal('ERR_MEMORY_NOT_FOUND');
  });

  it('no held-back text comes out of search, get, list, history or export, nor anything below the trust floor of a search', async () => {
    const text = fc.constantFrom('POISON tea', 'green tea', 'tea POISON 茶', '绿茶 tea');
    const version = fc.record({
      content: text,
      summary: text,
      status: fc.constantFrom(...STATUSES),
      trust_tier: fc.integer({ min: 0, max: 5 }),
      visibility: fc.constantFrom('private' as const, 'shared' as const),
      metadata: fc.constantFrom({}, { note: 'POISON' }, { POISON: 1 }),
      guard: fc.constantFrom(PAST, { ...PAST, policy_revision: 'r00' }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(version, fc.array(version, { maxLength: 2 })), { minLength: 1, maxLength: 5 }),
        fc.constantFrom<Verdict>('quarantine', 'block'),
        fc.constantFrom('user' as const, 'agent' as const),
        fc.constantFrom('external' as const, 'agent_inferred' as const, 'user_confirmed' as const),
        async (records, verdict, actor, trust_floor) => {
          const world = worldWith(judgeOf(verdict).judge);
          const call = world.call(principal({ actor }));
          const planted = records.map(([head, copies], i) => {
            // what waits for a person's decision is shown to people, as it waits
            const status = actor === 'user' && head.status === 'pending' ? 'active' : head.status;
            const record = memoryRecord({ ...head, status, lex_uni: 'tea', fingerprint: `f${i}`, version: copies.length + 1 });
            world.index.plant(record);
            for (const [v, copy] of copies.entries()) world.index.plantVersion({ ...record, ...copy, version: v + 1 });
            return record;
          });
          const out: unknown[] = [];
          const ask = async (answer: Promise<unknown>): Promise<void> => {
            try {
              out.push(await answer);
            } catch (error) {
              expect((error as { code?: string }).code).to.equal('ERR_MEMORY_NOT_FOUND');
            }
          };
          const found = await world.memory.search({ query: 'tea', top_k: 20, explain: true, include_superseded: true, trust_floor }, call);
          const floor = { external: 0, agent_inferred: 2, user_confirmed: 4 }[trust_floor];
          const tierOf = new Map(planted.map(({ memory_id, trust_tier }) => [memory_id, trust_tier]));
          for (const hit of found.hits) expect(tierOf.get(hit.memory_id)).to.be.at.least(floor);
          out.push(found, await world.memory.list({ filter: { status: [...STATUSES] } }, call));
          for (const { memory_id } of planted) {
            await ask(world.memory.get({ memory_id }, call));
            await ask(world.memory.history({ memory_id }, call));
          }
          if (actor === 'user') {
            for await (const line of await world.memory.exportLines({}, call)) out.push(line);
          } else expect((await rejection(world.memory.exportLines({}, call))).code).to.equal('ERR_ACTOR_FORBIDDEN');
          expect(JSON.stringify(out)).not.to.include('POISON');
        },
      ),
      { numRuns: 150 },
    );
  });
});
