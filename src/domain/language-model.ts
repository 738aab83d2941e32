/** The language model port: one question, one answer that fits a schema; the judge, admission and summaries ask, providers/llm answers. */
import type { ZodType } from 'zod';

/** One question to a language model, answered by an object. */
export interface CompletionRequest<T> {
  /** What is asked, in the service's own words. */
  readonly instructions: string;
  /** What it is asked about; others may have written it. */
  readonly input: string;
  /** Name of the answer's form, `[a-z_]{1,64}`, and the form: an object without further fields. */
  readonly answer: { readonly name: string; readonly schema: ZodType<T> };
  /** For all of it: waiting for a place, retries, the answer's body. */
  readonly timeoutMs: number;
  readonly maxOutputTokens?: number;
  readonly signal?: AbortSignal;
}

/** A language model that answers questions one by one. It is given no tools, keeps nothing, and its answer is data that fits a schema. */
export interface LanguageModel {
  readonly model: string;
  /**
   * Failures: ERR_LLM_UNAVAILABLE (no answer in time, an outage, closed), ERR_LLM_ANSWER (its answer fits no schema, or it refuses the
   * question), or signal.reason when aborted.
   */
  complete<T>(request: CompletionRequest<T>): Promise<T>;
  /** Fails what is pending with ERR_LLM_UNAVAILABLE. */
  close(): Promise<void>;
}
