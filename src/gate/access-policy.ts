/** Who may touch what: one function makes the decision on a record and the Elasticsearch filter that says the same; the guard calls it for every read and write. */
import { isoTime } from '../domain/clock.ts';
import { DEFAULT_STATUSES, type Status } from '../domain/memory.ts';
import { isSharedNamespace, matchesPattern, patternClause } from '../domain/namespace.ts';
import type { Principal, ScopeName } from '../domain/principal.ts';
import type { Action, QueryClause, Scope, ScopedFields } from '../domain/scope.ts';
import { HindsightError } from '../errors.ts';

/**
 * Which namespaces a call is about: those named; `default` = own and the shared ones the token may use (what a search without namespaces
 * looks in; own alone for writes and forgets); `granted` = all that the token allows (by-id access, where the record names the namespace).
 */
export type Reach = readonly string[] | 'default' | 'granted';

export interface AccessRequest {
  readonly principal: Principal;
  readonly action: Action;
  readonly reach: Reach;
  /** Active and conflict when absent. */
  readonly statuses?: readonly Status[];
  /** Time that expiry is judged by, ms. */
  readonly nowMs: number;
}

/** Token scope without which an action sees nothing, whatever the namespaces are. */
const SCOPE_OF_ACTION: Readonly<Record<Action, ScopeName>> = {
  read: 'memory:read',
  write: 'memory:write',
  forget: 'memory:forget',
  share: 'memory:share',
};

/** The namespaces that many principals share by name. */
const SHARED_PATTERNS: readonly string[] = ['shared', 'shared.**'];

/**
 * Whether the principal may do this in a namespace. Own is always granted; elsewhere both the bounds of the token and the access policy
 * have to grant it. Changing anything in a shared namespace takes the right and the scope to share as well. memory:admin widens nothing
 * here.
 */
export function allowsNamespace(principal: Principal, action: Action, namespace: string): boolean {
  const { scopes, grants } = principal;
  if (!scopes.has(SCOPE_OF_ACTION[action])) return false;
  const shares = action !== 'read' && isSharedNamespace(namespace);
  if (shares && !scopes.has(SCOPE_OF_ACTION.share)) return false;
  if (namespace === principal.ownNamespace) return true;
  const covered = (patterns: readonly string[]): boolean => patterns.some((pattern) => matchesPattern(namespace, pattern));
  return covered(grants.within) && covered(grants[action]) && (!shares || covered(grants.share));
}

/** Whether the principal may make a memory of this namespace visible to others, at its writing or later (guard.md, N6). */
export function mayShare(principal: Principal, namespace: string): boolean {
  return allowsNamespace(principal, 'share', namespace);
}

/**
 * The scope of a call. Failures: ERR_NAMESPACE_FORBIDDEN when a namespace named is outside the grant. A principal without a grant gets
 * a scope that matches nothing.
 */
export function scopeFor(request: AccessRequest): Scope {
  const { principal, action, reach, nowMs } = request;
  if (typeof reach !== 'string') {
    if (reach.some((namespace) => !allowsNamespace(principal, action, namespace)))
      throw new HindsightError('ERR_NAMESPACE_FORBIDDEN', { params: { action } });
  }
  const statuses = request.statuses ?? DEFAULT_STATUSES;
  const inReach = namespaceTest(principal, action, reach);
  const nowIso = isoTime(nowMs);
  return Object.freeze({
    tenant: principal.tenant,
    principal,
    action,
    statuses,
    filter: Object.freeze([
      { term: { tenant: principal.tenant } },
      { term: { doc_type: 'memory' } },
      namespaceClause(principal, action, reach),
      ownershipClause(principal, action),
      { terms: { status: [...statuses] } },
      anyOf([{ bool: { must_not: [{ exists: { field: 'expires_at' } }] } }, { range: { expires_at: { gt: nowIso } } }]),
    ]),
    permits: (fields: ScopedFields): boolean =>
      fields.tenant === principal.tenant &&
      fields.doc_type === 'memory' &&
      inReach(fields.namespace) &&
      owns(principal, action, fields) &&
      statuses.includes(fields.status) &&
      (fields.expires_at === undefined || Date.parse(fields.expires_at) > nowMs),
  });
}

