import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { parse } from 'yaml';
import { ownerOf, ownNamespaceOf, type Principal } from '../../../src/domain/principal.ts';
import { HindsightError } from '../../../src/errors.ts';
import { BENCH_RATE_LIMITS, createRateLimiter, rateLimitsSchema, type RateLimits } from '../../../src/gate/rate-limiter.ts';
import { addressKey } from '../../../src/gate/rate-limiter-address.ts';
import { createBreaker } from '../../../src/redis/breaker.ts';
import { connectRedis, redisSettled } from '../../../src/redis/client.ts';
import { eventually, startRedis, type RedisServer } from '../../support/redis-server.ts';

const who = (tenant: string, sub: string): Principal => ({
  issuer: 'i',
  sub,
  tenant,
  actor: 'agent',
  clientId: undefined,
  scopes: new Set(),
  namespaces: undefined,
  roles: [],
  teams: [],
  grants: { within: [], read: [], write: [], forget: [], share: [] },
  owner: ownerOf('i', sub),
  ownNamespace: ownNamespaceOf('i', sub),
  expiresAt: 0,
});
const limits: RateLimits = {
  windowSeconds: 60,
  addressPoints: 3,
  buckets: { http: { principal: 50, tenant: 100 }, default: { principal: 5, tenant: 8 }, memory_write: { principal: 2, tenant: 100 } },
};
const outcome = async (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'ok',
    (error: unknown) => (error as HindsightError).code,
  );

