/** Fusion: the calibrated score of known hits, what counts when something is missing, order, duplicates, the verdict. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { IndexHit, RankedHit, SearchSpec, SignalPart } from '../../../src/domain/ranking.ts';
import { fuse, relevance } from '../../../src/ranking/fuse.ts';
import { withWeights } from '../../../src/ranking/profile.ts';
import { hitOf, recordOf } from '../../support/hits.ts';
import { ASKED_AT_MS, ASSISTANT, SPECS, en, profile, specOf, zh } from '../../support/search-specs.ts';

/** Only the measured signals, so that golden values can be worked out by hand. */
const LEAN = withWeights(ASSISTANT, { recency: 0, importance: 0, confidence: 0, access: 0, trust: 0, task: 0 });
const lean = (over: Partial<SearchSpec> = {}): SearchSpec =>
  specOf({ query: 'What did she buy?', vectors: [en()], profile: LEAN, ...over });
const rank = (spec: SearchSpec, ...hits: IndexHit[]): RankedHit[] => fuse({ hits, tookMs: 1 }, spec);
const only = (spec: SearchSpec, hit: IndexHit): RankedHit => rank(spec, hit)[0] as RankedHit;
const part = (hit: RankedHit, name: string): SignalPart | undefined => hit.parts.find(({ signal }) => signal === name);
const one = recordOf({ memory_id: 'one' });

