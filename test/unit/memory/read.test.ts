import { expect } from 'chai';
import { HindsightError } from '../../../src/errors.ts';
import fc from 'fast-check';
import { openCursor, signCursor } from '../../../src/memory/cursor.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';
import { memoryRecord } from '../../support/records.ts';
import { rejection } from '../../support/rejection.ts';

const ABSENT = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';

describe('memory get', () => {
  it('answers the same for what is absent, foreign, private, expired, held back or forgotten', async () => {
    const world = createWorld();
    const hidden = [
      memoryRecord({ tenant: 'zeta' }),
      memoryRecord({ namespace: 'team.x', visibility: 'shared' }),
      memoryRecord({ namespace: 'shared.x', owner: 'bob' }),
      memoryRecord({ expires_at: '2026-03-01T12:00:00.000Z' }),
      memoryRecord({ status: 'quarantined' }),
      memoryRecord({ status: 'forgotten' }),
    ];
    hidden.forEach((record) => world.index.plant(record));
    for (const memory_id of [ABSENT, ...hidden.map((r) => r.memory_id)]) {
      const error = await rejection(world.memory.get({ memory_id }, world.call()));
      expect([error.code, error.message, error.faults]).to.deep.equal([
        'ERR_MEMORY_NOT_FOUND',
        'There is no such memory, or the token may not see it',
        [],
      ]);
    }
  });

  it('shows pending memories to people and not to agents or services', async () => {
    const world = createWorld();
    const record = memoryRecord({ status: 'pending' });
    world.index.plant(record);
    await world.deps.index.refresh('acme');
    expect(await world.memory.get({ memory_id: record.memory_id }, world.call())).to.include({ status: 'pending' });
    for (const actor of ['agent', 'service'] as const) {
      const by = world.call(principal({ actor }));
      expect((await rejection(world.memory.get({ memory_id: record.memory_id }, by))).code).to.equal('ERR_MEMORY_NOT_FOUND');
      expect((await world.memory.list({ filter: { status: ['pending'] } }, by)).items).to.deep.equal([]);
    }
    expect((await world.memory.list({ filter: { status: ['pending'] } }, world.call())).items).to.have.length(1);
  });

  it('gives the text without the envelope to a user who asks for it raw, and to nobody else', async () => {
    const world = createWorld();
    const record = memoryRecord({ trust_tier: 0, content: 'from a page' });
    world.index.plant(record);
    const get = (raw: boolean, actor: 'user' | 'agent' | 'service') =>
      world.memory.get({ memory_id: record.memory_id, raw }, world.call(principal({ actor })));
    expect((await get(false, 'user')).content).to.match(/^⟦ref .*⟧from a page⟦\/ref /);
    expect(await get(true, 'user')).to.include({ content: 'from a page', reference_only: true });
    expect((await rejection(get(true, 'agent'))).code).to.equal('ERR_ACTOR_FORBIDDEN');
    expect((await rejection(get(true, 'service'))).code).to.equal('ERR_ACTOR_FORBIDDEN');
  });
});

describe('memory list', () => {
  const plant = (world: World, count: number) => {
    for (let i = 0; i < count; i += 1)
      world.index.plant(memoryRecord({ content: `n${i}`, created_at: new Date(1_700_000_000_000 + Math.floor(i / 3)).toISOString() }));
  };

  it('pages through everything once, newest first, also where times are equal', async () => {
    const world = createWorld();
    plant(world, 20);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await world.memory.list({ limit: 3, ...(cursor === undefined ? {} : { cursor }) }, world.call());
      seen.push(...page.items.map((item) => item.content));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).to.deep.equal(Array.from({ length: 20 }, (_, i) => `n${19 - i}`));
  });

  it('refuses a cursor of another caller, tenant, filter or namespace, and one that was changed', async () => {
    const world = createWorld();
    plant(world, 5);
    const everywhere = { namespaces: ['**'] };
    const { next_cursor: cursor } = await world.memory.list({ limit: 2, filter: { tags: ['x', 'y'] } }, world.call(principal(everywhere)));
    expect(cursor).to.equal(null);
    const page = await world.memory.list({ limit: 2 }, world.call(principal(everywhere)));
    const good = page.next_cursor ?? '';
    const code = async (input: object, by = principal(everywhere)) =>
      (await rejection(world.memory.list({ cursor: good, ...input }, world.call(by)))).code;
    expect((await world.memory.list({ cursor: good, limit: 50 }, world.call(principal(everywhere)))).items).to.have.length(3);
    expect(await code({}, principal({ ...everywhere, sub: 'bob' }))).to.equal('ERR_CURSOR_INVALID');
    expect(await code({}, principal({ ...everywhere, tenant: 'zeta' }))).to.equal('ERR_CURSOR_INVALID');
    expect(await code({ filter: { kind: ['fact'] } })).to.equal('ERR_CURSOR_INVALID');
    expect(await code({ filter: { status: ['superseded'] } })).to.equal('ERR_CURSOR_INVALID');
    expect(await code({ namespaces: ['user.ann'] })).to.equal('ERR_CURSOR_INVALID');
    expect(await code({ cursor: `${good.slice(0, -1)}${good.endsWith('A') ? 'B' : 'A'}` })).to.equal('ERR_CURSOR_INVALID');
  });

  it('no other text opens as a cursor', () => {
    const key = Buffer.alloc(32, 1);
    const signed = signCursor([5, ABSENT], key, principal(), {});
    expect(openCursor(signed, key, principal(), {})).to.deep.equal([5, ABSENT]);
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((s) => `${s}.${s}`),
          fc.nat(signed.length - 1).map((i) => signed.slice(0, i)),
        ),
        (text) => {
          expect(() => openCursor(text, key, principal(), {})).to.throw('cursor');
        },
      ),
    );
  });
});

