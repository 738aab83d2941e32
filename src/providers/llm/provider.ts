/** The two ways a language model fails (port LanguageModel, domain/ports); every provider throws these alone, callers tell them by code. */
import { HindsightError } from '../../errors.ts';

/** Outage, time-out, too many calls, closed: the same question may be answered later. */
export class LanguageModelUnavailable extends HindsightError {
  /** `reason` goes to the log through `cause`, never to a caller. */
  constructor(reason: string, cause?: unknown) {
    super('ERR_LLM_UNAVAILABLE', { cause: new Error(reason, { cause }) });
  }
}

/** It answered, and the answer cannot be used: no JSON, not of the schema, cut off, a refusal, a call of a tool. */
export class LanguageModelRejected extends HindsightError {
  constructor(reason: string, cause?: unknown) {
    super('ERR_LLM_ANSWER', { cause: new Error(reason, { cause }) });
  }
}
