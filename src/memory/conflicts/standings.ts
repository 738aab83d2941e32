/** Claims of a batch on texts and slots, each judged by the memory that it names: ours, free, held, or on its way; memory/conflicts/plan decides by them. */
import { isoTime } from '../../domain/clock.ts';
import type { MemoryRecord, StoredRecord } from '../../domain/memory.ts';
import type { SlotStore } from '../../domain/ports.ts';
import type { HeldSlot, SlotClaim, SlotDocument } from '../../domain/slots.ts';
import type { ServiceReads } from '../service-reads.ts';
import type { Claimed } from './entry.ts';
import { printId, printOf, slotKey, standingOf, viewOf } from './keys.ts';
import type { RelationPolicy } from './relation-policy.ts';

/**
 * How long a memory may be on its way after its claim. A store answers within milliseconds; who takes longer than `STORE_MS` looks once
 * more whose the claim is: an own claim that is `LATE_MS` old is renewed before, and as much is left for clocks that differ.
 */
export const LEASE_MS = 5_000;
const LATE_MS = 1_000;
export const STORE_MS = LEASE_MS - 2 * LATE_MS;

/** A record and the claims it makes. */
export interface Claimant {
  readonly record: MemoryRecord;
  readonly print: SlotClaim | undefined;
  readonly slot: SlotClaim | undefined;
}

/** What a record claims: its text while it stands, and its slot while it is active. */
export function claimsOf(record: MemoryRecord, policy: RelationPolicy, nowMs: number): Claimant {
  const print = printId(record, policy);
  const slot = slotKey(record, policy);
  const base = {
    tenant: record.tenant,
    namespace: record.namespace,
    generation: record.generation,
    owner: viewOf(record),
    memory_id: record.memory_id,
    created_at: isoTime(nowMs),
    updated_at: isoTime(nowMs),
    lease_until: isoTime(nowMs + LEASE_MS),
  };
  return {
    record,
    print:
      print === undefined
        ? undefined
        : { id: print, document: { ...base, slot_type: 'fingerprint', fingerprint: printOf(record, policy) } },
    slot:
      slot === undefined ? undefined : { id: slot.id, document: { ...base, slot_type: 'slot', subject: slot.subject, topic: slot.topic } },
  };
}

/** The same claim with another holder, or with the one it has and nothing left to mark. */
export function movedTo(held: HeldSlot, document: SlotDocument, previousId?: string): HeldSlot {
  const { previous_id: _before, ...rest } = document;
  const previous = previousId === undefined ? {} : { previous_id: previousId };
  return { ...held, document: { ...rest, created_at: held.document.created_at, ...previous } };
}

export interface Standing {
  readonly print: Claimed | undefined;
  readonly slot: Claimed | undefined;
  /** The record itself, when an earlier attempt of the same call has stored it. */
  readonly own: StoredRecord | undefined;
}

/**
 * Claims the texts first, and slots where nobody else is about to store the text: of two who write the same, none holds what the other waits
 * for. Whoever is in the way is read in one look-up for each place. `early`: slots that were read meanwhile; one that is there need not be
 * asked for. Errors: ERR_STORE_*.
 */
export async function claimAll(
  slots: SlotStore,
  reads: ServiceReads,
  claimants: readonly Claimant[],
  policy: RelationPolicy,
  nowMs: number,
  early: Promise<readonly HeldSlot[]> = Promise.resolve([]),
): Promise<readonly Standing[]> {
  const heads = new Map<string, StoredRecord>();
  const ask = async (
    asked: readonly { readonly record: MemoryRecord; readonly claim: SlotClaim | undefined }[],
    known: readonly HeldSlot[],
  ) => {
    const wanted = asked.flatMap(({ record, claim }) => (claim === undefined ? [] : [{ record, claim }]));
    const [first] = wanted;
    if (first === undefined) return asked.map(() => undefined);
    const there = new Map(known.map((held) => [held.id, held]));
    const unknown = wanted.filter(({ claim }) => !there.has(claim.id)).map(({ claim }) => claim);
    const claimed = unknown.length === 0 ? [] : await slots.claim(first.record.tenant, unknown);
    let next = 0;
    const found = wanted.map(({ claim }) => there.get(claim.id) ?? claimed[next++]);
    const refs = wanted.flatMap(({ record: { tenant, namespace, owner }, claim }, i) => {
      const held = found[i];
      // made now: nobody can have stored it
      if (held === undefined || held.document === claim.document) return [];
      const { memory_id, previous_id } = held.document;
      const ids = previous_id === undefined ? [memory_id] : [memory_id, previous_id];
      return ids.map((id) => ({ tenant, namespace, owner, memory_id: id }));
    });
    for (const stored of await reads.loadAll(refs)) heads.set(stored.record.memory_id, stored);
    await loadHeirs(reads, heads, found);
    const answers = new Map(wanted.map(({ claim }, i) => [claim.id, found[i]]));
    return asked.map(({ record, claim }) =>
      claim === undefined ? undefined : claimedBy(record, claim.id, answers.get(claim.id), heads, policy, nowMs),
    );
  };
  const prints = await ask(
    claimants.map(({ record, print }) => ({ record, claim: print })),
    [],
  );
  const places = await ask(
    claimants.map(({ record, slot }, i) => ({ record, claim: prints[i]?.state === 'wait' ? undefined : slot })),
    await early,
  );
  return claimants.map(({ record }, i) => ({ print: prints[i], slot: places[i], own: heads.get(record.memory_id) }));
}

