/** Language model behind any OpenAI-compatible chat endpoint (OpenAI, vLLM, Ollama, LM Studio, llama.cpp, ...); the guard's judge asks it. */
import { setTimeout as delay } from 'node:timers/promises';
import OpenAI, { APIConnectionError, APIError } from 'openai';
import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions';
import { toJSONSchema } from 'zod';
import type { CompletionRequest, LanguageModel } from '../../domain/language-model.ts';
import { traceHeaders } from '../../telemetry/trace-context.ts';
import { statusOf } from '../api-status.ts';
import { boundedFetch, ResponseTooLarge } from '../embedding/bounded-fetch.ts';
import { readCompletion } from './openai-answer.ts';
import { LanguageModelRejected, LanguageModelUnavailable } from './provider.ts';

/** Calls at once: more only wait in the endpoint's own queue, without its time being bounded there. */
export const MAX_CALLS = 8;
const RETRIES = 2;
const FIRST_RETRY_MS = 200;
const MAX_RETRY_MS = 2_000;
/** An answer that cannot be used is asked for once more: sampling is not quite deterministic on any server. */
const ANSWER_TRIES = 2;
const DEFAULT_OUTPUT_TOKENS = 512;
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** What we ask about stays below this: texts are cut into windows by the callers. */
const MAX_INPUT_CHARS = 64_000;

export interface OpenAiLanguageModelOptions {
  /** Up to and without `/chat/completions`, e.g. http://127.0.0.1:11434/v1. */
  readonly baseUrl: string;
  readonly model: string;
  /** Local servers want none. */
  readonly apiKey?: string;
}

type Dialect = (request: CompletionRequest<unknown>) => Partial<ChatCompletionCreateParamsNonStreaming>;

const schemaFormat: Dialect = ({ answer }) => {
  const { $schema: _draft, ...schema } = toJSONSchema(answer.schema);
  return { response_format: { type: 'json_schema', json_schema: { name: answer.name, strict: true, schema } } };
};
const tokensOf = ({ maxOutputTokens }: CompletionRequest<unknown>): number => maxOutputTokens ?? DEFAULT_OUTPUT_TOKENS;

/** Ways to ask, the best first: servers refuse with 400 or 422 what they do not know. The schema stands in the instructions as well. */
const DIALECTS: readonly Dialect[] = [
  (r) => ({ ...schemaFormat(r), temperature: 0, max_tokens: tokensOf(r) }),
  // OpenAI's reasoning models take neither temperature nor max_tokens, and think before they answer
  (r) => ({ ...schemaFormat(r), max_completion_tokens: tokensOf(r) + 4_096 }),
  (r) => ({ response_format: { type: 'json_object' }, temperature: 0, max_tokens: tokensOf(r) }),
  (r) => ({ temperature: 0, max_tokens: tokensOf(r) }),
];

export class OpenAiLanguageModel implements LanguageModel {
  readonly model: string;
  readonly #client: OpenAI;
  readonly #calls = new Set<AbortController>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #closed = false;
  /** The way that this endpoint took last. */
  #dialect = 0;

