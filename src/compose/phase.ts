/** A step of the start as people see it: what begins, and how long it took. */
import type { Progress } from '../elastic/local/artifacts.ts';

/** Reports the beginning, runs the work, reports the seconds it took. Steps may run at the same time. */
export async function phase<T>(
  onProgress: (progress: Progress) => void,
  name: string,
  message: string | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  if (message !== undefined) onProgress({ phase: name, message });
  const result = await work();
  onProgress({ phase: name, message: `ready in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`, done: true });
  return result;
}
