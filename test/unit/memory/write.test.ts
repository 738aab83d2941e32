import { expect } from 'chai';
import { HindsightError } from '../../../src/errors.ts';
import type { AnyOperation } from '../../../src/operations/define.ts';
import { operations } from '../../../src/operations/index.ts';
import { parseInput } from '../../../src/operations/parse.ts';
import { principal } from '../../support/principals.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { memoryRecord } from '../../support/records.ts';
import { rejection } from '../../support/rejection.ts';

const only = (world: World) => {
  const [head, ...more] = [...world.index.heads.values()];
  expect(more).to.deep.equal([]);
  if (head === undefined) throw new Error('nothing was stored');
  return head.record;
};

describe('memory write', () => {
  it('stores one memory with everything the index needs and answers before any vector is made', async () => {
    const world = createWorld();
    const { results } = await world.memory.write(
      {
        content: 'Ann likes green tea',
        title: 'Tea',
        kind: 'preference',
        subject: 'Ann',
        tags: ['drinks', 'drinks'],
        occurred_at: '2026-02-01T08:00:00+08:00',
      },
      world.call(principal({ clientId: 'cli' })),
    );
    const record = only(world);
    expect(results).to.deep.equal([
      {
        memory_id: record.memory_id,
        outcome: 'stored',
        reason: 'kept as preference in semantic memory: a preference (grade 5 of 5, by rules)',
        version: 1,
        settled: false,
        replaced: [],
        masked: [],
        guard: { verdict: 'allow', rule_ids: [], policy_revision: 'r1' },
      },
    ]);
    const { owner } = principal();
    expect(record).to.deep.include({
      doc_type: 'memory',
      tenant: 'acme',
      namespace: 'user.ann',
      generation: 1,
      owner,
      created_by: { sub: owner, client_id: 'cli', actor: 'user' },
      visibility: 'private',
      layer: 'semantic',
      tags: ['drinks'],
      lex_uni: 'tea ann like green tea',
      lex_context: 'tea ann like green tea',
      lex_subject: 'ann',
      language: 'en',
      occurred_at: '2026-02-01T00:00:00.000Z',
      event_at: '2026-02-01T00:00:00.000Z',
      created_at: '2026-03-01T12:00:00.000Z',
      spaces_due: ['zh', 'en'],
      trust_tier: 3,
      status: 'active',
      version: 1,
    });
    expect(record.memory_id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(world.embedder.asked).to.deep.equal([]);
    expect(world.nudged).to.deep.equal(['acme']);
  });

  it('never lets the date of the event be later than that of the write', async () => {
    const world = createWorld();
    await world.memory.write({ content: 'the launch', occurred_at: '2027-01-01T00:00:00Z' }, world.call());
    expect(only(world)).to.include({ occurred_at: '2027-01-01T00:00:00.000Z', event_at: '2026-03-01T12:00:00.000Z' });
  });

  it('chooses the layer by kind, then task, then subject', async () => {
    const layers: (string | undefined)[] = [];
    for (const item of [{ kind: 'fact' }, { kind: 'event' }, { task_id: 'T1' }, { subject: 'Ann' }, {}, { layer: 'strategic' }] as const) {
      const world = createWorld();
      await world.memory.write({ content: 'x y z', ...item }, world.call());
      layers.push(only(world).layer);
    }
    expect(layers).to.deep.equal(['semantic', 'episodic', 'episodic', 'semantic', 'episodic', 'strategic']);
  });

  it('lets no agent write strategic memories and nobody working ones', async () => {
    const world = createWorld();
    const asAgent = rejection(world.memory.write({ content: 'x', layer: 'strategic' }, world.call(principal({ actor: 'agent' }))));
    expect((await asAgent).faults[0]?.pointer).to.equal('/layer');
    expect((await rejection(world.memory.write({ content: 'x', layer: 'working' }, world.call()))).code).to.equal('ERR_REQUEST_INVALID');
    expect(world.index.heads.size).to.equal(0);
  });

  it('ends a memory by its own time to live, else by the default one', async () => {
    const own = createWorld({ deps: { defaultTtlDays: 30 } });
    await own.memory.write({ content: 'short', ttl_seconds: 60 }, own.call());
    expect(only(own).expires_at).to.equal('2026-03-01T12:01:00.000Z');
    const byDefault = createWorld({ deps: { defaultTtlDays: 30 } });
    await byDefault.memory.write({ content: 'long' }, byDefault.call());
    expect(only(byDefault).expires_at).to.equal('2026-03-31T12:00:00.000Z');
  });

  it('refuses a single item with the pointers of its faults, and a request with neither or both forms', async () => {
    const world = createWorld();
    const pointers = async (input: Parameters<World['memory']['write']>[0]) => {
      const error = await rejection(world.memory.write(input, world.call()));
      expect(error.code).to.equal('ERR_REQUEST_INVALID');
      return error.faults.map((fault) => fault.pointer);
    };
    expect(await pointers({ content: '', importance: 2 })).to.deep.equal(['/content', '/importance']);
    expect(await pointers({})).to.deep.equal(['/content']);
    expect(await pointers({ content: 'x', items: [{ content: 'y' }] })).to.deep.equal(['/content']);
    expect(world.index.heads.size).to.equal(0);
  });

  it('words a fault of an item as it words that of a single call, at most twenty of each', async () => {
    const world = createWorld();
    const write = operations.find(({ name }) => name === 'memory_write');
    const faulty = [
      {},
      { content: '', importance: 2, kind: 'nothing' },
      { content: 'x', surprise: 1 },
      { content: 'x', tags: 'one' },
      { content: 'x', metadata: { 'my.key': 1 } },
      { content: 'x', occurred_at: 'yesterday' },
      { content: 'x', source: { type: 'web', parents: ['no id'] } },
      { content: 'x', vectors: { 'No Space': [1] } },
      { content: 'x', tags: Array(30).fill('') },
    ];
    const { results } = await world.memory.write({ items: faulty }, world.call());
    for (const [i, input] of faulty.entries()) {
      let single: HindsightError | undefined;
      try {
        parseInput(write as AnyOperation, input);
      } catch (error) {
        single = error as HindsightError;
      }
      const { errors = [] } = results[i] ?? {};
      const expected = i === 0 ? [{ pointer: '/content', message: 'is required' }] : single?.faults;
      expect(errors, JSON.stringify(input)).to.deep.equal(
        expected?.map(({ pointer, message }) => ({ pointer: `/items/${i}${pointer}`, message })),
      );
      expect(errors.length).to.be.within(1, 20);
    }
  });

  it('stores the good items of a batch and reports each bad one by pointer, values never repeated', async () => {
    const world = createWorld();
    const { results } = await world.memory.write(
      {
        items: [
          { content: 'one' },
          { content: 'SECRET-VALUE'.repeat(4000) },
          { content: 'two', unknownKey: 'SECRET-VALUE' },
          { content: 'three', namespace: 'user.bob' },
          { content: 'four', source: { type: 'web', parents: ['0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'] } },
          'SECRET-VALUE',
          { content: '五' },
        ],
      },
      world.call(),
    );
    expect(results.map((r) => r.outcome)).to.deep.equal(['stored', 'invalid', 'invalid', 'invalid', 'invalid', 'invalid', 'stored']);
    expect(results.map((r) => r.errors?.map((e) => e.pointer))).to.deep.equal([
      undefined,
      ['/items/1/content'],
      ['/items/2'],
      ['/items/3/namespace'],
      ['/items/4/source/parents'],
      ['/items/5'],
      undefined,
    ]);
    expect(JSON.stringify(results)).not.to.include('SECRET-VALUE').and.not.to.include('unknownKey');
    expect([...world.index.heads.values()].map((h) => h.record.content)).to.deep.equal(['one', '五']);
    expect(world.index.calls.filter((c) => c.startsWith('create'))).to.deep.equal(['createMany']);
    expect(results.filter((r) => r.memory_id === null)).to.have.length(5);
  });

  it('forbids a single write outside the grant, and to a shared namespace without memory:share', async () => {
    const world = createWorld();
    const code = async (namespace: string, by = principal()) =>
      (await rejection(world.memory.write({ content: 'x', namespace }, world.call(by)))).code;
    expect(await code('user.bob')).to.equal('ERR_NAMESPACE_FORBIDDEN');
    expect(await code('shared.docs', principal({ namespaces: ['**'] }))).to.equal('ERR_NAMESPACE_FORBIDDEN');
    const sharer = principal({ scopes: ['memory:write', 'memory:share'] });
    await world.memory.write({ content: 'x', namespace: 'shared.docs' }, world.call(sharer));
    expect(only(world)).to.include({ namespace: 'shared.docs', visibility: 'shared' });
  });

  it('lowers the trust of a text to that of its source and of its parents', async () => {
    const world = createWorld();
    const parent = memoryRecord({ trust_tier: 1, taint: ['tool'] });
    world.index.plant(parent);
    const { results } = await world.memory.write(
      { content: 'derived', source: { type: 'user', parents: [parent.memory_id] } },
      world.call(),
    );
    const record = world.index.heads.get(results[0]?.memory_id ?? '')?.record;
    expect(record).to.deep.include({ trust_tier: 1, taint: ['tool'], parents: [parent.memory_id] });
    const foreign = memoryRecord({ owner: 'bob', namespace: 'user.bob' });
    world.index.plant(foreign);
    const hidden = world.memory.write({ content: 'x', source: { type: 'user', parents: [foreign.memory_id] } }, world.call());
    expect((await rejection(hidden)).code).to.equal('ERR_MEMORY_NOT_FOUND');
  });

  it('answers the kept answer to a repeated key, with one effect', async () => {
    const world = createWorld();
    const call = () => world.call(principal(), { idempotencyKey: 'k1' });
    const first = await world.memory.write({ content: 'once' }, call());
    const second = await world.memory.write({ content: 'once' }, call());
    expect(second).to.deep.equal(first);
    expect(world.index.heads.size).to.equal(1);
    expect((await rejection(world.memory.write({ content: 'other' }, call()))).code).to.equal('ERR_IDEMPOTENCY_MISMATCH');
    await world.memory.write({ content: 'once' }, world.call(principal({ sub: 'bob' }), { idempotencyKey: 'k1' }));
    expect(world.index.heads.size, 'another subject has its own keys').to.equal(2);
  });

  it('answers the kept answer whatever the rules say by now, and judges a repeat no second time', async () => {
    const world = createWorld();
    const call = () => world.call(principal(), { idempotencyKey: 'k1' });
    const first = await world.memory.write({ content: 'once' }, call());
    world.deps.guard.admit = async () => {
      throw new HindsightError('ERR_GUARD_UNAVAILABLE');
    };
    expect(await world.memory.write({ content: 'once' }, call())).to.deep.equal(first);
    expect((await rejection(world.memory.write({ content: 'other' }, call()))).code).to.equal('ERR_IDEMPOTENCY_MISMATCH');
    expect((await rejection(world.memory.write({ content: 'once' }, world.call()))).code).to.equal('ERR_GUARD_UNAVAILABLE');
  });

  it('finishes an interrupted call under the same ids', async () => {
    const world = createWorld();
    const call = () => world.call(principal(), { idempotencyKey: 'k1' });
    let failed = false;
    world.deps.idempotency.finish = async () => {
      failed = true;
      throw new HindsightError('ERR_STORE_UNAVAILABLE');
    };
    await rejection(world.memory.write({ items: [{ content: 'a' }, { content: 'b' }] }, call()));
    expect(failed).to.equal(true);
    const ids = [...world.index.heads.keys()];
    world.deps.idempotency.finish = async () => undefined;
    const { results } = await world.memory.write({ items: [{ content: 'a' }, { content: 'b' }] }, call());
    expect(results.map((r) => r.memory_id)).to.deep.equal(ids);
    expect(results.map((r) => r.outcome)).to.deep.equal(['stored', 'stored']);
  });

  it('keeps no key for a request it refused, nor for an answer with failures', async () => {
    const world = createWorld();
    const call = () => world.call(principal(), { idempotencyKey: 'k1' });
    await rejection(world.memory.write({ content: 'x', namespace: 'user.bob' }, call()));
    const createMany = world.index.createMany.bind(world.index);
    world.index.createMany = async (boxes) => [...(await createMany(boxes.slice(0, 1))), { outcome: 'failed', reason: 'unavailable' }];
    const items = { items: [{ content: 'a' }, { content: 'b' }] };
    const first = await world.memory.write(items, call());
    expect(first.results.map((r) => r.outcome)).to.deep.equal(['stored', 'failed']);
    expect(first.results[1]?.reason).to.contain('may or may not be stored');
    world.index.createMany = createMany;
    const second = await world.memory.write(items, call());
    expect(second.results.map((r) => r.outcome)).to.deep.equal(['stored', 'stored']);
    expect(second.results[0]?.memory_id).to.equal(first.results[0]?.memory_id);
    expect(world.index.heads.size).to.equal(2);
  });

  it('reports what the store refused, and fails as a whole when it is away', async () => {
    const world = createWorld();
    const createMany = world.index.createMany.bind(world.index);
    world.index.createMany = async (boxes) => {
      const outcomes = await createMany(boxes.slice(0, 1));
      return [...outcomes, { outcome: 'failed', reason: 'mapper_parsing_exception' }];
    };
    const { results } = await world.memory.write({ items: [{ content: 'a' }, { content: 'b' }] }, world.call());
    expect(results.map((r) => [r.outcome, r.memory_id === null])).to.deep.equal([
      ['stored', false],
      ['failed', true],
    ]);
    expect(JSON.stringify(results)).not.to.include('mapper');
    world.index.before = () => {
      throw new HindsightError('ERR_STORE_UNAVAILABLE');
    };
    expect((await rejection(world.memory.write({ content: 'c' }, world.call()))).code).to.equal('ERR_STORE_UNAVAILABLE');
  });

  it('answers a large batch in order, with pointers into the whole of it', async () => {
    const world = createWorld();
    const items = Array.from({ length: 350 }, (_, i) => (i === 234 ? { content: 7 } : { content: `fact number ${i}` }));
    const { results } = await world.memory.write({ items }, world.call());
    expect(results).to.have.length(350);
    expect(results[234]).to.deep.include({ outcome: 'invalid', memory_id: null });
    expect(results[234]?.errors?.[0]?.pointer).to.equal('/items/234/content');
    for (const i of [0, 124, 125, 233, 235, 349]) {
      const { content } = await world.memory.get({ memory_id: results[i]?.memory_id ?? '' }, world.call());
      expect(content).to.equal(`fact number ${i}`);
    }
  });

  it('tells item by item when the store goes away in the middle of a large batch, and asks it no further', async () => {
    const world = createWorld();
    const createMany = world.index.createMany.bind(world.index);
    let calls = 0;
    world.index.createMany = async (boxes) => {
      calls += 1;
      if (calls > 1) throw new HindsightError('ERR_STORE_UNAVAILABLE');
      return createMany(boxes);
    };
    const items = Array.from({ length: 500 }, (_, i) => ({ content: `fact number ${i}` }));
    const { results } = await world.memory.write({ items }, world.call());
    const outcomes = results.map((r) => r.outcome);
    expect(outcomes.slice(0, 125)).to.deep.equal(Array(125).fill('stored'));
    expect(outcomes.slice(125)).to.deep.equal(Array(375).fill('failed'));
    expect(calls).to.be.at.most(3);
    world.index.createMany = async () => {
      throw new HindsightError('ERR_STORE_UNAVAILABLE');
    };
    const others = items.map(({ content }) => ({ content: `another ${content}` }));
    expect((await rejection(world.memory.write({ items: others }, world.call()))).code).to.equal('ERR_STORE_UNAVAILABLE');
  });

  it('takes ready vectors from an administrator alone, exact and scaled to length 1', async () => {
    const world = createWorld();
    const admin = principal({ scopes: ['memory:write', 'memory:admin'] });
    const vectors = { en: Array.from({ length: 64 }, () => 3), zh: Array.from({ length: 64 }, () => -2) };
    const pointer = async (by: typeof admin, given: Record<string, number[]>) =>
      (await rejection(world.memory.write({ content: 'a text', vectors: given }, world.call(by)))).faults[0]?.pointer;
    expect(await pointer(principal(), vectors)).to.equal('/vectors');
    expect(await pointer(admin, { en: [1, 2] })).to.equal('/vectors/en');
    expect(await pointer(admin, { xx: vectors.en })).to.equal('/vectors/xx');
    expect(await pointer(admin, { en: Array.from({ length: 64 }, () => 0) })).to.equal('/vectors/en');
    const { results } = await world.memory.write({ content: 'a text', vectors }, world.call(admin));
    expect(results[0]?.settled).to.equal(true);
    const record = only(world);
    expect(record.spaces_ready).to.deep.equal(['en', 'zh']);
    expect(record).not.to.have.property('spaces_due');
    expect(record.vec_en?.every((x) => Math.abs(x - 1 / 8) < 1e-6)).to.equal(true);
  });

  it('drops what is written to a namespace where collecting is switched off', async () => {
    const world = createWorld();
    const { results } = await world.memory.write(
      { content: 'x', namespace: 'team.silent' },
      world.call(principal({ namespaces: ['team.**'] })),
    );
    expect(results[0]).to.include({ memory_id: null, outcome: 'dropped' });
    expect(world.index.heads.size).to.equal(0);
  });

  it('stores nothing that the guard blocks and says what a later rule decided', async () => {
    const world = createWorld({
      guard: {
        admissionStages: [
          {
            name: 'rules',
            judge: (draft) => ({
              verdict: draft.content.includes('evil') ? 'block' : draft.content.includes('odd') ? 'quarantine' : 'allow',
            }),
          },
        ],
      },
    });
    const { results } = await world.memory.write(
      { items: [{ content: 'evil' }, { content: 'odd' }, { content: 'a fine text' }] },
      world.call(),
    );
    expect(results.map((r) => r.outcome)).to.deep.equal(['blocked', 'quarantined', 'stored']);
    expect(results[0]?.memory_id).to.equal(null);
    expect([...world.index.heads.values()].map((h) => h.record.status)).to.deep.equal(['quarantined', 'active']);
  });

  it('waits until the vectors are there and a search would see the memory, ten seconds at most', async () => {
    const world = createWorld();
    let polls = 0;
    world.index.before = (method) => {
      if (method !== 'get' || (polls += 1) < 3) return;
      const record = only(world);
      world.index.plant({ ...record, spaces_due: [] });
    };
    const { results } = await world.memory.write({ content: 'x y', wait: true }, world.call());
    expect(results[0]?.settled).to.equal(true);
    expect(world.index.calls.at(-1)).to.equal('refresh');

    const slow = createWorld();
    const startedMs = slow.time.nowMs;
    const answer = await slow.memory.write({ content: 'x y', wait: true }, slow.call());
    expect(answer.results[0]?.settled).to.equal(false);
    expect(slow.time.nowMs - startedMs).to.be.within(10_000, 10_500);
  });
});

describe('turns of a session', () => {
  const turn = (n: number, content: string, more = {}) => ({ content, session_id: 's1', turn: n, admission: 'keep' as const, ...more });

  it('borrows the words of the turn before, found in this process, in the index, or in the same batch', async () => {
    const world = createWorld();
    const write = async (input: object) =>
      (await world.memory.write(input as { content: string }, world.call())).results.map((r) => r.memory_id ?? '');
    const [first = ''] = await write(turn(1, 'Which tea do you like?'));
    const [second = ''] = await write(turn(2, 'Green, from Japan'));
    const record = (id: string) => world.index.heads.get(id)?.record;
    expect(record(second)).to.include({ prev_turn_id: first, lex_context: 'tea like green from japan' });

    const other = createWorld({ deps: { index: world.index, dirty: world.deps.dirty } });
    const [third = ''] = (await other.memory.write(turn(3, 'And coffee?'), other.call())).results.map((r) => r.memory_id ?? '');
    expect(record(third), 'a process that did not see turn 2 looks it up').to.include({ prev_turn_id: second });

    const [a = '', b = ''] = await write({ items: [turn(5, 'five'), turn(4, 'four')] });
    expect(record(a)).to.include({ prev_turn_id: b, lex_context: 'four five' });
    expect(record(b)).to.include({ prev_turn_id: third, next_turn_id: a });
  });

  it('borrows nothing from a less trusted, more private, foreign or other session’s turn', async () => {
    const world = createWorld();
    const by = principal({ namespaces: ['team.x'], scopes: ['memory:write', 'memory:share'] });
    const write = async (item: object, who = by) =>
      world.index.heads.get((await world.memory.write(item, world.call(who))).results[0]?.memory_id ?? '')?.record;
    const base = { namespace: 'team.x', session_id: 's', admission: 'keep' };
    await write({ ...base, content: 'poison', turn: 1, source: { type: 'web' } });
    expect(await write({ ...base, content: 'two', turn: 2 })).not.to.have.property('prev_turn_id');
    await write({ ...base, content: 'secret', turn: 11, visibility: 'private' });
    expect((await write({ ...base, content: 'twelve', turn: 12 }))?.lex_context).to.equal('twelv');
    await write({ ...base, content: 'mine', turn: 21 });
    expect(await write({ ...base, content: 'yours', turn: 22 }, principal({ sub: 'bob', namespaces: ['team.x'] }))).not.to.have.property(
      'prev_turn_id',
    );
    expect(await write({ ...base, content: 'else', session_id: 's2', turn: 22 })).not.to.have.property('prev_turn_id');
  });
});
