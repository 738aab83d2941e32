/** How an operation asks the person behind the client; each front end asks in its own way, some by having the whole call made again. */
import type { AnswerLeg } from '../domain/trust.ts';
import { HindsightError } from '../errors.ts';

/** unanswered: closed, sent empty, too late, or the client failed; no yes, but no decision either. */
export type Confirmation = 'accepted' | 'declined' | 'unanswered';

/** What an operation finds again when its call is made again with the answer; goes through the client, signed, but readable. */
export type Kept = Readonly<Record<string, unknown>>;

export interface Confirm {
  /** False: this client has no way to ask its user. */
  readonly canAsk: boolean;
  /** How its answer comes back; the guard's policy says what that is worth. */
  readonly leg: AnswerLeg;
  /**
   * Asks once; `key` names the question within the call. On a leg without sessions ERR_CONFIRMATION_NEEDED carries the question out, and
   * the call is made again with the answer: what was done before asking must be in `kept`, or not be repeated.
   */
  ask(key: string, message: string, kept?: Kept): Promise<Confirmation>;
  /** What went out with the question `key` when this call was made before; undefined in a call that waits for its answer. */
  kept(key: string): Kept | undefined;
}

export const cannotAsk: Confirm = { canAsk: false, leg: 'retry', ask: async () => 'unanswered', kept: () => undefined };

/** Goes on only after a yes (ERR_NOT_CONFIRMED); a client that cannot ask has only the operation's own safeguards. */
export async function unlessDeclined(confirm: Confirm, key: string, message: string): Promise<void> {
  if (confirm.canAsk && (await confirm.ask(key, message)) !== 'accepted') throw new HindsightError('ERR_NOT_CONFIRMED');
}
