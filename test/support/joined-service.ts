/** A second service in this process on the same engine, indices and tokens as a first one: another replica, as far as memory goes. */
import { rmSync, mkdtempSync, cpSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { composeService } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { engineCacheDir } from './engine.ts';
import { freePort, type Answer, type HashedService } from './service.ts';

export interface JoinedService {
  call(method: string, path: string, token: string, body?: unknown): Promise<Answer>;
  close(): Promise<void>;
}

/** It has the first one's keys, copied: tokens of that are good here. */
export async function joinService(first: HashedService): Promise<JoinedService> {
  const dataDir = mkdtempSync(join(tmpdir(), 'hindsight-joined-'));
  cpSync(first.config.dataDir, dataDir, { recursive: true });
  const port = await freePort();
  const config = loadConfig({
    HINDSIGHT_LOCAL: 'true',
    HINDSIGHT_CACHE_DIR: engineCacheDir(),
    ELASTICSEARCH_URL: first.engineUrl,
    ELASTICSEARCH_INDEX_PREFIX: first.prefix,
    DATA_DIR: dataDir,
    PORT: String(port),
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'fatal',
    RATE_LIMIT_PROFILE: 'bench',
    EMBEDDING_PROFILE: 'openai',
    EMBEDDING_BASE_URL: first.embeddings.baseUrl,
    EMBEDDING_MODEL: 'hashed-words',
  });
  const service = await composeService(config, { clock: systemClock, logger: createLogger(config), onProgress: () => undefined });
  return {
    async call(method, path, token, body) {
      const response = await fetch(service.url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, headers: response.headers, body: await response.json() };
    },
    async close() {
      await service.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
