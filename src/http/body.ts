/** The bounded body reader: media type, encoding and size are decided before a byte is parsed; runs after authentication. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { LIMITS } from '../domain/wire/common.ts';
import { HindsightError } from '../errors.ts';
import { invalid } from '../operations/parse.ts';
import { jsonError, parseJson, type JsonBudget } from './json.ts';

export const BODY_LIMIT_BYTES = 1_048_576;
export const LARGE_BODY_LIMIT_BYTES = 8 * 1_048_576;

/**
 * Names that an item may have on average in the largest batch (it has 31 of its own, 32 in its metadata), and as many texts and lists.
 * A single item never comes near the budget of its body, however full; of items that are, a batch takes fewer.
 */
const ENTRIES_PER_ITEM = 80;
const BYTES_PER_ENTRY = LARGE_BODY_LIMIT_BYTES / (LIMITS.batchItems * ENTRIES_PER_ITEM);
/** An item may bring 20 names that no other has. */
const ENTRIES_PER_NAME = 4;
/** A number of a vector is written in 8 bytes or more, its comma among them. */
const BYTES_PER_NUMBER = 8;

function budgetOf(limitBytes: number): JsonBudget {
  const entries = Math.floor(limitBytes / BYTES_PER_ENTRY);
  return { entries, differentNames: Math.floor(entries / ENTRIES_PER_NAME), numbers: Math.floor(limitBytes / BYTES_PER_NUMBER) };
}

/** How far an oversized body is read to its end, so that the client gets to see the 413 instead of a broken connection. */
const DRAIN_BYTES = 1_048_576;

/**
 * The JSON value in the request's body. Failures: ERR_REQUEST_MEDIA_TYPE (not application/json, another charset than utf-8, any
 * content-encoding), ERR_REQUEST_TRANSFER_CODING (any but chunked), ERR_REQUEST_TOO_LARGE, ERR_REQUEST_TOO_COMPLEX, ERR_REQUEST_JSON
 * (empty, not UTF-8, not JSON, see json.ts), and what `onRead` throws, which is told the size before anything is parsed.
 */
export async function readJsonBody(
  req: IncomingMessage,
  limitBytes: number,
  knownNames: ReadonlySet<string>,
  onRead: (bytes: number) => Promise<void> = async () => undefined,
): Promise<unknown> {
  if (!hasBody(req)) throw jsonError('', 'is empty');
  // RFC 9112, section 6.1; Node's parser finds the end of such a body, but hands it out still coded
  if ((req.headers['transfer-encoding'] ?? 'chunked').trim().toLowerCase() !== 'chunked')
    throw new HindsightError('ERR_REQUEST_TRANSFER_CODING');
  if (!isPlainUtf8Json(req)) throw new HindsightError('ERR_REQUEST_MEDIA_TYPE');
  const bytes = await readBytes(req, limitBytes);
  await onRead(bytes.length);
  return parseJson(decodeUtf8(bytes), knownNames, budgetOf(limitBytes));
}

/** ERR_REQUEST_INVALID when a request of a method without body carries one: two readers could disagree about it. */
export function refuseBody(req: IncomingMessage): void {
  if (hasBody(req)) throw invalid([{ pointer: '', message: 'must come without a body' }]);
}

/** RFC 9112, section 6.3: a request has a body when it declares a length other than 0 or a transfer coding. */
export function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0';
}

function isPlainUtf8Json(req: IncomingMessage): boolean {
  if ((req.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') return false;
  if (req.headers['content-type'] === 'application/json') return true;
  const [type = '', ...parameters] = (req.headers['content-type'] ?? '').toLowerCase().split(';');
  if (type.trim() !== 'application/json') return false;
  return parameters.every((parameter) => /^\s*(?:charset=(?:utf-8|"utf-8")\s*)?$/.test(parameter));
}

function decodeUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw jsonError('', 'is not UTF-8');
  return bytes.toString('utf8');
}

/** Counts while the body streams in; nothing beyond the limit is kept. */
function readBytes(req: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const tooLarge = (): HindsightError => new HindsightError('ERR_REQUEST_TOO_LARGE', { params: { limit: limitBytes } });
  const declared = Number(req.headers['content-length'] ?? 0);
  if (declared > limitBytes + DRAIN_BYTES) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= limitBytes) chunks.push(chunk);
      else chunks = [];
      if (size > limitBytes + DRAIN_BYTES) finish(() => reject(tooLarge()));
    };
    const onEnd = (): void => finish(() => (size > limitBytes ? reject(tooLarge()) : resolve(Buffer.concat(chunks, size))));
    const onBroken = (): void => finish(() => reject(invalid([{ pointer: '', message: 'ended before its body was complete' }])));
    const finish = (settle: () => void): void => {
      req.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      req.on('error', ignore);
      settle();
    };
    req.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}

/** A connection that breaks after its outcome is settled is nobody's fault any more. */
const ignore = (): void => undefined;
