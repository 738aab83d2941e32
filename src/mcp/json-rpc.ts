/** The JSON-RPC envelope as this service takes and answers it, checked before the SDK sees a message. */
import { ERRORS, type ErrorCode, type HindsightError } from '../errors.ts';
import { invalid } from '../operations/parse.ts';

export type RpcId = string | number;
type Params = Readonly<Record<string, unknown>>;

export type RpcMessage =
  | { readonly kind: 'request'; readonly id: RpcId; readonly method: string; readonly params: Params }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Params }
  /** The client's answer to something that the server asked. */
  | { readonly kind: 'response' };

/** An id is kept and sent back: longer ones carry freight. */
const MAX_ID_CHARS = 256;
const MAX_METHOD_CHARS = 128;

/**
 * One message. ERR_REQUEST_INVALID for everything else, a batch array among it: batches left the protocol with 2025-06-18, and the rate
 * limits count a POST as one call.
 */
export function readMessage(body: unknown): RpcMessage {
  if (Array.isArray(body)) throw fault('', 'is a batch: send one JSON-RPC message in each POST');
  if (!isObject(body)) throw fault('', 'is not a JSON-RPC message');
  if (body['jsonrpc'] !== '2.0') throw fault('/jsonrpc', 'must be "2.0"');
  const { id, method, params = {} } = body;
  if ('id' in body && !isId(id)) throw fault('/id', `must be a string of at most ${MAX_ID_CHARS} characters or an integer`);
  if (method === undefined && ('result' in body || 'error' in body)) return { kind: 'response' };
  if (typeof method !== 'string' || method.length > MAX_METHOD_CHARS) throw fault('/method', 'must name a method');
  if (!isObject(params)) throw fault('/params', 'must be an object');
  return isId(id) ? { kind: 'request', id, method, params } : { kind: 'notification', method, params };
}

/** Two ids are the same only with the same type (JSON-RPC 2.0, section 4). */
export function idKey(id: unknown): string {
  return `${typeof id}:${String(id)}`;
}

/** The code of the JSON-RPC error; MCP leaves -32000 to -32019 to implementations, and the SDK uses -32001 for a session not found. */
const RPC_CODES: Partial<Record<ErrorCode, number>> = {
  ERR_REQUEST_JSON: -32700,
  ERR_REQUEST_INVALID: -32600,
  ERR_AUTH_MISSING: -32001,
  ERR_AUTH_INVALID: -32001,
  ERR_SESSION_NOT_FOUND: -32001,
  ERR_SCOPE_MISSING: -32003,
  ERR_ORIGIN_FORBIDDEN: -32003,
  ERR_INTERNAL: -32603,
};
const OTHER_FAULT = -32000;

/** Body of an HTTP error on this endpoint: clients show the message only when it comes as a JSON-RPC error with the request's id. */
export function presentRpcError(error: HindsightError, body: unknown): { readonly contentType: string; readonly body: string } {
  const data = {
    code: error.code,
    ...(error.faults.length === 0 ? {} : { errors: error.faults.map(({ pointer, message }) => ({ pointer, message })) }),
    ...(ERRORS[error.code].retryable ? { retry_after_seconds: error.retryAfterSeconds } : {}),
  };
  const answer = { jsonrpc: '2.0', id: idOf(body), error: { code: RPC_CODES[error.code] ?? OTHER_FAULT, message: error.message, data } };
  return { contentType: 'application/json', body: JSON.stringify(answer) };
}

/** The id of a message that may be anything; null where it has none that can be given back. */
export function idOf(body: unknown): RpcId | null {
  return isObject(body) && isId(body['id']) ? body['id'] : null;
}

function isId(id: unknown): id is RpcId {
  return typeof id === 'string' ? id.length <= MAX_ID_CHARS : Number.isSafeInteger(id);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fault(pointer: string, message: string): HindsightError {
  return invalid([{ pointer, message }]);
}
