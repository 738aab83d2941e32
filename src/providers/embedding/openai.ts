/** Profile `openai`: one space from any OpenAI-compatible endpoint (OpenAI, vLLM, Ollama, TEI, LM Studio, ...). */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import OpenAI, { APIError, APIUserAbortError } from 'openai';
import { traceHeaders } from '../../telemetry/trace-context.ts';
import { statusOf } from '../api-status.ts';
import { boundedFetch, ResponseTooLarge } from './bounded-fetch.ts';
import { readEmbeddings } from './openai-answer.ts';
import {
  blankIndex,
  EmbeddingRejected,
  EmbeddingUnavailable,
  spaceNamed,
  type Calibration,
  type EmbeddingKind,
  type EmbeddingProvider,
  type VectorSpace,
} from './provider.ts';
import { cutText } from './cut-text.ts';

const BATCH_TEXTS = 64;
const TIMEOUT_MS = 15_000;
const RETRIES = 2;
const FIRST_RETRY_MS = 300;
/** A longer Retry-After is not waited for: the caller degrades or the job comes back. */
const MAX_RETRY_MS = 2_000;
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
/** 8,000 units stay below the 8,192 tokens of OpenAI's models for prose in English and Chinese. */
const MAX_TEXT_UNITS = 8_000;
/** A cosine model nobody has calibrated: unrelated texts near .2, paraphrases near .8. */
const GENERIC_CALIBRATION: Calibration = { offset: 0.2, scale: 0.6, generic: true };
const GENERIC_KNN_BOOST = 400;
/**
 * The e5 family was trained at a temperature of .01, so that all its cosines crowd in .7 to 1 (its model cards): on the generic scale every
 * memory would be fully similar. Measured on multilingual-e5-small; of its larger sisters it is still a guess.
 */
const E5_MODEL = /(?:^|[^a-z0-9])e5(?:[^a-z0-9]|$)(?!mistral)/;
const E5_CALIBRATION: Calibration = { offset: 0.66, scale: 0.27, generic: true };
const E5_KNN_BOOST = 950;

export interface OpenAiEmbeddingOptions {
  /** Up to and without `/embeddings`, e.g. http://127.0.0.1:11434/v1. */
  readonly baseUrl: string;
  readonly model: string;
  /** Local servers want none. */
  readonly apiKey?: string;
  /** Known dimension; discovered by ready() otherwise. */
  readonly dims?: number;
  readonly calibration?: Calibration;
  readonly knnBoost?: number;
  /** Put before every text of its kind, e.g. 'query: ' and 'passage: ' for the e5 family. */
  readonly prefix?: Partial<Record<EmbeddingKind, string>>;
  /** Of one attempt, headers and body. */
  readonly timeoutMs?: number;
}

export class OpenAiEmbeddingProvider implements EmbeddingProvider {
  readonly profile = 'openai';
  readonly #options: OpenAiEmbeddingOptions;
  readonly #client: OpenAI;
  readonly #calls = new Set<AbortController>();
  #closed = false;
  #space: VectorSpace | undefined;

