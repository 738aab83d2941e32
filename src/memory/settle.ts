/** The `wait` of a write: holds the answer until the embed job is through with the records and searches see them, 10 s at most. */
import type { WriteAnswer } from '../domain/wire/write.ts';
import type { MemoryDeps } from './deps.ts';
import type { CallContext } from './gateway.ts';

const WAIT_LIMIT_MS = 10_000;
const FIRST_POLL_MS = 25;
const LAST_POLL_MS = 250;

type Answer = Pick<WriteAnswer, 'results'>;

/** The answer with `settled` as it is in the end; never fails because settling took too long. */
export async function waitSettled(deps: MemoryDeps, call: CallContext, answer: Answer): Promise<Answer> {
  const open = new Set(answer.results.filter((r) => !r.settled).flatMap((r) => (r.memory_id === null ? [] : [r.memory_id])));
  const untilMs = deps.clock() + WAIT_LIMIT_MS;
  if (open.size > 0) deps.nudge(call.principal.tenant, true);
  for (
    let pauseMs = FIRST_POLL_MS;
    open.size > 0 && deps.clock() < untilMs && !call.signal.aborted;
    pauseMs = Math.min(LAST_POLL_MS, pauseMs * 2)
  ) {
    await deps.sleep(pauseMs, call.signal);
    // What is stored is stored: a store that goes away while we wait must not make the write look failed.
    const settled = await settledOf(deps, call, [...open]).catch(() => undefined);
    if (settled === undefined) break;
    for (const id of settled) open.delete(id);
  }
  if (answer.results.some((r) => r.memory_id !== null)) await deps.index.refresh(call.principal.tenant).catch(() => undefined);
  return { results: answer.results.map((r) => ({ ...r, settled: r.memory_id === null || !open.has(r.memory_id) })) };
}

async function settledOf(deps: MemoryDeps, call: CallContext, memoryIds: readonly string[]): Promise<readonly string[]> {
  const by = deps.guard.scope(
    { memoryIds },
    {
      principal: call.principal,
      action: 'write',
      reach: 'granted',
      statuses: ['active', 'conflict', 'candidate', 'pending', 'quarantined'],
      nowMs: deps.clock(),
    },
  );
  const stored = deps.guard.permitted(await deps.index.get(by), by);
  return stored.filter(({ record }) => (record.spaces_due ?? []).length === 0).map(({ record }) => record.memory_id);
}
