/** Asks the running service the judged questions of `tune`, a few at once, and waits where it is told to wait. */
import { setTimeout as delay } from 'node:timers/promises';
import type { SearchAnswer } from '../../domain/wire/read.ts';
import { memorySearch } from '../../operations/memory-search.ts';
import { isA } from '../failure.ts';
import { callOperation } from '../operation-command.ts';
import type { Refused, RestClient } from '../rest-client.ts';
import type { JudgedRow } from './judged.ts';

const AT_ONCE = 4;
/** A limit's window is a minute. */
const PATIENCE_MS = 90_000;
const CANDIDATES = 20;
const SHOWN = 10;

/** How a question is asked. */
export interface Asking {
  readonly profile: string;
  readonly weights?: Readonly<Record<string, number>>;
}

/** With the parts of every score, for as many candidates as a search shows. */
export function askExplained(client: RestClient, row: JudgedRow, asking: Asking): Promise<SearchAnswer> {
  return ask(client, { ...inputOf(row, asking), top_k: CANDIDATES, explain: true });
}

/** The ten best ids; an answer that the floor would empty is judged as well. */
export async function askRanked(client: RestClient, row: JudgedRow, asking: Asking): Promise<readonly string[]> {
  const { hits } = await ask(client, { ...inputOf(row, asking), top_k: SHOWN, min_score: 0 });
  return hits.map((hit) => hit.memory_id);
}

/** The answers in the order of the rows; `told` hears of each. Ends with the first failure. */
export async function inTurn<T>(
  rows: readonly JudgedRow[],
  work: (row: JudgedRow, index: number) => Promise<T>,
  told: () => void,
): Promise<readonly T[]> {
  const answers: T[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next; i < rows.length; i = next) {
      next += 1;
      answers[i] = await work(rows[i] as JudgedRow, i);
      told();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return answers;
}

function inputOf({ query, namespaces, asked_at: askedAt }: JudgedRow, { profile, weights }: Asking): Record<string, unknown> {
  return {
    query,
    profile,
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(askedAt === undefined ? {} : { asked_at: askedAt }),
    ...(weights === undefined ? {} : { weights }),
  };
}

async function ask(client: RestClient, input: Record<string, unknown>): Promise<SearchAnswer> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return JSON.parse(await callOperation(client, memorySearch, input)) as SearchAnswer;
    } catch (error) {
      const waitMs = isA<Refused>(error, 'Refused') ? waitOf(error) : undefined;
      if (waitMs === undefined || performance.now() + waitMs > until) throw error;
      await delay(waitMs);
    }
  }
}

/** Undefined: the same call would be refused again. */
function waitOf({ status, retryAfterSeconds = 1 }: Refused): number | undefined {
  return status === 429 || status === 503 ? Math.max(1, retryAfterSeconds) * 1_000 : undefined;
}