  constructor(options: OpenAiEmbeddingOptions) {
    this.#options = options;
    if (options.dims !== undefined) this.#space = openAiSpace(options, options.dims);
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
      timeout: options.timeoutMs ?? TIMEOUT_MS,
      fetch: boundedFetch(MAX_RESPONSE_BYTES),
    });
  }

  get spaces(): readonly VectorSpace[] {
    if (this.#space === undefined) throw new EmbeddingUnavailable('the dimension of the embedding model is not known before ready()');
    return [this.#space];
  }

  spacesForText(_text: string): readonly string[] {
    return this.spaces.map((space) => space.name);
  }

  spacesForQuery(_text: string): readonly string[] {
    return this.spaces.map((space) => space.name);
  }

  /**
   * One probe text; also finds the dimension when it was not given.
   * @throws EmbeddingRejected when the endpoint has another dimension than configured: no waiting mends that.
   */
  async ready(): Promise<void> {
    const [vector] = await this.#call(['ready'], undefined, undefined);
    const found = vector?.length ?? 0;
    this.#space ??= openAiSpace(this.#options, found);
    const { dims } = this.#space;
    if (found !== dims) throw new EmbeddingRejected(`the vector has ${String(found)} dimensions, not ${String(dims)}`);
  }

  async embed(space: string, texts: readonly string[], kind: EmbeddingKind, signal?: AbortSignal): Promise<Float32Array[]> {
    const { dims } = spaceNamed(this.spaces, space);
    signal?.throwIfAborted();
    const blank = blankIndex(texts);
    if (blank >= 0) throw new EmbeddingRejected('the text is blank', blank);
    const prefix = this.#options.prefix?.[kind] ?? '';
    const vectors: Float32Array[] = [];
    for (let from = 0; from < texts.length; from += BATCH_TEXTS) {
      const batch = texts.slice(from, from + BATCH_TEXTS).map((text) => prefix + cutText(text, MAX_TEXT_UNITS));
      try {
        vectors.push(...(await this.#call(batch, dims, signal)));
      } catch (error) {
        if (!(error instanceof EmbeddingRejected) || from === 0) throw error;
        throw new EmbeddingRejected(error.detail, error.textIndex === undefined ? undefined : from + error.textIndex, error);
      }
    }
    return vectors;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const call of this.#calls) call.abort();
  }

  async #call(input: string[], dims: number | undefined, signal: AbortSignal | undefined): Promise<Float32Array[]> {
    signal?.throwIfAborted();
    if (this.#closed) throw new EmbeddingUnavailable('the embedding provider is closed');
    // A controller of its own for each call: the client never takes its listener off the signal it is given.
    const call = new AbortController();
    const onAbort = (): void => {
      call.abort();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#calls.add(call);
    try {
      return readEmbeddings(await this.#request(input, call.signal), input.length, dims);
    } catch (error) {
      signal?.throwIfAborted();
      throw toEmbeddingError(error, input.length);
    } finally {
      this.#calls.delete(call);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async #request(input: string[], signal: AbortSignal): Promise<unknown> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        // 'float' also keeps the client from asking for base64 and decoding it unchecked.
        return await this.#client.embeddings.create(
          { model: this.#options.model, input, encoding_format: 'float' },
          { signal, headers: traceHeaders() },
        );
      } catch (error) {
        const waitMs = attempt < RETRIES ? retryDelayMs(error, attempt) : undefined;
        if (waitMs === undefined) throw error;
        await delay(waitMs, undefined, { signal });
      }
    }
  }
}

/**
 * The space of a model: its name is a slug of the model id and the dimension, because another model or another
 * dimension (a dense_vector field cannot change it) must be another field. A long id keeps 8 hex digits of its hash.
 */
export function openAiSpace(options: Pick<OpenAiEmbeddingOptions, 'model' | 'calibration' | 'knnBoost'>, dims: number): VectorSpace {
  const e5 = E5_MODEL.test(options.model.toLowerCase());
  const suffix = `_${String(dims)}`;
  const slug = options.model
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  const room = 40 - suffix.length;
  const hash = createHash('sha256').update(options.model).digest('hex').slice(0, 8);
  const name = (slug === '' ? hash : slug.length <= room ? slug : `${slug.slice(0, room - 9)}_${hash}`) + suffix;
  return {
    name,
    field: `vec_${name}`,
    modelId: options.model,
    dims,
    calibration: options.calibration ?? (e5 ? E5_CALIBRATION : GENERIC_CALIBRATION),
    knnBoost: options.knnBoost ?? (e5 ? E5_KNN_BOOST : GENERIC_KNN_BOOST),
  };
}

/** Milliseconds until the next try of a 429 or 5xx (RFC 9110 section 10.2.3 for Retry-After); undefined for what is not retried. */
function retryDelayMs(error: unknown, attempt: number): number | undefined {
  if (!(error instanceof APIError)) return undefined;
  const { status, headers } = error as APIError<number | undefined, Headers | undefined>;
  if (status === undefined || (status !== 429 && status < 500)) return undefined;
  const backOffMs = FIRST_RETRY_MS * 2 ** attempt * (0.75 + Math.random() / 2);
  const askedMs = Number(headers?.get('retry-after') ?? 0) * 1_000;
  if (askedMs > MAX_RETRY_MS) return undefined;
  return askedMs > backOffMs ? askedMs : backOffMs;
}

function toEmbeddingError(error: unknown, texts: number): EmbeddingRejected | EmbeddingUnavailable {
  if (error instanceof EmbeddingRejected || error instanceof EmbeddingUnavailable) return error;
  if (error instanceof APIUserAbortError) return new EmbeddingUnavailable('the embedding provider is closed', error);
  if (error instanceof APIError) {
    if (error.cause instanceof ResponseTooLarge)
      return new EmbeddingUnavailable('the answer of the embedding endpoint is too large', error);
    const { status } = error as APIError<number | undefined>;
    // 401, 403 and 404 speak of the key or the model: a matter of configuration, no fault of the text.
    if (status === 400 || status === 413 || status === 422) {
      return new EmbeddingRejected('the embedding endpoint refused it', texts === 1 ? 0 : undefined, statusOf(error));
    }
    return new EmbeddingUnavailable(
      status === undefined ? 'no answer from the embedding endpoint' : `status ${String(status)} from the embedding endpoint`,
      statusOf(error),
    );
  }
  if (error instanceof SyntaxError) return new EmbeddingUnavailable('the answer of the embedding endpoint is not JSON', error);
  return new EmbeddingUnavailable('the embedding call failed', error);
}
