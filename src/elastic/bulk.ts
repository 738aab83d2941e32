/** Bulk requests: operations already spelled as NDJSON lines, sent in pieces of bounded size, answered item by item in order. */
import { setImmediate } from 'node:timers/promises';
import type { Client } from '@elastic/elasticsearch';
import { isAway, RETRY, storeCall } from './client.ts';
import { HindsightError } from '../errors.ts';

export interface BulkItem {
  /** HTTP status of the one operation. */
  readonly status: number;
  /** Elasticsearch's exception type, e.g. 'version_conflict_engine_exception'. */
  readonly errorType: string | undefined;
  readonly seqNo: number | undefined;
  readonly primaryTerm: number | undefined;
}

export interface BulkOptions {
  /** Write through an alias only: a missing index is an error, never made by Elasticsearch. */
  readonly requireAlias?: boolean;
  /** The request may be sent twice: every operation is a create under a fixed id. */
  readonly repeatable?: boolean;
}

/** Over a hundred records with vectors of 900 dimensions: Elasticsearch works on one piece while the next is spelled and sent. */
const PIECE_BYTES = 2 * 1024 * 1024;
/** Pieces on their way at once; two keep two cores busy (bench:import). */
const PIECES_AT_ONCE = 2;
const ANSWER = 'items.*.status,items.*.error.type,items.*._seq_no,items.*._primary_term';

/**
 * Sends operations (each one or two NDJSON lines, with their closing newline; spelled as they are taken) to one index.
 * Errors: when no piece got through, that of the first; else the operations of a failed piece answer its status, because others are stored.
 */
export async function bulk(
  client: Client,
  index: string,
  operations: Iterable<string>,
  { requireAlias = false, repeatable = false }: BulkOptions = {},
): Promise<BulkItem[]> {
  const sent: Promise<readonly BulkItem[] | Failed>[] = [];
  for (const piece of piecesOf(operations)) {
    const send = sendPiece(client, index, piece, requireAlias, repeatable);
    sent.push(send.catch((error: unknown): Failed => ({ error, operations: piece.length })));
    await sent[sent.length - PIECES_AT_ONCE];
    // lets the piece leave before the next is spelled
    await setImmediate();
  }
  const results = await Promise.all(sent);
  const [first] = results;
  if (first !== undefined && isFailed(first) && results.every(isFailed)) throw first.error;
  return results.flatMap((result) => (isFailed(result) ? failedItems(result) : result));
}

interface Failed {
  readonly error: unknown;
  readonly operations: number;
}

function isFailed(result: readonly BulkItem[] | Failed): result is Failed {
  return 'error' in result;
}

function failedItems({ error, operations }: Failed): BulkItem[] {
  const status = error instanceof HindsightError && error.code === 'ERR_STORE_UNAVAILABLE' ? 503 : 500;
  return Array<BulkItem>(operations).fill({ status, errorType: 'request_failed', seqNo: undefined, primaryTerm: undefined });
}

/** True when the item failed for a reason that passes: overload, missing shard, no master. */
export function itemAway(item: BulkItem): boolean {
  return isAway(item.status, item.errorType);
}

function* piecesOf(operations: Iterable<string>): Generator<readonly string[]> {
  let piece: string[] = [];
  let bytes = 0;
  for (const operation of operations) {
    // UTF-16 length, not bytes: at most three times too low, far from http.max_content_length (100 MB)
    if (piece.length > 0 && bytes + operation.length > PIECE_BYTES) {
      yield piece;
      piece = [];
      bytes = 0;
    }
    piece.push(operation);
    bytes += operation.length;
  }
  if (piece.length > 0) yield piece;
}

interface RawItem {
  readonly status: number;
  readonly error?: { readonly type?: string };
  readonly _seq_no?: number;
  readonly _primary_term?: number;
}

async function sendPiece(
  client: Client,
  index: string,
  piece: readonly string[],
  requireAlias: boolean,
  repeatable: boolean,
): Promise<BulkItem[]> {
  const request = {
    method: 'POST',
    path: `/${encodeURIComponent(index)}/_bulk`,
    querystring: { filter_path: ANSWER, ...(requireAlias ? { require_alias: true } : {}) },
    bulkBody: piece.join(''),
  };
  const answer = await storeCall(() =>
    client.transport.request<{ items?: readonly Record<string, RawItem>[] }>(request, repeatable ? RETRY : {}),
  );
  const raw = answer.items ?? [];
  if (raw.length !== piece.length) {
    throw new HindsightError('ERR_STORE_REJECTED', { cause: new Error(`bulk of ${piece.length} operations answered ${raw.length} items`) });
  }
  return raw.map((entry) => {
    const item = Object.values(entry)[0];
    return { status: item?.status ?? 500, errorType: item?.error?.type, seqNo: item?._seq_no, primaryTerm: item?._primary_term };
  });
}
