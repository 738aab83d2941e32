/** Waits until the service has made every vector that is due, with progress. */
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchEngine } from './engine.ts';
import { progress, progressOf } from './progress.ts';

const POLL_MS = 1_000;
const STALL_MS = 180_000;

/** `index`: name or pattern of memory indices. An Error when nothing moves for three minutes or records have run out of tries. */
export async function embedded(engine: BenchEngine, index: string, name: string): Promise<void> {
  const due = { bool: { filter: [{ exists: { field: 'spaces_due' } }] } };
  const total = await engine.count(index, due);
  const told = progressOf(`${name}: vectors`, total);
  let last = total;
  let movedAt = performance.now();
  for (let left = total; left > 0; left = await engine.count(index, due)) {
    if (left !== last) movedAt = performance.now();
    last = left;
    if (performance.now() - movedAt > STALL_MS) throw new Error(`${left} records of ${name} still have no vector`);
    told(total - left);
    await delay(POLL_MS);
  }
  progress(`${name}: all vectors are there`);
}
