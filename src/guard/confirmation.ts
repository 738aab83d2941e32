/** Whose confirmation counts for whom, and so what may instruct a reader's assistant; the screen's envelope and influence_only ask. */
import type { Confirmation, MemoryRecord } from '../domain/memory.ts';
import type { Principal } from '../domain/principal.ts';
import { INSTRUCTION_TIER, TIER } from '../domain/trust.ts';

type Confirmable = Pick<MemoryRecord, 'owner' | 'trust_tier' | 'guard'>;

/** What is noted on a record that this person lets in; `writer` is the owner of the words. */
export function confirmationBy(principal: Principal, writer: string): Confirmation {
  return { principal: principal.owner, of_another: principal.owner !== writer && principal.scopes.has('memory:admin') };
}

/**
 * Whether a person confirmed this for the reader: the reader themself, or an admin who did not write it. What writers confirm of their own
 * counts for them alone, and a confirmation of which nobody knows whose it was counts for the owner (guard.md, G12: MINJA).
 */
export function confirmedFor({ owner, trust_tier: tier, guard }: Confirmable, reader: string): boolean {
  if (tier < TIER.user_confirmed) return false;
  const { confirmed_by: by } = guard;
  return tier >= TIER.operator || (by === undefined ? owner === reader : by.of_another || by.principal === reader);
}

/**
 * Whether a record is more than data to consult: what the reader stated themself, and what was confirmed for them. No rule about words
 * decides this: what somebody else wrote into a shared place is data whatever it says, and what admins wrote into the reader's own memory
 * and let in themselves is so too.
 */
export function mayInstruct(record: Confirmable, reader: string): boolean {
  if (record.trust_tier < INSTRUCTION_TIER) return false;
  const { confirmed_by: by } = record.guard;
  const own = record.owner === reader && (by === undefined || by.of_another || by.principal === reader);
  return own || confirmedFor(record, reader);
}
