/** What the scenarios' profiles are for: the hit that each puts first where the default profile puts another one. */
import { expect } from 'chai';
import type { Feedback } from '../../../src/domain/memory.ts';
import type { HitRecord, IndexHit, SearchSpec } from '../../../src/domain/ranking.ts';
import { TIER } from '../../../src/domain/trust.ts';
import { fuse, relevance } from '../../../src/ranking/fuse.ts';
import { hitOf, recordOf, type HitParts } from '../../support/hits.ts';
import { ASKED_AT_MS, en, profile, specOf } from '../../support/search-specs.ts';

const DAY_MS = 86_400_000;
const daysAgo = (days: number): string => new Date(ASKED_AT_MS - days * DAY_MS).toISOString();

const judged = (score: number): Feedback => ({ useful: 1, wrong: 1, outdated: 0, cited: 0, score, last_at: daysAgo(1) });

interface Candidate {
  readonly record: Partial<HitRecord> & { readonly memory_id: string };
  readonly parts: HitParts;
}

const specBy = (name: string, more: Partial<SearchSpec> & { readonly query: string }): SearchSpec =>
  specOf({ vectors: [en()], profile: profile(name), ...more });
function orderBy(name: string, more: Partial<SearchSpec> & { readonly query: string }, candidates: readonly Candidate[]) {
  const spec = specBy(name, more);
  const hits: IndexHit[] = candidates.map(({ record, parts }) => hitOf(spec, recordOf(record), parts));
  return fuse({ hits, tookMs: 1 }, spec);
}
const first = (...given: Parameters<typeof orderBy>): string | undefined => orderBy(...given)[0]?.record.memory_id;

describe('ranking profiles of scenarios', () => {
  it('case-based: a case of the same kind of task that helped comes before a text that is a little closer', () => {
    const asked = { query: 'How do we move the mail server?', taskType: 'migration' };
    const cases: Candidate[] = [
      { record: { memory_id: 'closer', task_type: 'billing', content: 'moved the mail of a customer' }, parts: { cos: 0.86, lex: 8 } },
      {
        record: {
          memory_id: 'helped',
          task_type: 'migration',
          content: 'database to new host',
          feedback: judged(0.4),
        },
        parts: { cos: 0.8, lex: 5 },
      },
    ];
    expect(first('assistant', asked, cases)).to.equal('closer');
    expect(first('case-based', asked, cases)).to.equal('helped');
  });

  it('case-based: the later of two cases in like words does not outdate the earlier one', () => {
    const asked = { query: 'restart of the queue' };
    const cases: Candidate[] = [
      {
        record: { memory_id: 'old', event_at: daysAgo(90), content: 'queue restart took ten minutes, drained first' },
        parts: { cos: 0.82 },
      },
      {
        record: { memory_id: 'new', event_at: daysAgo(1), content: 'queue restart took two minutes, drained first' },
        parts: { cos: 0.81 },
      },
    ];
    expect(first('assistant', asked, cases)).to.equal('new');
    expect(first('case-based', asked, cases)).to.equal('old');
  });

  it('audit: neither age nor worth, trust, popularity or feedback moves a record', () => {
    const asked = { query: 'payments to Norwick Ltd' };
    const best: Partial<HitRecord> = {
      event_at: daysAgo(0),
      importance: 1,
      confidence: 1,
      access_level: 9,
      trust_tier: TIER.user_confirmed,
      feedback: judged(0.9),
    };
    const worst: Partial<HitRecord> = {
      event_at: daysAgo(3_000),
      importance: 0,
      confidence: 0,
      access_level: 0,
      trust_tier: TIER.external,
      feedback: judged(-0.9),
    };
    const records: Candidate[] = [
      { record: { memory_id: 'best', content: 'one', ...best }, parts: { cos: 0.8, lex: 6 } },
      { record: { memory_id: 'worst', content: 'two', ...worst }, parts: { cos: 0.8, lex: 6 } },
    ];
    const [a, b] = orderBy('audit', asked, records);
    expect(a?.score).to.equal(b?.score);
    const byAssistant = orderBy('assistant', asked, records);
    expect(byAssistant[0]?.record.memory_id).to.equal('best');
    expect(byAssistant[0]?.score).to.be.greaterThan(byAssistant[1]?.score ?? 1);
  });

  it('audit: the words of the record, its speaker and its day decide', () => {
    const asked = { query: 'What did Caroline transfer on 2 May 2024?' };
    const records: Candidate[] = [
      { record: { memory_id: 'meant', content: 'money moved' }, parts: { cos: 0.9, lex: 2 } },
      { record: { memory_id: 'worded', content: 'transfer by Caroline' }, parts: { cos: 0.8, lex: 20 } },
    ];
    expect(first('assistant', asked, records)).to.equal('meant');
    expect(first('audit', asked, records)).to.equal('worded');
  });

  it('audit: shows weak evidence that the default profile would leave out, and never asks a cross-encoder', () => {
    const asked = { query: 'gifts from suppliers' };
    const weak: Candidate[] = [{ record: { memory_id: 'weak', content: 'a basket of fruit came' }, parts: { cos: 0.77 } }];
    const seen = (name: string): boolean => {
      const spec = specBy(name, asked);
      return !relevance(orderBy(name, asked, weak), { query: asked.query, floor: spec.profile.floor }).nothingRelevant;
    };
    expect([seen('assistant'), seen('audit')]).to.deep.equal([false, true]);
    expect(profile('audit').rerank).to.include({ margin: 0 });
  });
});
