/** Placement: the one function that says which indices hold a tenant's data, and the names of the global ones. Pure. */
import { createHash } from 'node:crypto';

/** Kinds of index a tenant has. */
export type TenantIndexKind = 'memory' | 'versions' | 'slots' | 'stats' | 'recall';
/** Kinds of index the whole service has one of. */
export type GlobalIndexKind = 'namespaces' | 'idempotency' | 'audit' | 'rescan' | 'keys';

export interface Placement {
  /** Alias for reads and writes of the memory index; product code uses no other name for it. */
  readonly memory: string;
  /** Concrete index of one generation behind that alias. */
  readonly generation: (n: number) => string;
  readonly versions: string;
  readonly slots: string;
  readonly stats: string;
  readonly recall: string;
}

/** First 20 hex characters of sha256(tenant): tenant names may hold anything, index names may not. */
export function tenantHash(tenant: string): string {
  return createHash('sha256').update(tenant).digest('hex').slice(0, 20);
}

const placements = new Map<string, Placement>();
const PLACEMENTS_KEPT = 10_000;

/** Names of a tenant's indices under a prefix. */
export function placementOf(prefix: string, tenant: string): Placement {
  const key = `${prefix}\u0000${tenant}`;
  const known = placements.get(key);
  if (known !== undefined) return known;
  const memory = `${prefix}-mem-${tenantHash(tenant)}`;
  const placement: Placement = {
    memory,
    generation: (n) => `${memory}-g${n}`,
    versions: `${memory}-versions`,
    slots: `${memory}-slots`,
    stats: `${memory}-stats`,
    recall: `${memory}-recall`,
  };
  if (placements.size >= PLACEMENTS_KEPT) placements.clear();
  placements.set(key, placement);
  return placement;
}

/** Name of a global index under a prefix. */
export function globalIndex(prefix: string, kind: GlobalIndexKind): string {
  return `${prefix}-${kind}`;
}

/** Name of the index template of one kind. */
export function templateName(prefix: string, kind: TenantIndexKind | GlobalIndexKind): string {
  return `${prefix}-${kind}`;
}

/** Index pattern of one kind over all tenants: for index templates and for the one cross-tenant query (the due list). */
export function tenantPattern(prefix: string, kind: TenantIndexKind): string {
  return kind === 'memory' ? `${prefix}-mem-*-g*` : `${prefix}-mem-*-${kind}`;
}

/** Which kind a tenant's concrete index is; undefined for a name that placement never gives. */
export function tenantKindOf(prefix: string, index: string): TenantIndexKind | undefined {
  if (!index.startsWith(`${prefix}-mem-`)) return undefined;
  const rest = /^[0-9a-f]{20}-(g\d+|versions|slots|stats|recall)$/.exec(index.slice(prefix.length + 5))?.[1];
  if (rest === undefined) return undefined;
  return rest === 'versions' || rest === 'slots' || rest === 'stats' || rest === 'recall' ? rest : 'memory';
}
