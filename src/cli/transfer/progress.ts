/** How an import goes on: a bar at a terminal, a line now and then anywhere else; on stderr, so that output stays clean. */
import type { Surroundings } from '../command-spec.ts';

const BAR = 24;
const LINE_EVERY_MS = 5_000;
const BAR_EVERY_MS = 100;

export interface ProgressView {
  at(done: number): void;
  /** Takes the bar away. */
  end(): void;
}

export function createProgress(total: number, stderr: Surroundings['stderr'], now: () => number = () => performance.now()): ProgressView {
  const startedAt = now();
  let toldAt = -Infinity;
  let first: number | undefined;
  const isTerminal = stderr.isTTY === true;
  return {
    at(done) {
      first ??= done;
      const at = now();
      if (at - toldAt < (isTerminal ? BAR_EVERY_MS : LINE_EVERY_MS) && done < total) return;
      if (!isTerminal && toldAt === -Infinity && done < total) {
        toldAt = at; // nothing to say yet
        return;
      }
      toldAt = at;
      const share = total === 0 ? 1 : Math.min(1, done / total);
      const rate = at > startedAt ? Math.round(((done - first) * 1_000) / (at - startedAt)) : 0;
      const text = `${Math.floor(share * 100)} %  ${done}/${total}  ${rate}/s`;
      const filled = Math.round(share * BAR);
      stderr.write(isTerminal ? `\r[${'#'.repeat(filled)}${' '.repeat(BAR - filled)}] ${text}\u001b[K` : `${text}\n`);
    },
    end() {
      if (isTerminal) stderr.write('\r\u001b[K');
    },
  };
}
