/** Cross-encoder behind any /rerank-compatible endpoint (Cohere, Jina, vLLM, text-embeddings-inference, ...): one time-boxed POST a search. */
import type { Clock } from '../../domain/clock.ts';
import type { Rerank, Reranker } from '../../domain/reranker.ts';
import { traceHeaders } from '../../telemetry/trace-context.ts';
import { boundedFetch } from '../embedding/bounded-fetch.ts';
import { readScores, RerankUnavailable } from './provider.ts';

/** 20 scores are 2 KB; some servers repeat the documents. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** More at once than this only wait in the endpoint's own queue until their time is over. */
const MAX_CALLS = 32;
/** After so many failures in a row nobody waits for it for a while: each search would otherwise lose its whole time. */
const FAILURES_UNTIL_REST = 3;
const REST_MS = 10_000;

export interface HttpRerankerOptions {
  /** The endpoint itself, or what `/rerank` is put behind, e.g. https://api.jina.ai/v1. */
  readonly url: string;
  /** Servers of one model want none. */
  readonly model?: string | undefined;
  /** Local servers want none. */
  readonly apiKey?: string | undefined;
  /** For all of one call, the answer's body among it. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

type Dialect = (question: Rerank, model: string | undefined) => Readonly<Record<string, unknown>>;

/** Ways to ask; a server refuses with 400 or 422 the one that it does not know. */
const DIALECTS: readonly Dialect[] = [
  ({ query, documents }, model) => ({ ...(model === undefined ? {} : { model }), query, documents, top_n: documents.length }),
  // text-embeddings-inference on its own route
  ({ query, documents }) => ({ query, texts: documents }),
];

export class HttpReranker implements Reranker {
  readonly #options: HttpRerankerOptions;
  readonly #endpoint: string;
  readonly #fetch = boundedFetch(MAX_RESPONSE_BYTES);
  readonly #calls = new Set<AbortController>();
  #closed = false;
  /** The way that this endpoint took last. */
  #dialect = 0;
  #failures = 0;
  #restsUntilMs = 0;

  constructor(options: HttpRerankerOptions) {
    this.#options = options;
    this.#endpoint = endpointOf(options.url);
  }

  async rerank(question: Rerank): Promise<readonly number[]> {
    const { signal } = question;
    signal?.throwIfAborted();
    if (this.#closed) throw new RerankUnavailable('the cross-encoder is closed');
    if (this.#options.clock() < this.#restsUntilMs)
      throw new RerankUnavailable('the cross-encoder failed several times in a row and rests');
    if (this.#calls.size >= MAX_CALLS) throw new RerankUnavailable('too many calls wait for the cross-encoder');
    const call = new AbortController();
    const onAbort = (): void => call.abort();
    const timer = setTimeout(onAbort, this.#options.timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#calls.add(call);
    try {
      const scores = await this.#ask(question, call.signal);
      this.#failures = 0;
      return scores;
    } catch (error) {
      signal?.throwIfAborted();
      this.#noteFailure();
      if (error instanceof RerankUnavailable) throw error;
      throw new RerankUnavailable(
        call.signal.aborted ? 'no answer from the cross-encoder in time' : 'the call of the cross-encoder failed',
        error,
      );
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      this.#calls.delete(call);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const call of this.#calls) call.abort();
  }

  #noteFailure(): void {
    this.#failures += 1;
    if (this.#failures < FAILURES_UNTIL_REST) return;
    this.#failures = 0;
    this.#restsUntilMs = this.#options.clock() + REST_MS;
  }

  /** In the way that worked last, and where that is refused in the other. */
  async #ask(question: Rerank, signal: AbortSignal): Promise<readonly number[]> {
    const { model } = this.#options;
    const first = this.#dialect;
    let status = 0;
    for (const i of [first, 1 - first]) {
      const dialect = DIALECTS[i] as Dialect;
      const response = await this.#post(dialect(question, model), signal);
      if (response.ok) {
        const scores = readScores(await response.text(), question.documents.length);
        this.#dialect = i;
        return scores;
      }
      status = response.status;
      if (status !== 400 && status !== 422) break;
    }
    throw new RerankUnavailable(`status ${String(status)} from the cross-encoder`);
  }

  #post(body: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Response> {
    const { apiKey } = this.#options;
    return this.#fetch(this.#endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        ...traceHeaders(),
      },
      // unpaired surrogates are refused by strict JSON readers
      body: JSON.stringify(body, (_key, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)),
      signal,
    });
  }
}

function endpointOf(given: string): string {
  const url = new URL(given);
  if (!/\/rerank\/?$/.test(url.pathname)) url.pathname = `${url.pathname.replace(/\/+$/, '')}/rerank`;
  return url.href;
}
