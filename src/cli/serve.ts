/** `serve`: its options and help; run-service.ts does the work. */
import type { CommandSpec } from './command-spec.ts';

export const serve: CommandSpec = {
  name: 'serve',
  summary: { en: 'run the service', zh: '运行服务' },
  usage: 'serve [--local] [--port N] [--data-dir DIR] [--engine 8.19.9|9.0.8]',
  options: {
    local: {
      type: 'boolean',
      description: {
        en: 'local mode: managed engine unless ELASTICSEARCH_URL is set, own token issuer, loopback only',
        zh: '本地模式：未设 ELASTICSEARCH_URL 时自带引擎，自带令牌签发，仅监听本机',
      },
    },
    port: { type: 'string', description: { en: 'port (PORT)', zh: '端口（PORT）' } },
    'data-dir': {
      type: 'string',
      description: { en: 'where data, keys and logs are kept (DATA_DIR)', zh: '数据、密钥和日志所在目录（DATA_DIR）' },
    },
    engine: {
      type: 'string',
      description: { en: 'version of the managed Elasticsearch (ENGINE_VERSION)', zh: '自带 Elasticsearch 的版本（ENGINE_VERSION）' },
    },
  },
  variables: async () => (await import('./serve-variables.ts')).serveVariables(),
  examples: ['hindsight-es serve --local', 'ELASTICSEARCH_URL=http://127.0.0.1:9200 hindsight-es serve --local --port 8500'],
  async run(values) {
    // the whole service behind one import: --help and `token` must not wait for it
    const [{ runService }, { loadConfig }] = await Promise.all([import('./run-service.ts'), import('../config.ts')]);
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
