/** The cross-encoder port: a second opinion on the order of the best hits; memory/rerank asks, providers/rerank answers. */

export interface Rerank {
  /** Masked. */
  readonly query: string;
  /** What it is about to compare with the question, masked; at least one. */
  readonly documents: readonly string[];
  readonly signal?: AbortSignal;
}

/** Reads a question and a text together and says how well the text answers. Keeps nothing; its answer is numbers alone. */
export interface Reranker {
  /**
   * Relevance of each document, in the order given, in the model's own unit: 0 to 1, or a logit.
   * Failures: ERR_RERANK_UNAVAILABLE (no usable answer within its time, resting after failures, closed), or signal.reason when aborted.
   */
  rerank(question: Rerank): Promise<readonly number[]>;
  /** Fails what is pending with ERR_RERANK_UNAVAILABLE. */
  close(): Promise<void>;
}
