/** The bounded queue in front of the embedding worker: one text at a time, query texts ahead of passages between any two texts. */
import { EmbeddingRejected, EmbeddingUnavailable, type EmbeddingKind } from './provider.ts';

export interface QueueLimits {
  /** Most texts that wait, by kind; passages can never shut queries out. */
  readonly query: number;
  readonly passage: number;
}

/** A backlog above these is answered with EmbeddingUnavailable: 256 queries are about 1.5 s of work, 4,096 turns 30 s. */
export const QUEUE_LIMITS: QueueLimits = { query: 256, passage: 4_096 };

interface Call {
  readonly space: string;
  readonly texts: readonly string[];
  readonly vectors: Float32Array[];
  settled: boolean;
  readonly resolve: (vectors: Float32Array[]) => void;
  readonly reject: (error: Error) => void;
}

export type EmbedOne = (space: string, text: string) => Promise<Float32Array>;

export class EmbeddingQueue {
  readonly #embedOne: EmbedOne;
  readonly #limits: QueueLimits;
  readonly #calls: Readonly<Record<EmbeddingKind, Call[]>> = { query: [], passage: [] };
  #pumping = false;

  constructor(embedOne: EmbedOne, limits: QueueLimits = QUEUE_LIMITS) {
    this.#embedOne = embedOne;
    this.#limits = limits;
  }

  /** Texts that wait, the one being computed included. */
  waiting(kind: EmbeddingKind): number {
    return this.#calls[kind].reduce((sum, call) => sum + call.texts.length - call.vectors.length, 0);
  }

  /**
   * Vectors of the texts in order. A call larger than the limit is taken when nothing of its kind waits. When aborted it
   * rejects with signal.reason at once; the text being computed is finished and dropped.
   */
  submit(space: string, texts: readonly string[], kind: EmbeddingKind, signal?: AbortSignal): Promise<Float32Array[]> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    if (texts.length === 0) return Promise.resolve([]);
    const waiting = this.waiting(kind);
    if (waiting > 0 && waiting + texts.length > this.#limits[kind]) {
      return Promise.reject(new EmbeddingUnavailable(`the embedding queue is full: ${String(waiting)} texts wait`));
    }
    const calls = this.#calls[kind];
    return new Promise<Float32Array[]>((resolve, reject) => {
      const leave = (): void => {
        call.settled = true;
        signal?.removeEventListener('abort', onAbort);
        const at = calls.indexOf(call);
        if (at >= 0) calls.splice(at, 1);
      };
      const onAbort = (): void => {
        call.reject(signal?.reason as Error);
      };
      const call: Call = {
        space,
        texts,
        vectors: [],
        settled: false,
        resolve: (vectors) => {
          leave();
          resolve(vectors);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      calls.push(call);
      void this.#pump();
    });
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    for (let call = this.#next(); call !== undefined; call = this.#next()) await this.#advance(call);
    this.#pumping = false;
  }

  #next(): Call | undefined {
    return this.#calls.query[0] ?? this.#calls.passage[0];
  }

  async #advance(call: Call): Promise<void> {
    const index = call.vectors.length;
    try {
      const vector = await this.#embedOne(call.space, call.texts[index] ?? '');
      if (call.settled) return;
      call.vectors.push(vector);
      if (call.vectors.length === call.texts.length) call.resolve(call.vectors);
    } catch (error) {
      if (call.settled) return;
      call.reject(error instanceof EmbeddingRejected ? new EmbeddingRejected(error.detail, index, error) : (error as Error));
    }
  }
}
