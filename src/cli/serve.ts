/** `serve`: its options and help; run-service.ts does the work. */
import { loadConfig } from '../config.ts';
import type { CommandSpec } from './command-spec.ts';

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
    // the whole service behind one import: --help and `token` must not wait for it
    const { runService } = await import('./run-service.ts');
    return runService(
      loadConfig(undefined, {
        ...(values['local'] === true ? { HINDSIGHT_LOCAL: 'true' } : {}),
        ...(typeof values['port'] === 'string' ? { PORT: values['port'] } : {}),
        ...(typeof values['data-dir'] === 'string' ? { DATA_DIR: values['data-dir'] } : {}),
        ...(typeof values['engine'] === 'string' ? { ENGINE_VERSION: values['engine'] } : {}),
      }),
    );
  },
};
