/** One call of the embedder that ends in bounded time: by its answer, by the worker's stop, or by giving a hanging endpoint up. */
import { EmbeddingUnavailable, type EmbeddingProvider } from '../providers/embedding/provider.ts';

/** Texts of one call: bounds memory and, on the slowest machine (0.5 s a text), the time it takes. */
const TEXTS_PER_CALL = 64;

export interface EmbedCallOptions {
  readonly embedder: Pick<EmbeddingProvider, 'embed'>;
  /** Aborted when the worker is to stop. */
  readonly signal: AbortSignal;
  /** Longest time of one call, retries of the provider included, ms. */
  readonly callLimitMs: number;
  /** Awaited before each call, so that leases outlive it. */
  readonly beforeCall: () => Promise<void>;
}

/** Vectors of the texts of one record or of several, as many calls as that takes. */
export type EmbedCall = (space: string, texts: readonly string[]) => Promise<Float32Array[]>;

/**
 * @throws what the provider throws; EmbeddingUnavailable when a call takes longer than the limit; signal.reason at once when aborted,
 * whether or not the provider heeds its signal.
 */
export function createEmbedCall({ embedder, signal, callLimitMs, beforeCall }: EmbedCallOptions): EmbedCall {
  const once = async (space: string, texts: readonly string[]): Promise<Float32Array[]> => {
    signal.throwIfAborted();
    await beforeCall();
    signal.throwIfAborted();
    // A controller of its own for each call: nothing is left hanging on the worker's signal.
    const call = new AbortController();
    let onStop: (() => void) | undefined;
    let timer: NodeJS.Timeout | undefined;
    const ended = new Promise<never>((_resolve, reject) => {
      const end = (reason: Error): void => {
        reject(reason);
        call.abort(reason);
      };
      onStop = () => end(signal.reason as Error);
      signal.addEventListener('abort', onStop, { once: true });
      timer = setTimeout(() => end(new EmbeddingUnavailable(`no vectors in ${String(callLimitMs)} ms`)), callLimitMs);
    });
    try {
      return await Promise.race([embedder.embed(space, texts, 'passage', call.signal), ended]);
    } finally {
      clearTimeout(timer);
      if (onStop !== undefined) signal.removeEventListener('abort', onStop);
    }
  };
  return async (space, texts) => {
    const vectors: Float32Array[] = [];
    for (let from = 0; from < texts.length; from += TEXTS_PER_CALL)
      vectors.push(...(await once(space, texts.slice(from, from + TEXTS_PER_CALL))));
    return vectors;
  };
}

/** Whole records, as many as fit into one call; at least one. */
export function* groupsOf<W extends { readonly texts: readonly string[] }>(works: readonly W[]): Generator<readonly W[]> {
  let group: W[] = [];
  let texts = 0;
  for (const work of works) {
    if (group.length > 0 && texts + work.texts.length > TEXTS_PER_CALL) {
      yield group;
      group = [];
      texts = 0;
    }
    group.push(work);
    texts += work.texts.length;
  }
  if (group.length > 0) yield group;
}
