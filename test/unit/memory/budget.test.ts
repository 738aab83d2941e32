/** memory_search under a token budget: more hits in their short form rather than fewer whole ones, and each says which it is. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { RankedHit } from '../../../src/domain/ranking.ts';
import type { ScreenedItem } from '../../../src/guard/guard.ts';
import { budgetOf } from '../../../src/memory/budget.ts';
import { promptTokens } from '../../../src/memory/context/tokens.ts';
import { recordOf } from '../../support/hits.ts';
import { createWorld } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';

const words = (word: string, count: number): string =>
  `${Array.from({ length: count }, (_, i) => `${word}${'abcdefghij'[i % 10] ?? ''}`).join(' ')}.`;
/** About 200 tokens in sentences; one of them answers. */
const LONG = [words('plain', 60), 'The kettle of Ann stands in the blue cupboard.', words('other', 60), words('more', 60)].join(' ');

const hit = (id: string, score: number, content: string, summary?: string): RankedHit => ({
  record: recordOf({ memory_id: id, content, ...(summary === undefined ? {} : { summary }) }),
  score,
  engineScore: score,
  parts: [],
});
const screened = (hits: readonly RankedHit[], lineOf: (hit: RankedHit) => string): readonly ScreenedItem<RankedHit>[] =>
  hits.map((value) => ({ value, referenceOnly: false, trust: { tier: value.record.trust_tier }, line: lineOf(value) }));

function within(tokens: number, hits: readonly RankedHit[], topK = 5, query = 'Where is the kettle of Ann?') {
  const budget = budgetOf(tokens, topK, query);
  return budget.within(screened(hits, budget.lineOf));
}
const forms = (given: ReturnType<typeof within>): readonly string[] =>
  given.map(({ item, form }) => `${item.value.record.memory_id} ${form}`);

describe('search under a token budget', () => {
  const long = hit('long', 0.8, LONG, 'Ann keeps her kettle in the blue cupboard.');
  const bare = hit('bare', 0.7, LONG);
  const short = hit('short', 0.6, 'Ann likes tea.');

  it('gives everything whole where it fits', () => {
    const given = within(10_000, [long, bare, short]);
    expect(forms(given)).to.deep.equal(['long whole', 'bare whole', 'short whole']);
    expect(given[0]?.content).to.equal(LONG);
  });

  it('gives summaries, and without one the passage that answers, so that more fit', () => {
    const given = within(150, [long, bare, short]);
    expect(forms(given)).to.deep.equal(['long summary', 'bare passage', 'short whole']);
    expect(given[0]?.content).to.equal('Ann keeps her kettle in the blue cupboard.');
    expect(given[1]?.content).to.include('The kettle of Ann stands in the blue cupboard.');
    expect(promptTokens(LONG)).to.be.greaterThan(150);
  });

  it('spends what is left on whole ones, the best first', () => {
    const whole = promptTokens(LONG);
    expect(forms(within(whole + 80, [long, bare, short]))).to.deep.equal(['long whole', 'bare passage', 'short whole']);
  });

  it('leaves out what does not fit, and of a matched passage gives the part that answers', () => {
    const matched = { ...bare, passage: `${words('before', 40)} The kettle of Ann stands in the blue cupboard. ${words('after', 40)}` };
    const given = within(60, [matched, hit('too', 0.5, LONG), short], 1);
    expect(forms(given)).to.include('bare passage');
    expect(given[0]?.content).to.include('blue cupboard');
    expect(within(32, [hit('wall', 0.9, 'x1 '.repeat(400))])).to.deep.equal([]);
  });

  it('never exceeds the budget, keeps the order, and a hit is the same text as in one of its forms', () => {
    const one = fc.record({
      words: fc.integer({ min: 1, max: 300 }),
      summary: fc.boolean(),
      score: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 8 }), fc.integer({ min: 32, max: 1_500 }), (made, tokens) => {
        const hits = made.map(({ words: count, summary, score }, i) =>
          hit(
            `m${i}`,
            score,
            Array.from({ length: Math.ceil(count / 12) }, () => words('tea', Math.min(12, count))).join(' '),
            summary ? 'Tea.' : undefined,
          ),
        );
        const given = within(tokens, hits, Math.max(1, hits.length));
        expect(given.reduce((sum, { tokens: cost }) => sum + cost, 0)).to.be.at.most(tokens);
        const order = given.map(({ item }) => hits.indexOf(item.value));
        expect(order).to.deep.equal([...order].sort((a, b) => a - b));
        for (const { item, form, content } of given) {
          if (form === 'whole') expect(content).to.equal(item.value.record.content);
          else expect(promptTokens(content)).to.be.at.most(promptTokens(item.value.record.content));
        }
      }),
      { numRuns: 200 },
    );
  });

  it('is told over the wire: form, tokens and how many were left out; the envelope stays whole', async () => {
    const world = createWorld();
    await world.memory.write({ content: LONG, summary: 'Ann keeps her kettle in the blue cupboard.', admission: 'keep' }, world.call());
    await world.memory.write({ content: `Ann has a kettle of copper. ${LONG}`, admission: 'keep' }, world.call());
    const web = { type: 'web' as const, uri: 'https://a.example' };
    const agent = principal({ actor: 'agent' });
    await world.memory.write({ content: `Kettle of Ann, a page. ${LONG}`, source: web, admission: 'keep' }, world.call(agent));
    const ask = (more: object) => world.memory.search({ query: 'Where is the kettle of Ann?', explain: true, ...more }, world.call());
    const free = await ask({});
    expect(free.hits).to.have.length(3);
    expect(free).to.not.have.property('left_out');
    expect(free.hits[0]).to.not.have.any.keys('form', 'tokens');
    const small = await ask({ token_budget: 200 });
    expect(small.left_out).to.equal(0);
    expect(small.hits.map(({ form }) => form)).to.have.members(['summary', 'passage', 'passage']);
    for (const { form, content, tokens, reference_only: foreign, ...rest } of small.hits) {
      expect(form).to.not.equal('whole');
      expect(tokens).to.equal(promptTokens(content));
      expect(rest).to.not.have.any.keys('summary', 'passage', 'was');
      if (foreign) expect(content).to.match(/^⟦ref [0-9a-f]+ external [^⟧]+⟧[^⟦]+⟦\/ref [0-9a-f]+⟧$/);
    }
    expect(small.hits.some(({ reference_only: foreign }) => foreign)).to.equal(true);
    const tiny = await ask({ token_budget: 40 });
    expect(tiny.hits.map(({ form }) => form)).to.include('summary');
    expect(tiny.hits.reduce((sum, { tokens = 0 }) => sum + tokens, 0)).to.be.within(1, 40);
    expect(tiny.left_out)
      .to.equal(3 - tiny.hits.length)
      .and.to.be.greaterThan(0);
    expect(tiny.nothing_relevant).to.equal(false);
  });
});
