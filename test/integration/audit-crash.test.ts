/** The service killed in the middle of a group of audit records: every write it acknowledged is in the log, and the log verifies. */
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRunFile } from '../../src/cli/run-file.ts';
import { createClient } from '../../src/elastic/client.ts';
import { openKeys } from '../../src/gate/keys.ts';
import { createAuditStore } from '../../src/stores/audit.ts';
import { anchorKey } from '../../src/telemetry/audit/anchor-key.ts';
import { verifyAudit } from '../../src/telemetry/audit/verify.ts';
import { EmbeddingServer, hashBackend } from '../support/embedding-server.ts';
import { acquireEngine } from '../support/engine.ts';
import { Program } from '../support/program.ts';
import { freePort, HASH_DIMS } from '../support/service.ts';
import { randomPrefix, removePrefix } from '../support/store.ts';

const WRITERS = 16;
const KILL_AFTER = 40;

describe('a service killed while it writes its audit log', function () {
  this.timeout(180_000);

  it('leaves an open chain without a fault, with every acknowledged write in it', async () => {
    const engine = await acquireEngine();
    const client = createClient({ url: engine.url });
    const embeddings = await EmbeddingServer.start(hashBackend(HASH_DIMS));
    const dataDir = mkdtempSync(join(tmpdir(), 'hindsight-audit-'));
    const prefix = randomPrefix();
    const program = Program.main(['serve', '--local', '--port', String(await freePort())], {
      ELASTICSEARCH_URL: engine.url,
      ELASTICSEARCH_INDEX_PREFIX: prefix,
      DATA_DIR: dataDir,
      RATE_LIMIT_PROFILE: 'bench',
      EMBEDDING_PROFILE: 'openai',
      EMBEDDING_BASE_URL: embeddings.baseUrl,
      EMBEDDING_MODEL: 'hashed-words',
    });
    try {
      await program.until(() => readRunFile(dataDir)?.pid === program.pid);
      const { url, token } = readRunFile(dataDir)!;
      const acknowledged: string[] = [];
      let next = 0;
      const writer = async (): Promise<void> => {
        for (;;) {
          const body = JSON.stringify({ content: `Parcel ${(next += 1)} lies in its own locker.`, admission: 'keep' });
          const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
          const answer = await fetch(`${url}/v1/memories`, { method: 'POST', headers, body }).catch(() => undefined);
          const parsed = (await answer?.json().catch(() => undefined)) as { results: { memory_id: string }[] } | undefined;
          if (parsed === undefined) return; // cut off: nothing was promised
          acknowledged.push(parsed.results[0]!.memory_id);
          if (acknowledged.length === KILL_AFTER) program.child.kill('SIGKILL');
        }
      };
      await Promise.all(Array.from({ length: WRITERS }, writer));
      expect((await program.exited).signal).to.equal('SIGKILL');

      const key = anchorKey((await openKeys({ dataDir, local: true } as Parameters<typeof openKeys>[0])).deriveKey('audit-anchor'));
      const snapshot = await createAuditStore({ client, prefix }).snapshot();
      const recorded = new Set<string>();
      let ahead = 0;
      for await (const { record } of snapshot.records('local')) {
        for (const id of record.memory_ids ?? []) recorded.add(id);
        if (record.detail?.['ahead'] === true) ahead += 1;
      }
      expect(ahead, 'records that were stored beside their memories').to.be.at.least(KILL_AFTER);
      expect(acknowledged.filter((id) => !recorded.has(id))).to.deep.equal([]);
      const report = await verifyAudit(snapshot, key, undefined);
      await snapshot.close();
      expect(report).to.include({ fault_count: 0, chains: 2, open_chains: 2, anchors: 1 });
      expect(report.unanchored).to.be.at.least(KILL_AFTER);
    } finally {
      await program.kill();
      await embeddings.stop();
      await removePrefix(client, prefix);
      await client.close();
      await engine.release();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