/** Shared records are everybody's who has the namespace; forgetting somebody else's takes memory:admin besides memory:forget. */
function owns(principal: Principal, action: Action, fields: ScopedFields): boolean {
  if (fields.owner === principal.owner) return true;
  return fields.visibility === 'shared' && (action !== 'forget' || principal.scopes.has('memory:admin'));
}

function ownershipClause(principal: Principal, action: Action): QueryClause {
  const own = { term: { owner: principal.owner } };
  if (action === 'forget' && !principal.scopes.has('memory:admin')) return own;
  return anyOf([{ term: { visibility: 'shared' } }, own]);
}

/** What a reach without names stands for besides the own namespace, before the access policy. */
function boundsOf({ grants }: Principal, action: Action, reach: 'default' | 'granted'): readonly string[] {
  if (reach === 'granted') return grants.within;
  return action === 'read' ? sharedPart(grants.within) : [];
}

/** The part of the granted patterns that lies in shared namespaces. */
function sharedPart(patterns: readonly string[]): readonly string[] {
  const parts = patterns.flatMap((pattern) => {
    const first = pattern.split('.')[0] ?? '';
    if (pattern === '**') return SHARED_PATTERNS;
    if (first === 'shared') return [pattern];
    return first === '*' ? [`shared${pattern.slice(1)}`] : [];
  });
  return [...new Set(parts)];
}

function namespaceTest(principal: Principal, action: Action, reach: Reach): (namespace: string) => boolean {
  if (typeof reach !== 'string') return (namespace) => reach.includes(namespace) && allowsNamespace(principal, action, namespace);
  const bounds = boundsOf(principal, action, reach);
  return (namespace) =>
    (namespace === principal.ownNamespace || bounds.some((pattern) => matchesPattern(namespace, pattern))) &&
    allowsNamespace(principal, action, namespace);
}

function namespaceClause(principal: Principal, action: Action, reach: Reach): QueryClause {
  const { scopes, grants, ownNamespace } = principal;
  if (!scopes.has(SCOPE_OF_ACTION[action])) return NOTHING;
  if (typeof reach !== 'string') return reach.length > 0 ? { terms: { namespace: [...reach] } } : NOTHING;
  const bounds = boundsOf(principal, action, reach);
  const shares = action !== 'read';
  const limits = [grants[action], ...(shares ? [grants.share] : [])];
  // the plain case: nothing but the token bounds it
  const unlimited = limits.every(coversAll);
  const within = unlimited
    ? covers([ownNamespace, ...bounds])
    : anyOf([
        covers([ownNamespace]),
        {
          bool: {
            filter: [
              covers(bounds),
              ...(coversAll(grants[action]) ? [] : [covers(grants[action])]),
              ...(shares && !coversAll(grants.share) ? [anyOf([UNSHARED, covers(grants.share)])] : []),
            ],
          },
        },
      ]);
  if (!shares || scopes.has(SCOPE_OF_ACTION.share)) return within;
  // Without memory:share no pattern reaches into the shared namespaces: not even the own one can lie there.
  return { bool: { filter: [within], must_not: SHARED } };
}

function coversAll(patterns: readonly string[]): boolean {
  return patterns.includes('**');
}

/** Namespaces under any of the patterns. */
function covers(patterns: readonly string[]): QueryClause {
  if (coversAll(patterns)) return EVERY_NAMESPACE;
  const exact = [...new Set(patterns.filter((pattern) => !pattern.includes('*')))];
  const open = [...new Set(patterns)].filter((pattern) => pattern.includes('*')).map((pattern) => patternClause(pattern) ?? NOTHING);
  const clauses = [...(exact.length > 0 ? [{ terms: { namespace: exact } }] : []), ...open];
  return clauses.length > 0 ? anyOf(clauses) : NOTHING;
}

const SHARED: readonly QueryClause[] = [{ term: { namespace: 'shared' } }, { prefix: { namespace: { value: 'shared.' } } }];
const UNSHARED: QueryClause = { bool: { must_not: SHARED } };
const NOTHING: QueryClause = { match_none: {} };
const EVERY_NAMESPACE: QueryClause = { exists: { field: 'namespace' } };

function anyOf(clauses: readonly QueryClause[]): QueryClause {
  const [only] = clauses;
  return clauses.length === 1 && only !== undefined ? only : { bool: { should: clauses, minimum_should_match: 1 } };
}
