/** Lines on stderr that show that a bench is alive; the report itself goes to stdout. */
const startedAt = performance.now();

/** One line with the seconds since the start. */
export function progress(text: string): void {
  process.stderr.write(`[${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s] ${text}\n`);
}

const STEP_MS = 3_000;

/** Tells how far a long step is, at most every three seconds; `done` of `total`. */
export function progressOf(step: string, total: number): (done: number) => void {
  const from = performance.now();
  let last = from;
  return (done) => {
    const now = performance.now();
    if (done < total && now - last < STEP_MS) return;
    last = now;
    const perSecond = (done / Math.max(1e-3, (now - from) / 1_000)).toFixed(0);
    progress(`${step}: ${done} of ${total} (${perSecond}/s)`);
  };
}
