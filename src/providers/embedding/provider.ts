/** The embedding port: vector spaces, the provider interface and its two kinds of failure; memory, jobs and search depend on this file only. */
import { HindsightError } from '../../errors.ts';

export type EmbeddingKind = 'query' | 'passage';

/** Maps a cosine of one space to [0, 1]: v = clip((cos - offset) / scale). */
export interface Calibration {
  readonly offset: number;
  readonly scale: number;
  /** True: a guess for a model that nobody calibrated, good for an order and for no floor. */
  readonly generic?: true;
}

/** One model's vectors in a field of their own. Spaces are never compared with each other; a new model is a new space. */
export interface VectorSpace {
  /** `[a-z0-9_]{1,40}`, e.g. 'zh', 'en'. */
  readonly name: string;
  /** dense_vector field, 'vec_' + name. */
  readonly field: string;
  /** Changes whenever the same text would get another vector. */
  readonly modelId: string;
  readonly dims: number;
  readonly calibration: Calibration;
  /** The same for questions whose own space is another one; `calibration` without it. */
  readonly crossCalibration?: Calibration;
  /** Boost of this space's knn clause in the one hybrid query, in engine score units. */
  readonly knnBoost: number;
}

/** Which spaces a text is stored in, and which spaces a query searches; the first of a query's is its primary (unnamed) knn clause. */
export interface SpaceRouting {
  spacesForText(text: string): readonly string[];
  spacesForQuery(text: string): readonly string[];
}

export interface EmbeddingProvider extends SpaceRouting {
  readonly profile: 'local' | 'local-multilingual' | 'openai';
  /** Throws EmbeddingUnavailable while the dimension is still unknown (profile openai without dims, before ready()). */
  readonly spaces: readonly VectorSpace[];
  /**
   * One L2-normalised vector for each text, in order.
   * @throws EmbeddingUnavailable (retry later), EmbeddingRejected (this text, for good), or signal.reason when aborted.
   */
  embed(space: string, texts: readonly string[], kind: EmbeddingKind, signal?: AbortSignal): Promise<Float32Array[]>;
  /** The vector of a query that is at hand, the caller's own copy; absent where none are kept. */
  kept?(space: string, query: string): Float32Array | undefined;
  /** Resolves when the provider can embed; throws EmbeddingUnavailable or EmbeddingRejected when it is unusable. May be called again. */
  ready(): Promise<void>;
  /** Fails what is pending with EmbeddingUnavailable and releases threads and sockets. */
  close(): Promise<void>;
}

/** Outage, time-out, full queue, closed, an answer that is not one: nothing is known to be wrong with the text, the call may succeed later. */
export class EmbeddingUnavailable extends HindsightError {
  /** `reason` goes to the log through `cause`, never to the caller. */
  constructor(reason: string, cause?: unknown) {
    super('ERR_EMBEDDING_UNAVAILABLE', { cause: new Error(reason, { cause }) });
  }
}

/** The model cannot make a usable vector of this text (refused, blank, NaN): the same call will fail again. */
export class EmbeddingRejected extends HindsightError {
  /** Position of the guilty text in the call; undefined when the answer does not tell which one. */
  readonly textIndex: number | undefined;
  readonly detail: string;

  /** `detail` is public: a fixed sentence of ours, never the text nor the upstream's words. */
  constructor(detail: string, textIndex?: number, cause?: unknown) {
    super('ERR_EMBEDDING_REJECTED', { params: { detail }, cause });
    this.detail = detail;
    this.textIndex = textIndex;
  }
}

/** The provider's space of that name; an unknown name is a mistake in our code, not a fault of the text. */
export function spaceNamed(spaces: readonly VectorSpace[], name: string): VectorSpace {
  const space = spaces.find((candidate) => candidate.name === name);
  if (space === undefined) throw new Error(`there is no vector space "${name}"`);
  return space;
}

/** Position of the first text that is empty or white space only, which no model has a meaning for; -1 when there is none. */
export function blankIndex(texts: readonly string[]): number {
  return texts.findIndex((text) => text.trim() === '');
}

/**
 * Scales `vector` to length 1 in place and returns it; undefined when it has no direction (a component is NaN or
 * infinite, or all are 0).
 */
export function normalise(vector: Float32Array): Float32Array | undefined {
  let squares = 0;
  for (const x of vector) squares += x * x;
  const norm = Math.sqrt(squares);
  if (!Number.isFinite(norm) || norm === 0) return undefined;
  for (let i = 0; i < vector.length; i += 1) vector[i] = (vector[i] ?? 0) / norm;
  return vector;
}
