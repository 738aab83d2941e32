/** Frames on stdin that are no JSON-RPC message: answered here with -32600, because the service's refusal has nobody to go to. */
import type { Json } from './mcp-upstream.ts';

const INVALID_REQUEST = -32_600;

/**
 * The answer to a frame that is neither request, notification nor response; undefined for one that is. JSON-RPC 2.0, section 5: the id is
 * null where none can be told. That of a frame without a method is not told either: it may be meant as an answer to the service, whose
 * ids are not the client's own.
 */
export function refusalOf(frame: unknown): Json | undefined {
  if (typeof frame !== 'object' || frame === null || Array.isArray(frame)) return refusal(null, 'send one JSON-RPC message a line');
  const { jsonrpc, id, method } = frame as Json;
  const isResponse = method === undefined && ('result' in frame || 'error' in frame);
  const known = method !== undefined && isId(id) ? id : null;
  if (jsonrpc !== '2.0') return refusal(known, 'jsonrpc must be "2.0"');
  if (!isResponse && typeof method !== 'string') return refusal(known, 'a message names a method, or answers with result or error');
  if ('id' in frame && !isId(id) && !(isResponse && id === null)) return refusal(null, 'id must be a string or an integer');
  return undefined;
}

const isId = (id: unknown): id is string | number => typeof id === 'string' || Number.isSafeInteger(id);

function refusal(id: string | number | null, reason: string): Json {
  return { jsonrpc: '2.0', id, error: { code: INVALID_REQUEST, message: `Invalid request: ${reason}` } };
}
