/** tune: how questions are scored by other weights, how weights are found, and how far a gain is to be believed. */
import { expect } from 'chai';
import fc from 'fast-check';
import { estimate, foldsOf, meanOf } from '../../../../src/cli/tune/chance.ts';
import { figuresOf, fit, movedIn } from '../../../../src/cli/tune/fit.ts';
import { questionOf, rankedBy, tracing, type Question } from '../../../../src/cli/tune/questions.ts';
import type { SearchAnswer } from '../../../../src/domain/wire/read.ts';
import type { IndexHit } from '../../../../src/domain/ranking.ts';
import { fuse } from '../../../../src/ranking/fuse.ts';
import { withWeights } from '../../../../src/ranking/profile.ts';
import { hitOf, recordOf } from '../../../support/hits.ts';
import { ASKED_AT_MS, ASSISTANT, en, specOf } from '../../../support/search-specs.ts';

const BASE = ASSISTANT.weights;

const question = (relevant: string, candidates: Readonly<Record<string, Readonly<Record<string, number>>>>): Question => ({
  relevant: new Set([relevant]),
  candidates: Object.entries(candidates).map(([memoryId, values]) => ({ memoryId, values, rest: 0, withoutVector: false })),
  share: undefined,
  leastRecency: 0,
});

/** The right one shares words, the wrong one is nearer in meaning. */
const wordy = (i: number): Question =>
  question('right', { wrong: { vector: 0.8 + (i % 7) / 100, lexical: 0.1 }, right: { vector: 0.6, lexical: 0.5 }, far: { vector: 0.2 } });

describe('tune: questions by other weights', () => {
  const pages: readonly (readonly [query: string, hits: (spec: ReturnType<typeof specOf>) => readonly IndexHit[]])[] = [
    [
      'which tea is in the blue cupboard',
      (spec) => [
        hitOf(spec, recordOf({ memory_id: 'a', content: 'one', importance: 0.9 }), { cos: 0.86, lex: 3 }),
        hitOf(spec, recordOf({ memory_id: 'b', content: 'two', event_at: '2024-01-01T00:00:00.000Z' }), { cos: 0.8, lex: 14 }),
        hitOf(spec, recordOf({ memory_id: 'c', content: 'three' }), { lex: 18, named: { due: 900 } }),
      ],
    ],
    [
      'What did Caroline buy on 2 May 2024?',
      (spec) => [
        hitOf(spec, recordOf({ memory_id: 'a', content: 'one' }), { cos: 0.86, lex: 3, spk: 12.5 }),
        hitOf(spec, recordOf({ memory_id: 'b', content: 'two' }), { cos: 0.82, lex: 9, date: 125 * (spec.profile.weights['date'] ?? 0) }),
      ],
    ],
    [
      'what is the latest order',
      (spec) => [
        hitOf(spec, recordOf({ memory_id: 'a', content: 'one', event_at: '2023-01-01T00:00:00.000Z' }), { cos: 0.82, lex: 3 }),
        hitOf(spec, recordOf({ memory_id: 'b', content: 'two' }), { cos: 0.81, lex: 3 }),
      ],
    ],
  ];
  /** The page as the service explains it under these weights. */
  const explained = (query: string, hits: (typeof pages)[number][1], weights: Readonly<Record<string, number>>): SearchAnswer['hits'] => {
    const spec = specOf({ query, vectors: [en()], profile: withWeights(ASSISTANT, weights) });
    return fuse({ hits: hits(spec), tookMs: 1 }, spec).map(
      ({ record, parts }) =>
        ({ memory_id: record.memory_id, explain: { engine_score: 1, signals: parts } }) as unknown as SearchAnswer['hits'][number],
    );
  };

  it('come in the order that the ranking itself gives them under those weights', () => {
    const weight = fc.constantFrom(0, 0.05, 0.3, 1, 3);
    const changes = fc.record({ lexical: weight, date: weight, speaker: weight, importance: weight });
    fc.assert(
      fc.property(fc.constantFrom(...pages), changes, ([query, hits], change) => {
        const answer = { hits: explained(query, hits, tracing(ASSISTANT)) } as unknown as SearchAnswer;
        const row = { query, relevant: ['a'], asked_at: new Date(ASKED_AT_MS).toISOString() };
        const offline = rankedBy(questionOf(row, answer, ASSISTANT, 0), { ...BASE, ...change });
        const spec = specOf({ query, vectors: [en()], profile: { ...ASSISTANT, weights: { ...BASE, ...change } } });
        const online = fuse({ hits: hits(spec), tookMs: 1 }, spec).map(({ record }) => record.memory_id);
        expect(offline).to.deep.equal(online);
      }),
      { numRuns: 150 },
    );
  });

  it('shows every signal in an explanation, also those without a weight', () => {
    const weights = tracing(ASSISTANT);
    expect(Object.values(weights).every((weight) => weight > 0)).to.equal(true);
    expect(weights).to.include({ vector: 0.7, recency: 1e-6, redundancy: 1e-6 });
  });
});

