/** The cross-encoder's second opinion: when it is asked, what it reads, what it may change and what not. */
import { expect } from 'chai';
import type { RankedHit, SignalPart } from '../../../../src/domain/ranking.ts';
import type { Rerank, Reranker } from '../../../../src/domain/reranker.ts';
import { TIER } from '../../../../src/domain/trust.ts';
import { envelopeOf, wrapTexts } from '../../../../src/guard/envelope.ts';
import type { ScreenedItem } from '../../../../src/guard/guard.ts';
import { reranked } from '../../../../src/memory/rerank/rerank.ts';
import { RerankUnavailable } from '../../../../src/providers/rerank/provider.ts';
import { recordOf } from '../../../support/hits.ts';
import { PROFILES } from '../../../support/search-specs.ts';

const RULE = { margin: 0.1, weight: 0.3, candidates: 20 };

interface Encoder extends Reranker {
  readonly asked: Rerank[];
}

/** Scores by text; it keeps what it was asked. */
function encoder(scoreOf: (text: string) => number): Encoder {
  const asked: Rerank[] = [];
  return {
    asked,
    rerank: async (question) => {
      asked.push(question);
      return question.documents.map(scoreOf);
    },
    close: async () => undefined,
  };
}

const item = (id: string, score: number, more: Partial<RankedHit> = {}): ScreenedItem<RankedHit> => ({
  value: { record: recordOf({ memory_id: id, content: `text ${id}` }), score, engineScore: score, parts: [], ...more },
  referenceOnly: false,
  trust: { tier: TIER.user_stated },
});
const part = (signal: string, contribution: number): SignalPart => ({
  signal,
  raw: 1,
  normalised: 1,
  weight: contribution,
  contribution,
  sentence: '',
});
const ids = (items: readonly ScreenedItem<RankedHit>[]): readonly string[] => items.map(({ value }) => value.record.memory_id);
const again = (
  reranker: Reranker | undefined,
  items: readonly ScreenedItem<RankedHit>[],
  rule: typeof RULE | undefined = RULE,
  more: { readonly onDegraded?: (part: string) => void; readonly signal?: AbortSignal } = {},
) =>
  reranked({ reranker, ...(more.onDegraded === undefined ? {} : { onDegraded: more.onDegraded }) }, items, {
    query: 'q',
    profile: rule === undefined ? {} : { rerank: rule },
    signal: more.signal ?? new AbortController().signal,
  });

