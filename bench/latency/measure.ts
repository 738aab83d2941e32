/** Times one cell: the three sides ask the same questions, block by block in turn, so that what disturbs the machine disturbs them all. */
import type { HttpClient } from '../support/http-client.ts';
import { inTurn } from '../support/import.ts';
import { Latency } from '../support/latency.ts';
import type { Calls } from './corpus-service.ts';
import { SIDES, type Side, type SideFigures } from './record.ts';

const BLOCK = 25;
/** A block must keep all clients busy for a while, or its end, with fewer and fewer of them, would be the measure. */
const CALLS_A_CLIENT = 4;

/** `clients`: with as many connections as `concurrency`. Questions are repeated where a block needs more. */
export async function timeSides(
  calls: readonly Calls[],
  clients: Readonly<Record<Side, HttpClient>>,
  concurrency: number,
  rounds: number,
): Promise<Readonly<Record<Side, SideFigures>>> {
  const sides = SIDES.map((side) => ({ side, latency: new Latency(), busyMs: 0 }));
  const blockSize = Math.max(BLOCK, CALLS_A_CLIENT * concurrency);
  const blocks = Math.ceil(calls.length / blockSize);
  let turn = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (let b = 0; b < blocks; b += 1) {
      const block = Array.from({ length: blockSize }, (_, i) => calls[(b * blockSize + i) % calls.length] as Calls);
      // Whoever comes later finds the engine's caches warmer: take turns.
      const order = sides.map((_, i) => sides[(i + turn) % sides.length] as (typeof sides)[number]);
      turn += 1;
      for (const one of order) {
        const from = performance.now();
        await inTurn(block, concurrency, async (call) => void (await one.latency.time(() => clients[one.side].json(call[one.side]()))));
        one.busyMs += performance.now() - from;
      }
    }
  }
  return Object.fromEntries(
    sides.map(({ side, latency, busyMs }) => {
      const summary = latency.summary();
      return [side, { ...summary, per_second: (summary.count * 1_000) / busyMs }];
    }),
  ) as Record<Side, SideFigures>;
}
