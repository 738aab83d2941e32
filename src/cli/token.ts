/** `token`: mints a token of the local issuer, for local use and tests; runs beside the service and needs only DATA_DIR. */
import { loadConfig } from '../config.ts';
import { isNamespacePattern } from '../domain/namespace.ts';
import { ACTORS, SCOPES, type Actor } from '../domain/principal.ts';
import { HindsightError } from '../errors.ts';
import { openLocalIssuer } from '../gate/local-issuer.ts';
import type { CommandSpec } from './command-spec.ts';

const DEFAULT_TTL_SECONDS = 90 * 86_400;

export const token: CommandSpec = {
  name: 'token',
  summary: 'mint a token of the local issuer',
  usage: 'token [--tenant T] [--sub S] [--scope "memory:read …"] [--actor user|agent|service] [--namespaces "a.b,c.**"] [--ttl SECONDS]',
  options: {
    tenant: { type: 'string', description: 'tenant (default: local)' },
    sub: { type: 'string', description: 'subject (default: local)' },
    scope: { type: 'string', description: `scopes, separated by spaces or commas (default: memory:read memory:write memory:forget)` },
    actor: { type: 'string', description: 'user, agent or service (default: agent)' },
    'client-id': { type: 'string', description: 'client id' },
    namespaces: { type: 'string', description: 'namespace patterns, separated by commas (default: own and shared)' },
    ttl: { type: 'string', description: `seconds until it ends (default: ${DEFAULT_TTL_SECONDS})` },
  },
  examples: [
    'hindsight-es token --tenant acme --sub alice --actor user --scope "memory:read memory:write"',
    'hindsight-es token --tenant acme --sub bot --namespaces "team.sales.**,shared.**" --ttl 3600',
  ],
  async run(values) {
    const config = loadConfig(undefined, { HINDSIGHT_LOCAL: 'true' });
    const scopes = String(values['scope'] ?? 'memory:read memory:write memory:forget')
      .split(/[\s,]+/)
      .filter(Boolean);
    const unknown = scopes.find((s) => !(SCOPES as readonly string[]).includes(s));
    if (unknown !== undefined) throw fault(`--scope takes ${SCOPES.join(', ')}`);
    const actor = String(values['actor'] ?? 'agent');
    if (!(ACTORS as readonly string[]).includes(actor)) throw fault(`--actor takes ${ACTORS.join(', ')}`);
    const namespaces =
      values['namespaces'] === undefined
        ? undefined
        : String(values['namespaces'])
            .split(',')
            .map((n) => n.trim());
    if (namespaces?.some((n) => !isNamespacePattern(n)) === true)
      throw fault('--namespaces takes namespace patterns such as team.a or team.**');
    const ttlSeconds = Number(values['ttl'] ?? DEFAULT_TTL_SECONDS);
    if (!Number.isInteger(ttlSeconds) || ttlSeconds < 1 || ttlSeconds > DEFAULT_TTL_SECONDS)
      throw fault(`--ttl takes whole seconds from 1 to ${DEFAULT_TTL_SECONDS}`);
    const issuer = await openLocalIssuer(config);
    const minted = await issuer.mint({
      tenant: String(values['tenant'] ?? 'local'),
      sub: String(values['sub'] ?? 'local'),
      scopes,
      actor: actor as Actor,
      ...(values['client-id'] === undefined ? {} : { clientId: String(values['client-id']) }),
      ...(namespaces === undefined ? {} : { namespaces }),
      ttlSeconds,
    });
    process.stdout.write(`${minted}\n`);
    return 0;
  },
};

function fault(detail: string): HindsightError {
  return new HindsightError('ERR_CONFIG_INVALID', { params: { detail } });
}
