/** What memory_context asks for: a turn and its rewrite at once, and a cross-encoder's opinion where the best two are close. */
import { expect } from 'chai';
import type { Rerank } from '../../../../src/domain/reranker.ts';
import { memoryContext } from '../../../../src/operations/memory-context.ts';
import { RerankUnavailable } from '../../../../src/providers/rerank/provider.ts';
import { createWorld, vectorOf, type World } from '../../../support/memory-world.ts';
import { memoryRecord } from '../../../support/records.ts';
import { rejection } from '../../../support/rejection.ts';

async function teaWorld(options: Parameters<typeof createWorld>[0] = {}): Promise<World> {
  const world = createWorld(options);
  await world.memory.write({ items: [{ content: 'Ann likes green tea' }, { content: 'The ferry to Skye leaves at noon' }] }, world.call());
  return world;
}

describe('memory context with two queries', () => {
  it('holds what either of them asks for', async () => {
    const world = await teaWorld();
    const block = async (input: Parameters<World['memory']['context']>[0]) => (await world.memory.context(input, world.call())).context;
    expect(await block({ query: 'and what of that other one?' })).not.to.contain('Skye');
    expect(await block({ query: 'and what of that other one?', queries: ['When does the ferry to Skye leave?'] })).to.contain('Skye');
    const both = await block({ queries: ['green tea', 'ferry'] });
    expect(both).to.contain('green tea');
    expect(both).to.contain('Skye');
  });

  it('speaks the language of the first', async () => {
    const world = await teaWorld();
    const { context } = await world.memory.context({ query: '那个 ferry 什么时候开', queries: ['ferry to Skye'] }, world.call());
    expect(context).to.contain('来自长期记忆');
  });

  it('is refused without a text and with more than two different ones; equal ones count once', async () => {
    const fault = (input: object) => memoryContext.input.safeParse(input).error?.issues.map(({ path }) => path.join('/'));
    expect(fault({})).to.deep.equal(['query']);
    expect(fault({ queries: ['tea', 'ferry'] })).to.equal(undefined);
    expect(fault({ query: 'tea', queries: ['ferry', 'tea'] })).to.equal(undefined);
    expect(fault({ query: 'tea', queries: ['ferry', 'Skye'] })).to.deep.equal(['queries']);
    const world = await teaWorld();
    expect((await rejection(world.memory.context({}, world.call()))).code).to.equal('ERR_REQUEST_INVALID');
  });

  it('costs a point more, beside what an effort costs', () => {
    const points = (input: object) => memoryContext.extraCost?.(memoryContext.input.parse(input));
    expect(points({ query: 'tea' })).to.equal(0);
    expect(points({ query: 'tea', queries: ['tea'] })).to.equal(0);
    expect(points({ query: 'tea', queries: ['ferry'] })).to.equal(1);
    expect(points({ queries: ['tea', 'ferry'], effort: 'high' })).to.equal(5);
  });
});

describe('memory context with a cross-encoder', () => {
  const ASKED = { query: 'Ann likes tea' };
  const withEncoder = async (rerank: (question: Rerank) => Promise<readonly number[]>): Promise<World> => {
    const world = createWorld({ deps: { reranker: { rerank, close: async () => undefined } } });
    await world.memory.write(
      { items: [{ content: 'Ann likes green tea' }, { content: 'Ann likes black tea' }, { content: 'The ferry leaves at noon' }] },
      world.call(),
    );
    return world;
  };

  it('puts first in its layer what the cross-encoder finds relevant', async () => {
    const read: string[][] = [];
    const first = async (wanted: string): Promise<string> => {
      const world = await withEncoder(async ({ documents }) => {
        read.push([...documents]);
        return documents.map((text) => (text.includes(wanted) ? 0.9 : 0.1));
      });
      const { context } = await world.memory.context(ASKED, world.call());
      return context.split('\n').find((line) => line.startsWith('- ')) ?? '';
    };
    expect(await first('green')).to.contain('green tea');
    expect(await first('black')).to.contain('black tea');
    expect(read).to.have.length(2);
    for (const documents of read) expect(documents).to.have.members(['Ann likes green tea', 'Ann likes black tea']);
  });

  it('does without it, and says so, while it is away', async () => {
    const world = await withEncoder(async () => {
      throw new RerankUnavailable('switched off');
    });
    const { items, degraded } = await world.memory.context(ASKED, world.call());
    expect(items).to.have.length(2);
    expect(degraded).to.deep.equal(['rerank']);
  });
});

describe('memory context and the floor', () => {
  it('leaves out what a search would still show, as nobody asked for it', async () => {
    const world = createWorld();
    const { floor } = world.deps.profiles.get('assistant') ?? { floor: 0 };
    const { inject } = world.deps.context.rules;
    expect(inject).to.be.above(floor);
    const query = 'Which ferry captain retired, sold his green boat and moved abroad last?';
    const [asked, far] = [vectorOf(query), vectorOf('tourists cake tea')];
    const content = 'the ferry sells green tea and cake to tourists';
    world.index.plant(
      memoryRecord({
        content,
        lex_uni: 'ferri sell green tea cake tourist',
        vec_en: [...asked].map((x, i) => 0.38 * x + 0.92 * (far[i] ?? 0)),
      }),
    );
    const [hit] = (await world.memory.search({ query, min_score: 0 }, world.call())).hits;
    expect(hit?.score).to.be.within(floor, inject);
    expect((await world.memory.search({ query }, world.call())).hits).to.have.length(1);
    expect(await world.memory.context({ query }, world.call())).to.deep.include({ context: '', items: [], nothing_relevant: true });
  });
});