describe('fuse', () => {
  it('scores .7 v + .3 lex / (lex + 24) + .1 speaker + .72 of a named day', () => {
    const spec = lean();
    expect(only(spec, hitOf(spec, one, { cos: 0.79, lex: 24 })).score).to.be.closeTo(0.7 * 0.5 + 0.3 * 0.5, 1e-5);
    expect(only(spec, hitOf(spec, one, { cos: 0.79, lex: 24, spk: 12.5 })).score).to.be.closeTo(0.6, 1e-5);
    expect(only(spec, hitOf(spec, one, { cos: 0.7, lex: 8, date: 13.5 })).score).to.be.closeTo(0.14 + 0.075 + 0.108, 1e-5);
  });

  it('tells the parts of a score with raw value, weight and sentence', () => {
    const spec = lean();
    const hit = only(spec, hitOf(spec, one, { cos: 0.79, lex: 24 }));
    expect(hit.parts.map(({ signal }) => signal)).to.deep.equal(['vector', 'lexical', 'speaker', 'date']);
    expect(part(hit, 'vector')?.raw).to.be.closeTo(0.79, 1e-5);
    expect(part(hit, 'vector')?.sentence).to.equal('Its meaning is 50% close to the question (cosine 0.790)');
    expect(part(hit, 'lexical')).to.deep.equal({
      signal: 'lexical',
      raw: 24,
      normalised: 0.5,
      weight: 0.3,
      contribution: 0.15,
      sentence: 'It shares words with the question (BM25 24)',
    });
    expect(part(hit, 'date')).to.include({ raw: null, normalised: 0, contribution: 0, sentence: 'It had no part' });
  });

  it('says the same in Chinese', () => {
    const spec = lean();
    const [hit] = fuse({ hits: [hitOf(spec, one, { cos: 0.79, lex: 24 })], tookMs: 1 }, spec, 'zh');
    expect(hit?.parts.map(({ sentence }) => sentence)).to.deep.equal([
      '语义接近程度 50%（余弦 0.790）',
      '与问题有相同的词语（BM25 24）',
      '没有作用',
      '没有作用',
    ]);
  });

  it('publishes at most 1 but sorts by what lies above it', () => {
    const spec = lean();
    const day = hitOf(spec, recordOf({ memory_id: 'a-day' }), { cos: 0.9, lex: 10, date: 90 });
    const both = hitOf(spec, recordOf({ memory_id: 'z-day-and-speaker' }), { cos: 0.9, lex: 10, date: 90, spk: 12.5 });
    const ranked = rank(spec, day, both);
    expect(ranked.map(({ record, score }) => [record.memory_id, score])).to.deep.equal([
      ['z-day-and-speaker', 1],
      ['a-day', 1],
    ]);
  });

  it('lets words reach the whole range while there are no vectors', () => {
    const spec = lean({ vectors: [] });
    const hit = only(spec, hitOf(spec, one, { lex: 72 }));
    expect(hit.score).to.be.closeTo(0.75, 1e-6);
    expect(part(hit, 'lexical')?.weight).to.be.closeTo(1, 1e-12);
    expect(part(hit, 'vector')).to.equal(undefined);
  });

  it('does the same for one record whose vector is due, but not for one that is merely far away', () => {
    const spec = lean();
    expect(only(spec, hitOf(spec, one, { lex: 24, named: { due: 850.25 } })).score).to.be.closeTo(0.5, 1e-5);
    expect(only(spec, hitOf(spec, one, { lex: 24 })).score).to.be.closeTo(0.15, 1e-5);
  });

  it('counts a passage that fits better than the whole record, and names it', () => {
    const spec = lean({ passages: true });
    const fits = hitOf(spec, one, { cos: 0.7, lex: 24, named: { passage: (950 * 1.88) / 2 }, passage: 'the paragraph' });
    const hit = only(spec, fits);
    expect(part(hit, 'passage')).to.deep.include({ weight: 0.7 });
    expect(part(hit, 'passage')?.normalised).to.be.closeTo(0.8, 1e-4);
    expect(part(hit, 'vector')).to.deep.include({ raw: null, weight: 0, contribution: 0 });
    expect(hit.score).to.be.closeTo(0.7 * 0.8 + 0.15, 1e-4);
    expect(hit.passage).to.equal('the paragraph');
  });

  it('counts the record’s own vector when it fits better than its passages', () => {
    const spec = lean({ passages: true });
    const hit = only(spec, hitOf(spec, one, { cos: 0.88, named: { passage: (950 * 1.7) / 2 } }));
    expect(part(hit, 'vector')?.contribution).to.be.closeTo(0.56, 1e-4);
    expect(part(hit, 'passage')).to.deep.include({ weight: 0, contribution: 0 });
    expect(part(hit, 'passage')?.raw).to.be.closeTo(0.7, 1e-6);
  });

  it('puts the record with the very code above a look-alike that has every word and the very meaning', () => {
    const spec = lean({ query: 'Where is order A-8841?' });
    const holds = hitOf(spec, one, { lex: 8, exact: 120, named: { rescue: 878.75 } });
    const alike = hitOf(spec, recordOf({ memory_id: 'alike' }), { cos: 0.94, lex: 40, spk: 12.5 });
    expect(holds.score).to.be.above(alike.score);
    const [best, second] = rank(spec, alike, holds);
    expect([best?.record.memory_id, second?.record.memory_id]).to.deep.equal(['one', 'alike']);
    expect(part(best as RankedHit, 'rescue')).to.deep.include({ raw: 0.7, weight: 0.7 });
    expect(part(best as RankedHit, 'exact')?.contribution).to.be.closeTo(0.5, 1e-6);
    expect(best?.score).to.be.at.least(0.99);
  });

  it('counts the record’s own vector where it is better than the stand-in, and a code in a record without vector once', () => {
    const spec = lean({ query: 'Where is order A-8841?' });
    const near = only(spec, hitOf(spec, one, { cos: 0.91, exact: 120, named: { rescue: 878.75 } }));
    expect(part(near, 'vector')?.normalised).to.be.closeTo(0.9, 1e-4);
    expect(part(near, 'rescue')).to.deep.include({ weight: 0 });
    const due = only(spec, hitOf(spec, one, { lex: 24, exact: 120, named: { rescue: 878.75, due: 850.25 } }));
    expect(part(due, 'lexical')?.weight).to.equal(0.3);
    expect(due.parts.reduce((sum, { contribution }) => sum + contribution, 0)).to.be.closeTo(0.49 + 0.15 + 0.5, 1e-4);
  });

  it('gives the second space what remains of a record that it alone has a vector of, named or not', () => {
    const spec = lean({ vectors: [en(), zh()] });
    const second = 399 + (633.3333 * (1 + 0.56)) / 2;
    const named = only(spec, hitOf(spec, one, { named: { knn_zh: second } }));
    const mark = { ...hitOf(spec, one, { named: { knn_zh: second } }), named: { other_alone: 0 } };
    const found = only(spec, mark);
    expect(found.score).to.be.closeTo(named.score, 1e-6);
    expect(part(found, 'vector_other')?.raw).to.be.closeTo(0.56, 1e-6);
    expect(part(found, 'vector')?.raw).to.equal(null);
    const stand = only(spec, { ...hitOf(spec, one, { lex: 8, named: { due: 850.25 } }), named: { lex: 8, due: 850.25, other_alone: 0 } });
    expect(part(stand, 'vector_other')?.raw, 'a stand-in is no vector').to.equal(null);
  });

  it('leaves the sentences out where nobody wants an explanation, and nothing else', () => {
    const spec = lean({ vectors: [en()] });
    const hit = hitOf(spec, one, { cos: 0.9, lex: 8 });
    const [told, silent] = [only(spec, hit), only({ ...spec, explain: false }, hit)];
    expect(told.parts.every(({ sentence }) => sentence !== '')).to.equal(true);
    expect(silent).to.deep.equal({ ...told, parts: told.parts.map((one) => ({ ...one, sentence: '' })) });
  });

  it('judges a Chinese record under an English question by the second space', () => {
    const spec = lean({ vectors: [en(), zh()] });
    const hit = only(spec, hitOf(spec, one, { named: { knn_zh: 399 + (633.3333 * (1 + 0.56)) / 2 } }));
    expect(part(hit, 'vector_other')?.normalised).to.be.closeTo(0.8, 1e-4);
    expect(hit.score).to.be.closeTo(0.56, 1e-4);
  });

  it('trusts words a little more when a question in Latin script names somebody', () => {
    const score = (query: string): number => {
      const spec = lean({ query });
      return only(spec, hitOf(spec, one, { cos: 0.79, lex: 24 })).score;
    };
    expect(score('What did she buy?')).to.be.closeTo(0.7 * 0.5 + 0.3 * 0.5, 1e-4);
    expect(score('What did Caroline buy?')).to.be.closeTo(0.65 * 0.5 + 0.35 * 0.5, 1e-4);
    const spec = lean({ query: 'What did Caroline buy?' });
    expect(part(only(spec, hitOf(spec, one, { cos: 0.79, lex: 24 })), 'lexical')?.weight).to.equal(0.35);
  });

  it('weighs words .85 and the vector .15 for a short Chinese question', () => {
    const spec = lean({ query: '绿茶', vectors: [zh()] });
    expect(only(spec, hitOf(spec, one, { cos: 0.425, lex: 24 })).score).to.be.closeTo(0.15 * 0.5 + 0.85 * 0.5, 1e-4);
  });

  it('comes back empty when no hit reaches the floor, and keeps the caller’s min_score', () => {
    const spec = lean();
    const ranked = rank(spec, hitOf(spec, one, { cos: 0.7, lex: 2 }), hitOf(spec, recordOf({ memory_id: 'two' }), { cos: 0.65 }));
    const { floor } = ASSISTANT;
    const { query } = spec;
    const said = rank(spec, hitOf(spec, recordOf({ memory_id: 'said', content: 'She bought tea, buys tea' }), { lex: 1 }));
    expect(relevance(said, { query: 'She buys tea, when?', floor }).nothingRelevant, 'most of the words').to.equal(false);
    expect(relevance(said, { query: 'Which tea does the ferry sell?', floor }).nothingRelevant).to.equal(true);
    expect(relevance(ranked, { query, floor })).to.deep.equal({ hits: [], nothingRelevant: true });
    expect(relevance(ranked, { query, floor, keep: true }), 'for an explanation').to.deep.equal({ hits: ranked, nothingRelevant: true });
    expect(relevance(ranked, { query, floor: 0.1 }), 'all of an answer that holds').to.deep.equal({ hits: ranked, nothingRelevant: false });
    const taken = { signal: 'origin_share', raw: null, normalised: 1, weight: -0.2, contribution: -0.2, sentence: 'It gives way' };
    const giving = ranked.map((hit) => ({ ...hit, score: Math.max(0, floor - 0.2), parts: [...hit.parts, taken] }));
    expect(relevance(giving, { query, floor }).nothingRelevant, 'what gives way to others is an answer still').to.equal(false);
    const lower = relevance(ranked, { query, floor, minScore: 0.1 });
    expect(lower.hits.map(({ record }) => record.memory_id)).to.deep.equal(['one']);
    expect(lower.nothingRelevant).to.equal(false);
    expect(relevance(ranked, { query, floor, minScore: 0 }).hits).to.deep.equal(ranked);
    expect(relevance(ranked, { query, floor: 0, minScore: 0.9 })).to.deep.equal({ hits: [], nothingRelevant: true });
    expect(relevance([], { query, floor: 0 })).to.deep.equal({ hits: [], nothingRelevant: true });
  });

  it('puts the newest of a changed fact first, and only that', () => {
    const spec = specOf({ query: '老周住在哪里？', vectors: [zh()] });
    const said = (id: string, content: string, days: number, over = {}): IndexHit =>
      hitOf(spec, recordOf({ memory_id: id, content, event_at: new Date(ASKED_AT_MS - days * 86_400_000).toISOString(), ...over }), {
        cos: 0.5,
        lex: 20,
      });
    const ids = (...hits: IndexHit[]): string[] => rank(spec, ...hits).map(({ record }) => record.memory_id);
    const before = said('a', '老周住在北京城东', 90);
    expect(ids(before, said('b', '老周住在上海城东', 5))).to.deep.equal(['b', 'a']);
    expect(ids(before, said('b', '老周住在上海城东', 89.5)), 'of one day').to.deep.equal(['a', 'b']);
    expect(ids(before, said('b', '老周住在上海城东', 5, { subject: '小林' })), 'of another person').to.deep.equal(['a', 'b']);
    expect(ids(before, said('b', '猫粮快要吃完了', 5)), 'of something else').to.deep.equal(['a', 'b']);
    expect(ids(before, said('b', '老周住在北京城东。', 5)), 'the same again').to.deep.equal(['a', 'b']);
    const [first, second] = rank(spec, before, said('b', '老周住在上海城东', 5)) as [RankedHit, RankedHit];
    expect(part(first, 'newest')).to.deep.include({ contribution: 0.01 });
    expect(part(second, 'newest')).to.deep.include({ raw: null, contribution: 0 });
  });

  it('puts the newest first of those that answer a question for what holds now in the same words, and not where it asks what was', () => {
    const first = (query: string, old: string, now: string): string => {
      const spec = specOf({ query, vectors: [en()] });
      const said = (id: string, content: string, days: number): IndexHit =>
        hitOf(spec, recordOf({ memory_id: id, content, event_at: new Date(ASKED_AT_MS - days * 86_400_000).toISOString() }), {
          cos: 0.8,
          lex: 20,
        });
      return rank(spec, said('a', old, 90), said('b', now, 5))[0]?.record.memory_id === 'b' ? 'now' : 'old';
    };
    const [leeds, bristol] = ['Dana lives in Leeds.', 'Dana moved to Bristol and lives there.'];
    expect(first('Where does Dana live now?', leeds, bristol)).to.equal('now');
    expect(first('Where did Dana live before?', leeds, bristol), 'what was').to.equal('old');
    expect(first('What does Omar drink?', leeds, bristol), 'something else').to.equal('old');
    expect(
      first('Where does Dana live?', leeds, 'Dana came by; the lives of cats, dogs, crows, bees and ants were what we spoke of'),
      'long',
    ).to.equal('old');
    expect(first('阿杰吃辣吗？', '阿杰特别爱吃辣。', '阿杰胃不好，不吃辣了。')).to.equal('now');
    expect(first('阿杰以前吃辣吗？', '阿杰特别爱吃辣。', '阿杰胃不好，不吃辣了。')).to.equal('old');
  });

  it('puts the newest before the older one, and before nothing that answers better', () => {
    const spec = specOf({ query: 'Where does Dana live now?', vectors: [en()] });
    const said = (id: string, content: string, days: number, cos: number): IndexHit =>
      hitOf(spec, recordOf({ memory_id: id, content, event_at: new Date(ASKED_AT_MS - days * 86_400_000).toISOString() }), {
        cos,
        lex: 20,
      });
    const ranked = rank(
      spec,
      said('best', 'Her flat is where Dana is at home, as the letter with the new address tells.', 40, 0.9),
      said('old', 'Dana lives in Leeds.', 90, 0.82),
      said('now', 'Dana moved to Bristol and lives there.', 5, 0.8),
    );
    expect(ranked.map(({ record }) => record.memory_id)).to.deep.equal(['best', 'now', 'old']);
  });

  it('puts the earliest day first where the first conversation is asked for, and nowhere else', () => {
    const at = (id: string, days: number, spec: SearchSpec): IndexHit =>
      hitOf(spec, recordOf({ memory_id: id, event_at: new Date(ASKED_AT_MS - days * 86_400_000).toISOString() }), {
        cos: 0.5 - days / 1_000,
        lex: 0,
      });
    const ranked = (query: string): RankedHit[] => {
      const spec = specOf({ query, vectors: [zh()] });
      return rank(spec, at('now', 1, spec), at('old', 90, spec), at('between', 30, spec));
    };
    for (const query of [
      '我们第一次对话聊了什么？',
      'Do you remember our very first conversation?',
      'What did we say when we first met?',
    ]) {
      const hits = ranked(query);
      expect(hits.map(({ record }) => record.memory_id)).to.deep.equal(['old', 'between', 'now']);
      expect(hits.map((hit) => part(hit, 'earliest')?.raw)).to.deep.equal([1, 0.5, 0]);
    }
    for (const query of ['我们对话聊了什么？', 'When did I first go to Rome?', 'first, tell me about our conversation']) {
      const hits = ranked(query);
      expect(hits[0]?.record.memory_id, query).to.equal('now');
      expect(part(hits[0] as RankedHit, 'earliest')).to.equal(undefined);
    }
  });

  it('has floors of their own for memories in another script, as they can share no word, and for long questions', () => {
    const floors = { long: 0.2, latin: 0.26, han: 0.3 };
    const silent = (query: string, content: string, more = {}): boolean => {
      const spec = specOf({ query, vectors: [zh()] });
      const hits = rank(spec, hitOf(spec, recordOf({ memory_id: 'a', content }), { cos: 0.38, lex: 0, ...more }));
      expect(relevance(hits, { query, floor: 0.375 }).nothingRelevant, 'without them').to.equal(true);
      return relevance(hits, { query, floor: 0.375, floors }).nothingRelevant;
    };
    expect(silent('What is she allergic to?', '花生让人起疹子'), 'English to Chinese').to.equal(false);
    expect(silent('What is she allergic to?', '发票已经付了', { cos: 0.36 }), 'too far for that').to.equal(true);
    expect(silent('她吃不了东西。去医院看过。她对什么过敏？', '花生让人起疹子'), 'long').to.equal(false);
    expect(silent('她对什么过敏？', 'peanuts give her a rash'), 'Chinese to English').to.equal(false);
    expect(silent('她对什么过敏？', '花生让人起疹子'), 'Chinese to Chinese').to.equal(true);
    expect(silent('她对什么过敏？', 'the invoice was paid', { cos: 0.3 }), 'too far in meaning as well').to.equal(true);
  });

  it('lets an exact code pass the floor, and a shared word where no vector could judge', () => {
    const passes = (spec: SearchSpec, hit: IndexHit): boolean =>
      !relevance(rank(spec, hit), { query: spec.query, floor: 1 }).nothingRelevant;
    const coded = lean({ query: 'Where is A-8841?' });
    expect(passes(coded, hitOf(coded, one, { lex: 1, exact: 120, named: { rescue: 878.75 } }))).to.equal(true);
    expect(passes(coded, hitOf(coded, one, { cos: 0.9, lex: 20 })), 'a look-alike').to.equal(false);
    const away = lean({ vectors: [] });
    expect(passes(away, hitOf(away, one, { lex: 0.4 })), 'the embedder is away').to.equal(true);
    expect(passes(away, hitOf(away, one, { date: 13.5 })), 'a date alone').to.equal(false);
    const spec = lean();
    expect(passes(spec, hitOf(spec, one, { lex: 0.4, named: { due: 850.25 } })), 'its vector is due').to.equal(true);
    const short = lean({ query: '绿茶', vectors: [zh()] });
    expect(passes(short, hitOf(short, one, { cos: 0.4, lex: 0.4 })), 'a short Chinese question').to.equal(true);
    expect(passes(short, hitOf(short, one, { cos: 0.4 }))).to.equal(false);
    const guessed = lean({ vectors: [{ ...en(), calibration: { offset: 0.2, scale: 0.6, generic: true } }] });
    expect(passes(guessed, hitOf(guessed, one, { cos: 0.3, lex: 0.4 })), 'a model that nobody calibrated').to.equal(true);
    expect(passes(guessed, hitOf(guessed, one, { cos: 0.3 }))).to.equal(false);
  });

  it('gives scores in 0..1, contributions that add up to them, and one order for any order of the page', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const hit = fc.record({
      cos: share,
      lex: fc.double({ min: 0, max: 90, noNaN: true }),
      importance: share,
      tier: fc.integer({ min: 0, max: 5 }),
    });
    const specs = [
      SPECS.dated,
      SPECS.task,
      SPECS.seedStrategy,
      specOf({ query: 'tea', vectors: [en()], profile: profile('seed-multiplicative') }),
    ];
    fc.assert(
      fc.property(fc.array(hit, { maxLength: 8 }), fc.constantFrom(...specs), (hits, spec) => {
        const page = hits.map(({ cos, lex, importance, tier }, i) =>
          hitOf(spec, recordOf({ memory_id: `m${i}`, importance, trust_tier: tier }), { cos, lex }),
        );
        const ranked = rank(spec, ...page);
        expect(ranked.map(({ record }) => record.memory_id)).to.deep.equal(
          rank(spec, ...page.reverse()).map(({ record }) => record.memory_id),
        );
        for (const { score, parts } of ranked) {
          const sum = parts.reduce((total, { contribution }) => total + contribution, 0);
          expect(score).to.be.within(0, 1);
          expect(score).to.be.closeTo(Math.min(1, Math.max(0, sum)), 1e-9);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('never lets more of a measured signal lower a score', () => {
    const spec = lean();
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(
        share,
        fc.double({ min: 0, max: 60, noNaN: true }),
        share,
        fc.double({ min: 0, max: 30, noNaN: true }),
        (cos, lex, nearer, more) => {
          const low = only(spec, hitOf(spec, one, { cos, lex })).score;
          expect(only(spec, hitOf(spec, one, { cos: Math.min(1, cos + nearer), lex })).score).to.be.at.least(low - 1e-5);
          expect(only(spec, hitOf(spec, one, { cos, lex: lex + more })).score).to.be.at.least(low - 1e-5);
        },
      ),
    );
  });
});
