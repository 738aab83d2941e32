import { expect } from 'chai';
import { queryVectors, spacesFor } from '../../../src/memory/query-vectors.ts';
import { textHashes } from '../../../src/operations/audit-facts.ts';
import { memorySearch } from '../../../src/operations/memory-search.ts';
import { createTestEmbedder, createWorld, vectorOf, type World } from '../../support/memory-world.ts';
import { rejection } from '../../support/rejection.ts';

const contents = async (world: World, input: Parameters<World['memory']['search']>[0]) =>
  (await world.memory.search(input, world.call())).hits.map((hit) => hit.content);

async function teaWorld(): Promise<World> {
  const world = createWorld();
  await world.memory.write({ items: [{ content: 'Ann likes green tea' }, { content: 'The ferry to Skye leaves at noon' }] }, world.call());
  return world;
}

describe('a search with two queries', () => {
  it('finds what either of them asks for, and says whose words each hit holds', async () => {
    const world = await teaWorld();
    const both = ['and when does that leave?', 'When does the ferry to Skye leave?'];
    expect(await contents(world, { queries: both })).to.include('The ferry to Skye leaves at noon');
    expect(await contents(world, { query: 'green tea', queries: ['ferry'] })).to.have.members([
      'Ann likes green tea',
      'The ferry to Skye leaves at noon',
    ]);
    const explained = await world.memory.search({ query: 'green tea', queries: ['ferry'], explain: true }, world.call());
    expect(explained.hits.map((hit) => [hit.content.slice(0, 3), hit.explain?.queries])).to.deep.include.members([
      [
        'Ann',
        [
          { query: 1, words: 16 },
          { query: 2, words: null },
        ],
      ],
      [
        'The',
        [
          { query: 1, words: null },
          { query: 2, words: 8 },
        ],
      ],
    ]);
    const one = await world.memory.search({ queries: ['green tea'], explain: true }, world.call());
    expect(one.hits[0]?.explain).not.to.have.property('queries');
  });

  it('is refused without a text and with more than two different ones; equal ones count once', async () => {
    const fault = (input: object) => memorySearch.input.safeParse(input).error?.issues.map(({ path }) => path.join('/'));
    expect(fault({})).to.deep.equal(['query']);
    expect(fault({ queries: ['tea', 'ferry'] })).to.equal(undefined);
    expect(fault({ query: 'tea', queries: ['ferry', 'tea'] })).to.equal(undefined);
    expect(fault({ query: 'tea', queries: ['ferry', 'Skye'] })).to.deep.equal(['queries']);
    expect(fault({ queries: ['tea', 'ferry', 'Skye'] })).to.include('queries');
    const world = await teaWorld();
    expect(await contents(world, { query: 'green tea', queries: ['green tea'] })).to.deep.equal(['Ann likes green tea']);
    expect((await rejection(world.memory.search({}, world.call()))).code).to.equal('ERR_REQUEST_INVALID');
  });

  it('costs a point more, as its text and its vector are two', () => {
    const points = (input: object) => memorySearch.extraCost?.(input);
    expect([points({ query: 'tea' }), points({ queries: ['tea'] }), points({ query: 'tea', queries: ['tea'] })]).to.deep.equal([0, 0, 0]);
    expect([points({ query: 'tea', queries: ['ferry'] }), points({ queries: ['tea', 'ferry'] })]).to.deep.equal([1, 1]);
  });

  it('masks both, and keeps both in the recall trace and as one hash in the audit log', async () => {
    const world = createWorld();
    const key = 'sk-ant-api03-' + 'a1B2c3D4e5F6g7H8i9J0'.repeat(4);
    await world.memory.search({ query: 'what is this', queries: [`the key ${key}`] }, world.call());
    const texts = world.embedder.asked.flatMap(({ texts }) => texts);
    expect(texts).to.have.length(2);
    expect(texts.join()).not.to.include(key);
    const trace = await world.memory.recallTrace({ trace_id: world.call().traceId }, world.call());
    expect(trace.recalls[0]?.query).to.match(/^what is this\nthe key \[masked:/);
    const hashOf = (input: object) => textHashes(input as never, 't', { key: Buffer.alloc(32), mask: (texts) => texts }).query_hmac;
    expect(hashOf({ query: 'a', queries: ['b'] })).to.equal(hashOf({ queries: ['a', 'b'] }));
    expect(hashOf({ query: 'a', queries: ['b'] })).not.to.equal(hashOf({ query: 'a' }));
    expect(hashOf({ queries: ['a'] })).to.equal(hashOf({ query: 'a' }));
  });

  it('has one vector a space, the mean of two texts there, and each text its own where their scripts differ', async () => {
    const embedder = createTestEmbedder();
    const { signal } = new AbortController();
    const [tea, ferry] = ['green tea', 'the ferry'];
    const [mean] = (await queryVectors({ embedder }, { query: tea, also: ferry, spaceNames: ['en'] }, signal)) ?? [];
    const [a, b] = [vectorOf(tea), vectorOf(ferry)];
    for (const at of [0, 7, 31]) expect(mean?.vector[at]).to.be.closeTo(((a[at] ?? 0) + (b[at] ?? 0)) / 2, 1e-6);
    expect(spacesFor({ embedder }, [tea, ferry])).to.deep.equal(['en', 'zh']);
    expect(spacesFor({ embedder }, ['绿茶', '花生'])).to.deep.equal(['zh']);
    expect(spacesFor({ embedder }, ['绿茶', tea]), 'the unnamed clause is the wider space’s').to.deep.equal(['en', 'zh']);
    const own = await queryVectors({ embedder }, { query: '绿茶', also: tea, spaceNames: ['en', 'zh'] }, signal);
    expect(own?.map(({ vector }) => [...vector])).to.deep.equal([[...vectorOf(tea)], [...vectorOf('绿茶')]]);
  });
});
