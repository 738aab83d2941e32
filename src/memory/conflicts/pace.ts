/** Gives other calls their turn on the event loop while many texts are compared; plan counts relations by it. */
import { setImmediate } from 'node:timers/promises';

/** Counts `units` of work and yields once per `perSlice` of them; so much of comparing takes a few milliseconds. */
export function paced(perSlice: number): (units: number) => Promise<void> {
  let done = 0;
  return async (units) => {
    done += units;
    if (done < perSlice) return;
    done = 0;
    await setImmediate();
  };
}