  constructor(options: OpenAiLanguageModelOptions) {
    this.model = options.model;
    // Everything the client would otherwise read from the environment is set here.
    this.#client = new OpenAI({
      baseURL: options.baseUrl,
      apiKey: options.apiKey ?? 'none',
      organization: null,
      project: null,
      adminAPIKey: null,
      webhookSecret: null,
      logLevel: 'off',
      maxRetries: 0,
      fetch: boundedFetch(MAX_RESPONSE_BYTES),
    });
  }

  async complete<T>(request: CompletionRequest<T>): Promise<T> {
    const { signal, timeoutMs } = request;
    signal?.throwIfAborted();
    if (this.#closed) throw new LanguageModelUnavailable('the language model is closed');
    if (request.input.length > MAX_INPUT_CHARS) throw new LanguageModelRejected('the question is too long');
    // A controller of its own for each call: the client never takes its listener off the signal it is given.
    const call = new AbortController();
    const onAbort = (): void => call.abort();
    const timer = setTimeout(onAbort, timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#calls.add(call);
    try {
      await this.#place(call.signal);
      try {
        return await this.#answer(request, call.signal);
      } finally {
        this.#running -= 1;
        this.#waiting.shift()?.();
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw toLanguageModelError(error, call.signal.aborted);
    } finally {
      clearTimeout(timer);
      this.#calls.delete(call);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const call of this.#calls) call.abort();
  }

  /** Waits for one of the places; rejects when the time is over first. */
  async #place(signal: AbortSignal): Promise<void> {
    while (this.#running >= MAX_CALLS) {
      await new Promise<void>((resolve, reject) => {
        const wake = (): void => {
          signal.removeEventListener('abort', leave);
          resolve();
        };
        const leave = (): void => {
          this.#waiting.splice(this.#waiting.indexOf(wake), 1);
          reject(new LanguageModelUnavailable('too many calls wait for the language model'));
        };
        this.#waiting.push(wake);
        signal.addEventListener('abort', leave, { once: true });
      });
    }
    signal.throwIfAborted();
    this.#running += 1;
  }

  async #answer<T>(request: CompletionRequest<T>, signal: AbortSignal): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return readCompletion(await this.#ask(request, signal), request.answer.schema);
      } catch (error) {
        if (!(error instanceof LanguageModelRejected) || tries === ANSWER_TRIES) throw error;
      }
    }
  }

  /** In the way that worked last, and where that is refused in the others. */
  async #ask(request: CompletionRequest<unknown>, signal: AbortSignal): Promise<unknown> {
    const first = this.#dialect;
    const ordered = [...DIALECTS.entries()].sort(([a], [b]) => Number(b === first) - Number(a === first));
    let refusal: unknown;
    for (const [i, dialect] of ordered) {
      try {
        const answer = await this.#request({ ...this.#question(request), ...dialect(request) }, signal);
        this.#dialect = i;
        return answer;
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refusal = statusOf(error);
      }
    }
    throw new LanguageModelRejected('the endpoint refuses the question', refusal);
  }

  #question({ instructions, input, answer }: CompletionRequest<unknown>): ChatCompletionCreateParamsNonStreaming {
    const { $schema: _draft, ...schema } = toJSONSchema(answer.schema);
    const form = `Answer with one JSON object of this JSON schema and nothing else:\n${JSON.stringify(schema)}`;
    return {
      model: this.model,
      messages: [
        { role: 'system', content: `${instructions}\n\n${form}`.toWellFormed() },
        { role: 'user', content: input.toWellFormed() },
      ],
    };
  }

  async #request(body: ChatCompletionCreateParamsNonStreaming, signal: AbortSignal): Promise<unknown> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#client.chat.completions.create(body, { signal, headers: traceHeaders() });
      } catch (error) {
        const waitMs = attempt < RETRIES && !signal.aborted ? retryDelayMs(error, attempt) : undefined;
        if (waitMs === undefined) throw error;
        await delay(waitMs, undefined, { signal });
      }
    }
  }
}

/** 400 and 422: the request is not to the endpoint's liking, whoever sends it. */
function isRefusal(error: unknown): boolean {
  const status: unknown = error instanceof APIError ? error.status : undefined;
  return status === 400 || status === 422;
}

/** Milliseconds until the next try of a 429, a 5xx or a lost connection (RFC 9110 section 10.2.3 for Retry-After); undefined for what is not retried. */
function retryDelayMs(error: unknown, attempt: number): number | undefined {
  if (!(error instanceof APIError)) return undefined;
  const { status, headers } = error as APIError<number | undefined, Headers | undefined>;
  const lost = error instanceof APIConnectionError && !(error.cause instanceof ResponseTooLarge);
  if (!lost && (status === undefined || (status !== 429 && status < 500))) return undefined;
  const backOffMs = FIRST_RETRY_MS * 2 ** attempt * (0.75 + Math.random() / 2);
  const askedMs = Number(headers?.get('retry-after') ?? 0) * 1_000;
  if (askedMs > MAX_RETRY_MS) return undefined;
  return askedMs > backOffMs ? askedMs : backOffMs;
}

function toLanguageModelError(error: unknown, aborted: boolean): LanguageModelRejected | LanguageModelUnavailable {
  if (error instanceof LanguageModelRejected || error instanceof LanguageModelUnavailable) return error;
  if (aborted) return new LanguageModelUnavailable('no answer from the language model in time', error);
  if (error instanceof APIError) {
    if (error.cause instanceof ResponseTooLarge) return new LanguageModelRejected('the answer is too large', error);
    const { status } = error as APIError<number | undefined>;
    return new LanguageModelUnavailable(
      status === undefined ? 'no answer from the language model' : `status ${String(status)} from the language model`,
      statusOf(error),
    );
  }
  if (error instanceof SyntaxError) return new LanguageModelRejected('the answer of the endpoint is not JSON', error);
  return new LanguageModelUnavailable('the call of the language model failed', error);
}
