/** W3C trace context: the trace id that ties a request, its log lines and its answer together; used by every front end and by jobs. */
import { randomFew } from '../domain/random.ts';

export interface Trace {
  /** 32 lower-case hexadecimal digits. */
  readonly traceId: string;
  /** Our own span: 16 hexadecimal digits. */
  readonly spanId: string;
  /** trace-flags of the caller, `00` without one. */
  readonly flags: string;
}

/** Version 00 is exactly this long; later versions may go on after a dash; ff and all-zero ids are invalid (section 3.2.2). */
const TRACEPARENT =
  /^(?:00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})|(?!00|ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})(?:-.*)?)$/;
const TRACEPARENT_MAX_CHARS = 256;

/** Goes on with the caller's trace under a span of our own; an absent or invalid header starts a new trace. */
export function openTrace(traceparent?: unknown): Trace {
  const match = typeof traceparent === 'string' && traceparent.length <= TRACEPARENT_MAX_CHARS ? TRACEPARENT.exec(traceparent) : null;
  return {
    traceId: match?.[1] ?? match?.[3] ?? randomHex(16),
    spanId: randomHex(8),
    flags: match?.[2] ?? match?.[4] ?? '00',
  };
}

/** Ids, not secrets. */
const randomHex = (bytes: number): string => randomFew(bytes).toString('hex');

/** The header for answers and for calls further on. */
export function traceparentOf(trace: Trace): string {
  return `00-${trace.traceId}-${trace.spanId}-${trace.flags}`;
}