describe('rate limiter in the process', () => {
  it('counts down and refuses at the limit, telling when to come back', async () => {
    const refusals: string[] = [];
    const limiter = createRateLimiter({ limits, onLimited: (kind) => refusals.push(kind) });
    const alice = who('t1', 'alice');
    expect(await limiter.consume(alice, 'memory_search', 2)).to.deep.equal({
      policy: 'memory_search',
      limit: 5,
      remaining: 3,
      resetSeconds: 60,
      windowSeconds: 60,
    });
    expect((await limiter.consume(alice, 'memory_search', 3)).remaining).to.equal(0);
    const error = await limiter.consume(alice, 'memory_search', 1).catch((e: unknown) => e as HindsightError);
    expect(error).to.be.instanceOf(HindsightError).with.property('code', 'ERR_RATE_LIMITED');
    expect((error as HindsightError).retryAfterSeconds).to.be.within(1, 60);
    expect((error as HindsightError).params).to.deep.include({ policy: 'memory_search', limit: 5, window_seconds: 60 });
    expect((error as HindsightError).message).to.match(/try again in \d+ s/);
    expect(refusals).to.deep.equal(['principal']);
  });

  it('refuses a call that costs more than the limit', async () => {
    expect(await outcome(createRateLimiter({ limits }).consume(who('t1', 'a'), 'x', 6))).to.equal('ERR_RATE_LIMITED');
  });

  it('counts a free or broken cost as one point', async () => {
    const limiter = createRateLimiter({ limits });
    expect((await limiter.consume(who('t1', 'a'), 'x', 0)).remaining).to.equal(4);
    expect((await limiter.consume(who('t1', 'a'), 'x', 0.5)).remaining).to.equal(3);
  });

  it('counts each principal for itself and their tenant together', async () => {
    const limiter = createRateLimiter({ limits });
    for (let i = 0; i < 5; i += 1) await limiter.consume(who('t1', 'alice'), 'x', 1);
    expect(await outcome(limiter.consume(who('t1', 'alice'), 'x', 1))).to.equal('ERR_RATE_LIMITED');
    // alice's refused calls took nothing from the tenant: 3 of 8 are left
    expect(await limiter.consume(who('t1', 'bob'), 'x', 2)).to.include({ limit: 8, remaining: 1 });
    expect(await limiter.consume(who('t1', 'bob'), 'x', 1)).to.include({ remaining: 0 });
    expect(await outcome(limiter.consume(who('t1', 'carol'), 'x', 1))).to.equal('ERR_RATE_LIMITED');
    expect(await outcome(limiter.consume(who('t2', 'alice'), 'x', 1))).to.equal('ok');
  });

  it('keeps tenants and subjects apart whose joined names are equal', async () => {
    const limiter = createRateLimiter({ limits: { ...limits, buckets: { default: { principal: 1, tenant: 1 } } } });
    for (const [tenant, sub] of [
      ['a', 'b:c'],
      ['a:b', 'c'],
      ['a:b:c', ''],
    ] as const)
      expect(await outcome(limiter.consume(who(tenant, sub), 'x', 1)), tenant).to.equal('ok');
  });

  it('gives an operation its own bucket where the policy names one', async () => {
    const limiter = createRateLimiter({ limits });
    await limiter.consume(who('t1', 'a'), 'memory_write', 2);
    expect(await outcome(limiter.consume(who('t1', 'a'), 'memory_write', 1))).to.equal('ERR_RATE_LIMITED');
    expect(await outcome(limiter.consume(who('t1', 'a'), 'memory_search', 1))).to.equal('ok');
    expect(await outcome(limiter.consume(who('t1', 'a'), '__proto__', 1))).to.equal('ok');
  });

  it('D2: counts all operations of a caller together besides each for itself, and a refused one takes nothing from the others', async () => {
    const buckets = { http: { principal: 50, tenant: 50 }, total: { principal: 8, tenant: 12 }, default: { principal: 5, tenant: 50 } };
    const limiter = createRateLimiter({ limits: { ...limits, buckets } });
    await limiter.consume(who('t1', 'a'), 'x', 5);
    for (let i = 0; i < 3; i += 1) expect(await outcome(limiter.consume(who('t1', 'a'), 'x', 1))).to.equal('ERR_RATE_LIMITED');
    expect(await limiter.consume(who('t1', 'a'), 'y', 2)).to.include({ policy: 'total', limit: 8, remaining: 1 });
    const error = (await limiter.consume(who('t1', 'a'), 'z', 2).catch((e: unknown) => e)) as HindsightError;
    expect([error.code, error.params['policy'], error.params['limit']]).to.deep.equal(['ERR_RATE_LIMITED', 'total', 8]);
    // the tenant's total is shared by its people, requests are counted apart
    expect(await limiter.consume(who('t1', 'b'), 'x', 4)).to.include({ policy: 'x', remaining: 1 });
    expect(await outcome(limiter.consume(who('t1', 'c'), 'x', 2))).to.equal('ERR_RATE_LIMITED');
    expect(await outcome(limiter.consume(who('t1', 'c'), 'http', 2))).to.equal('ok');
  });

  it('D2: a burst at the edge of a window gets what two windows hold and no more', async () => {
    const limiter = createRateLimiter({ limits: { ...limits, windowSeconds: 1, buckets: { default: { principal: 5, tenant: 50 } } } });
    let good = 0;
    let windows = 0;
    const deadline = performance.now() + 5_000;
    // a window may begin in the middle of a burst, and then gives the rest to the next one
    for (let left = 0; (windows < 2 || left > 0) && performance.now() < deadline;) {
      const burst = await Promise.all(Array.from({ length: 20 }, () => outcome(limiter.consume(who('t1', 'a'), 'x', 1))));
      const passed = burst.filter((one) => one === 'ok').length;
      if (passed > 0 && left === 0) windows += 1;
      good += passed;
      left = passed;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect([windows, good]).to.deep.equal([2, 10]);
  });

  it('lets a turn of a principal through once, and again when it was given back', async () => {
    const limiter = createRateLimiter({ limits });
    const [one, two] = [who('t1', 'a'), who('t1', 'b')];
    const both = await Promise.all([0, 1].map(() => outcome(limiter.oncePerTurn(one, 'memory_search', 'turn-1'))));
    expect(both.sort()).to.deep.equal(['ERR_TURN_SEARCHED', 'ok']);
    for (const [principal, operation, turn] of [
      [two, 'memory_search', 'turn-1'],
      [one, 'memory_search', 'turn-2'],
      [one, 'memory_context', 'turn-1'],
    ] as const)
      expect(await outcome(limiter.oncePerTurn(principal, operation, turn))).to.equal('ok');
    const giveBack = await limiter.oncePerTurn(one, 'memory_search', 'turn-3');
    await giveBack();
    expect(await outcome(limiter.oncePerTurn(one, 'memory_search', 'turn-3'))).to.equal('ok');
  });

  it('lets exactly the limit through in a parallel burst', async () => {
    const limiter = createRateLimiter({ limits });
    const all = await Promise.all(Array.from({ length: 50 }, () => outcome(limiter.consume(who('t1', 'a'), 'x', 1))));
    expect(all.filter((o) => o === 'ok')).to.have.length(5);
  });

  it('counts addresses before authentication, IPv6 by its /64', async () => {
    const limiter = createRateLimiter({ limits });
    for (const address of ['2001:db8::1', '2001:db8:0:0:ffff::2', '2001:0DB8::3'])
      expect(await outcome(limiter.coarse(address))).to.equal('ok');
    expect(await outcome(limiter.coarse('2001:db8::4'))).to.equal('ERR_RATE_LIMITED');
    expect(await outcome(limiter.coarse('2001:db8:0:1::1'))).to.equal('ok');
  });

  it('reads one address in all its spellings', () => {
    for (const same of ['10.1.2.3', '::ffff:10.1.2.3', '::FFFF:0a01:0203', '0:0:0:0:0:ffff:10.1.2.3'])
      expect(addressKey(same), same).to.equal('10.1.2.3');
    expect(addressKey('fe80::1%eth0')).to.equal('fe80:0:0:0::/64');
    expect(addressKey('::1')).to.equal('0:0:0:0::/64');
    expect(addressKey('1:2:3:4:5:6:7:8')).to.equal('1:2:3:4::/64');
    for (const junk of ['', 'localhost', '1.2.3', '999.1.1.1', 'x'.repeat(1_000)]) expect(addressKey(junk)).to.equal('unknown');
  });

  it('reaches no limit with the bench profile', async () => {
    const limiter = createRateLimiter({ limits: BENCH_RATE_LIMITS });
    for (let i = 0; i < 1_000; i += 1) await limiter.consume(who('t1', 'a'), 'memory_search', 1_000);
    await limiter.coarse('127.0.0.1');
  });

  it('reads the policy that ships, and refuses one without the buckets that everything falls back to', () => {
    const shipped: unknown = parse(readFileSync(join(import.meta.dirname, '../../../policies/limits.yaml'), 'utf8'));
    const policy = rateLimitsSchema.parse(shipped);
    expect(policy.buckets['default']?.principal).to.equal(6_000);
    for (const kind of ['principal', 'tenant'] as const)
      for (const [name, row] of Object.entries(policy.buckets))
        expect(policy.buckets['total']?.[kind], `total beside ${name}`).to.be.at.least(row[kind]);
    expect(policy.addressPoints).to.be.greaterThan(policy.buckets['http']?.principal ?? Infinity);
    expect(rateLimitsSchema.safeParse({ version: 1, window_seconds: 60, buckets: {} }).success).to.equal(false);
    const zero = { version: 1, window_seconds: 60, buckets: { http: { principal: 0, tenant: 1 }, default: { principal: 1, tenant: 1 } } };
    expect(rateLimitsSchema.safeParse(zero).success).to.equal(false);
  });
});

describe('rate limiter on Redis', () => {
  let server: RedisServer;
  const clients: Redis[] = [];
  let nowMs = 1_000_000;
  let serial = 0;

  async function replica(prefix: string) {
    const client = connectRedis(server.url, () => undefined);
    clients.push(client);
    await redisSettled(client);
    let shortcuts = 0;
    const breaker = createBreaker({ clock: () => nowMs, onOpen: () => undefined });
    const limiter = createRateLimiter({ limits, redis: { client, breaker, prefix }, onShortcut: () => (shortcuts += 1) });
    return { limiter, breaker, client, shortcuts: () => shortcuts };
  }
  const freshPrefix = (): string => `limits${(serial += 1)}`;

  before(async () => {
    server = await startRedis();
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.disconnect();
  });
  after(() => server.close());

  it('replicas share one count, and a parallel burst gets exactly the limit', async () => {
    const prefix = freshPrefix();
    const [a, b] = [await replica(prefix), await replica(prefix)];
    const all = await Promise.all(
      Array.from({ length: 40 }, (_, i) => outcome((i % 2 === 0 ? a : b).limiter.consume(who('t1', 'alice'), 'x', 1))),
    );
    expect(all.filter((o) => o === 'ok')).to.have.length(5);
    expect([a.shortcuts(), b.shortcuts()]).to.deep.equal([0, 0]);
  });

  it('replicas share the turns of a principal, also one that is given back', async () => {
    const prefix = freshPrefix();
    const [a, b] = [await replica(prefix), await replica(prefix)];
    const giveBack = await a.limiter.oncePerTurn(who('t1', 'a'), 'memory_search', 'one');
    expect(await outcome(b.limiter.oncePerTurn(who('t1', 'a'), 'memory_search', 'one'))).to.equal('ERR_TURN_SEARCHED');
    await giveBack();
    expect(await outcome(b.limiter.oncePerTurn(who('t1', 'a'), 'memory_search', 'one'))).to.equal('ok');
    expect(await outcome(a.limiter.oncePerTurn(who('t1', 'a'), 'memory_search', 'one'))).to.equal('ERR_TURN_SEARCHED');
  });

  it('a refusal does not count as a failure of Redis', async () => {
    const { limiter, breaker } = await replica(freshPrefix());
    expect(await outcome(limiter.consume(who('t1', 'a'), 'x', 9))).to.equal('ERR_RATE_LIMITED');
    expect(await outcome(limiter.consume(who('t1', 'a'), 'x', 1))).to.equal('ERR_RATE_LIMITED');
    expect(breaker.isOpen).to.equal(false);
  });

  it('shows no name in Redis, and its keys end with the window', async () => {
    const prefix = freshPrefix();
    const { limiter, client } = await replica(prefix);
    await limiter.consume(who('acme', 'alice'), 'x', 1);
    const keys = await client.keys(`${prefix}*`);
    expect(keys).to.have.length(2);
    for (const key of keys) {
      expect(key).to.match(new RegExp(`^${prefix}:limit:[0-9a-f]{32}$`));
      expect(await client.ttl(key)).to.be.within(1, 60);
    }
  });

  it('limits hold in each process while Redis is frozen, without a wait for each call', async () => {
    const { limiter, breaker, shortcuts } = await replica(freshPrefix());
    server.freeze();
    try {
      const all: string[] = [];
      for (let i = 0; i < 20; i += 1) all.push(await outcome(limiter.consume(who('t1', 'a'), 'x', 1)));
      expect(all.filter((o) => o === 'ok')).to.have.length(5);
      expect(breaker.isOpen).to.equal(true);
      expect(shortcuts()).to.be.at.least(20);
    } finally {
      server.thaw();
    }
  });

  it('goes back to Redis by itself after it was killed', async () => {
    const { limiter, breaker, client, shortcuts } = await replica(freshPrefix());
    await server.kill();
    await eventually(() => client.status !== 'ready');
    expect(await outcome(limiter.consume(who('t1', 'a'), 'x', 1))).to.equal('ok');
    expect(breaker.isOpen).to.equal(true);
    await server.start();
    await eventually(() => client.status === 'ready');
    nowMs += 5_000;
    const before = shortcuts();
    expect((await limiter.consume(who('t1', 'a'), 'x', 1)).remaining).to.equal(4);
    expect(shortcuts()).to.equal(before);
  });
});
