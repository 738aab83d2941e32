/** The import itself: rows into batches, batches to the service, faults into their file, and a state after each batch. */
import { appendFileSync, existsSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import type { Clock } from '../../domain/clock.ts';
import { LIMITS } from '../../domain/wire/common.ts';
import type { Surroundings } from '../command-spec.ts';
import type { RestClient } from '../rest-client.ts';
import { readState, writeState, type ImportState } from './import-state.ts';
import { linesOf, openFile, type Line } from './lines.ts';
import { createProgress } from './progress.ts';
import { rowOf, type RowFault, type RowOptions } from './rows.ts';
import { sendBatch } from './send.ts';
import { isBrokenGzip, isFrame, type Survey } from './survey.ts';

/** Well below the service's 8 MiB. */
const BATCH_BYTES = 4 * 1_048_576;

export interface ImportJob {
  readonly client: RestClient;
  readonly dataDir: string;
  readonly path: string;
  readonly survey: Survey;
  readonly rows: RowOptions;
  readonly batchRows: number;
  /** Names this import of this file. */
  readonly key: string;
  readonly faultsPath: string;
  readonly stderr: Surroundings['stderr'];
  readonly clock: Clock;
  /** The rows bring their own ids: however often they are sent, they are stored once. */
  readonly keepsIds: boolean;
  /** What becomes of a batch of which nobody knows any more whether it was stored; undefined: InDoubt. */
  readonly inDoubt: 'skip' | 'send' | undefined;
}

/** A batch was on its way when an earlier run ended, so long ago that the service has forgotten its key. */
export class InDoubt extends Error {
  override readonly name = 'InDoubt';
  /** First and last line of the batch. */
  readonly lines: readonly [number, number];

  constructor(lines: readonly [number, number]) {
    super(`lines ${lines.join(' to ')} may be stored already`);
    this.lines = lines;
  }
}

/** An hour less than the service keeps a key: the clocks of both, and the tries of one batch, take minutes. */
const KEY_LIFE_MS = (LIMITS.idempotencyHours - 1) * 3_600_000;

interface Pending {
  readonly items: Record<string, unknown>[];
  /** Line of each item. */
  readonly lines: number[];
  readonly faults: RowFault[];
  bytes: number;
  /** Rows, faulty ones among them. */
  rows: number;
  last: number;
}

const FAULT_OUTCOMES = new Set(['blocked', 'invalid', 'failed']);

/** The state at the end. Throws InDoubt. Batches are cut by the file alone, so that a repeated run sends the same ones under the same keys. */
export async function runImport(job: ImportJob): Promise<ImportState> {
  const { dataDir, key, survey, faultsPath } = job;
  let state = readState(dataDir, key);
  if (state.finished) return state;
  // faults of a batch that was under way when the last run ended will be told again
  forgetFaultsAfter(faultsPath, state.faultBytes);
  const progress = createProgress(survey.rows, job.stderr);
  let done = Object.values(state.outcomes).reduce((sum, n) => sum + n, 0);
  progress.at(done);
  try {
    let pending = nothingPending();
    for await (const line of wholeLines(job.path, survey)) {
      if (line.number <= state.line || (line.text !== undefined && (line.text.trim() === '' || isFrame(line.text)))) continue;
      take(pending, line, job.rows);
      if (pending.rows < job.batchRows && pending.bytes < BATCH_BYTES) continue;
      state = await send(job, pending, state);
      done += pending.rows;
      progress.at(done);
      pending = nothingPending();
    }
    if (pending.rows > 0) state = await send(job, pending, state);
    state = { ...state, finished: true };
    writeState(dataDir, key, state);
    return state;
  } finally {
    progress.end();
  }
}

/** A file that was moved away or cut since stays as it is: what is told from now on is added. */
function forgetFaultsAfter(path: string, bytes: number): void {
  if (bytes > 0 && existsSync(path) && statSync(path).size > bytes) truncateSync(path, bytes);
}

const nothingPending = (): Pending => ({ items: [], lines: [], faults: [], bytes: 0, rows: 0, last: 0 });

function take(pending: Pending, line: Line, options: RowOptions): void {
  const row = rowOf(line.text, options);
  pending.rows += 1;
  pending.last = line.number;
  pending.bytes += line.bytes.length;
  if ('reason' in row) {
    pending.faults.push({ line: line.number, pointer: '', reason: row.reason });
    return;
  }
  pending.items.push(row.item);
  pending.lines.push(line.number);
}

async function send(job: ImportJob, pending: Pending, before: ImportState): Promise<ImportState> {
  const { client, key, survey, dataDir, clock } = job;
  const outcomes: Record<string, number> = { ...before.outcomes };
  const count = (outcome: string): void => {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  };
  const faults = [...pending.faults];
  faults.forEach(() => count('invalid'));
  const sentAtMs = before.sending?.line === pending.last ? before.sending.atMs : undefined;
  const inDoubt = sentAtMs !== undefined && clock() - sentAtMs >= KEY_LIFE_MS && !job.keepsIds;
  if (inDoubt && job.inDoubt === undefined) throw new InDoubt([before.line + 1, pending.last]);
  const skipped = inDoubt && job.inDoubt === 'skip';
  if (skipped) for (const _item of pending.items) count('skipped');
  else if (pending.items.length > 0)
    writeState(dataDir, key, { ...before, sending: { line: pending.last, atMs: (inDoubt ? undefined : sentAtMs) ?? clock() } });
  const results =
    skipped || pending.items.length === 0
      ? []
      : await sendBatch(client, { items: pending.items, key: `${key}-${pending.last}`, manifest: survey.manifest });
  for (const [i, result] of results.entries()) {
    count(result.outcome);
    if (!FAULT_OUTCOMES.has(result.outcome)) continue;
    const line = pending.lines[i] ?? 0;
    const named = (result.errors ?? []).map(({ pointer, message }) => ({
      line,
      pointer: pointer.replace(/^\/items\/\d+/, ''),
      reason: message,
    }));
    faults.push(...(named.length > 0 ? named : [{ line, pointer: '', reason: result.reason ?? result.outcome }]));
  }
  const text = faults.map((fault) => `${JSON.stringify(fault)}\n`).join('');
  if (text !== '') (before.faults === 0 ? writeFileSync : appendFileSync)(job.faultsPath, text);
  const after = {
    line: pending.last,
    outcomes,
    faults: before.faults + faults.length,
    faultBytes: before.faultBytes + Buffer.byteLength(text),
    finished: false,
  };
  writeState(job.dataDir, key, after);
  return after;
}

/** Of a file that was cut off, the lines before the cut. */
async function* wholeLines(path: string, survey: Survey): AsyncGenerator<Line> {
  try {
    yield* linesOf(await openFile(path));
  } catch (error) {
    if (survey.damage === undefined || !isBrokenGzip(error)) throw error;
  }
}
