/** A real redis-server on a free port for one test suite: it can be frozen, thawed, killed and started again. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

export interface RedisServer {
  readonly url: string;
  /** It keeps its connections and answers nothing (SIGSTOP). */
  freeze(): void;
  thaw(): void;
  /** SIGKILL; data is gone. */
  kill(): Promise<void>;
  /** A new, empty one on the same port. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function startRedis(): Promise<RedisServer> {
  const dir = mkdtempSync(join(tmpdir(), 'redis-'));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    if (child === undefined) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    child = undefined;
  };
  const start = async (): Promise<void> => {
    child = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir], {
      stdio: 'ignore',
    });
    await Promise.race([
      answering(url),
      once(child, 'error').then(([error]) => {
        throw new Error('redis-server is needed for this suite: install it (Debian: apt-get install redis-server)', { cause: error });
      }),
    ]);
  };
  await start();
  return {
    url,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    kill,
    start,
    async close() {
      await kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function answering(url: string): Promise<void> {
  const redis = new Redis(url, { retryStrategy: () => 50 });
  redis.on('error', () => undefined); // refused until it listens
  await redis.ping();
  redis.disconnect();
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Polls until `check` holds; fails after `timeoutMs`. */
export async function eventually(check: () => boolean | Promise<boolean>, timeoutMs = 5_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`not so after ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
