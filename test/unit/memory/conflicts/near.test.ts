/** Texts compared by their words: what is kept of those stored lately, and that comparing leaves the event loop to others. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { MemoryRecord } from '../../../../src/domain/memory.ts';
import { createRecentTexts, nearOf, searchNear, shareTerms, termsOf } from '../../../../src/memory/conflicts/near.ts';
import { within } from '../../../../src/memory/conflicts/within.ts';
import { createWorld } from '../../../support/memory-world.ts';
import { memoryRecord } from '../../../support/records.ts';

const said = (content: string, more: Partial<MemoryRecord> = {}): MemoryRecord =>
  memoryRecord({ content, lex_uni: content.toLowerCase(), fingerprint: content, ...more });
const tea = (more: Partial<MemoryRecord> = {}): MemoryRecord => said('ann likes green tea', more);
const terms = (record: MemoryRecord): ReadonlySet<string> => termsOf(record) ?? new Set();

/** Whether timers and requests had their turn while it ran. */
async function letsOthersIn(work: () => Promise<unknown>): Promise<boolean> {
  let turn = false;
  setImmediate(() => (turn = true));
  await work();
  return turn;
}

describe('the texts stored lately', () => {
  const recentTexts = () => {
    const time = { nowMs: 0 };
    const recent = createRecentTexts(() => time.nowMs);
    return { time, recent, near: (record: MemoryRecord) => [...recent.near(record, terms(record), 0.5)] };
  };

  it('are found in their own place alone, until the index shows them', () => {
    const { time, recent, near } = recentTexts();
    const one = tea();
    recent.remember(one);
    expect(near(tea()).map(({ memory_id: id }) => id)).to.deep.equal([one.memory_id]);
    expect(near(tea({ namespace: 'user.bob' }))).to.deep.equal([]);
    time.nowMs = 15_000;
    expect(near(tea())).to.deep.equal([]);
  });

  it('are at most 5,000 over all places together', () => {
    const { recent, near } = recentTexts();
    for (let i = 0; i <= 5_000; i += 1) recent.remember(tea({ namespace: `user.n${i}` }));
    expect(near(tea({ namespace: 'user.n0' }))).to.have.length(0);
    expect(near(tea({ namespace: 'user.n1' }))).to.have.length(1);
    expect(near(tea({ namespace: 'user.n5000' }))).to.have.length(1);
  });

  it('hold at most five million characters, metadata and all, whatever their number', () => {
    const { recent, near } = recentTexts();
    const long = (i: number): MemoryRecord => said('word '.repeat(390), { namespace: `user.n${i}`, metadata: { note: 'x'.repeat(6_000) } });
    for (let i = 0; i < 1_000; i += 1) recent.remember(long(i));
    const held = Array.from({ length: 1_000 }, (_, i) => near(long(i)).length);
    expect(held.filter((n) => n === 1).length).to.be.within(380, 410);
    expect(held.at(-1)).to.equal(1);
  });

  it('keep of a record what a comparison reads, and once where it changed', () => {
    const { recent, near } = recentTexts();
    const one = tea({ vec_en: [1, 0], lex_bi: 'ann likes', summary: 'tea' });
    recent.remember(one);
    recent.remember({ ...one, version: 2 });
    const [kept, ...more] = near(tea());
    expect(more).to.deep.equal([]);
    expect(kept).to.include({ memory_id: one.memory_id, version: 2, content: one.content });
    expect(kept).to.not.have.any.keys('vec_en', 'lex_uni', 'lex_bi', 'summary');
  });

  it('are none that have ended since', () => {
    const { recent, near } = recentTexts();
    const [one, other] = [tea(), tea()];
    for (const record of [one, other]) recent.remember(record);
    recent.forget(one.memory_id);
    recent.forget('nobody');
    expect(near(tea()).map(({ memory_id: id }) => id)).to.deep.equal([other.memory_id]);
  });

  it('are none that were to be stored as given', () => {
    const { recent, near } = recentTexts();
    recent.remember(tea({ admission: 'keep' }));
    expect(near(tea())).to.deep.equal([]);
  });
});

describe('comparing by words', () => {
  it('tells the share of common terms as the sets do', () => {
    const words = fc.uniqueArray(fc.constantFrom(...'abcdefghij'), { minLength: 1 });
    fc.assert(
      fc.property(words, words, fc.double({ min: 0, max: 1, noNaN: true }), (a, b, overlap) => {
        const [one, other] = [new Set(a), new Set(b)];
        const common = a.filter((word) => other.has(word)).length;
        expect(shareTerms(one, other, overlap)).to.equal(common / new Set([...a, ...b]).size >= overlap);
      }),
    );
  });

  it('brings no more than the policy compares, and gives other calls their turn', async () => {
    const world = createWorld();
    const { deps, time } = world;
    const recent = createRecentTexts(() => time.nowMs);
    for (let i = 0; i < 40; i += 1) recent.remember(tea());
    let found: readonly (readonly MemoryRecord[])[] = [];
    const records = Array.from({ length: 40 }, () => tea());
    expect(await letsOthersIn(async () => (found = await nearOf(deps, recent, searchNear(deps, world.call(), records), records)))).to.equal(
      true,
    );
    for (const one of found) expect(one).to.have.length(deps.relations.duplicates.lexical.candidates);
  });

  it('of a batch with itself gives other calls their turn', async () => {
    const { deps, time } = createWorld();
    const entries = Array.from({ length: 150 }, (_, i) => {
      const content = Array.from({ length: 40 }, (_word, j) => `w${i}x${j}`).join(' ');
      return { record: said(content), checked: true };
    });
    let steps: readonly { readonly do: string }[] = [];
    const rights = { admin: false, nowMs: time.nowMs };
    expect(await letsOthersIn(async () => (steps = await within(entries, deps.relations, rights)))).to.equal(true);
    expect(steps.map((step) => step.do)).to.deep.equal(entries.map(() => 'store'));
  });
});
