import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import type { AdmissionStage } from '../../../src/guard/admission.ts';
import { createWorld, vectorOf, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';
import { memoryRecord } from '../../support/records.ts';
import { rejection } from '../../support/rejection.ts';

const head = (world: World, id: string): MemoryRecord => {
  const found = world.index.heads.get(id)?.record;
  if (found === undefined) throw new Error('no such head');
  return found;
};
const agent = principal({ actor: 'agent' });

/** A memory with an earlier version behind it, as the service leaves them. */
function planted(world: World, now: Partial<MemoryRecord> = {}, before: Partial<MemoryRecord> = {}): MemoryRecord {
  const record = memoryRecord({ content: 'Ann drinks coffee', version: 2, vec_en: [...vectorOf('coffee')], spaces_ready: ['en'], ...now });
  world.index.plant(record);
  const { vec_en: _vector, spaces_ready: _ready, tags: _tags, ...copy } = record;
  world.index.plantVersion({
    ...copy,
    content: 'Ann drinks tea',
    status: 'active',
    version: 1,
    valid_to: '2026-03-01T11:00:00.000Z',
    ...before,
  });
  return record;
}

/** A rule of today against a word. */
const against = (word: string, verdict: 'confirm' | 'quarantine' | 'block' | 'candidate'): AdmissionStage => ({
  name: 'rule',
  judge: ({ content }) => (content.includes(word) ? { verdict, ruleIds: ['today'] } : {}),
});

describe('memory restore', () => {
  it('makes an earlier version hold again, as a new version with derived fields and vectors of its own', async () => {
    const world = createWorld();
    const { memory_id } = planted(world, { tags: ['new'], access_level: 3 }, { importance: 0.8, kind: 'fact' });
    const answer = await world.memory.restore({ memory_id, version: 1 }, world.call());
    expect(answer).to.deep.include({ memory_id, outcome: 'restored', version: 3, restored_version: 1 });
    const after = head(world, memory_id);
    expect(after).to.deep.include({
      content: 'Ann drinks tea',
      status: 'active',
      version: 3,
      importance: 0.8,
      kind: 'fact',
      access_level: 3,
      trust_tier: 3,
      reason: 'restored from version 1',
      valid_from: '2026-03-01T12:00:00.000Z',
      spaces_due: ['zh', 'en'],
    });
    expect(after.lex_uni).to.contain('tea');
    expect(after).not.to.have.any.keys('vec_en', 'spaces_ready', 'valid_to', 'tags');
    expect(after.origin).to.have.length(1);
    expect(world.index.copies.get(`${memory_id}@2`)).to.include({ content: 'Ann drinks coffee', version: 2 });
    expect(world.nudged).to.deep.equal(['acme']);
    const { versions } = await world.memory.history({ memory_id }, world.call());
    expect(versions.map(({ version, content }) => [version, content])).to.deep.equal([
      [3, 'Ann drinks tea'],
      [2, 'Ann drinks coffee'],
      [1, 'Ann drinks tea'],
    ]);
    expect(versions[0]?.changes.map(({ field, before, after: to }) => [field, before, to])).to.deep.include.members([
      ['content', 'Ann drinks coffee', 'Ann drinks tea'],
      ['tags', ['new'], undefined],
      ['importance', undefined, 0.8],
    ]);
  });

  it('brings back what was forgotten or no longer holds, and says unchanged of what holds', async () => {
    const world = createWorld();
    const record = memoryRecord({ content: 'Ann drinks tea', masked: ['phone:abc'], sealed: 'c2VhbGVk', key_id: 'k' });
    world.index.plant(record);
    const { memory_id } = record;
    expect(await world.memory.restore({ memory_id }, world.call())).to.include({ outcome: 'unchanged', version: 1 });
    await world.memory.forget({ memory_id }, world.call());
    expect(await world.memory.restore({ memory_id }, world.call())).to.include({ outcome: 'restored', version: 3 });
    const back = head(world, memory_id);
    expect(back).to.include({ status: 'active', content: 'Ann drinks tea', reason: 'brought back' });
    // what forgetting took out of every version stays gone, and the mark tells that it was there
    expect(back).not.to.have.any.keys('sealed', 'key_id');
    expect(back.masked).to.deep.equal(['phone:abc']);
    await world.memory.update({ memory_id, invalid: true }, world.call());
    expect(await world.memory.restore({ memory_id }, world.call())).to.include({ outcome: 'restored', version: 5 });
    const archived = memoryRecord({ content: 'old', status: 'archived', superseded_by: 'x' });
    world.index.plant(archived);
    await world.memory.restore({ memory_id: archived.memory_id }, world.call());
    expect(head(world, archived.memory_id)).to.include({ status: 'active' }).and.not.to.have.property('superseded_by');
    const { hits } = await world.memory.search({ query: 'tea' }, world.call());
    expect(hits.map((hit) => hit.memory_id)).to.include(memory_id);
  });

  it('takes the least trust and all the taint of both versions, and no origin of who restores', async () => {
    const world = createWorld();
    const { memory_id, owner } = planted(
      world,
      { namespace: 'shared.team', visibility: 'shared', parents: ['p1'] },
      { trust_tier: 1, taint: ['tool'], parents: ['p2'], origin: [{ type: 'tool', principal: 'x', ts: '2026-01-01T00:00:00.000Z' }] },
    );
    const admin = principal({ sub: 'root', scopes: ['memory:read', 'memory:forget', 'memory:share', 'memory:admin'], namespaces: ['**'] });
    await world.memory.restore({ memory_id, version: 1 }, world.call(admin));
    const after = head(world, memory_id);
    expect(after).to.deep.include({ trust_tier: 1, taint: ['tool'], owner, parents: ['p1', 'p2'] });
    expect(after.origin.map((origin) => origin.principal)).to.deep.equal(['x']);
    expect(after.created_by).to.deep.equal({ sub: admin.owner, actor: 'user' });
  });

  for (const [verdict, outcome] of [
    ['confirm', 'pending'],
    ['quarantine', 'quarantined'],
    ['block', 'blocked'],
  ] as const)
    it(`lets no text come back active that today’s rules would ${verdict}`, async () => {
      const world = createWorld({ guard: { admissionStages: [against('tea', verdict)] } });
      const holds = planted(world);
      const answer = await world.memory.restore({ memory_id: holds.memory_id, version: 1 }, world.call());
      expect(answer).to.include({ outcome, version: 2 });
      expect(head(world, holds.memory_id)).to.include({ content: 'Ann drinks coffee', status: 'active', version: 2 });
      const forgotten = memoryRecord({ content: 'Ann drinks tea', status: 'forgotten', version: 2 });
      world.index.plant(forgotten);
      world.index.plantVersion({ ...forgotten, status: 'active', version: 1 });
      expect((await world.memory.restore({ memory_id: forgotten.memory_id }, world.call())).outcome).to.equal(outcome);
      expect(head(world, forgotten.memory_id).status).to.equal(verdict === 'block' ? 'forgotten' : outcome);
    });

  it('brings back held back what was held back when it was forgotten, and nothing that was rejected', async () => {
    const world = createWorld();
    for (const status of ['candidate', 'pending', 'quarantined'] as const) {
      const record = memoryRecord({ content: 'send the keys', status });
      world.index.plant(record);
      await world.memory.forget({ memory_id: record.memory_id }, world.call());
      expect(await world.memory.restore({ memory_id: record.memory_id }, world.call())).to.include({ outcome: status, version: 3 });
      expect(head(world, record.memory_id).status).to.equal(status);
      // once back it is for whoever decides on such
      expect(await world.memory.restore({ memory_id: record.memory_id, version: 1 }, world.call())).to.include({ outcome: 'unchanged' });
    }
    const rejected = memoryRecord({ status: 'rejected' });
    world.index.plant(rejected);
    await world.memory.forget({ memory_id: rejected.memory_id }, world.call());
    expect(await world.memory.restore({ memory_id: rejected.memory_id }, world.call())).to.include({ outcome: 'unchanged' });
    // nor a version that was held back then
    const { memory_id } = planted(world, {}, { status: 'quarantined' });
    expect((await rejection(world.memory.restore({ memory_id, version: 1 }, world.call()))).code).to.equal('ERR_MEMORY_NOT_FOUND');
  });

  it('has the rights of forgetting: one’s own, shared ones with memory:admin; a private version stays its owner’s', async () => {
    const world = createWorld();
    const place = { namespace: 'shared.team', visibility: 'shared' } as const;
    const scopes = ['memory:read', 'memory:write', 'memory:forget', 'memory:share'];
    const bob = principal({ sub: 'bob', scopes, namespaces: ['**'] });
    const admin = principal({ sub: 'root', scopes: [...scopes, 'memory:admin'], namespaces: ['**'] });
    const { memory_id } = planted(world, place, place);
    const code = async (by: typeof bob, input: { memory_id: string; version?: number }) =>
      (await rejection(world.memory.restore(input, world.call(by)))).code;
    expect(await code(bob, { memory_id, version: 1 })).to.equal('ERR_NAMESPACE_FORBIDDEN');
    expect(await code(principal({ tenant: 'zeta' }), { memory_id, version: 1 })).to.equal('ERR_MEMORY_NOT_FOUND');
    expect((await world.memory.restore({ memory_id, version: 1 }, world.call(admin))).outcome).to.equal('restored');
    const hidden = planted(world, place, { ...place, visibility: 'private', content: 'Ann’s diary' });
    expect(await code(admin, { memory_id: hidden.memory_id, version: 1 })).to.equal('ERR_MEMORY_NOT_FOUND');
    const ann = principal({ scopes, namespaces: ['**'] });
    await world.memory.restore({ memory_id: hidden.memory_id, version: 1 }, world.call(ann));
    expect(head(world, hidden.memory_id)).to.include({ content: 'Ann’s diary', visibility: 'private' });
  });

  it('lets an agent undo what an agent ended, but neither what a person ended nor their words but by a proposal', async () => {
    const world = createWorld();
    const stated = planted(world);
    const proposal = await world.memory.restore({ memory_id: stated.memory_id, version: 1 }, world.call(agent));
    expect(proposal).to.include({ outcome: 'conflict', version: 2 });
    expect(head(world, stated.memory_id)).to.include({ content: 'Ann drinks coffee', version: 2 });
    expect(head(world, proposal.candidate_id ?? '')).to.include({ content: 'Ann drinks tea', status: 'candidate', trust_tier: 2 });

    await world.memory.forget({ memory_id: stated.memory_id }, world.call(agent));
    const other = world.memory.restore({ memory_id: stated.memory_id, version: 1 }, world.call(agent));
    expect((await rejection(other)).code).to.equal('ERR_ACTOR_FORBIDDEN');
    expect((await world.memory.restore({ memory_id: stated.memory_id }, world.call(agent))).outcome).to.equal('restored');
    expect(head(world, stated.memory_id)).to.include({ content: 'Ann drinks coffee', trust_tier: 3 });

    await world.memory.forget({ memory_id: stated.memory_id }, world.call());
    const againstPerson = world.memory.restore({ memory_id: stated.memory_id }, world.call(agent));
    expect((await rejection(againstPerson)).code).to.equal('ERR_ACTOR_FORBIDDEN');
    expect(head(world, stated.memory_id).status).to.equal('forgotten');
  });

  it('lends its words to the turns after it again, and borrows those of the turn before it', async () => {
    const world = createWorld();
    const write = async (turn: number, content: string) =>
      (await world.memory.write({ content, session_id: 's', turn, admission: 'keep' }, world.call())).results[0]?.memory_id ?? '';
    const [first, second, third] = [await write(1, 'Vienna'), await write(2, 'the train leaves'), await write(3, 'at noon')];
    expect(head(world, third).lex_context).to.contain('train');
    await world.memory.forget({ memory_id: second }, world.call());
    expect(head(world, third).lex_context ?? '').not.to.contain('train');
    await world.memory.restore({ memory_id: second }, world.call());
    expect(head(world, third)).to.include({ prev_turn_id: second });
    expect(head(world, third).lex_context).to.contain('train');
    expect(head(world, second)).to.include({ prev_turn_id: first });
    expect(head(world, second).lex_context).to.contain('vienna');
  });

  it('leaves the head whole when the store goes away between copy and head, and finishes when asked again', async () => {
    const world = createWorld();
    const { memory_id } = planted(world);
    world.index.before = (method) => {
      if (method === 'replace') throw new Error('kill -9');
    };
    await world.memory.restore({ memory_id, version: 1 }, world.call()).then(
      () => expect.fail('restored'),
      (error: Error) => expect(error.message).to.equal('kill -9'),
    );
    expect(head(world, memory_id)).to.include({ content: 'Ann drinks coffee', version: 2, status: 'active' });
    expect(world.index.copies.get(`${memory_id}@2`)).to.include({ content: 'Ann drinks coffee' });
    world.index.before = undefined;
    expect(await world.memory.restore({ memory_id, version: 1 }, world.call())).to.include({ outcome: 'restored', version: 3 });
  });

  it('refuses a version that is not there, one that has been read too long ago, and tries again when the head moves', async () => {
    const world = createWorld();
    const { memory_id } = planted(world);
    const code = async (input: Parameters<World['memory']['restore']>[0]) =>
      (await rejection(world.memory.restore(input, world.call()))).code;
    expect(await code({ memory_id, version: 7 })).to.equal('ERR_MEMORY_NOT_FOUND');
    expect(await code({ memory_id, version: 1, at: 1 })).to.equal('ERR_PRECONDITION_FAILED');
    let moved = 0;
    world.index.before = async (method) => {
      if (method !== 'replace' || moved > 0) return;
      moved += 1;
      world.index.plant({ ...head(world, memory_id), importance: 0.1 });
    };
    expect(await world.memory.restore({ memory_id, version: 1 }, world.call())).to.include({ outcome: 'restored', version: 3 });
  });

  it('takes its place back in a slot, and shares it with what is more trusted', async () => {
    const world = createWorld();
    const write = async (content: string, by = principal()) => {
      const item = { content, kind: 'preference', subject: 'Ann', topic: 'breakfast drink' } as const;
      return (await world.memory.write(item, world.call(by))).results[0];
    };
    const tea = (await write('Ann drinks tea for breakfast.'))?.memory_id ?? '';
    const coffee = await write('Ann drinks coffee for breakfast.');
    expect(coffee).to.deep.include({ outcome: 'replaced', replaced: [tea] });
    expect((await world.memory.restore({ memory_id: tea }, world.call())).outcome).to.equal('restored');
    expect(head(world, tea)).to.deep.include({ status: 'active', supersedes: [coffee?.memory_id] });
    expect(head(world, coffee?.memory_id ?? '')).to.include({ status: 'superseded', superseded_by: tea });
    // and the next value meets the one that holds
    const milk = await write('Ann drinks milk for breakfast.');
    expect(milk).to.deep.include({ outcome: 'replaced', replaced: [tea] });

    const other = createWorld();
    const guess = { content: 'Ann’s office is on floor two.', kind: 'fact', subject: 'Ann', topic: 'office floor' } as const;
    const inferred = (await other.memory.write(guess, other.call(agent))).results[0]?.memory_id ?? '';
    const stated = (await other.memory.write({ ...guess, content: 'Ann’s office is on floor five.' }, other.call())).results[0];
    expect(stated).to.deep.include({ outcome: 'replaced', replaced: [inferred] });
    expect((await other.memory.restore({ memory_id: inferred }, other.call())).outcome).to.equal('conflict');
    expect(head(other, inferred)).to.deep.include({ status: 'conflict', doubt: 0.5, conflict_with: [stated?.memory_id] });
    expect(head(other, stated?.memory_id ?? '')).to.deep.include({ status: 'active', conflict_with: [inferred] });
  });
});
