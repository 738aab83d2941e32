/** Random bytes drawn by the page: ids, spans and boundaries of every call want a few, and a draw from the system costs more than they do. */
import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4_096);
let taken = pool.length;

/** Fresh bytes of the system's generator, given out once, as a copy. For more than a page, as for keys, ask the system itself. */
export function randomFew(bytes: number): Buffer {
  if (taken + bytes > pool.length) {
    randomFillSync(pool);
    taken = 0;
  }
  const few = Buffer.from(pool.subarray(taken, taken + bytes));
  // what was given out stands nowhere else
  pool.fill(0, taken, taken + bytes);
  taken += bytes;
  return few;
}
