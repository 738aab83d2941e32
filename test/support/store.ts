/** A schema and a memory index of their own prefix on the shared engine, and boxes to call them with. */
import type { Client } from '@elastic/elasticsearch';
import { randomBytes } from 'node:crypto';
import { DEFAULT_STATUSES, type MemoryRecord, type Status } from '../../src/domain/memory.ts';
import type { MemoryIndex } from '../../src/domain/ports.ts';
import type { Scope } from '../../src/domain/scope.ts';
import { scoped, type Scoped } from '../../src/domain/sealed.ts';
import { createClient } from '../../src/elastic/client.ts';
import type { SchemaSpace } from '../../src/elastic/mappings.ts';
import { createMemoryIndex } from '../../src/elastic/memory-index.ts';
import { installSchema, type Schema } from '../../src/elastic/schema.ts';
import { acquireEngine } from './engine.ts';
import { principal } from './principals.ts';

/** Two small spaces: real dense_vector fields, vectors that a test can write down. */
export const TEST_SPACES: readonly SchemaSpace[] = [
  { name: 'zh', field: 'vec_zh', modelId: 'test-zh', dims: 4, calibration: { offset: 0, scale: 1 } },
  { name: 'en', field: 'vec_en', modelId: 'test-en', dims: 3, calibration: { offset: 0, scale: 1 } },
];

export const TEST_NOW = Date.parse('2026-03-01T12:00:00.000Z');

export interface TestStore {
  readonly url: string;
  readonly client: Client;
  readonly prefix: string;
  readonly schema: Schema;
  readonly index: MemoryIndex;
  /** Removes everything under the prefix and releases the engine. */
  close(): Promise<void>;
}

export function randomPrefix(): string {
  return `t${randomBytes(5).toString('hex')}`;
}

export async function openStore(spaces: readonly SchemaSpace[] = TEST_SPACES, clock = (): number => TEST_NOW): Promise<TestStore> {
  const engine = await acquireEngine();
  const client = createClient({ url: engine.url });
  const prefix = randomPrefix();
  const schema = await installSchema(client, { prefix, spaces, clock });
  return {
    url: engine.url,
    client,
    prefix,
    schema,
    index: createMemoryIndex({ client, schema, clock }),
    async close() {
      await removePrefix(client, prefix);
      await client.close();
      await engine.release();
    },
  };
}

/** Deletes the indices and templates of one prefix; concrete names only, because clusters may refuse deletion by pattern. */
export async function removePrefix(client: Client, prefix: string): Promise<void> {
  const indices = Object.keys(await client.indices.get({ index: `${prefix}-*`, features: 'aliases' }));
  if (indices.length > 0) await client.indices.delete({ index: indices });
  const { index_templates } = await client.indices.getIndexTemplate({ name: `${prefix}-*` }, { ignore: [404] });
  for (const { name } of index_templates) await client.indices.deleteIndexTemplate({ name });
}

export interface TestScope {
  readonly tenant?: string;
  readonly namespaces?: readonly string[];
  readonly statuses?: readonly Status[];
}

/** A query bound to a scope made by hand: tenant, namespaces, type, status, and nothing that a guard would add. */
export function bound<Q>(query: Q, options: TestScope = {}): Scoped<Q> {
  const tenant = options.tenant ?? 'acme';
  const statuses = options.statuses ?? DEFAULT_STATUSES;
  const { namespaces } = options;
  const scope: Scope = {
    tenant,
    principal: principal({ tenant }),
    action: 'read',
    statuses,
    filter: [
      { term: { tenant } },
      ...(namespaces === undefined ? [] : [{ terms: { namespace: namespaces } }]),
      { term: { doc_type: 'memory' } },
      { terms: { status: statuses } },
    ],
    permits: (fields: Pick<MemoryRecord, 'tenant' | 'namespace' | 'status'>) =>
      fields.tenant === tenant && (namespaces === undefined || namespaces.includes(fields.namespace)) && statuses.includes(fields.status),
  };
  return scoped(query, scope);
}
