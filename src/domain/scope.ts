/** What one principal may touch, as a decision and as the Elasticsearch filter that says the same. */
import type { MemoryRecord, Status } from './memory.ts';
import type { Principal, Right } from './principal.ts';

/** A Query DSL clause: plain JSON. */
export type QueryClause = Readonly<Record<string, unknown>>;

export type Action = Right;

/** The fields a decision reads; every search returns them. */
export type ScopedFields = Pick<MemoryRecord, 'tenant' | 'namespace' | 'owner' | 'visibility' | 'status' | 'expires_at' | 'doc_type'>;

export interface Scope {
  readonly tenant: string;
  readonly principal: Principal;
  readonly action: Action;
  readonly statuses: readonly Status[];
  /** Tenant, namespaces, visibility, doc_type, status and expiry; goes into bool.filter AND into every knn clause's filter. */
  readonly filter: readonly QueryClause[];
  /** The same decision on one record, for reads by id and for screen(). */
  permits(fields: ScopedFields): boolean;
}
