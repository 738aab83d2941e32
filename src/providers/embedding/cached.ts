/** Query vectors kept in memory around any provider, so a repeated question costs no model run; passages pass straight through. */
import { hash } from 'node:crypto';
import type { EmbeddingKind, EmbeddingProvider, VectorSpace } from './provider.ts';

export interface CacheStats {
  readonly entries: number;
  readonly hits: number;
  readonly misses: number;
  /** Queries that waited for the same text already on its way. */
  readonly shared: number;
}

/** One call of the inner provider on its way, for one or more queries that wait for it. */
interface Flight {
  readonly vectors: Promise<Float32Array[]>;
  /** Stops the call, and keeps new queries from joining what is being stopped. */
  readonly cancel: () => void;
  waiters: number;
}

interface Place {
  readonly flight: Flight;
  readonly at: number;
}

export class CachedEmbeddingProvider implements EmbeddingProvider {
  readonly #inner: EmbeddingProvider;
  readonly #maxEntries: number;
  /** Least recently used first. Keys are hashes: questions are not kept in memory. */
  readonly #vectors = new Map<string, Float32Array>();
  readonly #flights = new Map<string, Place>();
  #hits = 0;
  #misses = 0;
  #shared = 0;

  /** 2,000 entries of 512 dimensions are 4 MB. */
  constructor(inner: EmbeddingProvider, maxEntries = 2_000) {
    this.#inner = inner;
    this.#maxEntries = maxEntries;
  }

  get profile(): EmbeddingProvider['profile'] {
    return this.#inner.profile;
  }

  get spaces(): readonly VectorSpace[] {
    return this.#inner.spaces;
  }

  spacesForText(text: string): readonly string[] {
    return this.#inner.spacesForText(text);
  }

  spacesForQuery(text: string): readonly string[] {
    return this.#inner.spacesForQuery(text);
  }

  ready(): Promise<void> {
    return this.#inner.ready();
  }

  close(): Promise<void> {
    this.#vectors.clear();
    return this.#inner.close();
  }

  stats(): CacheStats {
    return { entries: this.#vectors.size, hits: this.#hits, misses: this.#misses, shared: this.#shared };
  }

  kept(space: string, query: string): Float32Array | undefined {
    const vector = this.#recall(keyOf(space, query));
    if (vector === undefined) return undefined;
    this.#hits += 1;
    return vector.slice();
  }

  /** As the inner provider's; the vectors are the caller's own copies. A failed call is not kept. */
  async embed(space: string, texts: readonly string[], kind: EmbeddingKind, signal?: AbortSignal): Promise<Float32Array[]> {
    if (kind !== 'query') return this.#inner.embed(space, texts, kind, signal);
    signal?.throwIfAborted();
    const keys = texts.map((text) => keyOf(space, text));
    const known = new Map<string, Float32Array>();
    const awaited = new Map<string, Place>();
    const missing = new Map<string, string>();
    for (const [i, key] of keys.entries()) {
      const vector = this.#recall(key);
      const place = this.#flights.get(key);
      if (vector !== undefined) known.set(key, vector);
      else if (place !== undefined) awaited.set(key, place);
      else missing.set(key, texts[i] ?? '');
    }
    this.#hits += known.size;
    this.#shared += awaited.size;
    this.#misses += missing.size;
    if (missing.size > 0) for (const [key, place] of this.#depart(space, missing)) awaited.set(key, place);
    const flights = [...new Set([...awaited.values()].map((place) => place.flight))];
    const landed = new Map<Flight, Float32Array[]>();
    await Promise.all(flights.map(async (flight) => landed.set(flight, await this.#await(flight, signal))));
    return keys.map((key) => {
      const place = awaited.get(key);
      const vector = known.get(key) ?? (place === undefined ? undefined : landed.get(place.flight)?.[place.at]);
      if (vector === undefined) throw new Error('the embedding provider gave fewer vectors than texts');
      return vector.slice();
    });
  }

  #recall(key: string): Float32Array | undefined {
    const vector = this.#vectors.get(key);
    if (vector === undefined) return undefined;
    this.#vectors.delete(key);
    this.#vectors.set(key, vector);
    return vector;
  }

  #keep(key: string, vector: Float32Array): void {
    this.#vectors.set(key, vector);
    for (const oldest of this.#vectors.keys()) {
      if (this.#vectors.size <= this.#maxEntries) break;
      this.#vectors.delete(oldest);
    }
  }

  #depart(space: string, missing: ReadonlyMap<string, string>): Map<string, Place> {
    const keys = [...missing.keys()];
    const abort = new AbortController();
    const vectors = this.#inner.embed(space, [...missing.values()], 'query', abort.signal);
    const land = (): void => {
      for (const key of keys) if (this.#flights.get(key)?.flight === flight) this.#flights.delete(key);
    };
    const cancel = (): void => {
      land();
      abort.abort();
    };
    const flight: Flight = { vectors, cancel, waiters: 0 };
    const places = new Map(keys.map((key, at) => [key, { flight, at }]));
    for (const [key, place] of places) this.#flights.set(key, place);
    vectors.then((found) => {
      land();
      for (const [at, key] of keys.entries()) {
        const vector = found[at];
        if (vector !== undefined) this.#keep(key, vector);
      }
    }, land);
    return places;
  }

  /** The flight's vectors, or signal.reason as soon as this caller gives up; the last one to give up cancels the flight. */
  async #await(flight: Flight, signal: AbortSignal | undefined): Promise<Float32Array[]> {
    flight.waiters += 1;
    let onAbort: (() => void) | undefined;
    const aborted = new Promise<never>((_resolve, reject) => {
      onAbort = () => {
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    });
    try {
      return await Promise.race([flight.vectors, aborted]);
    } finally {
      if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort);
      flight.waiters -= 1;
      if (flight.waiters === 0) flight.cancel();
    }
  }
}

function keyOf(space: string, text: string): string {
  return hash('sha256', `${space}\0${text}`, 'base64');
}
