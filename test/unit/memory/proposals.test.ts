/** Changes that their caller may only propose: who proposes, that repeats are one proposal, and that none outlives or outshines its head. */
import { expect } from 'chai';
import type { MemoryRecord, Status } from '../../../src/domain/memory.ts';
import type { UpdateInput } from '../../../src/domain/wire/write.ts';
import * as common from '../../../src/domain/wire/common.ts';
import { openValues } from '../../../src/keys/sealed-values.ts';
import { createTurnLinks } from '../../../src/memory/turn-links.ts';
import { update as applied } from '../../../src/memory/update.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';
import { memoryRecord } from '../../support/records.ts';
import { rejection } from '../../support/rejection.ts';

const team = { namespaces: ['team.x'] };
const scopes = ['memory:read', 'memory:write', 'memory:forget', 'memory:share'];
const ann = principal({ ...team, scopes });
const annsAgent = principal({ ...team, scopes, actor: 'agent' });
const bob = principal({ ...team, sub: 'bob' });
const chief = principal({ ...team, sub: 'carl', scopes: [...scopes, 'memory:admin', 'memory:confirm'] });

const planted = (world: World, fields: Partial<MemoryRecord> = {}): MemoryRecord => {
  const record = memoryRecord({ namespace: 'team.x', visibility: 'shared', content: 'Invoices go to NL-77', ...fields });
  world.index.plant(record);
  return record;
};
const heads = (world: World): MemoryRecord[] => [...world.index.heads.values()].map(({ record }) => record);
const head = (world: World, id: string): MemoryRecord | undefined => world.index.heads.get(id)?.record;
const proposals = (world: World, status: Status = 'candidate'): MemoryRecord[] =>
  heads(world).filter((r) => r.status === status && r.conflict_with !== undefined);
const update =
  (world: World, by = ann) =>
  (input: UpdateInput) =>
    world.memory.update(input, world.call(by));

describe('a change of somebody else’s shared memory', () => {
  it('is a proposal: the memory, its trust and its owner stay, whatever the field and whoever asks', async () => {
    const changes: readonly Omit<UpdateInput, 'memory_id'>[] = [
      { content: 'Invoices go to XX-99' },
      { invalid: true },
      { summary: 'XX-99' },
      { tags: ['paid'] },
      { metadata: { a: 1 } },
      { pinned: true },
      { importance: 0 },
    ];
    for (const by of [bob, chief, principal({ ...team, sub: 'bob', actor: 'service' })]) {
      for (const change of changes) {
        const world = createWorld();
        const before = planted(world);
        const answer = await update(world, by)({ memory_id: before.memory_id, ...change });
        expect(answer, JSON.stringify(change)).to.include({ memory_id: before.memory_id, outcome: 'conflict', version: 1 });
        expect(head(world, before.memory_id)).to.deep.equal(before);
        expect(head(world, answer.candidate_id ?? '')).to.deep.include({
          status: 'candidate',
          owner: by.owner,
          conflict_with: [before.memory_id],
          visibility: 'shared',
        });
        expect(world.index.copies.size).to.equal(0);
      }
    }
  });

  it('takes nothing from its owner: he changes it in place', async () => {
    const world = createWorld();
    const { memory_id } = planted(world);
    expect(await update(world)({ memory_id, content: 'Invoices go to NL-78' })).to.include({ outcome: 'updated', version: 2 });
  });

  it('that only hides it takes memory:admin, and then is done', async () => {
    const world = createWorld();
    const { memory_id } = planted(world);
    for (const change of [{ visibility: 'private' as const }, { expires_at: '2027-01-01T00:00:00Z' }])
      expect((await rejection(update(world, bob)({ memory_id, ...change }))).code).to.equal('ERR_NAMESPACE_FORBIDDEN');
    expect(await update(world, chief)({ memory_id, expires_at: '2027-01-01T00:00:00Z' })).to.include({ outcome: 'updated' });
    expect(await update(world, chief)({ memory_id, visibility: 'private', tags: ['x'] })).to.include({ outcome: 'conflict' });
    expect(await update(world, chief)({ memory_id, visibility: 'private' })).to.include({ outcome: 'updated' });
    expect(head(world, memory_id)).to.include({ visibility: 'private', owner: ann.owner });
  });
});

