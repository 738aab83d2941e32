/** Writes many items through POST /v1/memories, in batches, a few calls at a time. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { HttpClient } from './http-client.ts';

interface WriteAnswer {
  readonly results: readonly { readonly memory_id: string | null; readonly outcome: string; readonly reason?: string }[];
}

/** The body of one batch. */
export const batchBody = (items: readonly unknown[]): string => JSON.stringify({ items });

/** Bodies under the 8 MiB limit of the route, with at most `most` items each. */
export function batches<T>(items: readonly T[], most: number, maxBytes = 7 * 1024 * 1024): T[][] {
  const made: T[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item)) + 1;
    const last = made.at(-1);
    if (last === undefined || last.length >= most || bytes + size > maxBytes) {
      made.push([item]);
      bytes = size;
    } else {
      last.push(item);
      bytes += size;
    }
  }
  return made;
}

/** What the guard does to an item instead of storing it: it has an id, and no search finds it. */
const HELD_BACK: ReadonlySet<string> = new Set(['pending', 'candidate', 'quarantined']);

/** Sends one prepared batch; its memory ids in order. Throws when any item was not stored; `onHeld` is told of those the guard holds back instead. */
export async function sendBatch(
  client: HttpClient,
  body: string,
  headers: OutgoingHttpHeaders = {},
  onHeld?: (index: number) => void,
): Promise<string[]> {
  const answer = await client.json<WriteAnswer>({ method: 'POST', path: '/v1/memories', body, headers });
  return answer.results.map(({ memory_id, outcome, reason }, index) => {
    const held = onHeld !== undefined && HELD_BACK.has(outcome);
    if (memory_id === null || !(outcome === 'stored' || held)) throw new Error(`an item was not stored: ${outcome} ${reason ?? ''}`);
    if (held) onHeld(index);
    return memory_id;
  });
}

/** Runs the tasks in order, `concurrency` at a time. */
export async function inTurn<T>(tasks: readonly T[], concurrency: number, run: (task: T, index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < tasks.length) {
      const index = next;
      next += 1;
      await run(tasks[index] as T, index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, tasks.length) }, worker));
}
