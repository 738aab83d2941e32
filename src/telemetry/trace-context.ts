/** The trace of the call or job run that is under way: set once where it begins, read by the log, the Elasticsearch client and the embedder. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { traceparentOf, type Trace } from './trace.ts';

interface Current {
  trace: Trace;
  /** What runs, by a name of ours: a route's path or a job. */
  readonly origin: string;
}

const storage = new AsyncLocalStorage<Current>();

/** Runs `work`, and everything it awaits or starts, under a trace. `origin` comes from a closed set: it becomes a header. */
export function withTrace<T>(trace: Trace, origin: string, work: () => T): T {
  return storage.run({ trace, origin }, work);
}

/** Gives what is under way another trace from here on: that of a message which names its own. Without effect outside a call. */
export function continueTrace(trace: Trace): void {
  const current = storage.getStore();
  if (current !== undefined) current.trace = trace;
}

export function currentTraceId(): string | undefined {
  return storage.getStore()?.trace.traceId;
}

/** The W3C header for a call further on; empty outside a call. */
export function traceHeaders(): { traceparent?: string } {
  const current = storage.getStore();
  return current === undefined ? {} : { traceparent: traceparentOf(current.trace) };
}

export function currentOrigin(): string | undefined {
  return storage.getStore()?.origin;
}
