import { expect } from 'chai';
import type { Redis } from 'ioredis';
import type { WorkingMemory } from '../../src/domain/ports.ts';
import { HindsightError } from '../../src/errors.ts';
import { processWorkingMemory } from '../../src/memory/working/in-process.ts';
import { createBreaker, type Breaker } from '../../src/redis/breaker.ts';
import { connectRedis, redisSettled } from '../../src/redis/client.ts';
import { redisWorkingMemory } from '../../src/redis/working-memory.ts';
import { principal } from '../support/principals.ts';
import { eventually, startRedis, type RedisServer } from '../support/redis-server.ts';
import { rejection } from '../support/rejection.ts';
import { droppedOf, LIMITS, sealedText, stateOf, turnsOf, workingMemoryContract } from './working-memory.ts';

const ann = principal();
const START_MS = Date.parse('2026-03-01T12:00:00.000Z');

describe('working memory in the process', () => {
  const make = (limits = LIMITS): { readonly working: WorkingMemory; readonly time: { nowMs: number } } => {
    const time = { nowMs: START_MS };
    return { working: processWorkingMemory({ clock: () => time.nowMs, limits }), time };
  };
  workingMemoryContract(make);

  it('holds so many sessions and bytes, and lets those go that were used least lately', async () => {
    const say = async (working: WorkingMemory, sub: string, content = 'hello'): Promise<number> =>
      working.addTurn(await sealedText(principal({ sub }), { content }), 'user');
    const few = make({ ...LIMITS, inProcess: { sessions: 2, bytes: 1_000_000 } }).working;
    await say(few, 'a');
    await say(few, 'b');
    await turnsOf(few, principal({ sub: 'a' }));
    await say(few, 'c');
    expect(await turnsOf(few, principal({ sub: 'b' }))).to.deep.equal([]);
    expect(await turnsOf(few, principal({ sub: 'a' }))).to.deep.equal(['user: hello']);

    const small = make({ ...LIMITS, inProcess: { sessions: 100, bytes: 30_000 } }).working;
    for (let i = 0; i < 40; i += 1) await say(small, `s${i}`, 'x'.repeat(5_000));
    const held = await Promise.all(Array.from({ length: 40 }, (_, i) => turnsOf(small, principal({ sub: `s${i}` }))));
    expect(held.filter((turns) => turns?.length === 1)).to.have.length.within(1, 3);
    expect(held[39]).to.have.length(1);
  });
});

