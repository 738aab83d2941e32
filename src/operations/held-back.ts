/** What the guard held back, towards the caller: asks the user where the client can, and says in every other case who can decide, and how. */
import { HindsightError } from '../errors.ts';
import type { ReviewInput } from '../domain/wire/review.ts';
import type { Kept } from './confirm.ts';
import type { OperationContext } from './define.ts';
import { questionAbout } from './question.ts';

/** What became of a held-back memory after its user was asked. */
export type Settled =
  | { readonly decision: 'approved'; readonly status: string; readonly version: number }
  | { readonly decision: 'rejected' }
  /** Nobody could be asked, nobody answered, or it was changed or decided on while the question stood. */
  | { readonly decision: 'none'; readonly because: string };

const KEY = 'keep';

/** The answer of an earlier round of this call, when this round only brings what the user said to it. */
export function answerBefore({ confirm }: OperationContext): Kept | undefined {
  return confirm.kept(KEY)?.['answer'] as Kept | undefined;
}

/**
 * Asks about one memory that was just stored as pending. `answer`: the call's own answer, which goes out with the question and comes back
 * with it, so that nothing is written twice.
 */
export async function askToKeep(memoryId: string, answer: Kept, context: OperationContext): Promise<Settled> {
  const { confirm, memory } = context;
  // nobody is asked for an answer that would count for nothing
  if (!confirm.canAsk || !memory.believes(confirm.leg, context)) return { decision: 'none', because: UNASKED };
  const before = confirm.kept(KEY);
  const held = await memory.heldBack(memoryId, context);
  if (held === undefined) return { decision: 'none', because: before === undefined ? UNASKED : OVERTAKEN };
  const { message, seen } = questionAbout(held);
  // the hash of what was shown, which after another round is not what stands there now
  const { content_hash } = (before ?? held) as Pick<ReviewInput, 'content_hash'>;
  const said = await confirm.ask(KEY, message, { content_hash, answer });
  if (said === 'unanswered') return { decision: 'none', because: UNANSWERED };
  const decision = said === 'accepted' ? 'approve' : 'reject';
  try {
    const { outcome, status, version } = await memory.acknowledge(
      { memory_id: memoryId, decision, content_hash, seen, leg: confirm.leg },
      context,
    );
    return outcome === 'approved' ? { decision: outcome, status, version } : { decision: outcome };
  } catch (error) {
    if (error instanceof HindsightError && OVERTAKEN_CODES.has(error.code)) return { decision: 'none', because: OVERTAKEN };
    throw error;
  }
}

const OVERTAKEN_CODES: ReadonlySet<string> = new Set(['ERR_MEMORY_NOT_FOUND', 'ERR_REVIEW_CHANGED', 'ERR_VERSION_CONFLICT']);

const UNASKED = 'the guard holds this back until a person confirms it';
const UNANSWERED = 'the user was asked and gave no answer, so the guard still holds this back';
const OVERTAKEN = 'it was changed or decided on after it was shown, so the answer changed nothing';

export const AGREED = 'the user was asked and agreed';
export const REFUSED = 'the user was asked and said no; do not write it again';

/** For a pending memory: nothing an agent can do by itself. */
export function howToConfirm(memoryId: string, because = UNASKED): string {
  return (
    `CONFIRMATION_REQUIRED: ${because}. A person can: hindsight-es confirm ${memoryId}, or over REST GET /v1/confirmations and ` +
    `POST /v1/confirmations/${memoryId}/approve with the content_hash shown there`
  );
}

/** For a quarantined memory; the rules are this text's own. */
export function howToReview(memoryId: string, ruleIds: readonly string[]): string {
  const rules = ruleIds.length === 0 ? '' : ` (${ruleIds.join(', ')})`;
  return (
    `QUARANTINED: the guard took this for an attack${rules}, so no agent gets it. A person can review it: hindsight-es quarantine, or over ` +
    `REST GET /v1/quarantine and POST /v1/quarantine/${memoryId}/approve`
  );
}
