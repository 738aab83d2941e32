/** What runs when a response has ended, for all layers together: one listener on it, however many want to know. */
import type { ServerResponse } from 'node:http';

const waiting = new WeakMap<ServerResponse, (() => void)[]>();

/**
 * Runs `done` once, when the HTTP answer is out or the client is gone; at once where that has happened. Never the request's own close
 * event: it comes with the end of the body. A streamed answer holds 7 close listeners of Node's pipeline already (measured on 20.20), and
 * from the eleventh on Node warns of a leak.
 */
export function whenClosed(res: ServerResponse, done: () => void): void {
  if (res.closed) return done();
  const known = waiting.get(res);
  if (known !== undefined) return void known.push(done);
  const all = [done];
  waiting.set(res, all);
  res.once('close', () => {
    for (const one of all) one();
  });
}
