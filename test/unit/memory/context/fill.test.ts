import { expect } from 'chai';
import fc from 'fast-check';
import { blockOf, type BlockEntry } from '../../../../src/memory/context/block.ts';
import { choose, worthOf, type WorthyEntry } from '../../../../src/memory/context/choose.ts';
import { fill } from '../../../../src/memory/context/fill.ts';
import { loadContextPolicy } from '../../../../src/memory/context/policy.ts';
import { promptTokens } from '../../../../src/memory/context/tokens.ts';
import { join } from 'node:path';

const { words } = loadContextPolicy(join(import.meta.dirname, '..', '..', '..', '..', 'policies'));

const candidate = fc.record({ value: fc.double({ min: 0.001, max: 10, noNaN: true }), tokens: fc.integer({ min: 1, max: 60 }) });
const candidates = fc.array(candidate, { maxLength: 12 });
const budget = fc.integer({ min: 0, max: 300 });
const sum = (list: readonly { readonly value: number; readonly tokens: number }[], chosen: readonly number[], of: 'value' | 'tokens') =>
  chosen.reduce((total, i) => total + (list[i]?.[of] ?? 0), 0);

describe('memory/context/fill', () => {
  it('never takes more than the budget and keeps the order given', () => {
    fc.assert(
      fc.property(candidates, budget, (list, room) => {
        const chosen = fill(list, room);
        expect(sum(list, chosen, 'tokens')).to.be.at.most(room);
        expect([...chosen].sort((a, b) => a - b)).to.deep.equal(chosen);
        expect(new Set(chosen).size).to.equal(chosen.length);
      }),
    );
  });

  it('holds no less value when the budget grows', () => {
    fc.assert(
      fc.property(candidates, budget, fc.integer({ min: 0, max: 50 }), (list, room, more) => {
        const [small, large] = [fill(list, room), fill(list, room + more)];
        expect(sum(list, large, 'value')).to.be.at.least(sum(list, small, 'value') - 1e-9);
      }),
    );
  });

  it('holds at least half of what the best filling holds', () => {
    fc.assert(
      fc.property(fc.array(candidate, { maxLength: 9 }), budget, (list, room) => {
        let best = 0;
        for (let set = 0; set < 1 << list.length; set += 1) {
          const chosen = list.flatMap((_one, i) => ((set >> i) & 1 ? [i] : []));
          if (sum(list, chosen, 'tokens') <= room) best = Math.max(best, sum(list, chosen, 'value'));
        }
        expect(sum(list, fill(list, room), 'value')).to.be.at.least(best / 2 - 1e-9);
      }),
    );
  });

  it('takes everything when everything fits, and of equals the first', () => {
    expect(
      fill(
        [
          { value: 1, tokens: 5 },
          { value: 2, tokens: 5 },
        ],
        10,
      ),
    ).to.deep.equal([0, 1]);
    expect(
      fill(
        [
          { value: 1, tokens: 5 },
          { value: 1, tokens: 5 },
        ],
        9,
      ),
    ).to.deep.equal([0]);
    expect(
      fill(
        [
          { value: 1, tokens: 1 },
          { value: 9, tokens: 10 },
        ],
        10,
      ),
    ).to.deep.equal([1]);
  });
});

const text = fc.oneof(
  fc.lorem({ maxCount: 20 }),
  fc.string({ unit: fc.constantFrom(...'记忆服务在喝龙井茶，。A-8841 ⟦⟧\u00e9'), minLength: 1, maxLength: 80 }),
);
const entry: fc.Arbitrary<WorthyEntry> = fc.record({
  layer: fc.constantFrom('strategic', 'semantic', 'episodic'),
  line: text.map((line) => `- ${line.replaceAll('\n', ' ')}`),
  referenceOnly: fc.boolean(),
  score: fc.double({ min: 0.01, max: 1, noNaN: true }),
});
const entries = fc.array(entry, { maxLength: 14 });
const lang = fc.constantFrom('zh', 'en');

describe('memory/context/choose', () => {
  it('gives a block that never costs more than the budget, headings and all', () => {
    fc.assert(
      fc.property(entries, fc.integer({ min: 0, max: 600 }), lang, (list, room, language) => {
        const chosen = choose(list, room, words[language]);
        expect(promptTokens(blockOf(chosen, words[language]))).to.be.at.most(room);
        expect(list.filter((one) => chosen.includes(one))).to.deep.equal(chosen);
      }),
    );
  });

  it('holds no less worth when the budget grows', () => {
    fc.assert(
      fc.property(entries, fc.integer({ min: 0, max: 600 }), fc.integer({ min: 0, max: 100 }), lang, (list, room, more, language) => {
        const [small, large] = [choose(list, room, words[language]), choose(list, room + more, words[language])];
        expect(worthOf(large)).to.be.at.least(worthOf(small) - 1e-9);
      }),
    );
  });

  it('keeps the one memory that fits although the frame of all would leave no room', () => {
    const line = '- Ana drinks tea. [said by the user, 2026-03-01]';
    const list: WorthyEntry[] = (['strategic', 'semantic', 'episodic'] as const).map((layer) => ({
      layer,
      line,
      referenceOnly: layer !== 'semantic',
      score: 0.5,
    }));
    const alone = promptTokens(blockOf([list[1] as BlockEntry], words.en)) + 1;
    expect(choose(list, alone, words.en).map(({ layer }) => layer)).to.deep.equal(['semantic']);
  });

  it('shows every entry whole, on a line of its own, under its heading', () => {
    fc.assert(
      fc.property(entries, fc.integer({ min: 0, max: 600 }), (list, room) => {
        const chosen = choose(list, room, words.en);
        const lines = blockOf(chosen, words.en).split('\n');
        for (const { line } of chosen) expect(lines).to.include(line);
      }),
    );
  });
});
