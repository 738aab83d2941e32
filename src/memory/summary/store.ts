/** A summary as a memory of its own: derived, so no more trusted than the least of what it was made from, and seen by nobody who may not see all of that. */
import type { MemoryRecord } from '../../domain/memory.ts';
import type { WriteInput } from '../../domain/wire/write.ts';
import { mayShare } from '../../gate/access-policy.ts';
import type { CallContext } from '../gateway.ts';
import { defined } from '../canonical.ts';
import { isoTime } from '../../domain/clock.ts';

export interface Derived {
  readonly namespace: string;
  /** In the order of time, without the envelope. */
  readonly sentences: readonly { readonly text: string; readonly memoryIds: readonly string[]; readonly atMs: number }[];
  readonly parents: readonly MemoryRecord[];
  /** What is reference only for the caller stays so: nothing that they store of it may instruct. */
  readonly referenceOnly: boolean;
  readonly method: 'extractive' | 'abstractive';
}

const SECOND_MS = 1_000;
/** The shortest life a write takes. */
const MIN_TTL_S = 60;

/**
 * The write of a summary: tier, taint and verdict come from the guard, which has its parents. Shared only where every parent is and the
 * caller may share; it ends with the first of its parents. Undefined when that is nearer than a memory can end.
 */
export function summaryItem(
  { namespace, sentences, parents, referenceOnly, method }: Derived,
  { principal }: CallContext,
  nowMs: number,
): WriteInput | undefined {
  const shared = parents.every((parent) => parent.visibility === 'shared') && mayShare(principal, namespace);
  const ends = parents.flatMap(({ expires_at }) => (expires_at === undefined ? [] : [Date.parse(expires_at)]));
  const ttlSeconds = ends.length === 0 ? undefined : Math.floor((Math.min(...ends) - nowMs) / SECOND_MS);
  if (ttlSeconds !== undefined && ttlSeconds < MIN_TTL_S) return undefined;
  // a person who has their own words put together states them; what a model wrote, or anybody else, infers
  const states = principal.actor !== 'agent' && method === 'extractive' && !referenceOnly;
  return {
    content: sentences.map(({ text }) => text).join('\n'),
    namespace,
    kind: 'summary',
    layer: 'episodic',
    visibility: shared ? 'shared' : 'private',
    occurred_at: isoTime(Math.max(...sentences.map(({ atMs }) => atMs))),
    admission: 'keep',
    source: { type: states ? 'user' : 'agent', parents: parents.map((parent) => parent.memory_id) },
    metadata: { summary: { method, citations: sentences.map(({ memoryIds }) => memoryIds.join(' ')) } },
    ...defined({ ttl_seconds: ttlSeconds }),
  };
}
