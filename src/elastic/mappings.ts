/** The index bodies of mappings/*.json, completed with what is known only at run time: vector fields, replicas, `_meta`. Pure but for reading the files once. */
import { readFileSync } from 'node:fs';
import type { VectorSpace } from '../providers/embedding/provider.ts';
import type { GlobalIndexKind, TenantIndexKind } from './placement.ts';

export type IndexKind = TenantIndexKind | GlobalIndexKind;
/** What the schema keeps of a vector space. */
export type SchemaSpace = Pick<VectorSpace, 'name' | 'field' | 'modelId' | 'dims' | 'calibration'>;
/** One field's mapping, or an object's: plain JSON. */
export interface FieldMapping {
  readonly type?: string;
  readonly properties?: Properties;
  readonly [parameter: string]: unknown;
}
export type Properties = Readonly<Record<string, FieldMapping>>;

export interface SpaceMeta {
  readonly model_id: string;
  readonly dims: number;
  readonly calibration: { readonly offset: number; readonly scale: number };
}

/** `_meta` of every index this program makes. */
export interface IndexMeta {
  readonly schema_version: number;
  readonly spaces?: Readonly<Record<string, SpaceMeta>>;
  /** Additive upgrades the index went through. */
  readonly upgrades?: readonly { readonly from: number; readonly to: number; readonly at: string; readonly fields: readonly string[] }[];
}

export interface IndexBody {
  readonly settings: { readonly index: Readonly<Record<string, unknown>> };
  readonly mappings: { readonly _meta: IndexMeta; readonly dynamic: 'strict'; readonly properties: Properties };
}

export const INDEX_KINDS: readonly IndexKind[] = [
  'memory',
  'versions',
  'slots',
  'stats',
  'recall',
  'namespaces',
  'idempotency',
  'audit',
  'rescan',
  'keys',
];
export const GLOBAL_KINDS: readonly GlobalIndexKind[] = ['namespaces', 'idempotency', 'audit', 'rescan', 'keys'];

const files = new Map<string, IndexBody>();

function fileOf(kind: IndexKind): IndexBody {
  const name = kind === 'versions' ? 'memory' : kind;
  let body = files.get(name);
  if (body === undefined) {
    body = JSON.parse(readFileSync(new URL(`../../mappings/${name}.json`, import.meta.url), 'utf8')) as IndexBody;
    files.set(name, body);
  }
  return body;
}

/** How vectors are indexed: graphs over bytes or bits, or no graph (each search reads every vector of the scope). */
export const VECTOR_INDEXES = ['int8_hnsw', 'bbq_hnsw', 'flat'] as const;
export type VectorIndex = (typeof VECTOR_INDEXES)[number];

/**
 * int8_hnsw over cosine: `_score` = (1 + cos) / 2. bbq_hnsw measured equal in speed and quality at 384 and 512 dims (retrieval notes),
 * and int8 is on every version from 8.16 on.
 */
function vectorField(dims: number, type: VectorIndex): FieldMapping {
  return { type: 'dense_vector', dims, index: true, similarity: 'cosine', index_options: { type } };
}

/**
 * From 9.2 on Elasticsearch leaves vectors out of the `_source` it hands back (index.mapping.exclude_source_vectors, true for new
 * indices): a partial update keeps them, a whole replacement from a read record would drop them. Older versions refuse the setting.
 */
export function sourceSettings(engineVersion: string): Readonly<Record<string, unknown>> {
  const [major = 0, minor = 0] = engineVersion.split('.').map(Number);
  return major > 9 || (major === 9 && minor >= 2) ? { 'mapping.exclude_source_vectors': false } : {};
}

/**
 * The body to create an index of this kind with. `replicas`: a range for auto_expand_replicas ("0-1", "0-all") or a fixed number.
 * Memory and versions carry one vector field a space, in the record and in its passages; `source`: sourceSettings of the engine.
 * `vectorIndex` is for new indices: existing ones keep theirs.
 */
export function indexBody(
  kind: IndexKind,
  spaces: readonly SchemaSpace[],
  replicas: string | number,
  source: Readonly<Record<string, unknown>> = {},
  vectorIndex: VectorIndex = 'int8_hnsw',
): IndexBody {
  const { settings, mappings } = fileOf(kind);
  const copies = typeof replicas === 'number' ? { number_of_replicas: replicas } : { auto_expand_replicas: replicas };
  const index = { ...settings.index, ...copies };
  if (kind !== 'memory' && kind !== 'versions') return { settings: { index }, mappings };
  const vectors = Object.fromEntries(spaces.map((space) => [space.field, vectorField(space.dims, vectorIndex)]));
  const passages = mappings.properties['passages'] ?? {};
  return {
    settings: { index: { ...index, ...source } },
    mappings: {
      ...mappings,
      _meta: { ...mappings._meta, spaces: Object.fromEntries(spaces.map((space) => [space.name, spaceMeta(space)])) },
      properties: {
        ...mappings.properties,
        passages: { ...passages, properties: { ...passages.properties, ...vectors } },
        ...vectors,
      },
    },
  };
}

export function spaceMeta(space: SchemaSpace): SpaceMeta {
  return { model_id: space.modelId, dims: space.dims, calibration: { offset: space.calibration.offset, scale: space.calibration.scale } };
}
