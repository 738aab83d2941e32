import { expect } from 'chai';
import type { Redis } from 'ioredis';
import type { DirtyMarks } from '../../src/domain/ports.ts';
import { createBreaker, type Breaker } from '../../src/redis/breaker.ts';
import { connectRedis, redisSettled } from '../../src/redis/client.ts';
import { processDirtyMarks, redisDirtyMarks } from '../../src/redis/dirty-marks.ts';
import { eventually, startRedis, type RedisServer } from '../support/redis-server.ts';

/** Whether settling the tenant took a refresh. */
async function refreshes(marks: DirtyMarks, tenant: string): Promise<boolean> {
  let count = 0;
  await marks.settle(tenant, async () => {
    count += 1;
  });
  expect(count).to.be.at.most(1);
  return count === 1;
}

/** A refresh that the test ends by hand. */
function heldRefresh(): { readonly refresh: () => Promise<void>; readonly end: (error?: Error) => void; begun: number } {
  const ends: ((error?: Error) => void)[] = [];
  const held = {
    begun: 0,
    refresh: (): Promise<void> => {
      held.begun += 1;
      return new Promise<void>((resolve, reject) => ends.push((error) => (error === undefined ? resolve() : reject(error))));
    },
    end: (error?: Error) => ends.splice(0).forEach((end) => end(error)),
  };
  return held;
}

/** What memory relies on, whoever keeps the marks. */
function contract(make: () => DirtyMarks): void {
  it('a tenant without writes is clean', async () => {
    expect(await refreshes(make(), 't1')).to.equal(false);
  });

  it('a mark is settled by one refresh', async () => {
    const marks = make();
    await marks.mark('t1');
    expect(await refreshes(marks, 't1')).to.equal(true);
    expect(await refreshes(marks, 't1')).to.equal(false);
  });

  it('several writes are one mark, and a write after the refresh is a new one', async () => {
    const marks = make();
    await Promise.all([marks.mark('t1'), marks.mark('t1'), marks.mark('t1')]);
    expect(await refreshes(marks, 't1')).to.equal(true);
    expect(await refreshes(marks, 't1')).to.equal(false);
    await marks.mark('t1');
    expect(await refreshes(marks, 't1')).to.equal(true);
  });

  it('readers at the same time all wait for the refresh, which runs once for them', async () => {
    const marks = make();
    await marks.mark('t1');
    const held = heldRefresh();
    let settled = 0;
    const readers = Array.from({ length: 20 }, () => marks.settle('t1', held.refresh).then(() => (settled += 1)));
    await eventually(() => held.begun > 0);
    await refreshes(marks, 't2'); // round trips of the others are through when this one is
    expect(settled).to.equal(0);
    expect(held.begun).to.equal(1);
    held.end();
    await Promise.all(readers);
    expect(await refreshes(marks, 't1')).to.equal(false);
  });

  it('a write while a refresh is under way needs another one', async () => {
    const marks = make();
    await marks.mark('t1');
    const held = heldRefresh();
    const first = marks.settle('t1', held.refresh);
    await eventually(() => held.begun === 1);
    await marks.mark('t1');
    const second = marks.settle('t1', held.refresh);
    await eventually(() => held.begun === 2);
    held.end();
    await Promise.all([first, second]);
  });

  it('a refresh that fails is the reader’s failure and leaves the mark', async () => {
    const marks = make();
    await marks.mark('t1');
    const held = heldRefresh();
    const reader = marks.settle('t1', held.refresh).then(
      () => 'settled',
      (error: Error) => error.message,
    );
    await eventually(() => held.begun === 1);
    held.end(new Error('away'));
    expect(await reader).to.equal('away');
    expect(await refreshes(marks, 't1')).to.equal(true);
    expect(await refreshes(marks, 't1')).to.equal(false);
  });

  it('tenants never settle each other’s marks, whatever their names look like', async () => {
    const marks = make();
    const names = ['t1', 'T1', 't1:x', 't1:', ':t1', 't', '1', 't1\r\nDEL x', '*', '', '__proto__', '王'];
    for (const marked of names) {
      await marks.mark(marked);
      for (const other of names.filter((n) => n !== marked)) expect(await refreshes(marks, other), `${marked} / ${other}`).to.equal(false);
      expect(await refreshes(marks, marked), marked).to.equal(true);
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

  it('replicas share marks, and none relies on a refresh that another may not be through with', async () => {
    const prefix = freshPrefix();
    const [a, b] = [replica(redis, prefix).marks, replica(second, prefix).marks];
    await a.mark('t1');
    expect(await refreshes(b, 't1')).to.equal(true);
    expect(await refreshes(a, 't1')).to.equal(true);
    expect(await refreshes(b, 't1')).to.equal(false);
    expect(await refreshes(a, 't1')).to.equal(false);
  });

  it('no tenant’s name can be read in Redis, and marks end by themselves', async () => {
    const prefix = freshPrefix();
    await replica(redis, prefix).marks.mark('acme');
    const keys = await redis.keys(`${prefix}*`);
    expect(keys).to.have.length(1);
    expect(keys[0]).to.match(new RegExp(`^${prefix}:dirty:[0-9a-f]{32}$`));
    expect(await redis.ttl(keys[0] ?? '')).to.be.within(1, 60);
  });

  it('with a frozen Redis a reader refreshes after one time-out, and at once from then on', async () => {
    const { marks, breaker } = replica(redis, freshPrefix());
    expect(await refreshes(marks, 't1')).to.equal(false);
    shortcuts = 0;
    server.freeze();
    try {
      expect(await refreshes(marks, 't1')).to.equal(true); // would never settle without the command time-out: mocha's limit ends it
      expect(breaker.isOpen).to.equal(true);
      const answers = await Promise.race([
        Promise.all(Array.from({ length: 100 }, () => refreshes(marks, 't2'))),
        new Promise<'waited'>((resolve) => setTimeout(() => resolve('waited'), 200)),
      ]);
      expect(answers).to.deep.equal(Array(100).fill(true));
      expect(shortcuts).to.equal(101);
      await marks.mark('t1'); // a write is not held up either
    } finally {
      server.thaw();
    }
  });

  it('doubt lasts twelve seconds beyond the open breaker, then the marks are believed again', async () => {
    const { marks, breaker } = replica(redis, freshPrefix());
    breaker.trip(new Error('outage'));
    nowMs += 5_000;
    expect(await refreshes(marks, 't1')).to.equal(true);
    nowMs += 11_999;
    expect(await refreshes(marks, 't1')).to.equal(true);
    nowMs += 1;
    expect(await refreshes(marks, 't1')).to.equal(false);
    await marks.mark('t1');
    expect(await refreshes(marks, 't1')).to.equal(true);
  });

  it('a Redis that was killed and came back empty causes doubt, not a lost mark', async () => {
    const { marks, breaker } = replica(redis, freshPrefix());
    await marks.mark('t1');
    await server.kill();
    await eventually(() => breaker.isOpen);
    expect(await refreshes(marks, 't1')).to.equal(true);
    await server.start();
    await eventually(() => redis.status === 'ready');
    expect(await refreshes(marks, 't1')).to.equal(true);
    nowMs += 17_000;
    expect(await refreshes(marks, 't1')).to.equal(false);
  });
});
