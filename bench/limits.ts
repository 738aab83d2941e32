/** npm run bench:limits: what counting a call against its rate limits costs, beside a bare round trip to the same Redis. */
import { ownerOf, ownNamespaceOf, type Principal } from '../src/domain/principal.ts';
import { BENCH_RATE_LIMITS, createRateLimiter } from '../src/gate/rate-limiter.ts';
import { createBreaker } from '../src/redis/breaker.ts';
import { connectRedis, redisSettled } from '../src/redis/client.ts';
import { systemClock } from '../src/domain/clock.ts';
import { startRedis } from '../test/support/redis-server.ts';
import { COMMON_OPTIONS, UsageError, type BenchCommand } from './support/options.ts';
import { runBench } from './support/run.ts';

const COMMAND: BenchCommand = {
  name: 'bench:limits',
  summary: 'the limits of one call (http, operation, total) beside a PING of the same Redis, and in the process',
  options: {
    calls: { description: 'calls of each kind, one after the other, the kinds by turns', default: '20000' },
    ...COMMON_OPTIONS,
  },
};
/** Calls of one kind before the next has its turn: what else the machine does falls on all alike. */
const BLOCK = 100;

const who: Principal = {
  issuer: 'bench',
  sub: 'bench',
  tenant: 'bench',
  actor: 'agent',
  clientId: undefined,
  scopes: new Set(),
  namespaces: undefined,
  roles: [],
  teams: [],
  grants: { within: [], read: [], write: [], forget: [], share: [] },
  owner: ownerOf('bench', 'bench'),
  ownNamespace: ownNamespaceOf('bench', 'bench'),
  expiresAt: 0,
};

await runBench(COMMAND, async ({ options, print }) => {
  const calls = Number(options.text('calls'));
  if (!Number.isInteger(calls) || calls < BLOCK) throw new UsageError(`--calls must be a whole number of at least ${BLOCK}`);
  const redis = await startRedis();
  const breaker = createBreaker({ clock: systemClock, onOpen: () => undefined });
  const client = connectRedis(redis.url, breaker.trip);
  try {
    await redisSettled(client);
    const shared = createRateLimiter({ limits: BENCH_RATE_LIMITS, redis: { client, breaker, prefix: 'bench' } });
    const inProcess = createRateLimiter({ limits: BENCH_RATE_LIMITS });
    const kinds = {
      'PING of Redis': () => client.ping(),
      'a request (bucket http) in Redis': () => shared.consume(who, 'http', 1),
      'an operation (its own bucket and the total) in Redis': () => shared.consume(who, 'memory_search', 2),
      'an operation in the process': () => inProcess.consume(who, 'memory_search', 2),
    };
    const took = new Map<string, number[]>(Object.keys(kinds).map((kind) => [kind, []]));
    for (let done = -10 * BLOCK; done < calls; done += BLOCK)
      for (const [kind, call] of Object.entries(kinds))
        for (let i = 0; i < BLOCK; i += 1) {
          const startedAt = process.hrtime.bigint();
          await call();
          if (done >= 0) took.get(kind)?.push(Number(process.hrtime.bigint() - startedAt) / 1e3);
        }
    const p50 = (kind: string): number => (took.get(kind) ?? []).sort((a, b) => a - b)[Math.floor(calls / 2)] ?? Number.NaN;
    const figures = Object.fromEntries(
      Object.keys(kinds).map((kind) => [kind, { p50_us: p50(kind), pings: p50(kind) / p50('PING of Redis') }]),
    );
    for (const [kind, { p50_us, pings }] of Object.entries(figures))
      print(`${kind}: p50 ${p50_us.toFixed(0)} µs, ${pings.toFixed(2)} PINGs`);
    return { calls, figures, redis_fell_away: breaker.openUntilMs > 0 };
  } finally {
    client.disconnect();
    await redis.close();
  }
});
