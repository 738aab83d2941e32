/** npm run bench:working: how long a write to working memory takes over REST, beside a bare round trip of the same size to the same Redis. */
import { systemClock } from '../src/domain/clock.ts';
import { createBreaker } from '../src/redis/breaker.ts';
import { connectRedis, redisSettled } from '../src/redis/client.ts';
import { startRedis } from '../test/support/redis-server.ts';
import { EmbeddingServer, hashBackend } from '../test/support/embedding-server.ts';
import { Corpus } from './support/corpus.ts';
import { Latency, p50p95 } from './support/latency.ts';
import { COMMON_OPTIONS, type BenchCommand } from './support/options.ts';
import { runBench } from './support/run.ts';
import { BenchService } from './support/service.ts';

const COMMAND: BenchCommand = {
  name: 'bench:working',
  summary: 'writes to working memory over REST (one client) and reads of a full session, beside a bare Redis round trip in the same run',
  options: {
    calls: { description: 'calls of each kind, the kinds by turns', default: '2000' },
    sessions: { description: 'sessions they go to', default: '50' },
    seed: { description: 'seed of the made-up texts', default: '1' },
    ...COMMON_OPTIONS,
  },
};
/** Calls of one kind before the next has its turn: what else the machine does falls on all alike. */
const BLOCK = 50;
const DIMS = 64;
const TARGET_P95_MS = 10;

await runBench(COMMAND, async ({ options, engine, print, folder, prefix }) => {
  const calls = Math.ceil(options.count('calls') / BLOCK) * BLOCK;
  const sessions = options.count('sessions');
  const redis = await startRedis();
  const embedder = await EmbeddingServer.start(hashBackend(DIMS));
  const breaker = createBreaker({ clock: systemClock, onOpen: () => undefined });
  const raw = connectRedis(redis.url, breaker.trip);
  let service: BenchService | undefined;
  try {
    await redisSettled(raw);
    service = await BenchService.start({
      engineUrl: engine.url,
      prefix: prefix('working'),
      folder,
      profile: options.optional('profile'),
      env: {
        REDIS_URL: redis.url,
        EMBEDDING_PROFILE: 'openai',
        EMBEDDING_BASE_URL: embedder.baseUrl,
        EMBEDDING_MODEL: 'hash',
        EMBEDDING_DIMS: String(DIMS),
      },
    });
    const rest = service.client();
    const texts = new Corpus({ seed: options.count('seed'), namespaces: 1, vectors: false }).next(BLOCK).map(({ content }) => content);
    const textOf = (i: number): string => texts[i % texts.length] ?? '';
    const session = (i: number): string => `bench-${i % sessions}`;
    const json = (method: string, path: string, body?: object): Promise<unknown> =>
      rest.json({ method, path, body: body === undefined ? undefined : JSON.stringify(body) });
    const kinds: Readonly<Record<string, (i: number) => Promise<unknown>>> = {
      'a bare round trip to Redis (SET of the same text)': (i) => raw.set(`raw:${session(i)}`, textOf(i), 'EX', 3_600),
      'a turn (POST /v1/sessions/…/turns)': (i) => json('POST', `/v1/sessions/${session(i)}/turns`, { role: 'user', content: textOf(i) }),
      'memory_write with layer working': (i) =>
        json('POST', '/v1/memories', { layer: 'working', session_id: session(i), content: textOf(i) }),
      'a slot of the state (PUT, merge)': (i) =>
        json('PUT', `/v1/sessions/${session(i)}/state`, { state: { [`slot_${i % 8}`]: textOf(i) }, merge: true }),
      'the turns of a session (GET, 20 of them)': (i) => json('GET', `/v1/sessions/${session(i)}/turns`),
    };
    const took = new Map(Object.keys(kinds).map((kind) => [kind, new Latency()]));
    // fills the sessions and warms both sides; not counted
    for (let i = 0; i < 20 * sessions; i += 1) for (const call of Object.values(kinds).slice(0, -1)) await call(i);
    for (let done = 0; done < calls; done += BLOCK)
      for (const [kind, call] of Object.entries(kinds))
        for (let i = done; i < done + BLOCK; i += 1) await took.get(kind)?.time(() => call(i));
    const figures = Object.fromEntries([...took].map(([kind, latency]) => [kind, latency.summary()]));
    const writes = Object.entries(figures).filter(([kind]) => !/Redis|GET/.test(kind));
    print(`${calls} calls of each kind, one client, ${sessions} sessions (p50 / p95):`);
    for (const [kind, summary] of Object.entries(figures)) print(`  ${kind.padEnd(52)} ${p50p95(summary)}`);
    const worst = Math.max(...writes.map(([, { p95_ms }]) => p95_ms));
    print(`  slowest write p95 ${worst.toFixed(2)} ms; target ${TARGET_P95_MS} ms: ${worst <= TARGET_P95_MS ? 'met' : 'missed'}`);
    rest.close();
    return {
      calls,
      sessions,
      figures,
      target_p95_ms: TARGET_P95_MS,
      met: worst <= TARGET_P95_MS,
      redis_fell_away: breaker.openUntilMs > 0,
    };
  } finally {
    await service?.stop();
    await embedder.stop();
    raw.disconnect();
    await redis.close();
  }
});
