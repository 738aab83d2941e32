/** The audit index on a real engine: as this version makes it, and as an earlier one did, every question about it is answered. */
import type { Client } from '@elastic/elasticsearch';
import { expect } from 'chai';
import type { AuditFacts, AuditFilter, AuditStore } from '../../src/domain/audit.ts';
import { createClient } from '../../src/elastic/client.ts';
import { indexBody, type FieldMapping, type Properties } from '../../src/elastic/mappings.ts';
import { globalIndex } from '../../src/elastic/placement.ts';
import { installSchema } from '../../src/elastic/schema.ts';
import { createAuditStore } from '../../src/stores/audit.ts';
import { openTrail } from '../../src/telemetry/audit/trail.ts';
import { verifyAudit } from '../../src/telemetry/audit/verify.ts';
import { ANCHOR_KEY } from '../support/audit-store.ts';
import { acquireEngine } from '../support/engine.ts';
import { randomPrefix, removePrefix, TEST_NOW, TEST_SPACES } from '../support/store.ts';

const ID = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const TRACE = 'f'.repeat(32);
const FACTS: AuditFacts = {
  record_type: 'operation',
  tenant: 'a',
  operation: 'memory_write',
  scope: 'memory:write',
  actor: 'user',
  owner: '2'.repeat(32),
  client_id: 'cli',
  namespaces: ['user.ann'],
  memory_ids: [ID],
  outcome: 'ok',
  verdict: ['quarantine'],
  rule_ids: ['bias@decoded'],
  reason: 'ERR_X',
  trace_id: TRACE,
  content_hmac: 'c'.repeat(43),
  query_hmac: 'q'.repeat(43),
  count: 1,
  took_ms: 2.5,
  detail: { outcomes: { quarantined: 1 } },
};
const QUESTIONS: readonly AuditFilter[] = [
  { operation: 'memory_write' },
  { actor: 'user' },
  { owner: '2'.repeat(32) },
  { memory_id: ID },
  { trace_id: TRACE },
  { verdict: 'quarantine' },
  { outcome: 'ok' },
  { from: '2026-03-01T12:00:00.000Z', to: '2026-03-01T12:00:00.001Z' },
];

/** Every field searchable, as before it was told which are asked for. */
const searchable = (properties: Properties): Properties =>
  Object.fromEntries(
    Object.entries(properties).map(([name, { index: _index, doc_values: _values, ...field }]): [string, FieldMapping] => [
      name,
      field.properties === undefined ? field : { ...field, properties: searchable(field.properties) },
    ]),
  );

describe('stores/audit on a real engine', function () {
  this.timeout(120_000);
  let client: Client;
  let release: () => Promise<void>;
  before(async () => {
    const engine = await acquireEngine();
    client = createClient({ url: engine.url });
    release = () => engine.release();
  });
  after(async () => {
    await client.close();
    await release();
  });

  for (const form of ['made by this version', 'made by an earlier version, with every field searchable'])
    it(`is written, read by every condition, anchored and checked in an index ${form}`, async () => {
      const prefix = randomPrefix();
      const index = globalIndex(prefix, 'audit');
      const install = (): Promise<unknown> => installSchema(client, { prefix, spaces: TEST_SPACES, clock: () => TEST_NOW });
      try {
        if (form.includes('earlier')) {
          const { settings, mappings } = indexBody('audit', [], '0-1');
          const body = { settings, mappings: { ...mappings, properties: searchable(mappings.properties) } };
          await client.indices.create({ index, ...body });
        }
        const before = form.includes('earlier') ? await client.indices.getMapping({ index }) : undefined;
        await install();
        await install();
        const found = await client.indices.getMapping({ index });
        if (before !== undefined) expect(found).to.deep.equal(before);
        await works(createAuditStore({ client, prefix }));
      } finally {
        await removePrefix(client, prefix);
      }
    });

  async function works(store: AuditStore): Promise<void> {
    const trail = await openTrail({
      store,
      key: ANCHOR_KEY,
      clock: () => TEST_NOW,
      processId: 'p1',
      policyRevision: 'r1',
      about: {},
      sleep: async () => undefined,
      onState: () => undefined,
      onDropped: () => undefined,
    });
    await trail.append(FACTS, true);
    await trail.append({ record_type: 'operation', tenant: 'a', operation: 'memory_get', outcome: 'failed' }, true);
    await trail.append({ ...FACTS, tenant: 'b' }, true);
    trail.anchor();
    await trail.close();
    for (const filter of QUESTIONS) {
      const { records } = await store.page('a', filter, { limit: 10, after: undefined });
      const [newest, ...more] = records.filter(({ operation }) => operation === 'memory_write');
      expect(newest, JSON.stringify(filter)).to.deep.include(FACTS);
      expect(more).to.deep.equal([]);
    }
    const first = await store.page('a', {}, { limit: 1, after: undefined });
    const second = await store.page('a', {}, { limit: 1, after: first.next });
    expect([first.records[0]?.seq, second.records[0]?.seq, second.next]).to.deep.equal([2, 1, undefined]);
    expect(await store.lastAnchor()).to.include({ seq: 3 });
    const snapshot = await store.snapshot();
    expect(await verifyAudit(snapshot, ANCHOR_KEY, undefined)).to.include({ fault_count: 0, chains: 3, records: 6, open_chains: 0 });
    await snapshot.close();
  }
});
