/** Schema drift: what an existing index lacks and what it has otherwise than this program needs. Pure; schema.ts acts on it. */
import type { FieldMapping, IndexBody, IndexMeta, Properties, SchemaSpace } from './mappings.ts';

export interface ExistingIndex {
  readonly meta: Partial<IndexMeta>;
  readonly properties: Properties;
  /** Custom similarities by name, values as Elasticsearch spells settings (strings). */
  readonly similarity: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface Drift {
  /** True when a newer program made the index. */
  readonly newer: boolean;
  /** Fields to add by put-mapping, nested as Elasticsearch wants them. */
  readonly missing: Properties;
  /** Dotted names of those fields. */
  readonly missingNames: readonly string[];
  /** One sentence a field that cannot be changed in place; not empty = refuse. */
  readonly changed: readonly string[];
  /** `_meta` as it should stand; the same object as before when nothing differs. */
  readonly meta: IndexMeta;
  readonly metaDiffers: boolean;
}

const REINDEX = 'reindex: start with another ELASTICSEARCH_INDEX_PREFIX and write the memories again';
/** Parameters that are fixed when a field is made; with what Elasticsearch means when they are absent. */
const FIXED: Readonly<Record<string, string | boolean>> = {
  analyzer: 'default',
  similarity: 'BM25',
  index_options: 'positions',
  store: false,
};

/** Compares one index with the body this program would make it with. `nowIso` stamps the upgrade mark. */
export function compareSchema(have: ExistingIndex, want: IndexBody, spaces: readonly SchemaSpace[], nowIso: string): Drift {
  const wantVersion = want.mappings._meta.schema_version;
  const haveVersion = have.meta.schema_version ?? 0;
  const changed: string[] = [];
  const missingNames: string[] = [];
  const missing = compareProperties(have.properties, want.mappings.properties, '', spaces, changed, missingNames);
  for (const space of spaces) {
    const filledBy = have.meta.spaces?.[space.name]?.model_id;
    if (want.mappings._meta.spaces?.[space.name] !== undefined && filledBy !== undefined && filledBy !== space.modelId) {
      changed.push(
        `${space.field} was filled by the model ${filledBy} and the configured one is ${space.modelId}: configure the former again, or ${REINDEX}`,
      );
    }
  }
  changed.push(...compareSimilarity(have.similarity, want));
  const meta = mergeMeta(have.meta, want.mappings._meta, haveVersion, missingNames, nowIso);
  return {
    newer: haveVersion > wantVersion,
    missing,
    missingNames,
    changed,
    meta,
    metaDiffers: JSON.stringify(sorted(meta)) !== JSON.stringify(sorted(have.meta)),
  };
}

function compareProperties(
  have: Properties,
  want: Properties,
  path: string,
  spaces: readonly SchemaSpace[],
  changed: string[],
  missingNames: string[],
): Properties {
  const missing: Record<string, FieldMapping> = {};
  for (const [name, wanted] of Object.entries(want)) {
    const field = path + name;
    const found = have[name];
    if (found === undefined) {
      missing[name] = wanted;
      missingNames.push(field);
      continue;
    }
    const fault = fieldFault(field, found, wanted, spaces);
    if (fault !== undefined) {
      changed.push(fault);
      continue;
    }
    if (wanted.properties === undefined) continue;
    const inner = compareProperties(found.properties ?? {}, wanted.properties, `${field}.`, spaces, changed, missingNames);
    if (Object.keys(inner).length > 0) missing[name] = { ...(wanted.type === undefined ? {} : { type: wanted.type }), properties: inner };
  }
  return missing;
}

function fieldFault(field: string, have: FieldMapping, want: FieldMapping, spaces: readonly SchemaSpace[]): string | undefined {
  const haveType = have.type ?? 'object';
  const wantType = want.type ?? 'object';
  if (haveType !== wantType) return `field ${field} has the type ${haveType}, this version needs ${wantType}: ${REINDEX}`;
  if (wantType === 'dense_vector') return vectorFault(field, have, want, spaces);
  if (wantType !== 'text') return undefined;
  for (const [parameter, absent] of Object.entries(FIXED)) {
    const was = have[parameter] ?? absent;
    const needed = want[parameter] ?? absent;
    if (was !== needed) return `field ${field} has ${parameter} ${shown(was)}, this version needs ${shown(needed)}: ${REINDEX}`;
  }
  return undefined;
}

function vectorFault(field: string, have: FieldMapping, want: FieldMapping, spaces: readonly SchemaSpace[]): string | undefined {
  const model = spaces.find((space) => field.endsWith(space.field))?.modelId ?? 'configured';
  if (have['dims'] !== want['dims']) {
    return (
      `${field} holds vectors of ${shown(have['dims'])} dimensions and the embedding model ${model} makes ${shown(want['dims'])}: ` +
      `configure the former model again, or ${REINDEX}`
    );
  }
  const was = have['similarity'] ?? 'cosine';
  return was === want['similarity']
    ? undefined
    : `${field} has similarity ${shown(was)}, this version needs ${shown(want['similarity'])}: ${REINDEX}`;
}

function compareSimilarity(have: ExistingIndex['similarity'], want: IndexBody): string[] {
  const wanted = (want.settings.index['similarity'] ?? {}) as Record<string, Record<string, unknown>>;
  const faults: string[] = [];
  for (const [name, parameters] of Object.entries(wanted)) {
    for (const [parameter, value] of Object.entries(parameters)) {
      const was = have[name]?.[parameter];
      const same = typeof value === 'number' ? Number(was) === value : was === value;
      if (!same) faults.push(`similarity ${name} has ${parameter} ${shown(was)}, this version needs ${shown(value)}: ${REINDEX}`);
    }
  }
  return faults;
}

/** Spaces add up: another program's space keeps its entry. An upgrade leaves a mark; a fresh index has none. */
function mergeMeta(have: Partial<IndexMeta>, want: IndexMeta, from: number, fields: readonly string[], at: string): IndexMeta {
  const to = want.schema_version;
  const spaces = want.spaces === undefined ? have.spaces : { ...have.spaces, ...want.spaces };
  const mark = from !== to || fields.length > 0 ? [{ from, to, at, fields }] : [];
  const upgrades = [...(have.upgrades ?? []), ...mark];
  return { schema_version: to, ...(spaces === undefined ? {} : { spaces }), ...(upgrades.length === 0 ? {} : { upgrades }) };
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

/** The same value with object keys in order: Elasticsearch gives `_meta` back in its own order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
