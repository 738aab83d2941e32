/** Faults that a review found in the memory service; each stood here as a failing case first. */
import { expect } from 'chai';
import { createEmbedJob } from '../../../src/jobs/embed.ts';
import { HindsightError } from '../../../src/errors.ts';
import { createWorld } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';
import { rejection } from '../../support/rejection.ts';

type World = ReturnType<typeof createWorld>;

async function stored(world: World, item: object, by = principal()): Promise<string> {
  return (await world.memory.write(item, world.call(by))).results[0]?.memory_id ?? '';
}

async function embed(world: World): Promise<void> {
  const { index, guard, embedder, deps } = world;
  const job = createEmbedJob({ index, queue: index.queue, guard, embedder, clock: deps.clock, by: 'test' });
  await job.run('acme', { nudged: true, signal: new AbortController().signal });
}

describe('copies', () => {
  it('are all forgotten with the one that a question finds', async () => {
    const world = createWorld();
    const item = { content: 'My secret plan is to move to Oslo', subject: 'Ann', admission: 'keep' as const };
    await stored(world, item);
    world.time.nowMs += 1_000;
    await stored(world, item);
    await embed(world);
    const question = { query: 'secret plan move to Oslo' };
    const dry = await world.memory.forget({ ...question, min_score: 0.1, dry_run: true }, world.call());
    expect(dry.count).to.equal(2);
    await world.memory.forget({ plan: dry.plan ?? '' }, world.call());
    expect((await world.memory.search(question, world.call())).hits).to.deep.equal([]);
  });

  it('are no copies when they are about different subjects', async () => {
    const world = createWorld();
    for (const subject of ['Ann', 'Bob']) await stored(world, { content: 'is allergic to peanuts', subject });
    await embed(world);
    const { hits } = await world.memory.search({ query: 'who is allergic to peanuts' }, world.call());
    expect(hits.map((hit) => hit.subject)).to.have.members(['Ann', 'Bob']);
  });

  it('that no longer hold do not stand in for the one that does', async () => {
    const world = createWorld();
    const old = await stored(world, { content: 'Ann lives in Rome' });
    await world.memory.update({ memory_id: old, invalid: true }, world.call());
    const current = await stored(world, { content: 'Ann lives in Rome' }, principal({ actor: 'agent' }));
    await embed(world);
    const { hits } = await world.memory.search({ query: 'where does Ann live, Rome', include_superseded: true }, world.call());
    expect(hits.map((hit) => [hit.memory_id, hit.status])).to.deep.equal([[current, 'active']]);
  });
});

describe('an update', () => {
  const namespaces = ['team.a'];
  const scopes = ['memory:read', 'memory:write'];
  const ann = principal({ sub: 'ann', namespaces, scopes: [...scopes, 'memory:forget', 'memory:share'] });
  const bob = principal({ sub: 'bob', namespaces, scopes });

  it('cannot hide somebody else’s shared memory: no earlier end, not private', async () => {
    const world = createWorld();
    const memory_id = await stored(world, { content: 'a fact of the team', namespace: 'team.a' }, ann);
    for (const change of [{ expires_at: '2099-01-01T00:00:00Z' }, { visibility: 'private' as const }]) {
      expect((await rejection(world.memory.update({ memory_id, ...change }, world.call(bob)))).code).to.equal('ERR_NAMESPACE_FORBIDDEN');
    }
    expect((await world.memory.update({ memory_id, tags: ['seen'] }, world.call(bob))).outcome).to.equal('conflict');
    expect((await world.memory.get({ memory_id }, world.call(ann))).content).to.equal('a fact of the team');
  });

  it('takes no end that has passed, from the owner either', async () => {
    const world = createWorld();
    const memory_id = await stored(world, { content: 'a fact of the team', namespace: 'team.a' }, ann);
    const error = await rejection(world.memory.update({ memory_id, expires_at: '2020-01-01T00:00:00Z' }, world.call(ann)));
    expect(error.faults[0]?.pointer).to.equal('/expires_at');
  });
});

describe('a precondition of forgetting', () => {
  it('holds until the memory is marked, also when it is changed in between', async () => {
    const world = createWorld();
    const memory_id = await stored(world, { content: 'first text' });
    let reads = 0;
    world.index.before = async (method) => {
      if (method !== 'get') return;
      reads += 1;
      if (reads !== 2) return;
      world.index.before = undefined;
      await world.memory.update({ memory_id, content: 'second text' }, world.call());
    };
    expect((await rejection(world.memory.forget({ memory_id, version: 1 }, world.call()))).code).to.equal('ERR_PRECONDITION_FAILED');
    expect((await world.memory.get({ memory_id }, world.call())).content).to.equal('second text');
  });
});

describe('waiting for a write', () => {
  it('does not make it look failed when the store goes away meanwhile', async () => {
    const world = createWorld();
    world.index.before = (method) => {
      if (method === 'refresh') throw new HindsightError('ERR_STORE_UNAVAILABLE');
    };
    const { results } = await world.memory.write({ content: 'stored before the outage', wait: true }, world.call());
    expect(results[0]?.outcome).to.equal('stored');
  });

  it('ends when the client has gone', async () => {
    const world = createWorld({ deps: { sleep: () => Promise.resolve() } });
    const gone = AbortSignal.abort();
    let reads = 0;
    world.index.before = (method) => {
      if (method !== 'get') return;
      reads += 1;
      world.time.nowMs += 2;
    };
    await world.memory.write({ content: 'nobody waits for this', wait: true }, world.call(principal(), { signal: gone }));
    expect(reads).to.be.at.most(1);
  });
});

describe('dates', () => {
  it('beyond the years the index holds are faults of the request', async () => {
    const world = createWorld();
    for (const occurred_at of ['9999-12-31T23:59:59-01:00', '0000-01-01T00:00:00+01:00']) {
      const error = await rejection(world.memory.write({ content: 'a text', occurred_at }, world.call()));
      expect(error.faults[0]?.pointer, occurred_at).to.equal('/occurred_at');
    }
  });
});
