/** Tokens of the service under measurement for tenants of a bench's choice: its own issuer's key lies in its DATA_DIR. */
import { loadConfig } from '../../src/config.ts';
import { openLocalIssuer } from '../../src/gate/local-issuer.ts';

/**
 * A token that reads and writes every namespace of a tenant. Its actor is `service`, whose searches leave no access counts: asked again
 * and again by a bench, they would move the ranking.
 */
export async function tenantToken(dataDir: string, tenant: string): Promise<string> {
  const issuer = await openLocalIssuer(loadConfig({}, { HINDSIGHT_LOCAL: 'true', DATA_DIR: dataDir }));
  const scopes = ['memory:read', 'memory:write', 'memory:forget', 'memory:admin'] as const;
  return issuer.mint({ tenant, sub: 'bench', scopes, actor: 'service', namespaces: ['**'] });
}
