/** memory_recall_trace: what one search or context block brought, and why; the caller's own, and anybody's of the tenant for an auditor. */
import type { StoredRecall } from '../../domain/recall.ts';
import { recallAad } from '../../domain/recall.ts';
import type { Principal } from '../../domain/principal.ts';
import type { RecallTraceAnswer, RecallTraceInput } from '../../domain/wire/recall.ts';
import { HindsightError } from '../../errors.ts';
import { defined } from '../canonical.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';

type Shown = RecallTraceAnswer['recalls'][number];

/**
 * Absent and somebody else's are one answer. The query is opened for a person alone: their own without more ado, that of another with
 * memory:reveal (guard.md: what is sealed comes out for actor=user). An agent knows what it asked itself; what others asked, in the name of the same
 * person, is nothing that a text it was given should be able to have out of it.
 * @throws ERR_RECALL_NOT_FOUND, ERR_STORE_*.
 */
export async function recallTrace(
  deps: MemoryDeps,
  input: RecallTraceInput,
  call: CallContext,
): Promise<Omit<RecallTraceAnswer, 'trace_id'>> {
  const { principal } = call;
  const owner = principal.scopes.has('memory:audit') ? undefined : principal.owner;
  const found = await deps.recalls.find(principal.tenant, { traceId: input.trace_id, owner });
  if (found.length === 0) throw new HindsightError('ERR_RECALL_NOT_FOUND');
  return { recalls: await Promise.all(found.map((recall) => shown(deps, recall, principal))) };
}

async function shown(deps: MemoryDeps, recall: StoredRecall, principal: Principal): Promise<Shown> {
  const { operation, at, owner, actor } = recall;
  return {
    operation,
    at,
    owner,
    actor,
    namespaces: [...recall.namespaces],
    ...(await queryOf(deps, recall, principal)),
    hits: recall.hits.map(({ memory_id, score, parts }) => ({ memory_id, score, parts: { ...parts } })),
  };
}

async function queryOf(deps: MemoryDeps, recall: StoredRecall, principal: Principal): Promise<Pick<Shown, 'query' | 'query_state'>> {
  const { tenant, recall_id, sealed, key_id } = recall;
  if (sealed === undefined || key_id === undefined) return { query_state: 'gone' };
  if (!mayOpen(recall, principal)) return { query_state: 'sealed' };
  try {
    return defined({ query: await deps.tenantKeys.open(tenant, sealed, key_id, recallAad(recall_id)), query_state: 'open' as const });
  } catch (error) {
    if (error instanceof HindsightError && error.code === 'ERR_KEY_DELETED') return { query_state: 'gone' };
    throw error;
  }
}

function mayOpen({ owner }: StoredRecall, { actor, scopes, owner: reader }: Principal): boolean {
  return actor === 'user' && (owner === reader || scopes.has('memory:reveal'));
}
