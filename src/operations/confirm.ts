/** How an operation asks the person behind the client before it does what cannot be undone; each front end asks in its own way. */
import { HindsightError } from '../errors.ts';

/** unsupported: this client has no way to ask its user. */
export type Confirmation = 'accepted' | 'declined' | 'unsupported';

/**
 * Asks once; `key` names the question within the call. An operation asks before it changes anything: on a leg without sessions the whole
 * call is made again with the answer. There ERR_CONFIRMATION_NEEDED carries the question out.
 */
export type Confirm = (key: string, message: string) => Promise<Confirmation>;

export const cannotAsk: Confirm = async () => 'unsupported';

/** Goes on unless the user says no (ERR_NOT_CONFIRMED); a client that cannot ask has only the operation's own safeguards. */
export async function unlessDeclined(confirm: Confirm, key: string, message: string): Promise<void> {
  if ((await confirm(key, message)) === 'declined') throw new HindsightError('ERR_NOT_CONFIRMED');
}
