/** What may stand in a log line: keys that never do, and error texts with quoted values and credentials taken out; used by logger. */
import { HindsightError } from '../errors.ts';

/** Keys whose values are replaced wherever they stand, in any spelling of case, `-` and `_`. */
const SECRET_KEYS: ReadonlySet<string> = new Set(
  [
    ['authorization', 'token', 'agenttoken', 'accesstoken', 'bearer', 'cookie', 'setcookie', 'xapikey', 'apikey'],
    ['password', 'secret', 'servicesecret', 'masterkey', 'masterkeybase64', 'redisurl', 'jwk', 'privatekey', 'sealed', 'idempotencykey'],
    ['content', 'summary', 'title', 'query', 'queries', 'text', 'texts', 'note', 'passage', 'passages', 'vector', 'body', 'metadata'],
    ['keywords', 'tags', 'subject', 'topic', 'entities', 'codes', 'payload'],
  ].flat(),
);
export const REDACTED = '[redacted]';

const MAX_DEPTH = 6;
const MAX_ITEMS = 50;
const MAX_TEXT_CHARS = 1_000;
const MAX_QUOTED_CHARS = 40;
const MAX_CAUSES = 5;

/** A copy of log fields without what must not be logged; errors become plain facts. Cycles end at a depth of 6. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return scrub(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return typeof value === 'function' || typeof value === 'symbol' ? undefined : value;
  if (value instanceof Error) return describeError(value);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof Date) return value;
  if (depth >= MAX_DEPTH) return '[deep]';
  if (value instanceof Set || value instanceof Map) return redact([...value], depth);
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => redact(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_ITEMS)
      .map(([key, part]) => [key, isSecretKey(key) && part !== undefined && part !== null ? REDACTED : redact(part, depth + 1)]),
  );
}

export interface ErrorFacts {
  readonly type: string;
  readonly code: string | undefined;
  readonly message: string;
  /** Frames only: the first lines of a stack repeat the message. */
  readonly stack: string | undefined;
  /** `Type: message` of each cause, outermost first. */
  readonly causes: readonly string[];
}

/** Type, code, message and causes of an error, scrubbed; its other properties (requests, claims, bodies) are left out. */
export function describeError(error: Error): ErrorFacts {
  const causes: string[] = [];
  let cause: unknown = error.cause;
  while (cause !== undefined && causes.length < MAX_CAUSES) {
    causes.push(cause instanceof Error ? `${cause.name}: ${scrub(cause.message)}` : typeof cause);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  const code = 'code' in error && (typeof error.code === 'string' || typeof error.code === 'number') ? String(error.code) : undefined;
  // our own errors say where they come from by their code
  const frames = error instanceof HindsightError ? undefined : error.stack?.match(/^\s+at .+$/gm)?.slice(0, 8);
  return { type: error.name, code, message: scrub(error.message), stack: frames?.map((line) => line.trim()).join(' | '), causes };
}

/** Text for a log line: credentials and long quoted passages (an upstream's echo of what it was sent) taken out, length bounded. */
export function scrub(text: string): string {
  const bare = text
    .slice(0, MAX_TEXT_CHARS * 4)
    .replace(/\beyJ[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*){1,4}/g, REDACTED)
    .replace(/\b(bearer|basic|apikey)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${REDACTED}`)
    .replace(/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@]{1,500}@/gi, `$1${REDACTED}@`);
  return withoutQuotation(bare).slice(0, MAX_TEXT_CHARS);
}

/** From the first opening quote to the last quote, or to the end: quoted text may hold quotes itself, so pairs mean nothing. */
function withoutQuotation(text: string): string {
  const first = text.search(/(?<![\p{L}\p{N}])["'`“‘]/u);
  if (first === -1) return text;
  const last = Math.max(...['"', "'", '`', '”', '’'].map((quote) => text.lastIndexOf(quote)));
  const end = last > first ? last : text.length;
  const length = end - first - 1;
  return length > MAX_QUOTED_CHARS ? `${text.slice(0, first + 1)}[${length} characters]${text.slice(end)}` : text;
}

function isSecretKey(key: string): boolean {
  return SECRET_KEYS.has(key.replace(/[-_]/g, '').toLowerCase());
}
