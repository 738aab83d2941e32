/** The schema in a cluster: templates and global indices at start, tenant indices at their first write, upgrades and refusals in between. */
import type { Client, estypes } from '@elastic/elasticsearch';
import { isoTime, type Clock } from '../domain/clock.ts';
import { HindsightError } from '../errors.ts';
import { engineVersion, errorType, isMissingIndex, mapStoreError, RETRY, storeCall } from './client.ts';
import { compareSchema, type ExistingIndex } from './drift.ts';
import {
  GLOBAL_KINDS,
  indexBody,
  INDEX_KINDS,
  sourceSettings,
  type IndexBody,
  type IndexKind,
  type SchemaSpace,
  type VectorIndex,
} from './mappings.ts';
import {
  globalIndex,
  placementOf,
  templateName,
  tenantKindOf,
  tenantPattern,
  type GlobalIndexKind,
  type TenantIndexKind,
} from './placement.ts';

export interface SchemaOptions {
  readonly prefix: string;
  readonly spaces: readonly SchemaSpace[];
  /** Range for auto_expand_replicas or a fixed number; "0-1" by default: none on one node, one copy on more. */
  readonly replicas?: string | number;
  /** How new indices keep their vectors; int8_hnsw by default. */
  readonly vectorIndex?: VectorIndex | undefined;
  readonly clock: Clock;
}

export interface Schema {
  readonly prefix: string;
  /** Makes sure the tenant's index of this kind exists and fits; single-flight, and free once it has succeeded. */
  ensureTenant(tenant: string, kind?: TenantIndexKind): Promise<void>;
  /** Forgets that the tenant's indices exist: a write met a missing one. */
  forgetTenant(tenant: string): void;
}

const DEFAULT_REPLICAS = '0-1';
/** Above anything a cluster brings; one more for each kind, because Elasticsearch sees that `*-g*` and `*-slots` could meet in a name. */
const TEMPLATE_PRIORITY = 300;
/** Longest wait for the first copy of an index that another process is making. */
const SHARD_WAIT = '10s';

/**
 * Installs templates and global indices and checks all that is there. Safe to run in several processes at once, and again.
 * Never relies on automatic index creation; the templates make an index right that something else creates.
 * Errors: ERR_SCHEMA_DRIFT (a type, analyzer, similarity, dimension or model changed, or a newer program was here), ERR_STORE_*.
 */
export async function installSchema(client: Client, options: SchemaOptions): Promise<Schema> {
  const { prefix, clock } = options;
  const replicas = options.replicas ?? DEFAULT_REPLICAS;
  const source = sourceSettings(await engineVersion(client));
  const { spaces } = options;
  const bodyOf = (kind: IndexKind): IndexBody => indexBody(kind, spaces, replicas, source, options.vectorIndex);
  const ensured = new Map<string, Promise<void>>();
  const check = (name: string, kindOf: (index: string) => IndexKind | undefined): Promise<number> =>
    checkExisting(client, name, kindOf, bodyOf, spaces, clock);

  const install = async (): Promise<void> => {
    await refuseNewerTemplates(client, prefix, bodyOf);
    await check(`${prefix}-mem-*`, (index) => tenantKindOf(prefix, index));
    for (const kind of INDEX_KINDS) await putTemplate(client, prefix, kind, bodyOf(kind));
    await Promise.all(
      GLOBAL_KINDS.map(async (kind) => {
        const index = globalIndex(prefix, kind);
        await createIndex(client, index, bodyOf(kind), undefined);
        await check(index, () => kind);
      }),
    );
  };

  const makeTenant = async (tenant: string, kind: TenantIndexKind): Promise<void> => {
    const place = placementOf(prefix, tenant);
    const name = place[kind];
    const found = await check(name, () => kind);
    if (found > 0) return;
    const made = await createIndex(
      client,
      kind === 'memory' ? place.generation(1) : name,
      bodyOf(kind),
      kind === 'memory' ? name : undefined,
    );
    if (!made) await check(name, () => kind);
  };

  await install();
  return {
    prefix,
    ensureTenant(tenant, kind = 'memory') {
      const key = placementOf(prefix, tenant)[kind];
      let pending = ensured.get(key);
      if (pending === undefined) {
        pending = makeTenant(tenant, kind).catch((error: unknown) => {
          ensured.delete(key);
          throw error;
        });
        ensured.set(key, pending);
      }
      return pending;
    },
    forgetTenant(tenant) {
      const place = placementOf(prefix, tenant);
      for (const kind of ['memory', 'versions', 'slots', 'stats', 'recall'] as const) ensured.delete(place[kind]);
    },
  };
}

