/** The seeds' five formulas, each against a value worked out by hand. */
import { expect } from 'chai';
import type { RankedHit, SearchSpec } from '../../../src/domain/ranking.ts';
import { fuse } from '../../../src/ranking/fuse.ts';
import { hitOf, recordOf } from '../../support/hits.ts';
import { ASKED_AT_MS, en, profile, specOf } from '../../support/search-specs.ts';

const daysAgo = (days: number): string => new Date(ASKED_AT_MS - days * 86_400_000).toISOString();
const seed = (name: string, over: Partial<SearchSpec> = {}): SearchSpec =>
  specOf({ query: 'tea', vectors: [en()], profile: profile(`seed-${name}`), ...over });
/** v = .5 and keyword = .5 for every hit. */
const HALF = { cos: 0.79, lex: 24 };
const score = (spec: SearchSpec, fields: Parameters<typeof recordOf>[0]): number =>
  (fuse({ hits: [hitOf(spec, recordOf(fields), HALF)], tookMs: 1 }, spec)[0] as RankedHit).score;

describe('seed formulas', () => {
  it('seed-weighted: 0.5 vector + 0.2 keyword + 0.2 exp(-0.01 days) + 0.1 task, half for another task', () => {
    const spec = seed('weighted', { taskId: 't' });
    const base = 0.25 + 0.1 + 0.2 * Math.exp(-0.01 * 40);
    expect(score(spec, { memory_id: 'm', event_at: daysAgo(40), task_id: 't' })).to.be.closeTo(base + 0.1, 1e-4);
    expect(score(spec, { memory_id: 'm', event_at: daysAgo(40), task_id: 'u' })).to.be.closeTo(base + 0.05, 1e-4);
    expect(score(seed('weighted'), { memory_id: 'm', event_at: daysAgo(40) })).to.be.closeTo(base, 1e-4);
  });

  it('seed-age: 0.7 vector + 0.2 keyword + 0.1 x 0.98^days', () => {
    expect(score(seed('age'), { memory_id: 'm', event_at: daysAgo(10) })).to.be.closeTo(0.35 + 0.1 + 0.1 * 0.98 ** 10, 1e-4);
  });

  it('seed-multiplicative: s (1 + .2 recency) (1 + .1 log(uses + 1))', () => {
    const expected = 0.5 * (1 + 0.2 * 0.5) * (1 + 0.1 * Math.log(8));
    expect(score(seed('multiplicative'), { memory_id: 'm', event_at: daysAgo(10), access_level: 3 })).to.be.closeTo(expected, 1e-4);
  });

  it('seed-simple: 0.6 vector + 0.2 recency + 0.2 importance', () => {
    expect(score(seed('simple'), { memory_id: 'm', event_at: daysAgo(30), importance: 0.9 })).to.be.closeTo(0.3 + 0.1 + 0.18, 1e-4);
  });

  it('seed-strategy: 0.2 vector + 0.3 task type + 0.3 confidence + 0.1 recency - 0.1 redundancy to better hits', () => {
    const spec = seed('strategy', { taskType: 'refund' });
    const hits = [
      recordOf({ memory_id: 'best', content: 'ask for the receipt first', confidence: 0.9, task_type: 'refund' }),
      recordOf({ memory_id: 'copy', content: 'ask for the receipt first', confidence: 0.8, task_type: 'refund' }),
      recordOf({ memory_id: 'fresh', content: 'offer a voucher instead', confidence: 0.6, task_type: 'refund' }),
    ].map((record) => hitOf(spec, record, HALF));
    const ranked = fuse({ hits, tookMs: 1 }, spec);
    const found = Object.fromEntries(ranked.map((hit) => [hit.record.memory_id, hit.score]));
    expect(found['best']).to.be.closeTo(0.1 + 0.3 + 0.27 + 0.1, 1e-4);
    expect(found['copy']).to.be.closeTo(0.1 + 0.3 + 0.24 + 0.1 - 0.1, 1e-4);
    expect(found['fresh']).to.be.closeTo(0.1 + 0.3 + 0.18 + 0.1, 1e-4);
    expect(ranked.map(({ record }) => record.memory_id)).to.deep.equal(['best', 'fresh', 'copy']);
  });
});
