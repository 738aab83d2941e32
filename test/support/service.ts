/** The composed service on a real engine, in this process: own data directory, own index prefix, tokens for any tenant. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { composeService, type Service } from '../../src/compose.ts';
import { loadConfig, type Config } from '../../src/config.ts';
import { systemClock, type Clock } from '../../src/domain/clock.ts';
import { createClient } from '../../src/elastic/client.ts';
import { openLocalIssuer, type TokenFacts } from '../../src/gate/local-issuer.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { EmbeddingServer, hashBackend } from './embedding-server.ts';
import { acquireEngine, engineCacheDir } from './engine.ts';

export interface TestService {
  readonly url: string;
  readonly config: Config;
  readonly service: Service;
  readonly engineUrl: string;
  readonly prefix: string;
  /** A token of the local issuer; `sub` alice of tenant t1 with all scopes by default. */
  mint(facts?: Partial<TokenFacts>): Promise<string>;
  /** JSON call with a bearer token; the answer's body is parsed. */
  call(method: string, path: string, token: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Closes and starts again on the same data and port; `overrides` change the configuration. */
  restart(overrides?: Record<string, string>): Promise<void>;
  /** Closes the service, removes its indices and its data. */
  close(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers freely
  readonly body: any;
}

/**
 * `env` overrides the configuration; with a `clock` of its own the service's time can be moved by hand; `log` gets the lines that would go to
 * stderr.
 */
export async function startService(env: Record<string, string> = {}, clock: Clock = systemClock, log?: string[]): Promise<TestService> {
  const engine = await acquireEngine();
  const dataDir = mkdtempSync(join(tmpdir(), 'hindsight-test-'));
  const prefix = `t${randomBytes(5).toString('hex')}`;
  const port = await freePort();
  let base: Record<string, string> = {
    HINDSIGHT_LOCAL: 'true',
    HINDSIGHT_CACHE_DIR: engineCacheDir(),
    ELASTICSEARCH_URL: engine.url,
    ELASTICSEARCH_INDEX_PREFIX: prefix,
    DATA_DIR: dataDir,
    PORT: String(port),
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'fatal',
    ...env,
  };
  const open = async (): Promise<{ config: Config; service: Service }> => {
    const config = loadConfig(base);
    const logger = createLogger(config, log === undefined ? undefined : { write: (line) => void log.push(line) });
    return { config, service: await composeService(config, { clock, logger, onProgress: () => undefined }) };
  };
  let running = await open();
  const issuer = await openLocalIssuer(running.config, clock);
  return {
    get url() {
      return running.service.url;
    },
    get config() {
      return running.config;
    },
    get service() {
      return running.service;
    },
    engineUrl: engine.url,
    prefix,
    mint: (facts = {}) =>
      issuer.mint({
        tenant: 't1',
        sub: 'alice',
        actor: 'user',
        scopes: ['memory:read', 'memory:write', 'memory:forget', 'memory:share', 'memory:admin'],
        ...facts,
      }),
    call: (method, path, token, body, headers = {}) => call(running.service.url, method, path, token, body, headers),
    restart: async (overrides = {}) => {
      await running.service.close();
      base = { ...base, ...overrides };
      running = await open();
    },
    close: async () => {
      await running.service.close();
      await dropIndices(engine.url, prefix);
      await engine.release();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function call(
  url: string,
  method: string,
  path: string,
  token: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const file = response.headers.get('content-type') === 'application/gzip';
  const text = file ? gunzipSync(Buffer.from(await response.arrayBuffer())).toString('utf8') : await response.text();
  const json = /json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, body: json && text !== '' ? JSON.parse(text) : text };
}

async function dropIndices(engineUrl: string, prefix: string): Promise<void> {
  const client = createClient({ url: engineUrl });
  const names = Object.keys(await client.indices.get({ index: `${prefix}-*`, allow_no_indices: true }));
  // in portions, because the names stand in the request's path
  for (let from = 0; from < names.length; from += 40) await client.indices.delete({ index: names.slice(from, from + 40) });
  await client.indices.deleteIndexTemplate({ name: `${prefix}-*` }, { ignore: [404] });
  await client.close();
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

export interface HashedService extends TestService {
  /** The embedding endpoint it uses; stop it, or let it fail. */
  readonly embeddings: EmbeddingServer;
}

export const HASH_DIMS = 64;

/** The service with profile `openai` on an endpoint of its own, whose vectors are hashed words: quick, and it can be switched off. */
export async function startHashedService(
  env: Record<string, string> = {},
  clock: Clock = systemClock,
  log?: string[],
): Promise<HashedService> {
  const embeddings = await EmbeddingServer.start(hashBackend(HASH_DIMS));
  const profile = { EMBEDDING_PROFILE: 'openai', EMBEDDING_BASE_URL: embeddings.baseUrl, EMBEDDING_MODEL: 'hashed-words' };
  const service = await startService({ ...profile, ...env }, clock, log);
  const close = async (): Promise<void> => {
    await service.close();
    await embeddings.stop();
  };
  return Object.defineProperties(Object.create(service) as HashedService, { embeddings: { value: embeddings }, close: { value: close } });
}
