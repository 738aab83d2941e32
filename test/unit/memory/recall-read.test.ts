import { expect } from 'chai';
import { createWorld, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';
import { rejection } from '../../support/rejection.ts';

const TRACE = 'a'.repeat(32);
const AUDIT = ['memory:read', 'memory:audit'];
const ann = principal();
const bob = principal({ sub: 'bob' });

const read = (world: World, by = ann) => world.memory.recallTrace({ trace_id: TRACE }, world.call(by));
const ask = (world: World, query: string, by = ann) => world.memory.search({ query, explain: true }, world.call(by, { traceId: TRACE }));

describe('the recall trace', () => {
  it('says what a search returned, with its scores as they were answered and what they are made of', async () => {
    const world = createWorld();
    await world.memory.write({ content: 'Ann likes green tea' }, world.call());
    const { hits } = await ask(world, 'which tea does Ann like');
    const { recalls } = await read(world);
    expect(recalls).to.deep.equal([
      {
        operation: 'memory_search',
        at: '2026-03-01T12:00:00.000Z',
        owner: ann.owner,
        actor: 'user',
        namespaces: [ann.ownNamespace],
        query: 'which tea does Ann like',
        query_state: 'open',
        hits: hits.map(({ memory_id, score, explain }) => ({
          memory_id,
          score,
          parts: Object.fromEntries(explain?.signals.filter((s) => s.contribution !== 0).map((s) => [s.signal, s.contribution]) ?? []),
        })),
      },
    ]);
    expect(Object.keys(recalls[0]?.hits[0]?.parts ?? {})).not.to.deep.equal([]);
  });

  it('keeps a search that found nothing, and none that looked for what to forget', async () => {
    const world = createWorld();
    await world.memory.write({ content: 'Ann likes green tea' }, world.call());
    await world.memory.forget({ query: 'green tea', dry_run: true }, world.call(ann, { traceId: TRACE }));
    expect((await rejection(read(world))).code).to.equal('ERR_RECALL_NOT_FOUND');
    await world.memory.search({ query: 'quarterly revenue' }, world.call(ann, { traceId: TRACE }));
    expect((await read(world)).recalls.map(({ hits }) => hits)).to.deep.equal([[]]);
  });

  it('has the query masked, as the search saw it', async () => {
    const world = createWorld();
    await ask(world, 'whose number is 13800138000?');
    const [recall] = (await read(world)).recalls;
    expect(recall?.query).to.contain('whose number is').and.not.to.contain('13800138000');
  });

  it('is the person’s own; with memory:audit it is that of anybody in the tenant, never of another', async () => {
    const world = createWorld();
    await ask(world, 'which tea does Ann like');
    expect((await rejection(read(world, bob))).code).to.equal('ERR_RECALL_NOT_FOUND');
    expect((await rejection(read(world, principal({ tenant: 'umbrella', scopes: AUDIT })))).code).to.equal('ERR_RECALL_NOT_FOUND');
    expect((await read(world, principal({ sub: 'bob', scopes: AUDIT }))).recalls.map(({ owner }) => owner)).to.deep.equal([ann.owner]);
  });

  it('opens the query for the person who asked, and for a person with memory:reveal; for no agent and no service', async () => {
    const world = createWorld();
    await ask(world, 'which tea does Ann like');
    const state = async (by: ReturnType<typeof principal>) => (await read(world, by)).recalls.map((r) => [r.query_state, 'query' in r]);
    expect(await state(ann)).to.deep.equal([['open', true]]);
    expect(await state(principal({ actor: 'agent' }))).to.deep.equal([['sealed', false]]);
    expect(await state(principal({ sub: 'bob', scopes: AUDIT }))).to.deep.equal([['sealed', false]]);
    expect(await state(principal({ sub: 'bob', scopes: [...AUDIT, 'memory:reveal'] }))).to.deep.equal([['open', true]]);
    for (const actor of ['agent', 'service'] as const)
      expect(await state(principal({ sub: 'bob', actor, scopes: [...AUDIT, 'memory:reveal'] })), actor).to.deep.equal([['sealed', false]]);
  });

  it('has lost its queries, and nothing else, when the tenant’s key is deleted', async () => {
    const world = createWorld();
    await ask(world, 'which tea does Ann like');
    expect((await read(world)).recalls.map((r) => r.query_state)).to.deep.equal(['open']);
    await world.deps.deleteTenantKeys('acme');
    await ask(world, 'and which coffee');
    const { recalls } = await read(world);
    expect(recalls.map((r) => [r.query_state, 'query' in r, r.operation])).to.deep.equal([
      ['gone', false, 'memory_search'],
      ['gone', false, 'memory_search'],
    ]);
  });
});
