/** The only door to memory: operations and jobs call this, it calls the guard, the service and the guard again. */
import type { Status } from '../domain/memory.ts';
import type { Principal } from '../domain/principal.ts';
import type { ContextAnswer, ContextInput } from '../domain/wire/context.ts';
import type { FeedbackAnswer, FeedbackInput } from '../domain/wire/feedback.ts';
import type { ForgetAnswer, ForgetInput } from '../domain/wire/forget.ts';
import type {
  GetInput,
  HistoryAnswer,
  HistoryInput,
  ListAnswer,
  ListInput,
  MemoryView,
  SearchAnswer,
  SearchInput,
} from '../domain/wire/read.ts';
import type { RecallTraceAnswer, RecallTraceInput } from '../domain/wire/recall.ts';
import type { KeysDeleteAnswer, KeysDeleteInput, RevealAnswer, RevealInput } from '../domain/wire/keys.ts';
import type { CollectInput, NamespaceAnswer, NamespaceInput } from '../domain/wire/namespace.ts';
import type { RestoreAnswer, RestoreTarget } from '../domain/wire/restore.ts';
import type { ReviewAnswer, ReviewInput, ReviewListAnswer, ReviewListInput } from '../domain/wire/review.ts';
import type { ExportInput, ImportAnswer, ImportInput } from '../domain/wire/transfer.ts';
import type { SummarizeAnswer, SummarizeInput } from '../domain/wire/summary.ts';
import type { StatsAnswer, StatsInput } from '../domain/wire/stats.ts';
import type {
  StateAnswer,
  StateInput,
  StateSetAnswer,
  StateSetInput,
  TurnAddAnswer,
  TurnAddInput,
  TurnsAnswer,
  TurnsInput,
} from '../domain/wire/session.ts';
import type { UpdateAnswer, UpdateInput, WriteAnswer, WriteInput, WriteResult } from '../domain/wire/write.ts';
import type { Answer } from '../guard/release.ts';
import type { AnswerLeg } from '../domain/trust.ts';

/** Waits for a decision: `pending` to be confirmed, `quarantined` to be let out or not. */
export type ReviewState = Extract<Status, 'pending' | 'quarantined'>;

/** Who calls, under which trace. */
export interface CallContext {
  readonly principal: Principal;
  readonly traceId: string;
  readonly signal: AbortSignal;
  readonly idempotencyKey: string | undefined;
  /** Route or tool name: part of the idempotency key. */
  readonly route: string;
  /**
   * Told, once at most, just before the store is asked, of the results the call will have if the store takes everything; not told while
   * anything else is open. What it throws ends the call with nothing stored.
   */
  readonly aboutToStore?: ((results: readonly WriteResult[]) => void) | undefined;
}

/** A pending write as its user is asked about it. */
export interface HeldBack {
  readonly memory_id: string;
  readonly namespace: string;
  /** As stored, by field. */
  readonly texts: Readonly<Record<string, string>>;
  /** What a yes does. */
  readonly asks: 'write' | 'update' | 'invalidate' | 'share';
  readonly content_hash: string;
  readonly rule_ids: readonly string[];
}

/** With how much of the texts was in the question, and how the answer came back. */
export type Acknowledgement = ReviewInput & Answer;

/** Answers without `trace_id`; operations add it. */
type Bare<T> = Omit<T, 'trace_id'>;

export interface MemoryGateway {
  write(input: WriteInput, call: CallContext): Promise<Bare<WriteAnswer>>;
  search(input: SearchInput, call: CallContext): Promise<Bare<SearchAnswer>>;
  /** The block for a prompt. */
  context(input: ContextInput, call: CallContext): Promise<Bare<ContextAnswer>>;
  get(input: GetInput, call: CallContext): Promise<MemoryView>;
  list(input: ListInput, call: CallContext): Promise<Bare<ListAnswer>>;
  update(input: UpdateInput, call: CallContext): Promise<Bare<UpdateAnswer>>;
  restore(input: RestoreTarget, call: CallContext): Promise<Bare<RestoreAnswer>>;
  history(input: HistoryInput, call: CallContext): Promise<Bare<HistoryAnswer>>;
  feedback(input: FeedbackInput, call: CallContext): Promise<Bare<FeedbackAnswer>>;
  /** `answered`: the user agreed to the plan when the client asked, and how that came back. */
  forget(input: ForgetInput, call: CallContext, answered?: AnswerLeg): Promise<Bare<ForgetAnswer>>;
  /** How many memories a plan of this caller takes at most. ERR_PLAN_INVALID. */
  plannedCount(plan: string, call: Pick<CallContext, 'principal'>): number;
  /** What the guard held back in this state and the caller may decide on. */
  listForReview(state: ReviewState, input: ReviewListInput, call: CallContext): Promise<Bare<ReviewListAnswer>>;
  /** What the guard holds back of this caller's own writing, for the form of its client; undefined when nothing of the kind waits. */
  heldBack(memoryId: string, call: CallContext): Promise<HeldBack | undefined>;
  /** Whether an answer that comes back this way is taken for that of the caller's user. */
  believes(leg: AnswerLeg, call: Pick<CallContext, 'principal'>): boolean;
  /** Carries out the answer that the client brought: a yes gives at most user_stated, a no rejects. ERR_ACTOR_FORBIDDEN for one that is not believed. */
  acknowledge(input: Acknowledgement, call: CallContext): Promise<Bare<ReviewAnswer>>;
  decide(state: ReviewState, input: ReviewInput, call: CallContext): Promise<Bare<ReviewAnswer>>;
  /** The lines of an export file; ends with an error, and without its last line, when something breaks on the way. */
  exportLines(input: ExportInput, call: CallContext): Promise<AsyncIterable<string>>;
  /** The sealed values of a memory, for a person. */
  reveal(input: RevealInput, call: CallContext): Promise<Bare<RevealAnswer>>;
  /** A summary with what it rests on; stored only with `store`. */
  summarize(input: SummarizeInput, call: CallContext): Promise<Bare<SummarizeAnswer>>;
  /** What the recalls of a trace returned and why: the caller's own, with memory:audit the tenant's. */
  recallTrace(input: RecallTraceInput, call: CallContext): Promise<Bare<RecallTraceAnswer>>;
  deleteKeys(input: KeysDeleteInput, call: CallContext): Promise<Bare<KeysDeleteAnswer>>;
  readNamespace(input: NamespaceInput, call: CallContext): Promise<Bare<NamespaceAnswer>>;
  switchCollect(input: CollectInput, call: CallContext): Promise<Bare<NamespaceAnswer>>;
  stats(input: StatsInput, call: CallContext): Promise<Bare<StatsAnswer>>;
  importItems(input: ImportInput, call: CallContext): Promise<Bare<ImportAnswer>>;
  /** Working memory: what a session holds, for its owner alone. */
  addTurn(input: TurnAddInput, call: CallContext): Promise<Bare<TurnAddAnswer>>;
  turns(input: TurnsInput, call: CallContext): Promise<Bare<TurnsAnswer>>;
  setState(input: StateSetInput, call: CallContext): Promise<Bare<StateSetAnswer>>;
  state(input: StateInput, call: CallContext): Promise<Bare<StateAnswer>>;
}
