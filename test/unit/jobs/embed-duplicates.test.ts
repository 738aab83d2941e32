/** Vector near-duplicates in the embed job, over the in-process index: closeness says who is compared, the texts decide. */
import { join } from 'node:path';
import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import type { WriteInput, WriteResult } from '../../../src/domain/wire/write.ts';
import { HindsightError } from '../../../src/errors.ts';
import { createEmbedJob } from '../../../src/jobs/embed.ts';
import { createMeetNearest } from '../../../src/memory/conflicts/meet-nearest.ts';
import { loadRelationPolicy } from '../../../src/memory/conflicts/relation-policy.ts';
import { createTurnLinks } from '../../../src/memory/turn-links.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';

const policy = loadRelationPolicy(join(import.meta.dirname, '..', '..', '..', 'policies'));
/** Nothing is found by its words, so that the vectors are what brings two memories together. */
const BLIND = { ...policy, duplicates: { ...policy.duplicates, lexical: { candidates: 1, overlap: 1 } } };
const DIMS = 64;

/** A vector for each of these words; texts without any are far from everything. */
const THEMES = ['cashew', 'deadline', 'oak', 'limit', 'olive'];

/** A world whose texts are near each other when they share a theme. */
function nearWorld(): { readonly world: World; readonly unmet: unknown[]; readonly run: () => Promise<unknown> } {
  const world = createWorld({ deps: { relations: BLIND } });
  let far = THEMES.length;
  const embedder = {
    ...world.embedder,
    spaces: world.embedder.spaces,
    embed: async (_space: string, texts: readonly string[]) =>
      texts.map((text) => {
        const theme = THEMES.findIndex((word) => text.includes(word));
        const vector = new Float32Array(DIMS);
        vector[theme === -1 ? far++ % DIMS : theme] = 1;
        return vector;
      }),
  };
  const deps = { ...world.deps, embedder };
  const unmet: unknown[] = [];
  const job = createEmbedJob({
    index: world.index,
    queue: world.index.queue,
    guard: world.guard,
    embedder,
    clock: world.deps.clock,
    by: 'worker-1',
    meetNearest: createMeetNearest(deps, createTurnLinks(deps)),
    onUnmet: (error) => void unmet.push(error),
  });
  return { world, unmet, run: () => job.run('acme', { nudged: true, signal: new AbortController().signal }) };
}

const write = async (world: World, item: WriteInput, by = principal()): Promise<WriteResult> => {
  world.time.nowMs += 1_000;
  const [result] = (await world.memory.write(item, world.call(by))).results;
  if (result === undefined) throw new Error('no result');
  return result;
};
const idOf = async (world: World, item: WriteInput, by = principal()): Promise<string> => (await write(world, item, by)).memory_id ?? '';
const headOf = (world: World, id: string): MemoryRecord => {
  const found = world.index.heads.get(id)?.record;
  if (found === undefined) throw new Error(`no memory ${id}`);
  return found;
};
const fact = (content: string, more: Partial<WriteInput> = {}): WriteInput => ({ content, kind: 'fact', ...more });

