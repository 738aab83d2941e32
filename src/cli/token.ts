/** `token`: mints a token of the local issuer, for local use and tests; runs beside the service and needs only DATA_DIR. */
import { isNamespacePattern } from '../domain/namespace.ts';
import { ACTORS, SCOPES, type Actor } from '../domain/principal.ts';
import type { HindsightError } from '../errors.ts';
import { UsageError, type CommandSpec } from './command-spec.ts';
import { openDataDir } from './data-dir.ts';
import { isA } from './failure.ts';

const DEFAULT_TTL_SECONDS = 90 * 86_400;

export const token: CommandSpec = {
  name: 'token',
  summary: { en: 'mint a token of the local issuer', zh: '用本地签发者签发令牌' },
  usage:
    'token [--tenant T] [--sub S] [--scope "memory:read …"] [--actor user|agent|service] [--namespaces "a.b,c.**"] [--ttl SECONDS] [--data-dir DIR]',
  options: {
    tenant: { type: 'string', description: { en: 'tenant (default: local)', zh: '租户（默认 local）' } },
    sub: { type: 'string', description: { en: 'subject (default: local)', zh: '主体（默认 local）' } },
    scope: {
      type: 'string',
      description: {
        en: 'scopes, separated by spaces or commas (default: memory:read memory:write memory:forget)',
        zh: '权限，用空格或逗号分隔（默认 memory:read memory:write memory:forget）',
      },
    },
    actor: { type: 'string', description: { en: 'user, agent or service (default: agent)', zh: 'user、agent 或 service（默认 agent）' } },
    'client-id': { type: 'string', description: { en: 'client id', zh: '客户端 id' } },
    namespaces: {
      type: 'string',
      description: {
        en: 'namespace patterns, separated by commas (default: own and shared)',
        zh: '命名空间模式，用逗号分隔（默认自己的和共享的）',
      },
    },
    'data-dir': {
      type: 'string',
      description: {
        en: 'the data directory of the service that is to accept it (DATA_DIR)',
        zh: '接受该令牌的服务的数据目录（DATA_DIR）',
      },
    },
    ttl: {
      type: 'string',
      description: { en: `seconds until it ends (default: ${DEFAULT_TTL_SECONDS})`, zh: `多少秒后失效（默认 ${DEFAULT_TTL_SECONDS}）` },
    },
  },
  examples: [
    'hindsight-es token --tenant acme --sub alice --actor user --scope "memory:read memory:write"',
    'hindsight-es token --tenant acme --sub bot --namespaces "team.sales.**,shared.**" --ttl 3600',
  ],
  async run(values) {
    const scopes = listOf(values['scope'] ?? 'memory:read memory:write memory:forget', /[\s,]+/);
    if (scopes.length === 0 || scopes.some((s) => !(SCOPES as readonly string[]).includes(s)))
      throw usage(`--scope takes ${SCOPES.join(', ')}`);
    const actor = String(values['actor'] ?? 'agent');
    if (!(ACTORS as readonly string[]).includes(actor)) throw usage(`--actor takes ${ACTORS.join(', ')}`);
    const namespaces = values['namespaces'] === undefined ? undefined : listOf(values['namespaces'], /[\s,]+/);
    if (namespaces !== undefined && (namespaces.length === 0 || !namespaces.every(isNamespacePattern)))
      throw usage('--namespaces takes namespace patterns such as team.a or team.**');
    const ttlSeconds = Number(values['ttl'] ?? DEFAULT_TTL_SECONDS);
    if (!Number.isInteger(ttlSeconds) || ttlSeconds < 1 || ttlSeconds > DEFAULT_TTL_SECONDS)
      throw usage(`--ttl takes whole seconds from 1 to ${DEFAULT_TTL_SECONDS}`);

    const dataDir = values['data-dir'];
    const [{ loadConfig }, { openLocalIssuer }] = await Promise.all([import('../config.ts'), import('../gate/local-issuer.ts')]);
    const config = loadConfig(undefined, { HINDSIGHT_LOCAL: 'true', ...(typeof dataDir === 'string' ? { DATA_DIR: dataDir } : {}) });
    openDataDir(config.dataDir);
    const issuer = await openLocalIssuer(config);
    const facts = {
      tenant: String(values['tenant'] ?? 'local'),
      sub: String(values['sub'] ?? 'local'),
      scopes,
      actor: actor as Actor,
      ...(values['client-id'] === undefined ? {} : { clientId: String(values['client-id']) }),
      ...(namespaces === undefined ? {} : { namespaces }),
      ttlSeconds,
    };
    const minted = await issuer.mint(facts).catch((error: unknown) => {
      if (isA<HindsightError>(error, 'HindsightError') && error.code === 'ERR_CONFIG_INVALID') throw usage(String(error.params['detail']));
      throw error;
    });
    process.stdout.write(`${minted}\n`);
    return 0;
  },
};

function listOf(value: string | boolean, separator: RegExp): string[] {
  return String(value).split(separator).filter(Boolean);
}

function usage(message: string): UsageError {
  return new UsageError(message, 'token');
}