/** What is to be moved of an own claim for it to last until the store has answered: nothing while it is young. */
export function renewed(held: HeldSlot, nowMs: number): readonly HeldSlot[] {
  const { document } = held;
  if (Date.parse(document.lease_until) - nowMs >= LEASE_MS - LATE_MS) return [];
  const next = { ...document, updated_at: isoTime(nowMs), lease_until: isoTime(nowMs + LEASE_MS) };
  return [movedTo(held, next, document.previous_id)];
}

function claimedBy(
  record: MemoryRecord,
  id: string,
  held: HeldSlot | undefined,
  heads: ReadonlyMap<string, StoredRecord>,
  policy: RelationPolicy,
  nowMs: number,
): Claimed {
  if (held === undefined) return { state: 'wait' };
  const { memory_id, previous_id, lease_until } = held.document;
  if (memory_id === record.memory_id) return { state: 'ours', held };
  const holding = (head: StoredRecord | undefined): boolean =>
    head !== undefined && holds(head.record, id, held.document, record, policy, nowMs);
  const head = heads.get(memory_id);
  const heir = held.document.slot_type === 'slot' ? heirOf(memory_id, heads) : head;
  if (isTurning(heir, heads, nowMs)) return { state: 'wait' };
  if (heir !== undefined && holding(heir)) return { state: 'held', held, head: heir, came: true };
  if (head === undefined && Date.parse(lease_until) > nowMs) return { state: 'wait' };
  // it never came: what it was to take the place of still stands
  const previous = previous_id === undefined ? undefined : heads.get(previous_id);
  if (head === undefined && previous !== undefined && holding(previous)) return { state: 'held', held, head: previous, came: false };
  return { state: 'free', held, came: head !== undefined, ...(head === undefined ? {} : { former: head.record }) };
}

/** Memories in a row that may have ended in each other's place outside of their slot: as the embed job settles them, or a person's update. */
const HEIRS_MAX = 4;

/** Reads what took the place of a slot's memory without taking the slot, too: seldom anything. */
async function loadHeirs(reads: ServiceReads, heads: Map<string, StoredRecord>, found: readonly (HeldSlot | undefined)[]): Promise<void> {
  for (let n = 0; n < HEIRS_MAX; n += 1) {
    const refs = found.flatMap((held) => {
      if (held?.document.slot_type !== 'slot') return [];
      const { record } = heirOf(held.document.memory_id, heads) ?? {};
      const next = record?.status === 'superseded' ? record.superseded_by : undefined;
      return record === undefined || next === undefined || heads.has(next) ? [] : [{ ...record, memory_id: next }];
    });
    if (refs.length === 0) return;
    const loaded = await reads.loadAll(refs);
    if (loaded.length === 0) return;
    for (const stored of loaded) heads.set(stored.record.memory_id, stored);
  }
}

/** The last that is known of those which ended in each other's place, the one named first. */
function heirOf(memoryId: string, heads: ReadonlyMap<string, StoredRecord>): StoredRecord | undefined {
  let head = heads.get(memoryId);
  for (let n = 0; n < HEIRS_MAX; n += 1) {
    const heir = nextOf(head, heads);
    if (heir === undefined) break;
    head = heir;
  }
  return head;
}

function nextOf(head: StoredRecord | undefined, heads: ReadonlyMap<string, StoredRecord>): StoredRecord | undefined {
  const { status, superseded_by: next } = head?.record ?? {};
  return status !== 'superseded' || next === undefined ? undefined : heads.get(next);
}

/** Two that have ended in each other's place a moment ago: one of them is about to be brought back (head-change). */
function isTurning(head: StoredRecord | undefined, heads: ReadonlyMap<string, StoredRecord>, nowMs: number): boolean {
  const other = nextOf(head, heads);
  if (head === undefined || other === undefined || nextOf(other, heads) !== head) return false;
  return [head, other].some(({ record }) => Date.parse(record.updated_at) > nowMs - LEASE_MS);
}

/** Whether a stored memory still is what the claim says. */
function holds(
  head: MemoryRecord,
  id: string,
  { slot_type, fingerprint, namespace, generation, owner }: SlotDocument,
  record: MemoryRecord,
  policy: RelationPolicy,
  nowMs: number,
): boolean {
  if (standingOf(head) !== standingOf(record)) return false;
  if (head.expires_at !== undefined && Date.parse(head.expires_at) <= nowMs) return false;
  if (slot_type === 'slot') return slotKey(head, policy)?.id === id;
  return head.namespace === namespace && head.generation === generation && viewOf(head) === owner && printOf(head, policy) === fingerprint;
}
