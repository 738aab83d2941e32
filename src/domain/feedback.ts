/** Feedback on memories: the verdicts, who gave them, and the port that keeps them beside the access counters. */
import type { Feedback } from './memory.ts';

export const FEEDBACK_VERDICTS = ['useful', 'wrong', 'outdated', 'cited'] as const;
export type FeedbackVerdict = (typeof FEEDBACK_VERDICTS)[number];

/** What one principal has said of one memory. */
export interface Vote {
  /** Owner mark and actor: a person and their agent are two. */
  readonly by: string;
  /** Less trusted than the memory when it was said. */
  readonly below: boolean;
  /** What it said last, and on which UTC day each verdict was given last. */
  readonly last: FeedbackVerdict;
  readonly days: Readonly<Partial<Record<FeedbackVerdict, string>>>;
  /** The last words to it, masked; read by no search. */
  readonly note?: string;
}

export interface KeptFeedback {
  readonly feedback: Feedback;
  readonly votes: readonly Vote[];
}

/** Failures: ERR_STORE_*, ERR_VERSION_CONFLICT when others kept changing it. */
export interface FeedbackStore {
  /** Reads, changes and writes what is kept of a memory until nobody was faster; `change` answers undefined to leave it. What stands then. */
  update(
    tenant: string,
    memoryId: string,
    change: (kept: KeptFeedback | undefined) => KeptFeedback | undefined,
  ): Promise<KeptFeedback | undefined>;
}
