/** Reads the cause of a failed start out of Elasticsearch's log and says it in one sentence. */
import { HindsightError } from '../../errors.ts';

/** `locked` and `port` may pass by themselves or with another port, so the caller may try again. */
export type StartFaultKind = 'locked' | 'port' | 'disk' | 'memory' | 'permission' | 'downgrade' | 'unknown';

export interface StartFault {
  readonly kind: StartFaultKind;
  /** One sentence for the operator. */
  readonly detail: string;
}

export interface StartContext {
  readonly dataDir: string;
  readonly logPath: string;
  readonly httpPort: number;
  readonly heapMb: number;
}

const MAX_CAUSE_CHARS = 240;

/** What went wrong, judged from the log text of this start only. Pure. */
export function explainStart(log: string, context: StartContext): StartFault {
  const { dataDir, logPath, httpPort, heapMb } = context;
  // 8.19.9 says the second on data of 9.0.8: it stumbles over Lucene's metadata before it compares node versions
  if (/cannot downgrade a node|indexCreatedVersionMajor is in the future|IndexFormatTooNewException/.test(log)) {
    const detail = `The data in ${dataDir} were written by a newer Elasticsearch: start that version again or use another data directory`;
    return { kind: 'downgrade', detail };
  }
  if (/failed to obtain node locks|LockObtainFailedException/.test(log)) {
    return {
      kind: 'locked',
      detail: `Another Elasticsearch is using the data directory ${dataDir}: stop it or set DATA_DIR to another one`,
    };
  }
  if (/BindHttpException|BindTransportException|Address already in use/.test(log)) {
    return {
      kind: 'port',
      detail: `Port ${httpPort}, which the local Elasticsearch was to listen on, is in use: stop the program that holds it`,
    };
  }
  if (/No space left on device/.test(log)) {
    return { kind: 'disk', detail: `The disk that holds ${dataDir} is full: free at least 1 GB and start again` };
  }
  if (/OutOfMemoryError|Could not reserve enough space|insufficient memory|Cannot allocate memory/.test(log)) {
    return {
      kind: 'memory',
      detail: `There is not enough memory for the local Elasticsearch (heap ${heapMb} MB): close other programs or lower its heap`,
    };
  }
  if (/AccessDeniedException|Permission denied|Read-only file system/.test(log)) {
    return { kind: 'permission', detail: `The data directory ${dataDir} can't be written: give this user access to it or use another one` };
  }
  return { kind: 'unknown', detail: `The local Elasticsearch did not start (${lastCause(log)}): see ${logPath}` };
}

/** The error that `serve` prints for a fault; the end of the log travels as its cause. */
export function startError(fault: StartFault, log: string): HindsightError {
  const code = fault.kind === 'disk' ? 'ERR_ENGINE_DISK' : 'ERR_ENGINE_START';
  return new HindsightError(code, { params: { detail: fault.detail }, cause: new Error(log.slice(-4000)) });
}

/** The innermost exception of the last stack trace, else the last line that is not a stack frame. */
function lastCause(log: string): string {
  const lines = log
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^(at |\.\.\. \d+ more|Suppressed:)/.test(line));
  const cause =
    lines.findLast((line) => line.startsWith('Caused by:')) ?? lines.findLast((line) => /(Exception|Error)\b/.test(line)) ?? lines.at(-1);
  if (cause === undefined) return 'it left no message';
  return cause.replace(/^Caused by: /, '').slice(0, MAX_CAUSE_CHARS);
}