describe('tune: the fit', () => {
  const questions = Array.from({ length: 30 }, (_, i) => wordy(i));

  it('raises the weight that puts the right ones first, and leaves the others as they were', () => {
    const found = fit(questions, BASE, 'ndcg');
    expect(movedIn(BASE, found).map(({ signal }) => signal)).to.deep.equal(['lexical']);
    expect(found['lexical']).to.be.greaterThan(BASE['lexical'] ?? 1);
    expect(meanOf(figuresOf(questions, BASE, 'mrr'))).to.equal(0.5);
    expect(meanOf(figuresOf(questions, found, 'mrr'))).to.equal(1);
  });

  it('gives a signal without a weight one where that helps', () => {
    const recent = Array.from({ length: 12 }, () => question('new', { old: { vector: 0.7 }, new: { vector: 0.69, recency: 1 } }));
    expect(fit(recent, BASE, 'mrr')['recency']).to.be.greaterThan(0);
  });

  it('moves nothing for one question among many', () => {
    const settled = Array.from({ length: 49 }, () => question('a', { a: { vector: 0.8 }, b: { vector: 0.7, lexical: 0.2 } }));
    expect(fit([...settled, wordy(0)], BASE, 'ndcg')).to.equal(BASE);
  });

  it('moves nothing where nothing helps: the vector stays for the scale of the floor', () => {
    const hopeless = Array.from({ length: 12 }, () => question('absent', { a: { vector: 0.5 }, b: { vector: 0.4 } }));
    expect(fit(hopeless, BASE, 'ndcg')).to.equal(BASE);
    expect(fit(questions, BASE, 'ndcg')['vector']).to.equal(BASE['vector']);
  });
});

describe('tune: chance', () => {
  it('draws folds of equal size, the same ones for the same seed', () => {
    const folds = foldsOf(23, 5, 7);
    expect(folds)
      .to.deep.equal(foldsOf(23, 5, 7))
      .and.to.not.deep.equal(foldsOf(23, 5, 8));
    const sizes = [0, 1, 2, 3, 4].map((fold) => folds.filter((one) => one === fold).length);
    expect(Math.max(...sizes) - Math.min(...sizes)).to.be.at.most(1);
  });

  it('gives a mean its interval: around 0 for noise, above 0 for a gain that most questions have', () => {
    const noise = Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? 0.2 : -0.2));
    expect(estimate(noise, 1).low).to.be.lessThan(0);
    expect(estimate(noise, 1).high).to.be.greaterThan(0);
    const gain = Array.from({ length: 60 }, (_, i) => (i % 4 === 0 ? 0 : 0.1));
    expect(estimate(gain, 1)).to.deep.equal(estimate(gain, 1));
    const { mean, low, high } = estimate(gain, 1);
    expect(mean).to.be.closeTo(0.075, 1e-9);
    expect(low).to.be.within(0.05, mean);
    expect(high).to.be.within(mean, 0.1);
  });
});
