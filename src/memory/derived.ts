/** What was made from memories that go: with what is forgotten, hidden or held back a summary goes too, other derived memories are in doubt, and all come back with it; forget, restore, update, review, set-aside and conflicts call it. */
import { DEFAULT_STATUSES, SEARCHABLE_STATUSES, type MemoryRecord, type Status } from '../domain/memory.ts';
import { createHeadChange, type HeadChange } from './conflicts/head-change.ts';
import { DOUBT, refOf } from './conflicts/meet.ts';
import { SYSTEM_WRITER } from './record.ts';
import { serviceReads } from './service-reads.ts';
import type { TurnDeps } from './turn-context.ts';
import type { TurnLinks } from './turn-links.ts';

type Turns = Pick<TurnLinks, 'detach' | 'settle'>;
/** Whoever takes the parents away, or brings them back. */
type Writer = MemoryRecord['created_by'];
/** What of a derived memory, by what became of a parent. */
type Fields = Partial<MemoryRecord>;

export const SUMMARY_OF_FORGOTTEN = 'a memory that it sums up was forgotten';
export const MADE_OF_FORGOTTEN = 'a memory that it was made from was forgotten';
const SUMMARY_OF_HIDDEN = 'a memory that it sums up is no longer shared';
const SUMMARY_OF_HELD = 'a memory that it sums up is held back';
const MADE_OF_HELD = 'a memory that it was made from is held back';
const SUMMARY_OF_OTHER = 'possibly outdated: a memory that it sums up says something else by now';
const RETURNED = 'all that it was made from stands again';

const WENT: readonly string[] = [SUMMARY_OF_FORGOTTEN, SUMMARY_OF_HELD, SUMMARY_OF_HIDDEN];
const DOUBTED: readonly string[] = [MADE_OF_FORGOTTEN, MADE_OF_HELD];
const WAS = '; it was ';
/** Held back by the guard, or refused. */
const HELD: readonly Status[] = ['candidate', 'pending', 'quarantined', 'rejected'];

/**
 * Before parents are forgotten, so that no crash leaves a summary to be found with their words: the summary is forgotten too, restorable by
 * id, and can be made anew. Seen are all of the namespace, whoever's: a private summary has the words as well. Safe to repeat. ERR_STORE_*.
 */
export async function leaveWithParents(deps: TurnDeps, turns: Turns, by: Writer, parents: readonly MemoryRecord[]): Promise<void> {
  await changeEach(deps, turns, by, await derivedOf(deps, parents), goesWithForgotten);
}

/**
 * Before one parent changes from `before` to `after`: a summary is forgotten where its readers may no longer know the parent (made private) or
 * where that is held back; it ends with the parent, and is in doubt where the parent says something else or no longer holds. Nothing is looked up where the change takes nothing away. Safe to repeat. ERR_STORE_*.
 */
export async function leaveWithChange(deps: TurnDeps, turns: Turns, by: Writer, before: MemoryRecord, after: MemoryRecord): Promise<void> {
  const hides = before.visibility === 'shared' && after.visibility === 'private';
  const heldBack = SEARCHABLE_STATUSES.includes(before.status) && HELD.includes(after.status);
  const ends = DEFAULT_STATUSES.includes(before.status) && after.status === 'superseded';
  const endsSooner = after.expires_at !== undefined && after.expires_at !== before.expires_at;
  const saysOther = before.content !== after.content || ends;
  if (!hides && !heldBack && !saysOther && !endsSooner) return;
  await changeEach(deps, turns, by, await derivedOf(deps, [before]), (record) => {
    if (heldBack) return goes(record, SUMMARY_OF_HELD, MADE_OF_HELD);
    if (record.kind !== 'summary') return undefined;
    if (hides && !standsFor(after, record)) return goes(record, SUMMARY_OF_HIDDEN, '');
    const fields: Fields = {
      ...(saysOther && record.doubt === undefined ? doubtOf(record) : {}),
      ...(endsSooner && outlives(record, after) ? { expires_at: after.expires_at } : {}),
    };
    return Object.keys(fields).length === 0 ? undefined : fields;
  });
}

/** Once other memories have taken the place of these: what sums them up may be outdated. Safe to repeat. ERR_STORE_*. */
export async function doubtWithEnded(deps: TurnDeps, turns: Turns, by: Writer, ended: readonly MemoryRecord[]): Promise<void> {
  const summaries = (await derivedOf(deps, ended)).filter(({ kind }) => kind === 'summary');
  await changeEach(deps, turns, by, summaries, (record) => {
    const fields = record.doubt === undefined ? doubtOf(record) : {};
    return Object.keys(fields).length === 0 ? undefined : fields;
  });
}

