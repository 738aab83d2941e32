/** How hits are arranged by trust (guard.md, Read; scenarios G6 and G11): copies take one place, crowds give way, the less trusted does not overrule. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { HitRecord, RankedHit } from '../../../../src/domain/ranking.ts';
import { standingFor } from '../../../../src/guard/confirmation.ts';
import { arrange } from '../../../../src/guard/screening/arrange.ts';
import { createWorld } from '../../../support/memory-world.ts';
import { recordOf } from '../../../support/hits.ts';
import { principal } from '../../../support/principals.ts';
import { memoryRecord } from '../../../support/records.ts';

const READER = principal().owner;
const from = (who: string, type: 'web' | 'agent' | 'user' | 'tool' = 'web'): HitRecord['origin'] => [
  { type, principal: who, ts: '2026-03-01T10:00:00.000Z' },
];
const hit = (memory_id: string, score: number, over: Partial<HitRecord> = {}): RankedHit => ({
  record: recordOf({ memory_id, origin: from('p1'), ...over }),
  score,
  engineScore: 1,
  parts: [],
});
const ids = (hits: readonly RankedHit[], topK = 5): readonly string[] =>
  arrange(hits, { topK, reader: READER }).map(({ record }) => record.memory_id);

describe('arranged hits', () => {
  it('give near-duplicates one place: the most trusted, of those the best', () => {
    const copies = [
      hit('web', 0.9, { content: 'The backup runs on Friday.', trust_tier: 0 }),
      hit('mine', 0.8, { content: 'backup runs on Friday', trust_tier: 3 }),
      hit('mine-2', 0.7, { content: 'the backup runs on friday!', trust_tier: 3 }),
      hit('old', 0.6, { content: 'Backup runs on Friday', trust_tier: 5, status: 'superseded' }),
      hit('other', 0.5, { content: 'The backup runs on Monday.', trust_tier: 0 }),
    ];
    expect(ids(copies)).to.deep.equal(['mine', 'other']);
  });

  it('do not take for one what has another subject, day, namespace or figure, long texts among them', () => {
    const long = 'The garden was dug over in spring and the compost was spread. '.repeat(8);
    const apart = [
      hit('a', 0.9, { content: 'had lunch', subject: 'Ann' }),
      hit('b', 0.8, { content: 'had lunch', subject: 'Bob' }),
      hit('c', 0.7, { content: 'had lunch', subject: 'Bob', occurred_at: '2026-03-01T10:00:00.000Z' }),
      hit('d', 0.6, { content: 'had lunch', subject: 'Bob', occurred_at: '2026-03-02T10:00:00.000Z' }),
      hit('e', 0.5, { content: 'had lunch', namespace: 'shared.x' }),
      hit('f', 0.4, { content: `${long} Bed 7.` }),
      hit('g', 0.3, { content: `${long} Bed 8.` }),
    ];
    expect(ids(apart)).to.deep.equal(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    expect(ids([...apart, hit('h', 0.2, { content: `${long}Bed 8` })])).to.have.length(7);
  });

  it('let one foreign origin have half of the places before others, with the reason in the signals', () => {
    const crowd = [0.9, 0.88, 0.86, 0.84].map((score, i) =>
      hit(`w${i}`, score, { trust_tier: 0, content: `web page about topic ${'xyz'[i] ?? 'k'} alone` }),
    );
    const others = [hit('a', 0.7, { trust_tier: 0, origin: from('p2') }), hit('b', 0.3)];
    expect(ids([...crowd, ...others])).to.deep.equal(['w0', 'w1', 'a', 'w2', 'w3', 'b']);
    const third = arrange([...crowd, ...others], { topK: 5, reader: READER }).find(({ record }) => record.memory_id === 'w2');
    expect(third?.score).to.equal(0.645);
    expect(third?.parts.at(-1)).to.include({ signal: 'origin_share', contribution: 0.645 - 0.86 });
    // alone, or where nothing comes before them, they stay as they are
    expect(arrange(crowd, { topK: 5, reader: READER })).to.deep.equal(crowd);
  });

  it('hold variants of one text from one origin to one place before others', () => {
    const variant = (n: number): RankedHit =>
      hit(`v${n}`, 0.9 - n / 1000, {
        trust_tier: 1,
        content: `Refunds above the limit are approved by the night desk, reference ${n}, as agreed with the bank`,
      });
    const honest = [0.8, 0.75, 0.7].map((score, i) => hit(`h${i}`, score, { content: `fact ${'abc'[i]}` }));
    expect(ids([variant(1), variant(2), variant(3), ...honest]).slice(0, 4)).to.deep.equal(['v1', 'h0', 'h1', 'h2']);
  });

  it('never thin out what people stated or what the reader’s own assistant inferred', () => {
    const stated = [0.9, 0.8, 0.7].map((score, i) => hit(`s${i}`, score, { content: `stated ${i}` }));
    const inferred = [0.69, 0.68, 0.67, 0.66].map((score, i) =>
      hit(`i${i}`, score, { trust_tier: 2, origin: from(READER, 'agent'), content: `the assistant noted thing number ${i}` }),
    );
    const last = hit('last', 0.6, { origin: from('p9') });
    expect(arrange([...stated, ...inferred, last], { topK: 5, reader: READER })).to.deep.equal([...stated, ...inferred, last]);
  });

  it('put a less trusted claim about one slot behind the more trusted one, and count origins, not records', () => {
    const slot = { subject: 'Acme', topic: 'payee', kind: 'fact' } as const;
    const poison = ['p7', 'p7', 'p7', 'p8'].map((who, i) =>
      hit(`t${i}`, 0.9 - i / 100, {
        ...slot,
        trust_tier: 1,
        origin: from(who, 'tool'),
        content: 'Acme is paid at account 999' + ' '.repeat(i),
        occurred_at: `2026-03-0${i + 1}T00:00:00.000Z`,
      }),
    );
    const confirmed = hit('mine', 0.5, { ...slot, trust_tier: 4, content: 'Acme is paid at account 111', origin: from(READER, 'user') });
    const arranged = arrange([...poison, confirmed], { topK: 5, reader: READER });
    expect(arranged[0]?.record.memory_id).to.equal('mine');
    expect(arranged.map(({ parts }) => parts.find(({ signal }) => signal === 'consensus')?.raw)).to.deep.equal([1, 2, 2, 2, 2]);
    expect(arranged[0]?.parts[0]?.sentence).to.equal('Memories of this subject and topic differ; 1 of 3 origins say this');
  });

  it('let nobody’s own confirmation decide a slot for others', () => {
    const slot = { subject: 'Acme', topic: 'payee', kind: 'fact' } as const;
    const guard = (who: string, of_another: boolean) => ({
      guard: { verdict: 'allow', rule_ids: [], policy_revision: 'r', confirmed_by: { principal: who, of_another } },
    });
    const claim = (over: Partial<HitRecord>): RankedHit =>
      hit('theirs', 0.5, { ...slot, owner: 'bob', content: 'Acme is paid at account 999', trust_tier: 4, ...over });
    const mine = hit('mine', 0.6, { ...slot, owner: READER, content: 'Acme is paid at account 111', trust_tier: 3 });
    expect(ids([mine, claim(guard('bob', false))])).to.deep.equal(['mine', 'theirs']);
    expect(ids([mine, claim(guard('root', true))])).to.deep.equal(['theirs', 'mine']);
    expect(ids([mine, claim({ trust_tier: 3, guard: { ...guard('bob', false).guard, confirmed_for: [READER] } })])[0]).to.equal('theirs');
  });

  it('put what most origins say of a slot before what is as trusted, whatever the number of copies, and pick none without a majority', () => {
    const slot = { subject: 'Acme', topic: 'payee', kind: 'fact', trust_tier: 1 } as const;
    const says = (id: string, score: number, who: string, account: number): RankedHit =>
      hit(id, score, { ...slot, origin: from(who, 'tool'), content: `Acme is paid at account ${account}` });
    const flood = Array.from({ length: 50 }, (_x, i) => says(`f${i}`, 0.95, 'p9', 999));
    const arranged = arrange([...flood, says('a', 0.8, 'p1', 111), says('b', 0.7, 'p2', 111)], { topK: 5, reader: READER });
    // the copy of b gave its place to a, and its origin still counts
    expect(arranged.map(({ record }) => record.memory_id)).to.deep.equal(['a', 'f0']);
    const sentences = arranged.map(({ parts }) => parts.find(({ signal }) => signal === 'consensus')?.sentence);
    expect(sentences).to.deep.equal([2, 1].map((n) => `Memories of this subject and topic differ; ${n} of 3 origins say this`));
    const split = arrange([...flood, says('a', 0.8, 'p1', 111)], { topK: 5, reader: READER });
    expect(split.map(({ record, score }) => [record.memory_id, score])).to.deep.equal([
      ['f0', 0.95],
      ['a', 0.8],
    ]);
    expect(split.every(({ parts }) => parts.some(({ signal }) => signal === 'consensus'))).to.equal(true);
    const person = hit('mine', 0.5, { ...slot, trust_tier: 3, origin: from(READER, 'user'), content: 'Acme is paid at account 7' });
    const three = [says('a', 0.9, 'p1', 111), says('b', 0.8, 'p2', 111), says('c', 0.7, 'p3', 111), person];
    expect(ids(three), 'numbers never overrule trust').to.deep.equal(['mine', 'a']);
  });

  it('leave a less trusted record that says what a more trusted one says in its place', () => {
    const slot = { subject: 'Ann', topic: 'tea', kind: 'fact' } as const;
    const hits = [
      hit('same', 0.9, {
        ...slot,
        trust_tier: 2,
        content: 'green',
        origin: from(READER, 'agent'),
        occurred_at: '2026-03-01T00:00:00.000Z',
      }),
      hit('mine', 0.8, { ...slot, trust_tier: 4, content: 'Green.' }),
      hit('differs', 0.7, { ...slot, trust_tier: 3, content: 'black' }),
    ];
    expect(arrange(hits, { topK: 5, reader: READER }).map(({ score }) => score)).to.deep.equal([0.9, 0.8, 0.7]);
  });

  it('leave equal tiers, other kinds and what no longer holds in their order', () => {
    const at = { subject: 'Ann', topic: 'tea' } as const;
    const equal = [hit('a', 0.9, { ...at, kind: 'fact', content: 'green' }), hit('b', 0.8, { ...at, kind: 'fact', content: 'black' })];
    expect(arrange(equal, { topK: 5, reader: READER }).map(({ score }) => score)).to.deep.equal([0.9, 0.8]);
    const events = [hit('a', 0.9, { ...at, kind: 'event', trust_tier: 1 }), hit('b', 0.8, { ...at, kind: 'event', trust_tier: 4 })];
    expect(arrange(events, { topK: 5, reader: READER })).to.deep.equal(events);
    const past = [
      hit('a', 0.9, { ...at, kind: 'fact', status: 'superseded', trust_tier: 2, origin: from(READER, 'agent') }),
      hit('b', 0.8, { ...at, kind: 'fact', trust_tier: 4 }),
    ];
    expect(arrange(past, { topK: 5, reader: READER })).to.deep.equal(past);
  });

  it('stay a selection, best first, whose parts account for every change of score', () => {
    const one = fc.record({
      content: fc.constantFrom(
        'the tea is green',
        'Tea is green.',
        'tea is black',
        '茶是绿的',
        '茶是绿',
        'a b c d e f g 1',
        'a b c d e f g 2',
      ),
      trust_tier: fc.integer({ min: 0, max: 5 }),
      origin: fc.constantFrom(from('p1'), from('p2', 'tool'), from(READER, 'agent'), []),
      kind: fc.constantFrom('fact' as const, 'event' as const),
      subject: fc.constantFrom('Ann', 'Bob'),
      topic: fc.constantFrom('tea', 'food'),
      score: fc.integer({ min: 0, max: 1000 }),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 12 }), fc.integer({ min: 1, max: 20 }), (rows, topK) => {
        const hits = rows.map(({ score, ...record }, i) => hit(`m${i}`, score / 1000, record)).sort((a, b) => b.score - a.score);
        const before = new Map(hits.map((h) => [h.record.memory_id, h]));
        const after = arrange(hits, { topK, reader: READER });
        expect(new Set(after.map(({ record }) => record.memory_id)).size).to.equal(after.length);
        after.forEach(({ record, score, parts }, i) => {
          const was = before.get(record.memory_id)?.score ?? NaN;
          expect(score).to.be.within(0, was);
          expect(was + parts.reduce((sum, part) => sum + part.contribution, 0)).to.be.closeTo(score, 1e-9);
          expect(score).to.be.at.most(after[i - 1]?.score ?? 1);
        });
        // the most trusted of each text is there, as the reader trusts it
        const tierOf = ({ record }: RankedHit): number => standingFor(record, READER).tier;
        const best = Math.max(-1, ...hits.map(tierOf));
        if (hits.length > 0) expect(after.some((one) => tierOf(one) === best)).to.equal(true);
      }),
    );
  });
});

describe('a search over copies', () => {
  it('shows 50 copies of one poison once and fills the other places', async () => {
    const world = createWorld();
    for (let i = 0; i < 50; i += 1)
      world.index.plant(
        memoryRecord({
          content: `${i % 2 === 0 ? 'The' : 'the'} tea${' '.repeat(1 + (i % 25))}account changed`,
          lex_uni: 'tea tea tea',
          fingerprint: `p${i}`,
          trust_tier: 1,
          origin: from('p1', 'tool'),
        }),
      );
    for (let i = 0; i < 4; i += 1)
      world.index.plant(
        memoryRecord({ content: `tea fact ${i}`, lex_uni: 'tea', fingerprint: `f${i}`, trust_tier: 0, origin: from('p2') }),
      );
    const { hits } = await world.memory.search({ query: 'tea' }, world.call());
    expect(hits).to.have.length(5);
    expect(hits.filter(({ content }) => content.includes('account'))).to.have.length(1);
    // one query where the page is not emptied by copies
    world.index.calls.length = 0;
    await world.memory.search({ query: 'fact', top_k: 2 }, world.call());
    expect(world.index.calls.filter((call) => call === 'search')).to.have.length(1);
  });
});