describe('working memory in Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  let second: Redis;
  let serial = 0;
  let shortcuts = 0;
  const time = { nowMs: START_MS };
  const clock = (): number => time.nowMs;

  const replica = (client: Redis, prefix: string): { readonly breaker: Breaker; readonly working: WorkingMemory } => {
    const breaker = createBreaker({ clock, onOpen: () => undefined });
    client.on('close', () => breaker.trip(new Error('closed')));
    const onShortcut = (): void => void (shortcuts += 1);
    return { breaker, working: redisWorkingMemory({ redis: client, breaker, clock, prefix, limits: LIMITS, onShortcut }) };
  };
  const freshPrefix = (): string => `test${(serial += 1)}`;

  before(async () => {
    server = await startRedis();
  });
  beforeEach(async () => {
    time.nowMs = START_MS;
    shortcuts = 0;
    [redis, second] = [connectRedis(server.url, () => undefined), connectRedis(server.url, () => undefined)];
    await Promise.all([redisSettled(redis), redisSettled(second)]);
  });
  afterEach(() => {
    redis.disconnect();
    second.disconnect();
  });
  after(() => server.close());

  workingMemoryContract(() => ({ working: replica(redis, freshPrefix()).working, time }));

  const fill = async (working: WorkingMemory): Promise<void> => {
    await working.addTurn(await sealedText(ann, { content: 'a turn' }), 'user');
    await working.putState(await sealedText(ann, { metadata: { step: 1 } }), 'merge', []);
    await working.noteDropped(await sealedText(ann, { content: 'ok' }), 'small talk');
    await working.noteReturned({ tenant: ann.tenant, owner: ann.owner, namespace: ann.ownNamespace, session_id: 's1' }, ['f1']);
  };

  it('replicas share the sessions', async () => {
    const prefix = freshPrefix();
    const [a, b] = [replica(redis, prefix).working, replica(second, prefix).working];
    await fill(a);
    expect(await turnsOf(b, ann)).to.deep.equal(['user: a turn']);
    expect(await stateOf(b, ann)).to.deep.equal({ step: 1 });
    expect(await droppedOf(b, ann)).to.deep.equal(['ok (small talk)']);
  });

  it('no name can be read in its keys, and every key ends by itself', async () => {
    const prefix = freshPrefix();
    await fill(replica(redis, prefix).working);
    const keys = (await redis.keys(`${prefix}*`)).sort();
    expect(keys.map((key) => key.replace(/[0-9a-f]{32}$/, '#'))).to.deep.equal(
      ['dropped', 'returned', 'state', 'turns'].map((kind) => `${prefix}:${kind}:#`),
    );
    for (const key of keys)
      expect(await redis.pttl(key), key).to.be.within(1, /turns|state/.test(key) ? LIMITS.ttlMs : LIMITS.dropped.ttlMs);
  });

  /** Every method while Redis is away: reads say so, writes refuse, notes are silent. */
  const expectAway = async (working: WorkingMemory): Promise<void> => {
    expect(await turnsOf(working, ann)).to.equal(undefined);
    expect(await stateOf(working, ann)).to.equal(undefined);
    expect(await droppedOf(working, ann)).to.equal(undefined);
    const writes = [
      working.addTurn(await sealedText(ann), 'user'),
      working.putState(await sealedText(ann, { metadata: { step: 2 } }), 'merge', []),
    ];
    for (const write of writes) {
      const error = await rejection(write);
      expect(error).to.be.instanceOf(HindsightError).and.include({ code: 'ERR_WORKING_UNAVAILABLE', status: 503, retryAfterSeconds: 5 });
    }
    const session = { tenant: ann.tenant, owner: ann.owner, namespace: ann.ownNamespace, session_id: 's1' };
    await working.noteDropped(await sealedText(ann), 'small talk');
    await working.noteReturned(session, ['f1']);
    expect(await working.wasReturned(session, 'f1')).to.equal(false);
  };

  it('with a frozen Redis the first call takes one time-out and the others none', async () => {
    const { working, breaker } = replica(redis, freshPrefix());
    await fill(working);
    server.freeze();
    try {
      const from = performance.now();
      await expectAway(working);
      // eight calls: with a time-out each they would take 1,200 ms
      expect(performance.now() - from).to.be.below(700);
      expect(breaker.isOpen).to.equal(true);
      expect(shortcuts).to.be.at.least(5);
    } finally {
      server.thaw();
    }
  });

  it('with a Redis that was killed writes are refused, and taken again when it is back', async () => {
    const { working, breaker } = replica(redis, freshPrefix());
    await fill(working);
    await server.kill();
    await eventually(() => breaker.isOpen);
    await expectAway(working);
    await server.start();
    await eventually(() => redis.status === 'ready');
    time.nowMs += 5_000;
    expect(await turnsOf(working, ann), 'it came back empty').to.deep.equal([]);
    expect(await working.addTurn(await sealedText(ann, { content: 'again' }), 'user')).to.equal(1);
    expect(await turnsOf(working, ann)).to.deep.equal(['user: again']);
  });

  it('a script that Redis refuses is no silent loss', async () => {
    const prefix = freshPrefix();
    const { working } = replica(redis, prefix);
    await fill(working);
    const [turns] = await redis.keys(`${prefix}:turns:*`);
    await redis.set(turns ?? '', 'not a list');
    expect(await rejection(working.addTurn(await sealedText(ann), 'user'))).to.include({ code: 'ERR_WORKING_UNAVAILABLE' });
  });
});
