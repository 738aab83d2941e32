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
    tenant: { type: 'string', description: 'tenant (default: local)' },
    sub: { type: 'string', description: 'subject (default: local)' },
    scope: { type: 'string', description: `scopes, separated by spaces or commas (default: memory:read memory:write memory:forget)` },
    actor: { type: 'string', description: 'user, agent or service (default: agent)' },
    'client-id': { type: 'string', description: 'client id' },
    namespaces: { type: 'string', description: 'namespace patterns, separated by commas (default: own and shared)' },
    'data-dir': { type: 'string', description: 'the data directory of the service that is to accept it (DATA_DIR)' },
    ttl: { type: 'string', description: `seconds until it ends (default: ${DEFAULT_TTL_SECONDS})` },
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