describe('rerank', () => {
  it('puts first what the cross-encoder finds relevant, and tells score, weight and places', async () => {
    const better = encoder((text) => (text.includes('b') ? 0.9 : 0.1));
    const { items, degraded } = await again(better, [item('a', 0.6), item('b', 0.55), item('c', 0.3)]);
    expect(ids(items)).to.deep.equal(['b', 'a', 'c']);
    expect(degraded).to.deep.equal([]);
    expect(items.map(({ value }) => value.reranked)).to.deep.equal([
      { from: 2, to: 1 },
      { from: 1, to: 2 },
      { from: 3, to: 3 },
    ]);
    const [first] = items;
    expect(first?.value.score).to.be.closeTo(0.55 + 0.27, 1e-9);
    expect(first?.value.parts).to.deep.equal([
      {
        signal: 'rerank',
        raw: 0.9,
        normalised: 0.9,
        weight: 0.3,
        contribution: 0.27,
        sentence: 'A cross-encoder that read it with the question gives it 0.9',
      },
    ]);
    expect(better.asked).to.have.length(1);
    expect(better.asked[0]).to.include({ query: 'q' });
    expect(better.asked[0]?.documents).to.deep.equal(['text a', 'text b', 'text c']);
  });

  it('is not asked without a cross-encoder, without a rule, or where the first hit is clear or alone', async () => {
    const never = encoder(() => 1);
    const close = [item('a', 0.6), item('b', 0.55)];
    expect((await again(undefined, close)).items).to.equal(close);
    expect((await again(never, close, { ...RULE, margin: 0.04 })).items).to.equal(close);
    expect((await reranked({ reranker: never }, close, { query: 'q', profile: {}, signal: new AbortController().signal })).items).to.equal(
      close,
    );
    for (const items of [[], [item('a', 0.2)], [item('a', 0.8), item('b', 0.7)]]) expect((await again(never, items)).items).to.equal(items);
    expect(never.asked).to.deep.equal([]);
  });

  it('sees the distance behind scores that are cut at 1, and keeps it', async () => {
    const pleased = encoder((text) => (text.includes('b') ? 1 : 0));
    const clear = [item('a', 1, { parts: [part('vector', 0.7), part('exact', 0.5)] }), item('b', 0.98)];
    expect((await again(pleased, clear)).items).to.equal(clear);
    expect(pleased.asked).to.deep.equal([]);
    const { items } = await again(pleased, clear, { ...RULE, margin: 0.5, weight: 0.2 });
    expect(ids(items)).to.deep.equal(['a', 'b']);
    expect(items.map(({ value }) => value.score)).to.deep.equal([1, 1]);
  });

  it('reads the best hits alone, and none of the others rises above them', async () => {
    const lukewarm = encoder((text) => (text.includes('c') ? 0.5 : 0));
    const { items } = await again(lukewarm, [item('a', 0.6), item('b', 0.58), item('c', 0.5), item('d', 0.49)], { ...RULE, candidates: 3 });
    expect(lukewarm.asked[0]?.documents).to.have.length(3);
    expect(ids(items)).to.deep.equal(['c', 'a', 'b', 'd']);
    expect(items.at(-1)?.value).to.not.have.property('reranked');
  });

  it('reads raw scores as logits where one of them is no share', async () => {
    const { items } = await again(
      encoder((text) => (text.includes('b') ? 8 : -8)),
      [item('a', 0.6), item('b', 0.55)],
    );
    expect(ids(items)).to.deep.equal(['b', 'a']);
    const [shown] = items[0]?.value.parts ?? [];
    expect(shown).to.include({ raw: 8 });
    expect(shown?.normalised).to.be.closeTo(0.9997, 1e-4);
  });

  it('keeps the first order, and says so, when the cross-encoder fails', async () => {
    const told: string[] = [];
    const away: Reranker = { rerank: async () => Promise.reject(new RerankUnavailable('away')), close: async () => undefined };
    const items = [item('a', 0.6), item('b', 0.55)];
    expect(await again(away, items, RULE, { onDegraded: (name) => void told.push(name) })).to.deep.equal({ items, degraded: ['rerank'] });
    expect(told).to.deep.equal(['rerank']);
  });

  it('ends with the caller when the caller goes away', async () => {
    const abort = new AbortController();
    const gone: Reranker = {
      rerank: async () => {
        abort.abort(new Error('gone'));
        throw new Error('aborted');
      },
      close: async () => undefined,
    };
    let thrown: unknown;
    await again(gone, [item('a', 0.6), item('b', 0.55)], RULE, { signal: abort.signal }).catch((error: unknown) => (thrown = error));
    expect(thrown).to.have.property('message', 'gone');
  });

  it('leaves contradicting memories in the order that trust and origins gave them', async () => {
    const pleased = encoder((text) => (text.includes('liar') ? 1 : text.includes('other') ? 0.5 : 0));
    const told = { parts: [part('consensus', 0)] };
    const { items } = await again(pleased, [item('true', 0.6, told), item('liar', 0.55, told), item('other', 0.54)]);
    expect(ids(items)).to.deep.equal(['true', 'liar', 'other']);
    expect(items.map(({ value }) => value.parts.at(-1)?.contribution)).to.deep.equal([0.3, 0.3, 0.15]);
  });

  it('does not bring back what the guard has taken a place from', async () => {
    for (const signal of ['hubness', 'origin_share']) {
      const pleased = encoder((text) => (text.includes('hub') ? 1 : 0));
      const { items } = await again(pleased, [item('a', 0.6), item('hub', 0.55, { parts: [part(signal, -0.2)] })]);
      expect(ids(items), signal).to.deep.equal(['a', 'hub']);
      expect(items[1]?.value).to.include({ score: 0.55 });
    }
  });

  it('sends texts without the envelope, the passage of a long memory, and never more than a cross-encoder reads', async () => {
    const any = encoder(() => 0);
    const record = recordOf({ memory_id: 'w', content: 'from a page', title: 'Page', trust_tier: 0 });
    const wrapped = { record: wrapTexts(record, envelopeOf(record, 'ab12')), score: 0.6, engineScore: 1, parts: [] };
    await again(any, [
      { value: wrapped, referenceOnly: true, trust: { tier: TIER.external } },
      item('p', 0.59, { passage: 'the passage' }),
      item('l', 0.58, { record: recordOf({ memory_id: 'l', content: 'x'.repeat(32_000) }) }),
    ]);
    const [page, passage, long] = any.asked[0]?.documents ?? [];
    expect(page).to.equal('Page\nfrom a page');
    expect(passage).to.equal('the passage');
    expect(long).to.have.length(2_000);
  });

  it('is in every profile of the sum of signals, and in none of the published formulas', () => {
    for (const [name, profile] of PROFILES) expect(profile.rerank !== undefined, name).to.equal(!name.startsWith('seed-'));
    expect(PROFILES.get('assistant')?.rerank).to.deep.equal(RULE);
  });
});