/** Creates an index; false when it was there already, or another process won (then its first shard is waited for). */
async function createIndex(client: Client, index: string, body: IndexBody, alias: string | undefined): Promise<boolean> {
  try {
    await client.indices.create({
      index,
      settings: body.settings,
      mappings: body.mappings as unknown as estypes.MappingTypeMapping,
      ...(alias === undefined ? {} : { aliases: { [alias]: { is_write_index: true } } }),
    });
    return true;
  } catch (error) {
    if (errorType(error) !== 'resource_already_exists_exception') throw mapStoreError(error);
    await storeCall(() => client.cluster.health({ index, wait_for_status: 'yellow', timeout: SHARD_WAIT }, RETRY));
    return false;
  }
}

function putTemplate(client: Client, prefix: string, kind: IndexKind, body: IndexBody): Promise<unknown> {
  return storeCall(() =>
    client.indices.putIndexTemplate(
      {
        name: templateName(prefix, kind),
        index_patterns: [patternOf(prefix, kind)],
        priority: TEMPLATE_PRIORITY + INDEX_KINDS.indexOf(kind),
        template: {
          settings: body.settings,
          mappings: body.mappings as unknown as estypes.MappingTypeMapping,
        },
        _meta: { schema_version: body.mappings._meta.schema_version },
      },
      RETRY,
    ),
  );
}

function patternOf(prefix: string, kind: IndexKind): string {
  return isGlobal(kind) ? globalIndex(prefix, kind) : tenantPattern(prefix, kind);
}

function isGlobal(kind: IndexKind): kind is GlobalIndexKind {
  return (GLOBAL_KINDS as readonly IndexKind[]).includes(kind);
}

/** An older program must not put its templates over a newer one's. */
async function refuseNewerTemplates(client: Client, prefix: string, bodyOf: (kind: IndexKind) => IndexBody): Promise<void> {
  // 404 when no template fits the pattern, with the same empty list as body
  const { index_templates } = await storeCall(() => client.indices.getIndexTemplate({ name: `${prefix}-*` }, { ...RETRY, ignore: [404] }));
  for (const kind of INDEX_KINDS) {
    const name = templateName(prefix, kind);
    const found = index_templates.find((template) => template.name === name)?.index_template._meta?.['schema_version'] as unknown;
    const known = bodyOf(kind).mappings._meta.schema_version;
    if (typeof found === 'number' && found > known) throw newer(name, found, known);
  }
}

/** Checks every index under a name or pattern, upgrades what only lacks fields; answers how many it found. */
async function checkExisting(
  client: Client,
  name: string,
  kindOf: (index: string) => IndexKind | undefined,
  bodyOf: (kind: IndexKind) => IndexBody,
  spaces: readonly SchemaSpace[],
  clock: Clock,
): Promise<number> {
  let found = 0;
  for (const [index, have] of await readExisting(client, name)) {
    const kind = kindOf(index);
    if (kind === undefined) continue;
    found += 1;
    const want = bodyOf(kind);
    const drift = compareSchema(have, want, spaces, isoTime(clock()));
    if (drift.newer) throw newer(index, have.meta.schema_version ?? 0, want.mappings._meta.schema_version);
    const [first] = drift.changed;
    if (first !== undefined) {
      const more = drift.changed.length > 1 ? ` (and ${drift.changed.length - 1} more)` : '';
      throw new HindsightError('ERR_SCHEMA_DRIFT', { params: { index, detail: first + more } });
    }
    if (drift.missingNames.length === 0 && !drift.metaDiffers) continue;
    const properties = drift.missing as Record<string, estypes.MappingProperty>;
    await storeCall(() => client.indices.putMapping({ index, properties, _meta: { ...drift.meta } }, RETRY));
  }
  return found;
}

/** Mappings and similarities of what exists under a name or pattern; empty when nothing does. */
async function readExisting(client: Client, name: string): Promise<Map<string, ExistingIndex>> {
  const found = new Map<string, ExistingIndex>();
  try {
    const [mappings, settings] = await Promise.all([
      client.indices.getMapping({ index: name }, RETRY),
      client.indices.getSettings({ index: name, name: 'index.similarity.*' }, RETRY),
    ]);
    for (const [index, { mappings: body }] of Object.entries(mappings)) {
      const similarity = settings[index]?.settings?.index?.similarity ?? {};
      found.set(index, {
        meta: body._meta ?? {},
        properties: (body.properties ?? {}) as ExistingIndex['properties'],
        similarity: similarity as unknown as ExistingIndex['similarity'],
      });
    }
  } catch (error) {
    if (!isMissingIndex(error)) throw mapStoreError(error);
  }
  return found;
}

function newer(index: string, found: number, known: number): HindsightError {
  const detail = `it was made by a newer program (schema ${found}, this one knows ${known}): start that version again`;
  return new HindsightError('ERR_SCHEMA_DRIFT', { params: { index, detail } });
}
