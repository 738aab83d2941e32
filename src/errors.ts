/** The one error type and its one table: status, public text, retry and log level of every fault a caller can meet. */

interface ErrorRow {
  /** HTTP status of the problem response. */
  readonly status: number;
  /** Fixed public text; `{name}`, or `{name:text without it}`, is filled from `params`. Never memory content, never upstream text. */
  readonly text: string;
  /** True when the same call may succeed later (503 and 429 carry Retry-After). */
  readonly retryable: boolean;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
}

const row = (status: number, text: string, level: ErrorRow['level'] = 'info', retryable = false): ErrorRow => ({
  status,
  text,
  retryable,
  level,
});

export const ERRORS = {
  ERR_REQUEST_INVALID: row(400, 'The request does not fit the schema: {detail}'),
  ERR_REQUEST_JSON: row(400, 'The body is not valid JSON: {detail}'),
  ERR_REQUEST_TOO_LARGE: row(413, 'The body is larger than {limit} bytes'),
  ERR_REQUEST_TOO_COMPLEX: row(413, 'There is too much in the body at once: {detail}; send fewer items in each call'),
  ERR_REQUEST_MEDIA_TYPE: row(415, 'Send application/json'),
  ERR_REQUEST_TRANSFER_CODING: row(501, 'Send the body as it is, or chunked: no other transfer coding is taken'),
  ERR_CURSOR_INVALID: row(400, 'The cursor is not valid for this call; start again without it'),
  ERR_PLAN_INVALID: row(400, 'The plan is not valid, has expired or belongs to another call; make a new dry run'),
  ERR_FORGET_TARGET: row(400, 'Name what to forget: a filter or a query that selects something, not everything'),
  ERR_AUTH_MISSING: row(401, 'A bearer token is required'),
  ERR_AUTH_INVALID: row(401, 'The token was rejected'),
  ERR_AUTH_KEYS_UNAVAILABLE: row(503, 'The token issuer’s keys cannot be read right now', 'warn', true),
  ERR_AUTH_UNDECIDED: row(503, 'Whether the token still holds cannot be checked right now', 'warn', true),
  ERR_SCOPE_MISSING: row(403, 'This call needs the scope {scope}'),
  ERR_NOT_CONFIRMED: row(403, 'The user was asked and did not confirm; nothing was changed'),
  ERR_CONFIRMATION_NEEDED: row(409, 'The user has to be asked first', 'debug'),
  ERR_ACTOR_FORBIDDEN: row(403, 'Only a user may do this, not an agent or a service'),
  ERR_NAMESPACE_FORBIDDEN: row(403, 'The token grants no {action} on this namespace'),
  ERR_ORIGIN_FORBIDDEN: row(403, 'This host or origin is not allowed'),
  ERR_ROUTE_NOT_FOUND: row(404, 'There is no such route'),
  ERR_METHOD_NOT_ALLOWED: row(405, 'This route does not take that method'),
  ERR_MEMORY_NOT_FOUND: row(404, 'There is no such memory, or the token may not see it'),
  ERR_RECALL_NOT_FOUND: row(404, 'There is no recall of this trace, or the token may not see it'),
  ERR_SESSION_NOT_FOUND: row(404, 'Session not found'),
  ERR_IDEMPOTENCY_IN_FLIGHT: row(409, 'A call with this Idempotency-Key is still running', 'info', true),
  ERR_VERSION_CONFLICT: row(409, 'The memory was changed at the same time; read it and try again', 'info', true),
  ERR_REVIEW_CHANGED: row(409, 'The memory is not as it was shown; read it again and decide then'),
  ERR_PRECONDITION_FAILED: row(412, 'The memory is at version {version}, not at the one in If-Match'),
  ERR_IDEMPOTENCY_MISMATCH: row(422, 'This Idempotency-Key was used with another payload'),
  ERR_RATE_LIMITED: row(429, 'Too many calls; try again in {seconds} s', 'info', true),
  ERR_TURN_SEARCHED: row(429, 'This turn has searched already: use what that search brought, or send another turn_id with the next turn'),
  ERR_STORE_UNAVAILABLE: row(503, 'Elasticsearch cannot be reached right now; {advice:try again}', 'error', true),
  ERR_STORE_REJECTED: row(500, 'The store refused the operation', 'error'),
  ERR_AUDIT_UNAVAILABLE: row(503, 'The audit log cannot be written right now: {advice:nothing was changed; try again}', 'error', true),
  ERR_GUARD_UNAVAILABLE: row(503, 'The guard cannot decide right now, so nothing was stored', 'error', true),
  ERR_WORKING_UNAVAILABLE: row(503, 'Working memory cannot be reached right now, so nothing was kept in it; try again', 'warn', true),
  ERR_KEY_DELETED: row(
    410,
    'The key of this tenant was deleted: what was sealed with it cannot be read any more; new values can be sealed after "hindsight-es keys rotate"',
  ),
  ERR_SEAL_BROKEN: row(
    500,
    'The sealed values cannot be opened: they were changed, or sealed by a key that is not there; write them again',
    'error',
  ),
  ERR_KEYS_UNAVAILABLE: row(503, 'The keys of this tenant cannot be opened right now; try again', 'error', true),
  ERR_EMBEDDING_UNAVAILABLE: row(503, 'The embedding model cannot be reached right now', 'warn', true),
  ERR_EMBEDDING_REJECTED: row(422, 'The embedding model refused the text: {detail}', 'warn'),
  ERR_LLM_UNAVAILABLE: row(503, 'The language model cannot be reached right now', 'warn', true),
  ERR_LLM_ANSWER: row(503, 'The language model gave no answer that can be used', 'warn', true),
  ERR_RERANK_UNAVAILABLE: row(503, 'The cross-encoder cannot be reached right now', 'warn', true),
  ERR_CALLER_GONE: row(499, 'The caller went away before the answer'),
  ERR_BUSY: row(503, 'The service is busy; try again', 'warn', true),
  ERR_INTERNAL: row(500, 'Something went wrong on our side', 'error'),
  // Start-up: status is not used; the text is the one sentence that `serve` prints before a non-zero exit.
  ERR_CONFIG_INVALID: row(500, 'The configuration is not valid: {detail}', 'error'),
  ERR_CONFIG_UNSAFE: row(500, 'Refusing to start: {detail}', 'error'),
  ERR_MASTER_KEY: row(500, 'MASTER_KEY is not the key that the tenants’ keys are wrapped with: {detail}', 'error'),
  ERR_NODE_VERSION: row(500, 'Node {found} is too old: install Node 20.19 or newer', 'error'),
  ERR_PORT_IN_USE: row(500, 'Port {port} is in use: stop the program that holds it or set PORT to another one', 'error'),
  ERR_ALREADY_RUNNING: row(500, 'A service is already running on this data directory (pid {pid}): stop it or set DATA_DIR', 'error'),
  ERR_DATA_DIR: row(
    500,
    'The data directory {path} cannot be used ({reason}): give this user access to it or set DATA_DIR to another one',
    'error',
  ),
  ERR_MODEL_MISSING: row(500, 'The multilingual model is not in {path}: run "npm run model:multilingual" once, then start again', 'error'),
  ERR_MODEL_BUILD: row(500, '{detail}', 'error'),
  ERR_ENGINE_JAVA: row(500, '{detail}', 'error'),
  ERR_ENGINE_MAVEN: row(500, '{detail}', 'error'),
  ERR_ENGINE_START: row(500, '{detail}', 'error'),
  ERR_ENGINE_DISK: row(500, '{detail}', 'error'),
  ERR_ENGINE_UNREACHABLE: row(500, 'Elasticsearch at {url} cannot be reached: {detail}', 'error'),
  ERR_ENGINE_TOO_OLD: row(500, 'Elasticsearch {found} at {url} is too old: 8.16 or newer is needed', 'error'),
  ERR_SCHEMA_DRIFT: row(500, 'The index {index} does not fit this version: {detail}', 'error'),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/** One fault in the request, by JSON pointer; `message` is ours, it never repeats the value. */
export interface FieldFault {
  readonly pointer: string;
  readonly message: string;
}

export interface ErrorOptions {
  /** Fills `{name}` in the public text; only trusted, short values. */
  readonly params?: Readonly<Record<string, string | number>>;
  readonly faults?: readonly FieldFault[];
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/**
 * Every error that may reach a caller. `message` is public text made from the table; the reason stays in `cause`
 * and goes to the log only.
 */
export class HindsightError extends Error {
  override readonly name = 'HindsightError';
  readonly code: ErrorCode;
  readonly faults: readonly FieldFault[];
  readonly retryAfterSeconds: number | undefined;
  /** What filled the public text: front ends read the missing scope from it. */
  readonly params: Readonly<Record<string, string | number>>;

  constructor(code: ErrorCode, options: ErrorOptions = {}) {
    super(fill(ERRORS[code].text, options.params ?? {}), options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.faults = options.faults ?? [];
    this.params = options.params ?? {};
    this.retryAfterSeconds = options.retryAfterSeconds ?? (ERRORS[code].retryable ? 1 : undefined);
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  get retryable(): boolean {
    return ERRORS[this.code].retryable;
  }
}

function fill(text: string, params: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)(?::([^}]*))?\}/g, (_all, name: string, absent = '') => String(params[name] ?? absent));
}

/** The error itself when it is ours, else ERR_INTERNAL with the original as cause. */
export function toHindsightError(error: unknown): HindsightError {
  return error instanceof HindsightError ? error : new HindsightError('ERR_INTERNAL', { cause: error });
}
