/** influence_only: what may stand by itself is confirmed by a person or said by two origins; copies, tokens and look-alikes are no second origin. */
import { expect } from 'chai';
import type { HitRecord, RankedHit } from '../../../../src/domain/ranking.ts';
import { influential } from '../../../../src/guard/screening/corroboration.ts';
import { createWorld } from '../../../support/memory-world.ts';
import { recordOf } from '../../../support/hits.ts';
import { principal } from '../../../support/principals.ts';
import { memoryRecord } from '../../../support/records.ts';

const GUARD = { verdict: 'confirm', rule_ids: [], policy_revision: 'r1' };

const hit = (memory_id: string, content: string, who: string, over: Partial<HitRecord> = {}): RankedHit => ({
  record: recordOf({
    memory_id,
    content,
    trust_tier: 1,
    origin: [{ type: 'tool', principal: who, ts: '2026-03-01T10:00:00.000Z' }],
    ...over,
  }),
  score: 0.5,
  engineScore: 1,
  parts: [],
});
const ids = (...hits: RankedHit[]): readonly string[] => influential(hits, 'o').map(({ record }) => record.memory_id);

describe('corroborated hits', () => {
  it('are those that two principals say in the same words, anywhere', () => {
    expect(
      ids(hit('a', 'The ferry leaves at noon.', 'p1'), hit('b', 'the ferry leaves at noon', 'p2', { namespace: 'shared.x' })),
    ).to.deep.equal(['a', 'b']);
    expect(ids(hit('a', '渡轮中午开。', 'p1'), hit('b', '渡轮中午开', 'p2'))).to.deep.equal(['a', 'b']);
    expect(
      ids(hit('a', 'The ferry leaves at noon.', 'p1'), hit('b', 'The ferry leaves at noon.', 'p1', { namespace: 'shared.x' })),
    ).to.deep.equal([]);
  });

  it('are not those that differ in a name, a number, the subject or the day, nor what no longer holds', () => {
    const one = hit('a', 'Acme is paid at account 111', 'p1');
    for (const [content, over] of [
      ['Acme is paid at account 999', {}],
      ['Acme is not paid at account 111', {}],
      ['Acme is paid at account 111', { subject: 'Acme Ltd' }],
      ['Acme is paid at account 111', { occurred_at: '2026-03-02T00:00:00.000Z' }],
      ['Acme is paid at account 111', { status: 'superseded' }],
    ] as const)
      expect(ids(one, hit('b', content, 'p2', over)), content).to.deep.equal([]);
  });

  it('are also those that a person has confirmed, and not those that a person merely stated', () => {
    expect(
      ids(hit('a', 'x y', 'p1', { trust_tier: 3 }), hit('b', 'y z', 'p1', { trust_tier: 4 }), hit('c', 'z x', 'p1', { trust_tier: 5 })),
    ).to.deep.equal(['b', 'c']);
    // what its writer has confirmed is confirmed for nobody else
    const own = hit('b', 'y z', 'o', { trust_tier: 4, guard: { ...GUARD, confirmed_by: { principal: 'o', of_another: false } } });
    expect([influential([own], 'o'), influential([own], 'p')].map(({ length }) => length)).to.deep.equal([1, 0]);
  });

  it('say why, at no weight', () => {
    const said = influential([hit('a', 'tea', 'p1'), hit('b', 'tea', 'p2'), hit('c', 'mate', 'p1', { trust_tier: 4 })], 'o');
    expect(said.map(({ parts }) => parts.at(-1)?.sentence)).to.deep.equal([
      '2 origins say this in the same words',
      '2 origins say this in the same words',
      'A person has confirmed this',
    ]);
    for (const { parts, score } of said) {
      expect(score).to.equal(0.5);
      expect(parts.at(-1)).to.include({ signal: 'corroboration', contribution: 0, weight: 0 });
    }
  });

  it('are what a search with influence_only brings, once each, and 50 copies of one origin are not among them', async () => {
    const world = createWorld();
    const reader = principal();
    const plant = (content: string, who: string): void =>
      world.index.plant(
        memoryRecord({
          content,
          lex_uni: 'tea serve',
          trust_tier: 1,
          namespace: reader.ownNamespace,
          origin: [{ type: 'tool', principal: who, ts: '2026-03-01T10:00:00.000Z' }],
        }),
      );
    for (let i = 0; i < 50; i += 1) plant('tea is served at nine', 'p9');
    plant('tea is served at four', 'p1');
    plant('Tea is served at four.', 'p2');
    const search = async (influence_only: boolean): Promise<readonly string[]> =>
      (await world.memory.search({ query: 'when is tea served', explain: true, influence_only }, world.call(reader))).hits.map(
        ({ content, explain }) =>
          `${content.replace(/⟦[^⟧]*⟧/gu, '')}|${explain?.signals.find(({ signal }) => signal === 'corroboration')?.sentence ?? ''}`,
      );
    expect(await search(true)).to.deep.equal(['tea is served at four|2 origins say this in the same words']);
    expect((await search(false)).length).to.equal(2);
  });
});
