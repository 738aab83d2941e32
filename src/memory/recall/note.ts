/** From what a recall shows to its record in the recall trace; small and without any text of a memory. */
import { isoTime } from '../../domain/clock.ts';
import type { RankedHit, SignalPart } from '../../domain/ranking.ts';
import type { RecallOperation } from '../../domain/recall.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';

/** What was asked for. `query` is the masked one; `namespaces` those named by the caller. */
export interface Asked {
  readonly operation: RecallOperation;
  readonly query: string;
  readonly namespaces: readonly string[] | undefined;
}

/** Hands the recall to the trace; `hits` are what the caller gets to see, best first. Takes microseconds and never throws. */
export function noteRecall(
  { recalls, newId, clock }: Pick<MemoryDeps, 'recalls' | 'newId' | 'clock'>,
  { principal, traceId }: Pick<CallContext, 'principal' | 'traceId'>,
  { operation, query, namespaces = [] }: Asked,
  hits: readonly RankedHit[],
): void {
  recalls.note({
    recall_id: newId(),
    trace_id: traceId,
    tenant: principal.tenant,
    owner: principal.owner,
    actor: principal.actor,
    operation,
    namespaces: [...new Set([...namespaces, ...hits.map((hit) => hit.record.namespace)])],
    at: isoTime(clock()),
    query,
    hits: hits.map(({ record, score, parts }) => ({ memory_id: record.memory_id, score, parts: contributions(parts) })),
  });
}

function contributions(parts: readonly SignalPart[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { signal, contribution } of parts) if (contribution !== 0) found[signal] = contribution;
  return found;
}
