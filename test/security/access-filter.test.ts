/** The decision on a record and the filter that selects it say the same on a real engine, for any policy, caller, reach and record. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { STATUSES } from '../../src/domain/memory.ts';
import type { Scope, ScopedFields } from '../../src/domain/scope.ts';
import { createClient } from '../../src/elastic/client.ts';
import type { HindsightError } from '../../src/errors.ts';
import { scopeFor } from '../../src/gate/access-policy.ts';
import { ACCESS_NOW, action, anyRecord, reach, who } from '../support/access-arbitraries.ts';
import { acquireEngine } from '../support/engine.ts';
import { principal } from '../support/principals.ts';

const RECORDS = 400;
const SCOPES = 400;
/** The fields a decision reads. */
const FIELDS = ['tenant', 'doc_type', 'namespace', 'owner', 'visibility', 'status', 'expires_at'] as const;

describe('access filter', function () {
  this.timeout(120_000);
  let engine: Awaited<ReturnType<typeof acquireEngine>>;
  let client: ReturnType<typeof createClient>;
  const index = `t${randomBytes(5).toString('hex')}-access`;
  let docs: readonly ScopedFields[];

  before(async () => {
    engine = await acquireEngine();
    client = createClient({ url: engine.url });
    // as the product maps them
    const file = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'mappings', 'memory.json'), 'utf8')) as {
      mappings: { properties: Record<string, never> };
    };
    const properties = Object.fromEntries(FIELDS.map((field) => [field, file.mappings.properties[field]]));
    expect(Object.values(properties)).not.to.include(undefined);
    await client.indices.create({
      index,
      settings: { number_of_shards: 1, number_of_replicas: 0 },
      mappings: { properties: properties as Record<string, never> },
    });
    // mostly of the tenant, or nearly nothing would be found
    docs = fc.sample(anyRecord, { numRuns: RECORDS, seed: 5 }).map((doc, i) => (i % 10 === 0 ? doc : { ...doc, tenant: 'acme' }));
    await client.bulk({ index, refresh: true, operations: docs.flatMap((doc, i) => [{ index: { _id: String(i) } }, doc]) });
  });
  after(async () => {
    await client.indices.delete({ index });
    await client.close();
    await engine.release();
  });

  it('selects exactly the records that the decision permits', async () => {
    const cases = fc.sample(fc.tuple(who, action, reach, fc.subarray([...STATUSES], { minLength: 1 })), { numRuns: SCOPES, seed: 7 });
    const scopes = cases.flatMap(([options, act, where, statuses]): Scope[] => {
      try {
        return [scopeFor({ principal: principal(options), action: act, reach: where, statuses, nowMs: ACCESS_NOW })];
      } catch (error) {
        expect((error as HindsightError).code).to.equal('ERR_NAMESPACE_FORBIDDEN');
        return [];
      }
    });
    const { responses } = await client.msearch({
      searches: scopes.flatMap(({ filter }) => [{ index }, { size: RECORDS, _source: false, query: { bool: { filter: [...filter] } } }]),
    });
    let found = 0;
    scopes.forEach((scope, n) => {
      const answer = responses[n];
      if (answer === undefined || 'error' in answer) throw new Error(JSON.stringify(answer));
      const ids = answer.hits.hits.map((hit) => Number(hit._id)).sort((a, b) => a - b);
      const permitted = docs.flatMap((doc, i) => (scope.permits(doc) ? [i] : []));
      expect(ids, JSON.stringify(scope.filter)).to.deep.equal(permitted);
      found += ids.length;
    });
    // seldom, because a right needs scope, bounds and rule together
    expect(scopes.length).to.be.above(SCOPES / 2);
    expect(found, 'records selected in all').to.be.above(100);
  });
});