describe('a proposal with a masked value', () => {
  const written = async (world: World): Promise<MemoryRecord> => {
    const { results } = await world.memory.write(
      { content: 'Mum is at 13912345678', namespace: 'team.x', visibility: 'shared' },
      world.call(ann),
    );
    return head(world, results[0]?.memory_id ?? '') as MemoryRecord;
  };

  it('is answered alike whether the value is the one that is masked already or not, so that no trying finds it out', async () => {
    for (const by of [annsAgent, bob]) {
      const world = createWorld();
      const { memory_id } = await written(world);
      const propose = update(world, by);
      await propose({ memory_id, importance: 0.5 });
      const [wrong, right] = [
        await propose({ memory_id, content: 'Mum is at 13912340078' }),
        await propose({ memory_id, content: 'Mum is at 13912345678' }),
      ];
      expect(right).to.deep.equal({ ...wrong, candidate_id: right.candidate_id });
      expect(await propose({ memory_id, content: 'Mum is at 13912345678', importance: 0.5 })).to.include({ outcome: 'conflict' });
      expect(proposals(world)).to.have.length(4);
    }
  });

  it('brings the new value when it is approved, though its mark is that of the old one', async () => {
    const world = createWorld();
    const before = await written(world);
    const { memory_id } = before;
    const { candidate_id: id = '' } = await update(world, annsAgent)({ memory_id, content: 'Mum is at 13912340078' });
    const proposal = head(world, id) as MemoryRecord;
    const change = { memory_id, content: proposal.content };
    const consent = world.deps.guard.consentTo(proposal, principal({ ...team, scopes: [...scopes, 'memory:confirm'] }), 'decision');
    expect(await applied(world.deps, createTurnLinks(world.deps), change, world.call(ann), consent, proposal)).to.include({
      outcome: 'updated',
    });
    const after = head(world, memory_id) as MemoryRecord;
    expect(await openValues(world.deps.tenantKeys, after)).to.deep.equal([{ field: 'content', kind: 'phone', value: '13912340078' }]);
    expect(after.masked).to.have.length(1).and.not.to.deep.equal(before.masked);
  });
});