/** Once parents stand again: what left with them comes back where all of its parents stand for its readers. Safe to repeat. ERR_STORE_*. */
export async function returnWithParents(deps: TurnDeps, turns: Turns, by: Writer, parents: readonly MemoryRecord[]): Promise<void> {
  const left: MemoryRecord[] = [];
  for (const record of await derivedOf(deps, parents))
    if (returned(record) !== undefined && (await parentsStand(deps, record))) left.push(record);
  await changeEach(deps, turns, by, left, returned);
}

/** Whether a derived memory's readers may know all of its parents; of one that is not found they may not. ERR_STORE_*. */
export async function parentsStand(deps: TurnDeps, record: MemoryRecord): Promise<boolean> {
  const ids = [...new Set(record.parents ?? [])];
  const parents = await serviceReads(deps).load(record, ids);
  return parents.length === ids.length && parents.every((parent) => standsFor(parent.record, record));
}

const goesWithForgotten = (record: MemoryRecord): Fields | undefined => goes(record, SUMMARY_OF_FORGOTTEN, MADE_OF_FORGOTTEN);

/** A summary goes from wherever a search could find it; of another derived memory that holds the weight is halved. */
function goes({ kind, status, doubt }: MemoryRecord, why: string, doubted: string): Fields | undefined {
  if (kind === 'summary') {
    if (!SEARCHABLE_STATUSES.includes(status)) return undefined;
    return { status: 'forgotten', reason: status === 'active' ? why : `${why}${WAS}${status}` };
  }
  return DEFAULT_STATUSES.includes(status) && doubt === undefined ? { doubt: DOUBT, reason: doubted } : undefined;
}

/** The doubt of what may be found; one that left with its parents keeps the reason by which it comes back, in doubt then. */
function doubtOf(record: MemoryRecord): Fields {
  if (returned(record) !== undefined) return { doubt: DOUBT };
  return DEFAULT_STATUSES.includes(record.status) ? { doubt: DOUBT, reason: SUMMARY_OF_OTHER } : {};
}

/** Undefined for what did not leave in this way. */
function returned({ status, reason = '' }: MemoryRecord): Fields | undefined {
  const [why = '', was = 'active'] = reason.split(WAS);
  if (status === 'forgotten' && WENT.includes(why)) return { status: was as Status, reason: RETURNED };
  // undefined takes the field away: the head is written whole
  return DOUBTED.includes(why) ? ({ doubt: undefined, reason: RETURNED } as unknown as Fields) : undefined;
}

/** Whether the readers of what was made of it may know a source. */
function standsFor(source: MemoryRecord, { owner, visibility }: MemoryRecord): boolean {
  if (source.status === 'forgotten' || HELD.includes(source.status)) return false;
  return source.visibility === 'shared' || (source.owner === owner && visibility === 'private');
}

const outlives = ({ expires_at: end }: MemoryRecord, parent: MemoryRecord): boolean =>
  end === undefined || Date.parse(end) > Date.parse(parent.expires_at ?? end);

async function changeEach(
  deps: TurnDeps,
  turns: Turns,
  by: Writer,
  records: readonly MemoryRecord[],
  to: Parameters<HeadChange>[2],
): Promise<void> {
  const change = createHeadChange(deps, turns);
  let changed = false;
  const tenant = records[0]?.tenant;
  for (const record of records) {
    // who took a source away is nothing that the owner of a private memory is told
    const writer = record.visibility === 'private' && record.owner !== by.sub ? SYSTEM_WRITER : by;
    changed = (await change(refOf(record), writer, to)) !== undefined || changed;
  }
  if (changed && tenant !== undefined) await deps.dirty.mark(tenant);
}

/** Heads that name one of the parents, but for proposals to them, which end in their own way (memory/proposals). */
async function derivedOf(deps: TurnDeps, parents: readonly MemoryRecord[]): Promise<readonly MemoryRecord[]> {
  const ids = new Set(parents.map(({ memory_id: id }) => id));
  const isOwn = ({ memory_id: id, conflict_with: to = [], parents: of = [] }: MemoryRecord): boolean =>
    !ids.has(id) && !to.some((one) => ids.has(one) && of.includes(one));
  const found = new Map((await serviceReads(deps).madeOf(parents)).filter(isOwn).map((record) => [record.memory_id, record]));
  return [...found.values()];
}
