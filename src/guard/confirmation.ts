/** Whose confirmation counts for whom, and so how far a record is trusted for one reader and what may instruct their assistant; the screen asks. */
import type { Confirmation, GuardMark, MemoryRecord } from '../domain/memory.ts';
import type { Principal } from '../domain/principal.ts';
import { INSTRUCTION_TIER, TIER } from '../domain/trust.ts';

type Confirmable = Pick<MemoryRecord, 'owner' | 'trust_tier' | 'guard'>;

/** How far a record is trusted for one reader. */
export interface Standing {
  readonly tier: number;
  /** Who confirmed these texts, where that is known: the reader, an admin who did not write them, or their writer. */
  readonly confirmedBy?: 'you' | 'admin' | 'writer';
}

/** Readers who confirmed one text for themselves; of more the oldest confirm it again. */
const MAX_CONFIRMERS = 256;

/** What is noted on a record that this person lets in; `writer` is the owner of the words. */
export function confirmationBy(principal: Principal, writer: string): Confirmation {
  return { principal: principal.owner, of_another: principal.owner !== writer && principal.scopes.has('memory:admin') };
}

/** The mark with a reader among those who confirmed the texts for themselves. */
export function confirmedAlsoFor(mark: GuardMark, reader: string): GuardMark {
  return { ...mark, confirmed_for: [...(mark.confirmed_for ?? []).filter((one) => one !== reader), reader].slice(-MAX_CONFIRMERS) };
}

/** The mark without that reader. */
export function withoutConfirmer({ confirmed_for: before = [], ...mark }: GuardMark, reader: string): GuardMark {
  const left = before.filter((one) => one !== reader);
  return left.length === 0 ? mark : { ...mark, confirmed_for: left };
}

/** Whose confirmations go with the very texts: those of a leave, or of a version that comes back. */
export function confirmationsOf({ confirmed_by, confirmed_for }: Partial<GuardMark>): Pick<GuardMark, 'confirmed_by' | 'confirmed_for'> {
  return { ...(confirmed_by === undefined ? {} : { confirmed_by }), ...(confirmed_for === undefined ? {} : { confirmed_for }) };
}

/** Whether the reader confirmed this for themself. */
export const confirmedThemself = ({ guard }: Pick<Confirmable, 'guard'>, reader: string): boolean =>
  guard.confirmed_for?.includes(reader) === true;

/**
 * Whether a person confirmed this for the reader: the reader themself, or an admin who did not write it. What writers confirm of their own
 * counts for them alone, and a confirmation of which nobody knows whose it was counts for the owner (guard.md, G12: MINJA).
 */
export function confirmedFor(record: Confirmable, reader: string): boolean {
  const { owner, trust_tier: tier, guard } = record;
  if (confirmedThemself(record, reader)) return true;
  if (tier < TIER.user_confirmed) return false;
  const { confirmed_by: by } = guard;
  return tier >= TIER.operator || (by === undefined ? owner === reader : by.of_another || by.principal === reader);
}

/** Whether these are the reader's own words, and not such as somebody else wrote into their memory and let in themself. */
export function isOwnWord({ owner, guard: { confirmed_by: by } }: Confirmable, reader: string): boolean {
  return owner === reader && (by === undefined || by.of_another || by.principal === reader);
}

/**
 * Whether a record is more than data to consult: what the reader stated themself, and what was confirmed for them. No rule about words
 * decides this: what somebody else wrote into a shared place is data whatever it says, and what admins wrote into the reader's own memory
 * and let in themselves is so too.
 */
export function mayInstruct(record: Confirmable, reader: string): boolean {
  return confirmedFor(record, reader) || (record.trust_tier >= INSTRUCTION_TIER && isOwnWord(record, reader));
}

/**
 * The tier at which a record stands against what is somebody else's: that which it has for them, as what its writer confirmed counts for the
 * writer alone. Their own confirmation of it raises it for nobody else, so not here.
 */
export function tierAgainst(record: Confirmable, owner: string): number {
  return record.owner === owner ? record.trust_tier : Math.min(record.trust_tier, standingFor(record, owner).tier);
}

/** How a record stands to another one: above 0 where it is trusted more, below where less. */
export function trustedMore(record: Confirmable, other: Confirmable): number {
  return tierAgainst(record, other.owner) - tierAgainst(other, record.owner);
}

/** The tier that a record has for this reader: user_confirmed is what was confirmed for them, and stated what was so for others alone. */
export function standingFor(record: Confirmable, reader: string): Standing {
  const { trust_tier: tier, guard } = record;
  if (confirmedThemself(record, reader)) return { tier: Math.max(tier, TIER.user_confirmed), confirmedBy: 'you' };
  if (tier !== TIER.user_confirmed) return { tier };
  const { confirmed_by: by } = guard;
  const standing = { tier: confirmedFor(record, reader) ? tier : TIER.user_stated };
  if (by === undefined) return standing;
  return { ...standing, confirmedBy: by.principal === reader ? 'you' : by.of_another ? 'admin' : 'writer' };
}
