/** The one memory that a person decides on or is shown: one read by id, and of what was read only what waits for them or is theirs to confirm. */
import type { Status, StoredRecord } from '../domain/memory.ts';
import { mapUnscreened, type Unscreened } from '../domain/sealed.ts';
import { HindsightError } from '../errors.ts';
import type { AccessRequest } from '../gate/access-policy.ts';
import type { MemoryDeps } from './deps.ts';
import type { CallContext, ReviewState } from './gateway.ts';
import { waitsUntil } from './review-item.ts';

/** Waits in this state, in time, and is the caller's to decide on. ERR_MEMORY_NOT_FOUND. */
export async function loadHeld(deps: MemoryDeps, state: ReviewState, memoryId: string, call: CallContext): Promise<StoredRecord> {
  return found(heldIn(deps, await look(deps, memoryId, call), state, call));
}

/** ERR_MEMORY_NOT_FOUND for what is absent, not active, held back by today's rules, or not the caller's to read. */
export async function loadConfirmable(deps: MemoryDeps, memoryId: string, call: CallContext): Promise<StoredRecord> {
  return found(await confirmableIn(deps, await look(deps, memoryId, call), call));
}

/** What waits in this state, else, of what can be confirmed, an active memory. ERR_MEMORY_NOT_FOUND where neither is the caller's. */
export async function loadDecidable(deps: MemoryDeps, state: ReviewState, memoryId: string, call: CallContext): Promise<StoredRecord> {
  const read = await look(deps, memoryId, call);
  const held = heldIn(deps, read, state, call);
  return found(held ?? (state === 'pending' ? await confirmableIn(deps, read, call) : undefined));
}

type Look = Unscreened<readonly StoredRecord[]>;

async function look(deps: MemoryDeps, memoryId: string, call: CallContext): Promise<Look> {
  return deps.index.get(deps.guard.scope({ memoryIds: [memoryId] }, reading(deps, call)));
}

function heldIn(deps: MemoryDeps, read: Look, state: ReviewState, call: CallContext): StoredRecord | undefined {
  const { principal } = call;
  const [stored] = deps.guard.permitted(read, deps.guard.scope({}, { ...reading(deps, call, state), action: 'write' }));
  if (stored === undefined || (stored.record.owner !== principal.owner && !principal.scopes.has('memory:admin'))) return undefined;
  const until = waitsUntil(stored.record);
  return until !== undefined && Date.parse(until) <= deps.clock() ? undefined : stored;
}

async function confirmableIn(deps: MemoryDeps, read: Look, call: CallContext): Promise<StoredRecord | undefined> {
  const by = deps.guard.scope({}, reading(deps, call));
  const records = mapUnscreened(read, (all) => all.map(({ record }) => record));
  const shown = (await deps.guard.screenRecords(records, by, { raw: true })).items;
  return shown.length === 0 ? undefined : deps.guard.permitted(read, by)[0];
}

function reading(deps: MemoryDeps, { principal }: CallContext, status: Status = 'active'): AccessRequest {
  return { principal, action: 'read', reach: 'granted', statuses: [status], nowMs: deps.clock() };
}

function found(stored: StoredRecord | undefined): StoredRecord {
  if (stored === undefined) throw new HindsightError('ERR_MEMORY_NOT_FOUND');
  return stored;
}

/** A read that answers this one first, which was just made, and only when it has been overtaken asks again. */
export function startingWith(first: StoredRecord, again: () => Promise<StoredRecord>): () => Promise<StoredRecord> {
  let fresh: StoredRecord | undefined = first;
  return async () => {
    const known = fresh;
    fresh = undefined;
    return known ?? again();
  };
}
