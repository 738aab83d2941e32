import { expect } from 'chai';
import type { Redis } from 'ioredis';
import type { DirtyMarks } from '../../src/domain/ports.ts';
import { createBreaker, type Breaker } from '../../src/redis/breaker.ts';
import { connectRedis, redisSettled } from '../../src/redis/client.ts';
import { processDirtyMarks, redisDirtyMarks } from '../../src/redis/dirty-marks.ts';
import { eventually, startRedis, type RedisServer } from '../support/redis-server.ts';

/** What memory relies on, whoever keeps the marks. */
function contract(make: () => DirtyMarks): void {
  it('a tenant without writes is clean', async () => {
    expect(await make().take('t1')).to.equal(false);
  });

  it('a mark is taken once', async () => {
    const marks = make();
    await marks.mark('t1');
    expect(await marks.take('t1')).to.equal(true);
    expect(await marks.take('t1')).to.equal(false);
  });

  it('several writes are one mark, and a write after the taking is a new one', async () => {
    const marks = make();
    await Promise.all([marks.mark('t1'), marks.mark('t1'), marks.mark('t1')]);
    expect(await marks.take('t1')).to.equal(true);
    expect(await marks.take('t1')).to.equal(false);
    await marks.mark('t1');
    expect(await marks.take('t1')).to.equal(true);
  });

  it('one of many simultaneous takers gets the mark', async () => {
    const marks = make();
    await marks.mark('t1');
    const taken = await Promise.all(Array.from({ length: 20 }, () => marks.take('t1')));
    expect(taken.filter(Boolean)).to.have.length(1);
  });

  it('tenants never take each other’s marks, whatever their names look like', async () => {
    const marks = make();
    const names = ['t1', 'T1', 't1:x', 't1:', ':t1', 't', '1', 't1\r\nDEL x', '*', '', '__proto__', '王'];
    for (const marked of names) {
      await marks.mark(marked);
      for (const other of names.filter((n) => n !== marked)) expect(await marks.take(other), `${marked} / ${other}`).to.equal(false);
      expect(await marks.take(marked), marked).to.equal(true);
    }
  });
}

describe('dirty marks in the process', () => {
  contract(processDirtyMarks);
});

describe('dirty marks in Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  let second: Redis;
  let nowMs = 1_000_000;
  let serial = 0;
  let shortcuts = 0;
  const clock = (): number => nowMs;

  interface Replica {
    readonly breaker: Breaker;
    readonly marks: DirtyMarks;
  }
  const replica = (client: Redis, prefix: string): Replica => {
    const breaker = createBreaker({ clock, onOpen: () => undefined });
    client.on('close', () => breaker.trip(new Error('closed')));
    return { breaker, marks: redisDirtyMarks({ redis: client, breaker, clock, prefix, onShortcut: () => (shortcuts += 1) }) };
  };
  const freshPrefix = (): string => `test${(serial += 1)}`;

  before(async () => {
    server = await startRedis();
  });
  beforeEach(async () => {
    nowMs = 1_000_000;
    [redis, second] = [connectRedis(server.url, () => undefined), connectRedis(server.url, () => undefined)];
    await Promise.all([redisSettled(redis), redisSettled(second)]);
  });
  afterEach(() => {
    redis.disconnect();
    second.disconnect();
  });
  after(() => server.close());

  contract(() => replica(redis, freshPrefix()).marks);

  it('replicas share marks', async () => {
    const prefix = freshPrefix();
    const [a, b] = [replica(redis, prefix).marks, replica(second, prefix).marks];
    await a.mark('t1');
    expect(await b.take('t1')).to.equal(true);
    expect(await a.take('t1')).to.equal(false);
  });

  it('no tenant’s name can be read in Redis, and marks end by themselves', async () => {
    const prefix = freshPrefix();
    await replica(redis, prefix).marks.mark('acme');
    const keys = await redis.keys(`${prefix}*`);
    expect(keys).to.have.length(1);
    expect(keys[0]).to.match(new RegExp(`^${prefix}:dirty:[0-9a-f]{32}$`));
    expect(await redis.ttl(keys[0] ?? '')).to.be.within(1, 60);
  });

  it('with a frozen Redis a take says true after one time-out, and at once from then on', async () => {
    const { marks, breaker } = replica(redis, freshPrefix());
    expect(await marks.take('t1')).to.equal(false);
    shortcuts = 0;
    server.freeze();
    try {
      expect(await marks.take('t1')).to.equal(true); // would never settle without the command time-out: mocha's limit ends it
      expect(breaker.isOpen).to.equal(true);
      const answers = await Promise.race([
        Promise.all(Array.from({ length: 100 }, () => marks.take('t2'))),
        new Promise<'waited'>((resolve) => setTimeout(() => resolve('waited'), 200)),
      ]);
      expect(answers).to.deep.equal(Array(100).fill(true));
      expect(shortcuts).to.equal(101);
      await marks.mark('t1'); // a write is not held up either
    } finally {
      server.thaw();
    }
  });

  it('doubt lasts two seconds beyond the open breaker, then the marks are believed again', async () => {
    const { marks, breaker } = replica(redis, freshPrefix());
    breaker.trip(new Error('outage'));
    nowMs += 5_000;
    expect(await marks.take('t1')).to.equal(true);
    nowMs += 1_999;
    expect(await marks.take('t1')).to.equal(true);
    nowMs += 1;
    expect(await marks.take('t1')).to.equal(false);
    await marks.mark('t1');
    expect(await marks.take('t1')).to.equal(true);
  });

  it('a Redis that was killed and came back empty causes doubt, not a lost mark', async () => {
    const { marks, breaker } = replica(redis, freshPrefix());
    await marks.mark('t1');
    await server.kill();
    await eventually(() => breaker.isOpen);
    expect(await marks.take('t1')).to.equal(true);
    await server.start();
    await eventually(() => redis.status === 'ready');
    expect(await marks.take('t1')).to.equal(true);
    nowMs += 7_000;
    expect(await marks.take('t1')).to.equal(false);
  });
});
