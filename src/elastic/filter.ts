/** The caller's hard filter as Query DSL clauses: pure, used alike by search (query and knn), list, count, scan and forget. */
import type { LinkFilter } from '../domain/ports.ts';
import type { QueryClause } from '../domain/scope.ts';
import { TIER } from '../domain/trust.ts';
import type { Filter } from '../domain/wire/common.ts';
import { trustClause } from './trust-filter.ts';

type Lists = 'layer' | 'kind' | 'tags' | 'status' | 'source';
type Names = 'owner' | 'subject' | 'topic' | 'task_type' | 'task_id' | 'session_id';

/** Index field of each many-valued condition; several values are alternatives. */
const LIST_FIELDS: Readonly<Record<Lists, string>> = {
  layer: 'layer',
  kind: 'kind',
  tags: 'tags',
  status: 'status',
  source: 'origin.type',
};
const NAME_FIELDS: readonly Names[] = ['owner', 'subject', 'topic', 'task_type', 'task_id', 'session_id'];
const RANGE_FIELDS = { created: 'created_at', occurred: 'occurred_at' } as const;

/**
 * `bool.filter` clauses of a caller's filter, in a fixed order; [] when it holds no condition. Only `term`, `terms`, `range` and, for a range without bounds, `exists`.
 * An empty list selects nothing (`terms` over no value), so a forget by filter can never widen to everything.
 * `reader` is the owner who asks: trust is what a record is worth to them.
 * Metadata is one `flattened` field, whose leaf values are all kept as keywords: numbers and booleans match by their JSON spelling.
 */
export function filterClauses(filter: Filter, reader: string): QueryClause[] {
  const clauses: QueryClause[] = [];
  for (const name of Object.keys(LIST_FIELDS) as Lists[]) {
    const values = filter[name];
    if (values !== undefined) clauses.push({ terms: { [LIST_FIELDS[name]]: values } });
  }
  if (filter.trust !== undefined)
    clauses.push(
      trustClause(
        filter.trust.map((tier) => TIER[tier]),
        reader,
      ),
    );
  for (const name of NAME_FIELDS) {
    const value = filter[name];
    if (value !== undefined) clauses.push({ term: { [name]: value } });
  }
  for (const name of ['created', 'occurred'] as const) {
    const range = filter[name];
    if (range === undefined) continue;
    const bounds = Object.fromEntries(Object.entries(range).filter(([, bound]) => bound !== undefined));
    clauses.push(Object.keys(bounds).length > 0 ? { range: { [RANGE_FIELDS[name]]: bounds } } : { exists: { field: RANGE_FIELDS[name] } });
  }
  for (const [path, value] of Object.entries(filter.metadata ?? {})) {
    clauses.push({ term: { [`metadata.${path}`]: String(value) } });
  }
  return clauses;
}

/** The same for the service's own conditions: one `terms` clause each. */
export function linkClauses(links: LinkFilter): QueryClause[] {
  return Object.entries<readonly unknown[]>({ ...links }).map(([field, values]) => ({ terms: { [field]: values } }));
}