describe('memory history', () => {
  it('shows versions newest first with what changed, by whom and with which trust', async () => {
    const world = createWorld();
    const { results } = await world.memory.write(
      { content: 'likes tea', tags: ['a'], importance: 1 },
      world.call(principal({ clientId: 'c1' })),
    );
    const memory_id = results[0]?.memory_id ?? '';
    world.time.nowMs += 1000;
    await world.memory.update({ memory_id, content: 'likes coffee' }, world.call(principal({ clientId: 'c2' })));
    world.time.nowMs += 1000;
    await world.memory.update({ memory_id, tags: [], importance: 0.5 }, world.call());
    const { versions } = await world.memory.history({ memory_id }, world.call());
    expect(versions.map((v) => [v.version, v.content, v.valid_from, v.valid_to, v.changed_by])).to.deep.equal([
      [3, 'likes coffee', '2026-03-01T12:00:02.000Z', undefined, { actor: 'user' }],
      [2, 'likes coffee', '2026-03-01T12:00:01.000Z', '2026-03-01T12:00:02.000Z', { actor: 'user', client_id: 'c2' }],
      [1, 'likes tea', '2026-03-01T12:00:00.000Z', '2026-03-01T12:00:01.000Z', { actor: 'user', client_id: 'c1' }],
    ]);
    expect(versions.map((v) => v.changes)).to.deep.equal([
      [
        { field: 'tags', before: ['a'] },
        { field: 'importance', before: 1, after: 0.5 },
      ],
      [{ field: 'content', before: 'likes tea', after: 'likes coffee' }],
      [],
    ]);
  });

  it('wraps texts of less trusted versions, and their changes too', async () => {
    const world = createWorld();
    const record = memoryRecord({ trust_tier: 0, content: 'second', version: 2 });
    world.index.plant(record);
    await world.index.saveVersion(world.guard.readmit({ ...record, version: 1 }, record));
    const { versions } = await world.memory.history({ memory_id: record.memory_id }, world.call());
    expect(versions.map((v) => v.content.startsWith('⟦ref '))).to.deep.equal([true, true]);
    expect(versions[0]?.changes, 'equal texts in two envelopes are no change').to.deep.equal([]);
  });

  it('keeps a version that was private from others after the memory was shared', async () => {
    const world = createWorld();
    const record = memoryRecord({ namespace: 'team.x', visibility: 'shared', version: 2 });
    world.index.plant(record);
    const before = { ...record, visibility: 'private' as const, version: 1 };
    await world.index.saveVersion(world.guard.readmit(before, before));
    const versionsFor = async (sub: string) =>
      (await world.memory.history({ memory_id: record.memory_id }, world.call(principal({ sub, namespaces: ['team.x'] })))).versions.length;
    expect(await versionsFor('ann')).to.equal(2);
    expect(await versionsFor('bob')).to.equal(1);
  });

  it('ends each version where the next begins, also when a change failed or lost a race in between', async () => {
    const world = createWorld();
    const record = memoryRecord();
    world.index.plant(record);
    const { memory_id } = record;
    world.index.before = (method) => {
      if (method === 'replace') throw new HindsightError('ERR_STORE_UNAVAILABLE');
    };
    await rejection(world.memory.update({ memory_id, content: 'never came to be' }, world.call()));
    world.index.before = undefined;
    world.time.nowMs += 60_000;
    await world.memory.update({ memory_id, content: 'second' }, world.call());
    let once = true;
    world.index.before = async (method) => {
      if (method !== 'replace' || !once) return;
      once = false;
      world.time.nowMs += 60_000;
      await world.memory.update({ memory_id, content: 'theirs' }, world.call());
      world.time.nowMs += 60_000;
    };
    await world.memory.update({ memory_id, content: 'mine' }, world.call());
    const { versions } = await world.memory.history({ memory_id }, world.call());
    expect(versions.map((v) => v.content)).to.deep.equal(['mine', 'theirs', 'second', record.content]);
    expect(versions[0]).not.to.have.property('valid_to');
    expect(versions.slice(1).map((v) => v.valid_to)).to.deep.equal(versions.slice(0, -1).map((v) => v.valid_from));
  });

  it('ends a version where one that may not be seen begins', async () => {
    const world = createWorld();
    const record = memoryRecord({ namespace: 'team.x', visibility: 'shared', version: 3, valid_from: '2026-03-01T10:03:00.000Z' });
    world.index.plant(record);
    for (const [version, visibility] of [
      [1, 'shared'],
      [2, 'private'],
    ] as const) {
      const copy = {
        ...record,
        version,
        visibility,
        valid_from: `2026-03-01T10:0${version}:00.000Z`,
        valid_to: '2026-03-01T11:00:00.000Z',
      };
      await world.index.saveVersion(world.guard.readmit(copy, copy));
    }
    const bob = principal({ sub: 'bob', namespaces: ['team.x'] });
    const { versions } = await world.memory.history({ memory_id: record.memory_id }, world.call(bob));
    expect(versions.map((v) => [v.version, v.valid_to])).to.deep.equal([
      [3, undefined],
      [1, '2026-03-01T10:02:00.000Z'],
    ]);
  });
});
