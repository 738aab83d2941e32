/** Where the log goes while a person watches: every line to DATA_DIR/logs/service.log, a warning also, in short, to the terminal. */
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const ROTATE_BYTES = 20_000_000;
/** The logger writes the level first; anything below needs no parsing. */
const LOUD = /^\{"level":"(?:warn|error|fatal)"/;

export interface ServiceLog {
  readonly path: string;
  /** Takes one line with its line end, written before it returns. */
  write(line: string): void;
}

/** Opens the file (mode 0600), which becomes `.1` when it has grown over 20 MB. `say` gets the short form of warnings and errors. */
export function openServiceLog(dataDir: string, say: (line: string) => void): ServiceLog {
  const folder = join(dataDir, 'logs');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, 'service.log');
  let file = openSync(path, 'a', 0o600);
  let bytes = fstatSync(file).size;
  const rotate = (): void => {
    closeSync(file);
    renameSync(path, `${path}.1`);
    file = openSync(path, 'a', 0o600);
    bytes = 0;
  };
  return {
    path,
    write(line) {
      if (bytes > ROTATE_BYTES) rotate();
      try {
        bytes += writeSync(file, line);
      } catch {
        // a full disk must not stop the service; the warnings below still reach the terminal
      }
      if (LOUD.test(line)) say(`! ${shortForm(line)} (more in ${path})`);
    },
  };
}

function shortForm(line: string): string {
  const { msg, err, detail } = JSON.parse(line) as { msg?: string; err?: { message?: string }; detail?: string };
  const reason = detail ?? err?.message;
  return reason === undefined ? (msg ?? '') : `${msg}: ${reason.slice(0, 200)}`;
}
