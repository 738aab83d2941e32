/** The last word: what is in doubt is believed when whoever may decide says it again, and what says otherwise gives way. */
import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import type { Principal } from '../../../src/domain/principal.ts';
import type { WriteInput, WriteResult } from '../../../src/domain/wire/write.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';

const person = principal();
const agent = principal({ actor: 'agent', clientId: 'bot' });
const inferred = { source: { type: 'agent' } } as const;

async function say(world: World, content: string, by: Principal = person, more: Partial<WriteInput> = {}): Promise<WriteResult> {
  const { results } = await world.memory.write({ content, kind: 'fact', ...more }, world.call(by));
  return results[0] as WriteResult;
}

function standing(world: World): readonly MemoryRecord[] {
  return [...world.index.heads.values()].map(({ record }) => record).filter(({ status }) => status === 'active' || status === 'conflict');
}

/** What is stored and in no doubt. */
function believed(world: World): readonly string[] {
  return standing(world).flatMap(({ status, doubt, content }) => (status === 'active' && (doubt ?? 0) === 0 ? [content] : []));
}

const TURNS: readonly (readonly [string, string])[] = [
  ['Ana works at Siemens.', 'Ana no longer works at Siemens.'],
  ['I live in Munich.', 'I no longer live in Munich.'],
  ['I like tea.', "I don't like tea."],
  ['我喜欢喝茶。', '我不喜欢喝茶。'],
];

describe('a memory in doubt that is said again', () => {
  for (const [one, other] of TURNS)
    it(`is the last word, however often it changes: ${one} / ${other}`, async () => {
      const world = createWorld();
      for (const text of [one, other, one, other, one, other]) {
        await say(world, text);
        expect(believed(world), text).to.deep.equal([text]);
      }
    });

  it('ends what took its place, and is told of as ever', async () => {
    const world = createWorld();
    await say(world, 'Ana works at Siemens.');
    const gone = await say(world, 'Ana no longer works at Siemens.');
    const back = await say(world, 'Ana works at Siemens.');
    expect(back.outcome).to.equal('conflict');
    const again = await say(world, 'Ana no longer works at Siemens.');
    expect(again.outcome).to.equal('replaced');
    expect(again.replaced).to.have.members([gone.memory_id, back.memory_id]);
    expect(standing(world)).to.have.length(1);
    const repeat = await say(world, 'Ana no longer works at Siemens.');
    expect(repeat).to.deep.include({ outcome: 'duplicate', memory_id: again.memory_id });
  });

  it('is the same in other words', async () => {
    const world = createWorld();
    await say(world, 'Ana works at Siemens.');
    await say(world, 'Ana no longer works at Siemens.');
    await say(world, 'Ana works at Siemens.');
    await say(world, 'Ana no longer works for Siemens.');
    expect(believed(world)).to.deep.equal(['Ana no longer works for Siemens.']);
  });

  it('takes the place of what an agent said, and ends what the person said before', async () => {
    const world = createWorld();
    await say(world, 'I no longer live in Munich.', agent, inferred);
    await say(world, 'I live in Munich.');
    expect(believed(world)).to.deep.equal(['I live in Munich.']);
    await say(world, 'I no longer live in Munich.');
    expect(believed(world)).to.deep.equal(['I no longer live in Munich.']);
    expect(standing(world)).to.have.length(1);
  });

  it('stays in doubt when somebody less trusted says it again, however often', async () => {
    const world = createWorld();
    await say(world, 'I no longer live in Munich.', agent, inferred);
    await say(world, 'I live in Munich.');
    const count = world.index.heads.size;
    for (let n = 0; n < 3; n += 1) {
      const again = await say(world, 'I no longer live in Munich.', agent, inferred);
      expect(again.outcome).to.equal('duplicate');
      expect(believed(world)).to.deep.equal(['I live in Munich.']);
      expect(world.index.heads.size).to.equal(count);
    }
  });

  it('stays in doubt beside another value of its slot that its writer may not replace', async () => {
    const world = createWorld();
    await say(world, 'I live in Munich.');
    const first = await say(world, 'I live in Berlin.', agent, inferred);
    expect(first.outcome).to.equal('conflict');
    const again = await say(world, 'I live in Berlin.', agent, inferred);
    expect(again).to.deep.include({ outcome: 'duplicate', memory_id: first.memory_id });
    expect(believed(world)).to.deep.equal(['I live in Munich.']);
  });

  it('keeps the tags it is found by', async () => {
    const world = createWorld();
    await say(world, 'Ana works at Siemens.');
    const tagged = await say(world, 'Ana no longer works at Siemens.', person, { tags: ['jobs'] });
    await say(world, 'Ana works at Siemens.');
    await say(world, 'Ana no longer works at Siemens.');
    expect(believed(world)).to.deep.equal(['Ana no longer works at Siemens.']);
    expect(standing(world).map(({ memory_id }) => memory_id)).to.include(tagged.memory_id);
    const count = world.index.heads.size;
    await say(world, 'Ana no longer works at Siemens.');
    expect(world.index.heads.size).to.equal(count);
  });

  it('is believed when the person who called it outdated says it again, and not for an agent', async () => {
    const world = createWorld();
    const first = await say(world, 'The spare key lies under the third pot.');
    await world.memory.feedback({ memory_ids: [first.memory_id as string], verdict: 'outdated' }, world.call(person));
    expect(believed(world)).to.deep.equal([]);
    await say(world, 'The spare key lies under the third pot.', agent, inferred);
    expect(believed(world)).to.deep.equal([]);
    await say(world, 'The spare key lies under the third pot.');
    expect(believed(world)).to.deep.equal(['The spare key lies under the third pot.']);
    expect(standing(world)).to.have.length(1);
  });

  it('ends what says otherwise also where a value gives way to it', async () => {
    const world = createWorld();
    await say(world, 'I no longer live in Munich.');
    await say(world, 'I live in Berlin.');
    await say(world, 'I live in Munich.');
    expect(believed(world)).to.deep.equal(['I live in Munich.']);
  });
});
