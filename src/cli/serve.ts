/** `serve`: the service in the foreground; with --local on the managed engine and the local issuer, with tokens and curl calls printed. */
import { composeService } from '../compose.ts';
import { loadConfig } from '../config.ts';
import { systemClock } from '../domain/clock.ts';
import { HindsightError } from '../errors.ts';

import { createLogger } from '../telemetry/logger.ts';
import { banner } from './banner.ts';
import type { CommandSpec } from './command-spec.ts';
import { assertPortFree } from './port.ts';
import { isAlive, readRunFile, removeRunFile, writeRunFile } from './run-file.ts';

export const serve: CommandSpec = {
  name: 'serve',
  summary: 'run the service',
  usage: 'serve [--local] [--port N] [--data-dir DIR] [--engine 8.19.9|9.0.8]',
  options: {
    local: { type: 'boolean', description: 'local mode: managed engine unless ELASTICSEARCH_URL is set, own token issuer, loopback only' },
    port: { type: 'string', description: 'port (PORT)' },
    'data-dir': { type: 'string', description: 'where data, keys and logs are kept (DATA_DIR)' },
    engine: { type: 'string', description: 'version of the managed Elasticsearch (ENGINE_VERSION)' },
  },
  examples: ['hindsight-es serve --local', 'ELASTICSEARCH_URL=http://127.0.0.1:9200 hindsight-es serve --local --port 8500'],
  async run(values) {
    const startedAt = performance.now();
    const config = loadConfig(undefined, {
      ...(values['local'] === true ? { HINDSIGHT_LOCAL: 'true' } : {}),
      ...(typeof values['port'] === 'string' ? { PORT: values['port'] } : {}),
      ...(typeof values['data-dir'] === 'string' ? { DATA_DIR: values['data-dir'] } : {}),
      ...(typeof values['engine'] === 'string' ? { ENGINE_VERSION: values['engine'] } : {}),
    });
    const running = readRunFile(config.dataDir);
    if (running !== undefined && (await isAlive(running)))
      throw new HindsightError('ERR_ALREADY_RUNNING', { params: { pid: running.pid } });
    await assertPortFree(config.port, config.host);

    const stop = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => {
        if (stop.signal.aborted) process.exit(130); // the second signal does not wait
        stop.abort();
      });
    const service = await composeService(config, {
      clock: systemClock,
      logger: createLogger(config),
      onProgress: ({ phase, message }) => process.stderr.write(`- ${phase}: ${message}\n`),
      signal: stop.signal,
    });
    try {
      if (service.localTokens !== undefined && !stop.signal.aborted) {
        const run = { url: service.url, token: service.localTokens.user, agent_token: service.localTokens.agent, pid: process.pid };
        writeRunFile(config.dataDir, run);
        const facts = { run, dataDir: config.dataDir, engine: service.engine, embedding: service.embedding };
        process.stdout.write(banner({ ...facts, seconds: (performance.now() - startedAt) / 1_000 }, process.stdout.isTTY));
      }
      await aborted(stop.signal);
      process.stderr.write('- stopping …\n');
    } finally {
      removeRunFile(config.dataDir, process.pid);
      await service.close();
    }
    return 0;
  },
};

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
