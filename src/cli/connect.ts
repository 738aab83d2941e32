/** Which service a command talks to, and with which token: options, then the environment, then DATA_DIR/run.json. */
import { clientConfig } from '../config/client.ts';
import { CLIENT_VARIABLES } from '../config/terminal.ts';
import type { HindsightError } from '../errors.ts';
import { inLang, UsageError, type CommandOption, type CommandSpec, type Invocation, type OptionValues } from './command-spec.ts';
import { isA } from './failure.ts';
import { createRestClient, Unreachable, type RestClient } from './rest-client.ts';
import { readRunFile } from './run-file.ts';

/** Options of every command that calls the service. */
export const CLIENT_OPTIONS: Readonly<Record<string, CommandOption>> = {
  json: {
    type: 'boolean',
    description: {
      en: 'the exact answer of the service as JSON; errors as problem JSON on stderr',
      zh: '原样输出服务的 JSON；错误以 problem JSON 写到 stderr',
    },
  },
  url: { type: 'string', value: 'URL', description: { en: 'URL of the service (HINDSIGHT_URL)', zh: '服务地址（HINDSIGHT_URL）' } },
  token: {
    type: 'string',
    value: 'TOKEN',
    description: {
      en: 'bearer token (better by HINDSIGHT_TOKEN: others may see a command line)',
      zh: '访问令牌（最好用 HINDSIGHT_TOKEN：命令行可能被他人看到）',
    },
  },
  'data-dir': {
    type: 'string',
    value: 'DIR',
    description: { en: 'data directory of the local service (DATA_DIR)', zh: '本地服务的数据目录（DATA_DIR）' },
  },
};

/** Their environment, for the help. */
export const clientVariables: NonNullable<CommandSpec['variables']> = async (lang) =>
  CLIENT_VARIABLES.map(({ name, description }) => [name, description[lang]] as const);

export interface Connection extends RestClient {
  readonly dataDir: string;
  readonly hasToken: boolean;
}

/** Throws UsageError for a URL or token that cannot be one, Unreachable when no service is named and none runs here. */
export function connect(values: OptionValues, { env, lang }: Pick<Invocation, 'env' | 'lang'>): Connection {
  const option = (name: string): string | undefined => (typeof values[name] === 'string' ? values[name] : undefined);
  const overrides = { HINDSIGHT_URL: option('url'), HINDSIGHT_TOKEN: option('token'), DATA_DIR: option('data-dir') };
  const given = Object.entries(overrides).filter(([, value]) => value !== undefined);
  let config;
  try {
    config = clientConfig({ ...env, ...Object.fromEntries(given) });
  } catch (error) {
    if (isA<HindsightError>(error, 'HindsightError') && error.code === 'ERR_CONFIG_INVALID')
      throw new UsageError(String(error.params['detail']));
    throw error;
  }
  const run = readRunFile(config.dataDir);
  const url = config.url ?? run?.url;
  if (url === undefined)
    throw new Unreachable(
      inLang(
        {
          en: `No service runs on ${config.dataDir}: start one with "hindsight-es serve --local", or name one with --url (HINDSIGHT_URL)`,
          zh: `${config.dataDir} 上没有正在运行的服务：用 “hindsight-es serve --local” 启动，或用 --url（HINDSIGHT_URL）指定`,
        },
        lang,
      ),
    );
  // a local token goes to no other service than the one that made it
  const token = config.token ?? (run?.url === url ? run.token : undefined);
  return { ...createRestClient(url, token), dataDir: config.dataDir, hasToken: token !== undefined };
}
