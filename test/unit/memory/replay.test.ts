/** A log that contradicts itself: read in again it adds nothing, and whoever changes their mind anew has the last word. */
import { expect } from 'chai';
import type { WriteItem, WriteResult } from '../../../src/domain/wire/write.ts';
import { createWorld, type World } from '../../support/memory-world.ts';

const DAY = '2026-02-03T00:00:00.000Z';
const MORNING = '2026-02-03T09:30:12.000Z';
const NOON = '2026-02-03T12:00:00.000Z';

const PAIRS: readonly (readonly [string, string])[] = [
  ['I live in Paris.', 'I moved to Rome.'],
  ['Ana works at Siemens.', 'Ana no longer works at Siemens.'],
  ['I like tea.', "I don't like tea."],
  ['截止日期是周五。', '截止日期改到下周一。'],
];

const item = (content: string, more: Partial<WriteItem> = {}): WriteItem => ({ content, kind: 'fact', ...more });

async function batch(world: World, items: readonly WriteItem[]): Promise<readonly WriteResult[]> {
  const { results } = await world.memory.write({ items: [...items] }, world.call());
  world.time.nowMs += 1_000;
  return results;
}

async function oneByOne(world: World, items: readonly WriteItem[]): Promise<void> {
  for (const one of items) await batch(world, [one]);
}

function believed(world: World): readonly string[] {
  return [...world.index.heads.values()].flatMap(({ record: { status, doubt, content } }) =>
    status === 'active' && (doubt ?? 0) === 0 ? [content] : [],
  );
}

/** Statuses by text, of all that is stored. */
function stored(world: World): readonly string[] {
  return [...world.index.heads.values()].map(({ record: { content, status } }) => `${status}: ${content}`).sort();
}

async function addsNothing(world: World, say: () => Promise<unknown>): Promise<void> {
  await say();
  const before = [stored(world), believed(world)];
  for (let n = 0; n < 10; n += 1) await say();
  expect([stored(world), believed(world)]).to.deep.equal(before);
}

describe('a log that contradicts itself and is read in again', () => {
  for (const [one, other] of PAIRS) {
    it(`adds nothing as a batch that tells no time, and ends as it did: ${one} / ${other}`, async () => {
      const world = createWorld();
      await oneByOne(world, [item(one), item(other)]);
      await addsNothing(world, () => batch(world, [item('Kim has a red bicycle.'), item(one), item(other)]));
      expect(believed(world)).to.include(other).and.not.to.include(one);
    });

    it(`adds nothing text by text with the moments of the texts: ${one} / ${other}`, async () => {
      for (const [first, second] of [
        [MORNING, NOON],
        [MORNING, MORNING],
      ] as const) {
        const world = createWorld();
        await addsNothing(world, () => oneByOne(world, [item(one, { occurred_at: first }), item(other, { occurred_at: second })]));
        expect(believed(world)).to.deep.equal([other]);
      }
    });

    it(`adds nothing turn by turn: ${one} / ${other}`, async () => {
      const world = createWorld();
      const at = (turn: number): Partial<WriteItem> => ({ session_id: 's1', turn });
      await addsNothing(world, () => oneByOne(world, [item(one, at(1)), item(other, at(2))]));
      expect(believed(world)).to.deep.equal([other]);
    });
  }

  it('adds nothing where it changes back and forth, told as a batch', async () => {
    for (const texts of [
      ['I live in Paris.', 'I live in Rome.', 'I live in Paris.'],
      ['I live in Paris.', 'I live in Rome.', 'I live in Oslo.'],
      ['I live in Paris.', 'I live in Rome.', 'I live in Paris.', 'I live in Rome.'],
    ]) {
      const world = createWorld();
      await addsNothing(world, () =>
        batch(
          world,
          texts.map((text) => item(text)),
        ),
      );
      expect(believed(world)).to.deep.equal(texts.slice(-1));
    }
  });
});

describe('a mind that is changed back', () => {
  const there = item('I live in Paris.');
  const away = item('I live in Rome.');

  it('is the last word, however it is told', async () => {
    const days: readonly string[] = [MORNING, NOON, '2026-02-04T08:00:00.000Z'];
    for (const say of [oneByOne, batch])
      for (const more of [() => ({}), () => ({ occurred_at: DAY }), (n: number) => ({ occurred_at: days[n] ?? DAY })]) {
        const world = createWorld();
        await say(
          world,
          [there, away, there].map((one, n) => ({ ...one, ...more(n) })),
        );
        expect(believed(world)).to.deep.equal([there.content]);
      }
  });

  it('is the last word in one batch of one moment, too, and of another turn', async () => {
    const world = createWorld();
    await batch(
      world,
      [there, away, there].map((one) => ({ ...one, occurred_at: MORNING })),
    );
    expect(believed(world)).to.deep.equal([there.content]);
    const turns = createWorld();
    await oneByOne(
      turns,
      [there, away, there].map((one, turn) => ({ ...one, session_id: 's1', turn })),
    );
    expect(believed(turns)).to.deep.equal([there.content]);
  });

  it('is the last word in a batch that tells it after what speaks against it, or with something else', async () => {
    for (const items of [
      [away, there],
      [item('Kim has a red bicycle.'), there],
    ]) {
      const world = createWorld();
      await batch(world, [item('Kim has a red bicycle.'), there, away]);
      await batch(world, items);
      expect(believed(world)).to.include(there.content).and.not.to.include(away.content);
    }
  });
});
