/** Bulk requests: operations already spelled as NDJSON lines, sent in pieces of bounded size, answered item by item in order. */
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

/** Well under http.max_content_length (100 MB) and large enough that 500 records with vectors of 900 dimensions go in two pieces. */
const PIECE_BYTES = 8 * 1024 * 1024;
const ANSWER = 'items.*.status,items.*.error.type,items.*._seq_no,items.*._primary_term';

/**
 * Sends operations (each one or two NDJSON lines, with their closing newline) to one index.
 * Errors: those of the first piece; when a later piece fails, its operations answer status 503 instead, because earlier ones are stored.
 */
export async function bulk(
  client: Client,
  index: string,
  operations: readonly string[],
  { requireAlias = false, repeatable = false }: BulkOptions = {},
): Promise<BulkItem[]> {
  const items: BulkItem[] = [];
  for (const piece of piecesOf(operations)) {
    try {
      items.push(...(await sendPiece(client, index, piece, requireAlias, repeatable)));
    } catch (error) {
      if (items.length === 0) throw error;
      const status = error instanceof HindsightError && error.code === 'ERR_STORE_UNAVAILABLE' ? 503 : 500;
      const rest = operations.length - items.length;
      return items.concat(Array<BulkItem>(rest).fill({ status, errorType: 'request_failed', seqNo: undefined, primaryTerm: undefined }));
    }
  }
  return items;
}

/** True when the item failed for a reason that passes: overload, missing shard, no master. */
export function itemAway(item: BulkItem): boolean {
  return isAway(item.status, item.errorType);
}

function* piecesOf(operations: readonly string[]): Generator<readonly string[]> {
  let from = 0;
  let bytes = 0;
  for (const [i, operation] of operations.entries()) {
    // UTF-16 length, not bytes: at most three times too low, which the limit leaves room for
    if (i > from && bytes + operation.length > PIECE_BYTES) {
      yield operations.slice(from, i);
      from = i;
      bytes = 0;
    }
    bytes += operation.length;
  }
  if (from < operations.length) yield operations.slice(from);
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
