/** Tokens of the service under measurement for tenants of a bench's choice: its own issuer's key lies in its DATA_DIR. */
import { loadConfig } from '../../src/config.ts';
import type { ScopeName } from '../../src/domain/principal.ts';
import { openLocalIssuer } from '../../src/gate/local-issuer.ts';

/**
 * A token that reads and writes every namespace of a tenant. Its actor is `service` unless another is named: searches of a service leave no
 * access counts, which would move the ranking where a bench asks again and again. All tokens of a tenant speak for the same person.
 */
export async function tenantToken(dataDir: string, tenant: string, actor: 'service' | 'agent' = 'service'): Promise<string> {
  const issuer = await openLocalIssuer(loadConfig({}, { HINDSIGHT_LOCAL: 'true', DATA_DIR: dataDir }));
  const scopes: ScopeName[] = ['memory:read', 'memory:write', 'memory:forget', ...(actor === 'service' ? (['memory:admin'] as const) : [])];
  return issuer.mint({ tenant, sub: 'bench', scopes, actor, namespaces: ['**'] });
}
