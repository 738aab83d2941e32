/** Signs of a plain text as tokens (text/signs), and the pauses around a negation. */
import { signIn } from '../../../text/signs.ts';
import type { Token } from './token.ts';

/** The sign that stands here; undefined for a mark that changes nothing. A run of the same one is as many signs. */
export function signAt(plain: string, at: number): Token | undefined {
  const { char, sign } = signIn(plain, at);
  return sign === undefined ? undefined : { type: 'sign', text: sign, start: at, end: at + char.length, capital: false };
}

/** Marks that part a negation from what stands beside it: "no, sugar" is not "no sugar", nor 不,可以 what 不可以 is. */
const PAUSE = /^[要是用行对会能可必了准许]?[\s"']*[.,;:!?()[\]{}、。…—–]/u;
const PAUSE_BEFORE = /[.,;:!?()[\]{}、。…—–][\s"']*$/u;
/** Text of the sign that stands for a pause. */
export const PAUSED = 'pause';
const END = /^[要是用行对会能可必了准许]?[\s.!?。…"']*$/u;

/** A negation with the pauses around it as signs; brackets are signs already. */
export function pausesAround(plain: string, not: Token): readonly Token[] {
  const before = PAUSE_BEFORE.exec(plain.slice(Math.max(0, not.start - 4), not.start));
  const rest = plain.slice(not.end, not.end + 4);
  const after = PAUSE.test(rest) && !(END.test(rest) && not.end + 4 >= plain.length);
  const pause = (at: number): Token => ({ type: 'sign', text: PAUSED, start: at, end: at, capital: false });
  return [...(before === null || not.start === 0 ? [] : [pause(not.start)]), not, ...(after ? [pause(not.end)] : [])];
}
