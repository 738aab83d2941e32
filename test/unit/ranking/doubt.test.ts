/** Doubt: what another memory contradicts weighs half, says why, and still answers a question. */
import { expect } from 'chai';
import { fuse, relevance } from '../../../src/ranking/fuse.ts';
import { hitOf, recordOf } from '../../support/hits.ts';
import { PROFILES, en, specOf } from '../../support/search-specs.ts';

describe('a memory in doubt', () => {
  for (const [name, profile] of PROFILES)
    it(`comes after the one that contradicts it and has half its score (${name})`, () => {
      const spec = specOf({ query: 'Where does she live?', vectors: [en()], profile });
      const facts = { cos: 0.9, lex: 24 };
      const certain = hitOf(spec, recordOf({ memory_id: 'z-new' }), facts);
      const older = hitOf(spec, recordOf({ memory_id: 'a-old', status: 'conflict', doubt: 0.5 }), facts);
      const [first, second] = fuse({ hits: [older, certain], tookMs: 1 }, spec);
      expect([first?.record.memory_id, second?.record.memory_id]).to.deep.equal(['z-new', 'a-old']);
      const total = first?.parts.reduce((sum, part) => sum + part.contribution, 0) ?? 0;
      expect(second?.score).to.be.closeTo(total / 2, 1e-6);
      const sum = second?.parts.reduce((all, part) => all + part.contribution, 0);
      expect(sum).to.be.closeTo(second?.score ?? 0, 1e-9);
      expect(second?.parts.at(-1)).to.include({
        signal: 'doubt',
        raw: 0.5,
        sentence: 'It is possibly outdated: another memory contradicts it',
      });
      expect(first?.parts.map(({ signal }) => signal)).not.to.include('doubt');
    });

  it('says so in Chinese', () => {
    const spec = specOf({ query: 'Where does she live?', vectors: [en()] });
    const [hit] = fuse(
      { hits: [hitOf(spec, recordOf({ memory_id: 'a', status: 'conflict', doubt: 0.5 }), { cos: 0.9 })], tookMs: 1 },
      spec,
      'zh',
    );
    expect(hit?.parts.at(-1)?.sentence).to.equal('可能已经过时：另一条记忆与它矛盾');
  });

  it('says what caused it: feedback, or a memory it was made from that is gone', () => {
    const spec = specOf({ query: 'Where does she live?', vectors: [en()] });
    const counts = { useful: 0, wrong: 0, outdated: 0, cited: 2, score: 0, last_at: '2026-01-01T00:00:00.000Z' };
    const sentence = (more: Omit<Parameters<typeof recordOf>[0], 'memory_id'>, lang: 'zh' | 'en' = 'en'): string | undefined =>
      fuse({ hits: [hitOf(spec, recordOf({ doubt: 0.5, ...more, memory_id: 'a' }), { cos: 0.9 })], tookMs: 1 }, spec, lang)[0]?.parts.at(-1)
        ?.sentence;
    expect(sentence({ feedback: { ...counts, outdated: 1 } })).to.equal('It is possibly wrong or outdated: its owner said so');
    expect(sentence({ feedback: { ...counts, wrong: 1 } }, 'zh')).to.include('反馈');
    expect(sentence({ status: 'conflict', feedback: { ...counts, wrong: 1 } })).to.include('contradicts');
    expect(sentence({ feedback: counts })).to.include('made from');
  });

  it('does not make an answer irrelevant', () => {
    const spec = specOf({ query: 'Where does she live?', vectors: [en()] });
    const hits = fuse({ hits: [hitOf(spec, recordOf({ memory_id: 'a', doubt: 0.5 }), { cos: 0.85, lex: 10 })], tookMs: 1 }, spec);
    expect(hits[0]?.score).to.be.below(0.35);
    expect(relevance(hits, { query: spec.query, floor: 0.35 }).nothingRelevant).to.equal(false);
  });
});
