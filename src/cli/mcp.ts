/** `mcp`: the Model Context Protocol on stdin and stdout, as a client of the running service. */
import { clientConfig } from '../config/client.ts';
import type { CommandSpec } from './command-spec.ts';

export const mcp: CommandSpec = {
  name: 'mcp',
  summary: {
    en: 'speak MCP on stdin and stdout, as a client of the running service',
    zh: '在标准输入输出上提供 MCP，作为运行中服务的客户端',
  },
  usage: 'mcp [--data-dir DIR] [--port N] [--no-start] | mcp --url URL [--token TOKEN]',
  options: {
    url: {
      type: 'string',
      description: {
        en: 'the service to talk to (HINDSIGHT_URL); default: the local one, by DATA_DIR/run.json',
        zh: '服务地址（HINDSIGHT_URL）；默认取 DATA_DIR/run.json 里的本地服务',
      },
    },
    token: {
      type: 'string',
      description: {
        en: 'bearer token (HINDSIGHT_TOKEN, which other users cannot see); default: the agent’s in run.json',
        zh: '访问令牌（HINDSIGHT_TOKEN，不会被其他用户看到）；默认取 run.json 里智能体的令牌',
      },
    },
    'data-dir': {
      type: 'string',
      description: { en: 'data directory of the local service (DATA_DIR)', zh: '本地服务的数据目录（DATA_DIR）' },
    },
    port: {
      type: 'string',
      description: { en: 'port of a local service that has to be started (PORT)', zh: '需要启动本地服务时使用的端口（PORT）' },
    },
    start: {
      type: 'boolean',
      description: {
        en: 'start a local service in the background when none is running (the default; --no-start: do not)',
        zh: '没有运行中的服务时在后台启动一个（默认；--no-start 则不启动）',
      },
    },
  },
  examples: ['hindsight-es mcp', 'HINDSIGHT_URL=https://memory.example.com HINDSIGHT_TOKEN=… hindsight-es mcp'],
  async run(values, { env }) {
    const given = (option: string, variable: string): Record<string, string> =>
      typeof values[option] === 'string' ? { [variable]: values[option] } : {};
    const config = clientConfig({
      ...env,
      ...given('url', 'HINDSIGHT_URL'),
      ...given('token', 'HINDSIGHT_TOKEN'),
      ...given('data-dir', 'DATA_DIR'),
    });
    const { runStdio } = await import('./mcp-stdio.ts');
    return runStdio({
      // the address of the MCP endpoint is what people have at hand
      config: { ...config, url: config.url?.replace(/\/mcp$/, '') },
      mayStart: config.url === undefined && values['start'] !== false,
      serveArgs: typeof values['port'] === 'string' ? ['--port', values['port']] : [],
    });
  },
};