describe('vector near-duplicates', () => {
  it('merge a memory that says the same in other words into the older one, with the origins of both and a version kept', async () => {
    const { world, run } = nearWorld();
    const older = await idOf(world, fact('Ana is allergic to cashew nuts.'));
    await run();
    const newer = await idOf(
      world,
      fact('Ana has an allergy to cashew nuts.', { source: { type: 'user', uri: 'https://a.example/chart' } }),
    );
    expect(newer).to.not.equal(older);
    await run();
    expect(headOf(world, newer)).to.deep.include({ status: 'superseded', superseded_by: older, reason: `merged into ${older}` });
    const survivor = headOf(world, older);
    expect(survivor).to.include({ status: 'active', content: 'Ana is allergic to cashew nuts.', version: 2 });
    expect(survivor.origin.map((origin) => origin.uri)).to.include('https://a.example/chart');
    expect(survivor.trust_tier, 'no more trusted than the less trusted of both').to.equal(headOf(world, newer).trust_tier);
    expect(headOf(world, newer).spaces_due).to.deep.equal([]);
    const versions = await world.memory.history({ memory_id: newer }, world.call());
    expect(versions.versions.map(({ status }) => status)).to.deep.equal(['superseded', 'active']);
  });

  it('answer whoever writes a merged text again with the memory it was merged into', async () => {
    const { world, run } = nearWorld();
    const older = await idOf(world, fact('Ana is allergic to cashew nuts.'));
    await idOf(world, fact('Ana has an allergy to cashew nuts.'));
    await run();
    expect(await write(world, fact('Ana has an allergy to cashew nuts.'))).to.include({ memory_id: older, outcome: 'duplicate' });
  });

  it('meet within one batch too, and twice is as once', async () => {
    const { world, run } = nearWorld();
    const ids = [await idOf(world, fact('Ana is allergic to cashew nuts.')), await idOf(world, fact('Ana has an allergy to cashew nuts.'))];
    await run();
    const statuses = (): readonly unknown[] => ids.map((id) => [headOf(world, id).status, headOf(world, id).version]);
    const once = statuses();
    expect(once.map((one) => (one as string[])[0])).to.deep.equal(['active', 'superseded']);
    for (const id of ids) world.index.plant({ ...headOf(world, id), spaces_due: ['zh', 'en'] });
    await run();
    expect(statuses()).to.deep.equal(once);
  });

  it('stay apart when a number, a name or a negation differs, however near they are', async () => {
    const { world, run } = nearWorld();
    const texts = ['Order 41 has oak shelves.', 'Order 42 has oak shelves.', 'Ann bought oak shelves.', 'Anna bought oak shelves.'];
    const ids = [];
    for (const text of texts) ids.push(await idOf(world, { content: text, kind: 'event' }));
    await run();
    expect(ids.map((id) => headOf(world, id).status)).to.deep.equal(texts.map(() => 'active'));
  });

  it('let a changed value take the place of the older one', async () => {
    const { world, run } = nearWorld();
    const older = await idOf(world, fact('Store 3 oak planks in the shed.'));
    await run();
    const newer = await idOf(world, fact('Store 5 oak planks in the shed.'));
    expect(headOf(world, older).status, 'its words were not compared').to.equal('active');
    await run();
    expect(headOf(world, older)).to.include({ status: 'superseded', superseded_by: newer });
    expect(headOf(world, newer)).to.deep.include({ status: 'active', supersedes: [older] });
    expect(await write(world, fact('Store 3 oak planks in the shed.')), 'said anew').to.not.include({ memory_id: newer });
  });

  it('let what was true later stand, whichever came or was touched last', async () => {
    const { world, run } = nearWorld();
    const now = await idOf(world, fact('Store 5 oak planks in the shed.'));
    await run();
    const before = await idOf(world, fact('Store 3 oak planks in the shed.', { occurred_at: '2019-05-01T10:00:00Z' }));
    await run();
    expect(headOf(world, now)).to.include({ status: 'active' });
    expect(headOf(world, before)).to.include({ status: 'superseded', superseded_by: now });
  });

  it('are not put in another order by a change of a mark', async () => {
    const { world, run } = nearWorld();
    const first = await idOf(world, fact('Store 3 oak planks in the shed.'));
    const second = await idOf(world, fact('Store 5 oak planks in the shed.'));
    world.time.nowMs += 1_000;
    await world.memory.update({ memory_id: first, pinned: true }, world.call());
    await run();
    expect([first, second].map((id) => headOf(world, id).status)).to.deep.equal(['superseded', 'active']);
  });

  it('take the changes that were proposed to an ended memory with it', async () => {
    const { world, run } = nearWorld();
    const texts = ['Store 3 oak planks in the shed.', 'Ana has an allergy to cashew nuts.'];
    await idOf(world, fact('Ana is allergic to cashew nuts.'));
    const ended = [await idOf(world, fact(texts[0] ?? '')), await idOf(world, fact(texts[1] ?? ''))];
    const proposals = [];
    for (const [i, memory_id] of ended.entries()) {
      const agent = world.call(principal({ actor: 'agent' }));
      const answer = await world.memory.update({ memory_id, content: `${texts[i] ?? ''} Really.` }, agent);
      proposals.push(answer.candidate_id ?? '');
    }
    expect(proposals.map((id) => headOf(world, id).status)).to.deep.equal(['candidate', 'candidate']);
    await idOf(world, fact('Store 5 oak planks in the shed.'));
    await run();
    expect(ended.map((id) => headOf(world, id).status)).to.deep.equal(['superseded', 'superseded']);
    for (const id of proposals)
      expect(headOf(world, id)).to.deep.include({ status: 'forgotten', created_by: { sub: 'system', actor: 'service' } });
  });

  it('put the older one in doubt when one denies what the other says', async () => {
    const { world, run } = nearWorld();
    const older = await idOf(world, fact('Ana eats olive bread.'));
    await run();
    const newer = await idOf(world, fact('Ana does not eat olive bread.'));
    await run();
    expect(headOf(world, older)).to.deep.include({ status: 'conflict', doubt: 0.5, conflict_with: [newer] });
    expect(headOf(world, newer)).to.deep.include({ status: 'active', conflict_with: [older] });
  });

  it('end the doubt that a crash left half told: the newer names the older one, which knows of nothing', async () => {
    const { world, run } = nearWorld();
    const older = await idOf(world, fact('Ana eats olive bread.'));
    await run();
    const newer = await idOf(world, fact('Ana does not eat olive bread.'));
    world.index.plant({ ...headOf(world, newer), conflict_with: [older] });
    await run();
    expect(headOf(world, older)).to.deep.include({ status: 'conflict', doubt: 0.5, conflict_with: [newer] });
    const { version } = headOf(world, older);
    for (const id of [older, newer]) world.index.plant({ ...headOf(world, id), spaces_due: ['zh', 'en'] });
    await run();
    expect(headOf(world, older).version, 'told once').to.equal(version);
  });

  it('never bring private memories of two owners together, nor those of two namespaces', async () => {
    const { world, run } = nearWorld();
    const [ann, bob] = [principal({ namespaces: ['**'] }), principal({ sub: 'bob', namespaces: ['**'] })];
    const item = (content: string, namespace: string): WriteInput => fact(content, { namespace, visibility: 'private' });
    const ids = [
      await idOf(world, item('Ana is allergic to cashew nuts.', 'team.kitchen'), ann),
      await idOf(world, item('Ana has an allergy to cashew nuts.', 'team.kitchen'), bob),
      await idOf(world, item('Ana has an allergy to cashew nuts.', 'team.bar'), ann),
    ];
    await run();
    expect(ids.map((id) => headOf(world, id).status)).to.deep.equal(['active', 'active', 'active']);
  });

  it('never take what two people say of themselves in a shared place for one', async () => {
    const { world, run } = nearWorld();
    const scopes = ['memory:read', 'memory:write', 'memory:share'];
    const [ann, bob] = [principal({ namespaces: ['**'], scopes }), principal({ sub: 'bob', namespaces: ['**'], scopes })];
    const item = (content: string): WriteInput => fact(content, { namespace: 'team.kitchen', visibility: 'shared' });
    const ids = [
      await idOf(world, item('I am allergic to cashew nuts.'), ann),
      await idOf(world, item('I have an allergy to cashew nuts.'), bob),
      await idOf(world, item('My favourite wood is oak.'), ann),
      await idOf(world, item('My favourite wood is ash, not oak.'), bob),
    ];
    await run();
    expect(ids.map((id) => headOf(world, id).status)).to.deep.equal(['active', 'active', 'active', 'active']);
  });

  it('leave alone what was written to be kept as it was given', async () => {
    const { world, run } = nearWorld();
    const ids = [
      await idOf(world, fact('Ana is allergic to cashew nuts.')),
      await idOf(world, fact('Ana has an allergy to cashew nuts.', { admission: 'keep' })),
    ];
    await run();
    expect(ids.map((id) => headOf(world, id).status)).to.deep.equal(['active', 'active']);
  });

  it('never lose a vector when the look fails', async () => {
    const { world, run, unmet } = nearWorld();
    const id = await idOf(world, fact('Ana is allergic to cashew nuts.'));
    world.index.before = (method) => {
      if (method === 'nearest') throw new HindsightError('ERR_STORE_REJECTED');
    };
    await run();
    expect(unmet).to.have.length(1);
    expect(headOf(world, id)).to.deep.include({ spaces_due: [], spaces_ready: ['zh', 'en'] });
  });

  it('meet after an outage of the store: the batch goes back and costs no try', async () => {
    const { world, run, unmet } = nearWorld();
    const older = await idOf(world, fact('Ana is allergic to cashew nuts.'));
    await run();
    const newer = await idOf(world, fact('Ana has an allergy to cashew nuts.'));
    world.index.before = (method) => {
      if (method === 'nearest') throw new HindsightError('ERR_STORE_UNAVAILABLE');
    };
    const fault = await run().then(
      () => undefined,
      (error: unknown) => (error as HindsightError).code,
    );
    expect(fault).to.equal('ERR_STORE_UNAVAILABLE');
    expect(unmet).to.deep.equal([]);
    expect(headOf(world, newer)).to.deep.include({ spaces_due: ['zh', 'en'] });
    expect(headOf(world, newer).embed_tries ?? 0).to.equal(0);
    world.index.before = undefined;
    await run();
    expect(headOf(world, newer)).to.include({ status: 'superseded', superseded_by: older });
  });
});
