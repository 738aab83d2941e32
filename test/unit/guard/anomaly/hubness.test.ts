/** Hubness: a foreign record that comes up for questions which have nothing to do with each other loses score; nothing else does. */
import { join } from 'node:path';
import { expect } from 'chai';
import type { HitRecord, RankedHit } from '../../../../src/domain/ranking.ts';
import { hubness, type Hubness } from '../../../../src/guard/anomaly/hubness.ts';
import { anomalySchema } from '../../../../src/guard/anomaly/policy.ts';
import { loadPolicy } from '../../../../src/policy.ts';
import { recordOf } from '../../../support/hits.ts';

const policy = loadPolicy(join(import.meta.dirname, '..', '..', '..', '..', 'policies', 'guard', 'anomaly.yaml'), anomalySchema);
const ENOUGH = policy.hubness.queries;
/** Questions without a common word. */
const unrelated = (i: number): string => `where did whale${i} find amber${i} stones${i}`;
const unrelatedZh =
  '渡轮几点出发|谁养了那只猫|报销流程走到哪步|花园里种着什么树|冬天供暖何时开始|周五聚餐订在哪家|打印机缺墨怎么办|孩子几岁上学'.split('|');

describe('hubness', () => {
  let look: Hubness;
  let nowMs: number;
  const foreign = (over: Partial<HitRecord> = {}): RankedHit => ({
    record: recordOf({
      memory_id: 'm1',
      content: 'The kettle is broken. alter pasture archival',
      trust_tier: 1,
      origin: [{ type: 'tool', principal: 'bot', ts: '2026-03-01T10:00:00.000Z' }],
      ...over,
    }),
    score: 0.9,
    engineScore: 1,
    parts: [],
  });
  const score = (query: string, hit = foreign(), more: object = {}): number | undefined =>
    look([hit], { tenant: 't1', query, topK: 5, reader: 'ann', ...more })[0]?.score;
  beforeEach(() => {
    nowMs = Date.parse('2026-03-01T12:00:00Z');
    look = hubness(policy, () => nowMs);
  });

  it('takes score from it once so many unrelated questions brought it up, says why, and forgets after a while', () => {
    for (let i = 0; i < ENOUGH - 1; i += 1) expect(score(`${unrelated(i)} alter pasture archival`)).to.equal(0.9);
    const [hit] = look([foreign()], { tenant: 't1', query: unrelated(99), topK: 5, reader: 'ann' });
    expect(hit?.score).to.equal(0.36);
    const part = hit?.parts[0];
    expect(part?.contribution).to.be.closeTo(-0.54, 1e-9);
    expect(part).to.include({ signal: 'hubness', sentence: `It came up for ${ENOUGH} questions that have nothing to do with each other` });
    nowMs += policy.window_minutes * 60_000 + 1;
    expect(score(unrelated(1))).to.equal(0.9);
  });

  it('does so for Chinese questions', () => {
    unrelatedZh.forEach((query) => score(`${query} alter pasture archival`));
    expect(unrelatedZh).to.have.length(ENOUGH);
    expect(score('随便问问')).to.equal(0.36);
  });

  it('does not for one question in many words, the same ones again, or questions about what it says', () => {
    for (let i = 0; i < 40; i += 1) score(`please tell whether somebody repaired it lately${i % 2 === 0 ? ' or not' : ''}`);
    for (let i = 0; i < 40; i += 1) score(['is the kettle broken', 'kettle', 'broken kettle', '什么'][i % 4] ?? '');
    expect(score('anything else today')).to.equal(0.9);
  });

  it('takes nothing where a few records answer all questions, and still finds the one that comes up for all of them', () => {
    const others = Array.from({ length: 20 }, (_x, i) =>
      foreign({ memory_id: `r${i}`, content: `Note ${i} about the ferry`, trust_tier: 1 + (i % 3) }),
    );
    const changed = new Set<string>();
    const ask = (i: number, ...hits: RankedHit[]): void => {
      for (const hit of look(hits, { tenant: 't1', query: unrelated(i), topK: 5, reader: 'ann' }))
        if (hit.parts.length > 0) changed.add(hit.record.memory_id);
    };
    for (let i = 0; i < 120; i += 1) ask(i, ...others.filter((_x, n) => (n + i) % 5 === 0));
    expect([...changed]).to.deep.equal([]);
    look = hubness(policy, () => nowMs);
    for (let i = 0; i < 60; i += 1) ask(i, foreign(), ...others.filter((_x, n) => (n + i) % 10 === 0));
    expect([...changed]).to.deep.equal(['m1']);
  });

  it('looks at foreign records in the first places alone, each tenant’s for itself', () => {
    const others: readonly [RankedHit, object][] = [
      [foreign({ trust_tier: 3 }), {}],
      [foreign({ trust_tier: 2, origin: [{ type: 'agent', principal: 'ann', ts: '2026-03-01T10:00:00.000Z' }] }), {}],
      [foreign(), { topK: 0 }],
    ];
    for (const [hit, more] of others) for (let i = 0; i < ENOUGH * 2; i += 1) expect(score(unrelated(i), hit, more)).to.equal(0.9);
    for (let i = 0; i < ENOUGH; i += 1) score(unrelated(i), foreign(), { tenant: 't2' });
    expect(score(unrelated(99))).to.equal(0.9);
  });
});
