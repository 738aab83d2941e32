/** `audit verify` for the operator: reads the index with the service's own configuration and secret; no service has to run. */
import { loadConfig } from '../config.ts';
import { createClient } from '../elastic/client.ts';
import { openKeys } from '../gate/keys.ts';
import { createAuditStore } from '../stores/audit.ts';
import { anchorKey } from '../telemetry/audit/anchor-key.ts';
import { verifyAudit } from '../telemetry/audit/verify.ts';
import { UsageError } from './command-spec.ts';

/** The answer of memory_audit_verify as JSON, without a trace. Throws UsageError without ELASTICSEARCH_URL, ERR_CONFIG_*, ERR_STORE_*. */
export async function checkIndex(tenant: string | undefined, env: Readonly<Record<string, string | undefined>>): Promise<string> {
  const config = loadConfig(env);
  const { url, apiKey, username, password, caFingerprint, indexPrefix: prefix } = config.elasticsearch;
  if (url === undefined)
    throw new UsageError('--tenant and --all need ELASTICSEARCH_URL: the managed Elasticsearch belongs to its service', 'audit');
  const keys = await openKeys(config);
  const key = anchorKey(keys.deriveKey('audit-anchor'), keys.previousAnchors);
  const client = createClient({ url, apiKey, username, password, caFingerprint });
  try {
    const snapshot = await createAuditStore({ client, prefix }).snapshot();
    try {
      const report = await verifyAudit(snapshot, key, tenant);
      return JSON.stringify({ intact: report.fault_count === 0, ...report });
    } finally {
      await snapshot.close();
    }
  } finally {
    await client.close();
  }
}
