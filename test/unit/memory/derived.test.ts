/** What was made from forgotten memories: no summary brings their words back, and restoring them brings it back. */
import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import type { WriteInput } from '../../../src/domain/wire/write.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';

async function put(world: World, input: WriteInput): Promise<string> {
  const { results } = await world.memory.write({ admission: 'keep', ...input }, world.call());
  world.time.nowMs += 60_000;
  return results[0]?.memory_id ?? '';
}

function head(world: World, id: string): MemoryRecord {
  const found = world.index.heads.get(id)?.record;
  if (found === undefined) throw new Error(`no memory ${id}`);
  return found;
}

const found = async (world: World, query: string): Promise<readonly string[]> =>
  (await world.memory.search({ query }, world.call())).hits.map(({ memory_id: id }) => id);

async function summarized(): Promise<{ world: World; ids: string[]; summary: string }> {
  const world = createWorld();
  const ids = [
    await put(world, { content: 'The safe code of the archive is written on the red card.' }),
    await put(world, { content: 'The archive moved to the second floor in March.' }),
  ];
  const { results } = await world.memory.summarize({ store: true }, world.call());
  const summary = results?.[0]?.memory_id;
  if (summary === undefined || summary === null) throw new Error('no summary was stored');
  expect(head(world, summary).parents).to.have.members(ids);
  return { world, ids, summary };
}

describe('a summary of memories that are forgotten', () => {
  it('leaves the search with them, says why, and comes back when all of them are restored', async () => {
    const { world, ids, summary } = await summarized();
    expect(await found(world, 'safe code of the archive')).to.include(summary);
    for (const memory_id of ids) await world.memory.forget({ memory_id }, world.call());
    expect(head(world, summary)).to.include({ status: 'forgotten', reason: 'a memory that it sums up was forgotten' });
    expect(await found(world, 'safe code of the archive')).to.deep.equal([]);
    await world.memory.restore({ memory_id: ids[0] ?? '' }, world.call());
    expect(head(world, summary).status, 'the other one is forgotten still').to.equal('forgotten');
    await world.memory.restore({ memory_id: ids[1] ?? '' }, world.call());
    expect(head(world, summary)).to.include({ status: 'active', version: 3 });
    expect(await found(world, 'safe code of the archive')).to.include(summary);
  });

  it('goes also where it was archived, and comes back archived', async () => {
    const { world, ids, summary } = await summarized();
    const [memory_id = ''] = ids;
    world.index.plant({ ...head(world, summary), status: 'archived', reason: 'not asked for in a long time' });
    const archived = { query: 'safe code of the archive', filter: { status: ['archived' as const] } };
    expect((await world.memory.search(archived, world.call())).hits.map(({ memory_id: id }) => id)).to.deep.equal([summary]);
    await world.memory.forget({ memory_id }, world.call());
    expect((await world.memory.search(archived, world.call())).hits).to.deep.equal([]);
    await world.memory.restore({ memory_id }, world.call());
    expect(head(world, summary).status).to.equal('archived');
  });

  it('goes with a filter’s plan as well, and a call that broke off is repeated', async () => {
    const { world, ids, summary } = await summarized();
    const [memory_id = ''] = ids;
    let broke = false;
    world.index.before = (method) => {
      if (method !== 'patchMany' || broke) return;
      broke = true;
      throw new Error('cut off');
    };
    const target = { filter: { created: { lt: new Date(world.time.nowMs - 90_000).toISOString() } } };
    const { plan } = await world.memory.forget({ ...target, dry_run: true }, world.call());
    await world.memory.forget({ ...target, plan }, world.call()).catch(() => undefined);
    expect(broke).to.equal(true);
    expect(head(world, memory_id).status).to.equal('active');
    expect(head(world, summary).status, 'no crash leaves it to be found').to.equal('forgotten');
    await world.memory.forget({ ...target, plan }, world.call());
    expect(head(world, memory_id).status).to.equal('forgotten');
    expect(head(world, summary).status).to.equal('forgotten');
  });
});

describe('a memory that was made from a forgotten one', () => {
  it('is in doubt until that stands again, and keeps a doubt of its own', async () => {
    const world = createWorld();
    const page = await put(world, {
      content: 'The page says that the pool opens at seven.',
      source: { type: 'web', uri: 'https://a.example/' },
    });
    const derived = await put(world, { content: 'The pool opens at seven.', source: { type: 'agent', parents: [page] } });
    const doubted = await put(world, { content: 'The pool is heated in winter.', source: { type: 'agent', parents: [page] } });
    world.index.plant({ ...head(world, doubted), doubt: 0.3 });
    await world.memory.forget({ memory_id: page }, world.call());
    expect(head(world, derived)).to.include({ status: 'active', doubt: 0.5, reason: 'a memory that it was made from was forgotten' });
    expect(head(world, doubted).doubt).to.equal(0.3);
    await world.memory.restore({ memory_id: page }, world.call());
    expect(head(world, derived)).to.not.have.property('doubt');
    expect(head(world, doubted).doubt).to.equal(0.3);
  });
});

describe('a private summary that somebody else made', () => {
  const scopes = ['memory:read', 'memory:write', 'memory:forget', 'memory:share'];
  const ann = principal({ namespaces: ['team.x'], scopes });
  const bob = principal({ namespaces: ['team.x'], scopes, sub: 'bob' });
  const made = async (): Promise<{ world: World; source: string; summary: string }> => {
    const world = createWorld();
    const input = { content: 'The safe code is on the red card.', namespace: 'team.x', visibility: 'shared', admission: 'keep' } as const;
    const { results } = await world.memory.write(input, world.call(ann));
    world.time.nowMs += 60_000;
    const item: WriteInput = {
      content: 'Summed up: the safe code is on the red card.',
      kind: 'summary',
      namespace: 'team.x',
      visibility: 'private',
      admission: 'keep',
      source: { type: 'agent', parents: [results[0]?.memory_id ?? ''] },
    };
    const summary = (await world.memory.write(item, world.call(bob))).results[0]?.memory_id ?? '';
    world.time.nowMs += 60_000;
    return { world, source: results[0]?.memory_id ?? '', summary };
  };

  it('goes when the memory is made private, and comes back when it is shared again', async () => {
    const { world, source, summary } = await made();
    await world.memory.update({ memory_id: source, visibility: 'private' }, world.call(ann));
    expect(head(world, summary)).to.include({ status: 'forgotten', reason: 'a memory that it sums up is no longer shared' });
    expect(head(world, summary).created_by).to.deep.equal({ sub: 'system', actor: 'service' });
    await world.memory.update({ memory_id: source, visibility: 'shared' }, world.call(ann));
    expect(head(world, summary).status).to.equal('active');
  });

  it('goes when the memory is forgotten, and comes back with it', async () => {
    const { world, source, summary } = await made();
    await world.memory.forget({ memory_id: source }, world.call(ann));
    expect(head(world, summary)).to.include({ status: 'forgotten', reason: 'a memory that it sums up was forgotten' });
    await world.memory.restore({ memory_id: source }, world.call(ann));
    expect(head(world, summary).status).to.equal('active');
  });
});
