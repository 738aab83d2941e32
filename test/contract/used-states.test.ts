import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { processUsedStates, type UsedStates } from '../../src/mcp/used-states.ts';
import { createBreaker, type Breaker } from '../../src/redis/breaker.ts';
import { connectRedis, redisSettled } from '../../src/redis/client.ts';
import { redisUsedStates } from '../../src/redis/used-states.ts';
import { eventually, startRedis, type RedisServer } from '../support/redis-server.ts';
import { rejection } from '../support/rejection.ts';

const LIFE_MS = 600_000;
const time = { nowMs: 0 };
const clock = (): number => time.nowMs;
const until = (): number => clock() + LIFE_MS;

/** What request-state.ts relies on, whoever keeps the set. */
function contract(make: () => UsedStates): void {
  it('gives an id to the first who takes it, and to nobody after', async () => {
    const used = make();
    expect(await used.take('a', until())).to.equal(true);
    expect(await used.take('a', until())).to.equal(false);
    expect(await used.take('b', until())).to.equal(true);
  });

  it('gives an id to one of many who take it at once', async () => {
    const used = make();
    const taken = await Promise.all(Array.from({ length: 50 }, () => used.take('c', until())));
    expect(taken.filter(Boolean)).to.have.length(1);
  });
}

describe('mcp/used-states', () => {
  contract(() => processUsedStates(clock));

  it('takes no more when it is full, rather than put out one that could then be used again', async () => {
    time.nowMs = 0;
    const used = processUsedStates(clock, 2);
    expect(await used.take('a', until())).to.equal(true);
    expect(await used.take('b', until())).to.equal(true);
    expect((await rejection(used.take('c', until()))).code).to.equal('ERR_BUSY');
    expect(await used.take('a', until())).to.equal(false);
    time.nowMs = LIFE_MS;
    expect(await used.take('c', until()), 'those have ended by themselves').to.equal(true);
  });
});

describe('redis/used-states', () => {
  let server: RedisServer;
  const clients: Redis[] = [];
  let serial = 0;

  before(async () => {
    server = await startRedis();
  });
  beforeEach(() => {
    time.nowMs = Date.now();
  });
  after(async () => {
    for (const client of clients) client.disconnect();
    await server.close();
  });

  async function replica(prefix: string): Promise<{ readonly used: UsedStates; readonly redis: Redis; readonly breaker: Breaker }> {
    const breaker = createBreaker({ clock, onOpen: () => undefined });
    const redis = connectRedis(server.url, breaker.trip);
    clients.push(redis);
    await redisSettled(redis);
    return { used: redisUsedStates({ redis, breaker, clock, prefix }), redis, breaker };
  }

  describe('one replica', () => {
    let redis: Redis;
    let breaker: Breaker;
    before(async () => {
      ({ redis, breaker } = await replica('u'));
    });
    contract(() => redisUsedStates({ redis, breaker, clock, prefix: `u${(serial += 1)}` }));
  });

  it('lets one of two replicas use an id, whichever comes first', async () => {
    const [one, two] = await Promise.all([replica('r'), replica('r')]);
    for (const id of ['x', 'y', 'z']) {
      const taken = await Promise.all([one.used.take(id, until()), two.used.take(id, until()), one.used.take(id, until())]);
      expect(taken.filter(Boolean), id).to.have.length(1);
    }
    expect(await (await replica('other')).used.take('x', until()), 'another service in the same Redis').to.equal(true);
  });

  it('keeps the id for as long as it lives, and shows nothing of it', async () => {
    const { used, redis } = await replica('ttl');
    await used.take('secret-nonce', until());
    const [key = ''] = await redis.keys('ttl:used:*');
    expect(key).to.match(/^ttl:used:[0-9a-f]{32}$/);
    expect(await redis.pttl(key)).to.be.within(LIFE_MS, LIFE_MS + 60_000);
  });

  it('gives nothing to anybody while Redis is away or frozen, and again what was not taken when it is back', async () => {
    const { used, redis, breaker } = await replica('down');
    server.freeze();
    try {
      expect((await rejection(used.take('a', until()))).code).to.equal('ERR_GUARD_UNAVAILABLE');
    } finally {
      server.thaw();
    }
    await server.kill();
    expect((await rejection(used.take('b', until()))).code).to.equal('ERR_GUARD_UNAVAILABLE');
    await server.start();
    await eventually(() => redis.status === 'ready');
    time.nowMs = breaker.openUntilMs;
    expect(await used.take('b', until())).to.equal(true);
  });
});