describe('a proposal', () => {
  it('repeated is told as duplicate and kept once; another change or another caller is another one', async () => {
    const world = createWorld();
    const { memory_id } = planted(world);
    const propose = update(world, annsAgent);
    const first = await propose({ memory_id, content: 'Invoices go to XX-99' });
    expect(first).to.include({ outcome: 'conflict' });
    expect(common.memoryId.safeParse(first.candidate_id).success, 'reads like any memory_id').to.equal(true);
    world.time.nowMs += 5_000;
    const again = await Promise.all([1, 2, 3].map(() => propose({ memory_id, content: 'Invoices go to XX-99' })));
    for (const answer of again) expect(answer).to.include({ outcome: 'duplicate', candidate_id: first.candidate_id, version: 1 });
    expect(proposals(world)).to.have.length(1);
    await propose({ memory_id, content: 'Invoices go to XX-98' });
    await update(world, bob)({ memory_id, content: 'Invoices go to XX-99' });
    expect(proposals(world)).to.have.length(3);
    await update(world)({ memory_id, content: 'Invoices go to NL-78' });
    expect(await propose({ memory_id, content: 'Invoices go to XX-99' }), 'of the next version').to.include({ outcome: 'conflict' });
    expect(proposals(world)).to.have.length(4);
  });

  it('that was rejected does not come back when it is repeated', async () => {
    const world = createWorld();
    const { memory_id } = planted(world);
    const { candidate_id = '' } = await update(world, bob)({ memory_id, content: 'XX' });
    const made = head(world, candidate_id);
    world.index.plant({ ...(made ?? memoryRecord()), status: 'rejected' });
    expect(await update(world, bob)({ memory_id, content: 'XX' })).to.include({ outcome: 'duplicate' });
    expect(head(world, candidate_id)?.status).to.equal('rejected');
  });

  it('ends with its head, forgotten by id or by plan, or no longer holding: open ones of anybody, and nothing else', async () => {
    const ends: readonly ((world: World, memory_id: string) => Promise<unknown>)[] = [
      (world, memory_id) => world.memory.forget({ memory_id }, world.call(ann)),
      async (world) => {
        const target = { filter: { tags: ['gone'] }, namespaces: ['team.x'] };
        const { plan = '' } = await world.memory.forget({ ...target, dry_run: true }, world.call(ann));
        await world.memory.forget({ plan }, world.call(ann));
      },
      (world, memory_id) => update(world)({ memory_id, invalid: true }),
    ];
    for (const [i, endOf] of ends.entries()) {
      const world = createWorld();
      const { memory_id } = planted(world, { tags: ['gone'] });
      const other = planted(world);
      await update(world, bob)({ memory_id, content: 'XX', tags: [] });
      await update(world, annsAgent)({ memory_id, content: 'XX', tags: [] });
      const kept = await update(world, bob)({ memory_id: other.memory_id, content: 'XX' });
      // linked by conflict_with, but no proposal: it stands for itself
      const own = memoryRecord({ namespace: 'team.x', visibility: 'shared', status: 'candidate', conflict_with: [memory_id] });
      world.index.plant(own);
      await endOf(world, memory_id);
      expect(
        proposals(world).map((r) => r.memory_id),
        `way ${i}`,
      ).to.have.members([kept.candidate_id, own.memory_id]);
      expect(proposals(world, 'forgotten')).to.have.length(2);
      for (const { memory_id: id } of proposals(world, 'forgotten')) expect(world.index.copies.has(`${id}@1`)).to.equal(true);
    }
  });

  it('forgotten together with its head by one plan is counted like any other', async () => {
    const world = createWorld();
    const { memory_id } = planted(world, { tags: ['gone'] });
    await update(world, annsAgent)({ memory_id, content: 'XX' });
    const target = { filter: { tags: ['gone'] }, namespaces: ['team.x'] };
    const { plan = '', count } = await world.memory.forget({ ...target, dry_run: true }, world.call(ann));
    expect(count).to.equal(2);
    expect(await world.memory.forget({ plan }, world.call(ann))).to.include({ forgotten: 2 });
  });

  it('ends before its head does, so that a crash in between leaves none behind', async () => {
    const world = createWorld();
    const { memory_id } = planted(world);
    await update(world, bob)({ memory_id, content: 'XX' });
    const seen: unknown[] = [];
    let patches = 0;
    world.index.before = (method) => {
      if (method === 'patchMany' && (patches += 1) === 2) seen.push(proposals(world).length, head(world, memory_id)?.status);
    };
    await world.memory.forget({ memory_id }, world.call(ann));
    expect(seen).to.deep.equal([0, 'active']);
  });

  it('made while its head is forgotten ends as well', async () => {
    for (const moment of ['create', 'refresh']) {
      const world = createWorld();
      const { memory_id } = planted(world);
      world.index.before = async (method) => {
        if (method !== moment) return;
        world.index.before = undefined;
        await world.memory.forget({ memory_id }, world.call(ann));
      };
      const made = update(world, bob)({ memory_id, content: 'XX' });
      if (moment === 'create') expect((await rejection(made)).code).to.equal('ERR_MEMORY_NOT_FOUND');
      else await Promise.all([made, world.memory.forget({ memory_id }, world.call(ann))]);
      expect(proposals(world)).to.deep.equal([]);
    }
  });

  it('is never seen by more people than its head', async () => {
    const world = createWorld();
    const hidden = planted(world, { visibility: 'private' });
    const { candidate_id = '' } = await update(world, annsAgent)({ memory_id: hidden.memory_id, visibility: 'shared' });
    expect(head(world, candidate_id)).to.include({ visibility: 'private', reason: 'asks to share' });
    const shown = planted(world);
    const { candidate_id: bobs = '' } = await update(world, bob)({ memory_id: shown.memory_id, content: 'X' });
    expect((await world.memory.get({ memory_id: bobs }, world.call(bob))).status).to.equal('candidate');
    await update(world)({ memory_id: shown.memory_id, visibility: 'private' });
    expect((await rejection(world.memory.get({ memory_id: bobs }, world.call(bob)))).code).to.equal('ERR_MEMORY_NOT_FOUND');
    expect(head(world, candidate_id)?.status, 'another head’s').to.equal('candidate');
  });

  it('borrows no words of a turn', async () => {
    const world = createWorld();
    const write = async (turn: number, content: string) =>
      (await world.memory.write({ content, session_id: 's', turn, admission: 'keep' }, world.call(principal()))).results[0]?.memory_id ??
      '';
    const [, second] = [await write(1, 'confidential'), await write(2, 'yes')];
    const agent = update(world, principal({ actor: 'agent' }));
    for (const change of [{ content: 'no, never' }, { tags: ['a'] }]) {
      const { candidate_id = '' } = await agent({ memory_id: second, ...change });
      expect(head(world, candidate_id)?.lex_context).not.to.include('confidenti');
    }
  });
});
