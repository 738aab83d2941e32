/** Sends one batch of an import under its Idempotency-Key, again and again while the service is away: however often, it is stored once. */
import { setTimeout as delay } from 'node:timers/promises';
import { memoryImport } from '../../operations/memory-import.ts';
import type { ImportAnswer } from '../../domain/wire/transfer.ts';
import { isA } from '../failure.ts';
import { callOperation } from '../operation-command.ts';
import type { Refused, RestClient, Unreachable } from '../rest-client.ts';
import type { ManifestJson } from './survey.ts';

/** Longer than the half minute for which a batch of a service that was killed counts as under way. */
const PATIENCE_MS = 60_000;
const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 5_000;
/** Tries while the store refuses single rows. */
const FAILED_TRIES = 3;

export interface Batch {
  readonly items: readonly Record<string, unknown>[];
  readonly key: string;
  readonly manifest: ManifestJson | undefined;
}

/** The service's results, in order. Throws Refused and Unreachable when it stays away for a minute, or will not have it at all. */
export async function sendBatch(client: RestClient, { items, key, manifest }: Batch): Promise<ImportAnswer['results']> {
  const input = { items, ...(manifest === undefined ? {} : { manifest }) };
  const until = performance.now() + PATIENCE_MS;
  let failures = 0;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LAST_PAUSE_MS, pauseMs * 2)) {
    try {
      const text = await callOperation(client, memoryImport, input, { 'idempotency-key': key });
      const { results } = JSON.parse(text) as ImportAnswer;
      failures += 1;
      if (failures >= FAILED_TRIES || results.every((r) => r.outcome !== 'failed')) return results;
      await delay(pauseMs);
    } catch (error) {
      const wait = retryAfterMs(error);
      if (wait === undefined || performance.now() + wait > until) throw error;
      await delay(Math.max(wait, pauseMs));
    }
  }
}

/** Undefined: the same call would be refused again. */
function retryAfterMs(error: unknown): number | undefined {
  if (isA<Unreachable>(error, 'Unreachable')) return 0;
  if (!isA<Refused>(error, 'Refused')) return undefined;
  const again = error.status === 429 || error.status === 503 || error.code === 'ERR_IDEMPOTENCY_IN_FLIGHT';
  return again ? (error.retryAfterSeconds ?? 0) * 1_000 : undefined;
}
