/** Two admitted texts become one memory: trust, taint and origins as of something derived from both (guard.md, derivation); guard/guard calls it. */
import type { MemoryRecord, Origin } from '../domain/memory.ts';
import { LIMITS } from '../domain/wire/common.ts';
import { HindsightError } from '../errors.ts';
import { sealedTextsOf } from './sealed-texts.ts';

const MAX_ORIGINS = 16;
/** Two records become one only where both stand in the same place, seen by the same people. */
const PLACE = ['tenant', 'namespace', 'visibility'] as const satisfies readonly (keyof MemoryRecord)[];

/** Whether uniting would tell of a source or a writer that is not told of yet. */
export function bringsOrigin(head: Pick<MemoryRecord, 'origin'>, other: Pick<MemoryRecord, 'origin'>): boolean {
  const known = new Set(head.origin.map(originOf));
  return other.origin.some((origin) => !known.has(originOf(origin)));
}

type Tagged = Pick<MemoryRecord, 'tags'>;

/** Whether the other one is found by a tag that the head lacks. */
export function bringsTags(head: Tagged, other: Tagged): boolean {
  return unitedTags(head, other).length > (head.tags ?? []).length;
}

/** Whether the tags of both are few enough for one memory. */
export function holdsTags(head: Tagged, other: Tagged): boolean {
  return unitedTags(head, other).length <= LIMITS.tags;
}

const unitedTags = (head: Tagged, other: Tagged): readonly string[] => [...new Set([...(head.tags ?? []), ...(other.tags ?? [])])];

/**
 * The record as no more trusted than the less trusted of both, with the taint, tags, parents and origins of both.
 * @throws ERR_INTERNAL when it is not the head, or has a text that neither has.
 */
export function united(record: MemoryRecord, head: MemoryRecord, other: MemoryRecord): MemoryRecord {
  const wrong = PLACE.find((field) => record[field] !== head[field] || other[field] !== head[field]) ?? foreignPart(record, head, other);
  if (wrong !== undefined) throw new HindsightError('ERR_INTERNAL', { cause: new Error(`unite: ${wrong} was changed`) });
  const taint = [...new Set([...(head.taint ?? []), ...(other.taint ?? [])])];
  const parents = [...new Set([...(head.parents ?? []), ...(other.parents ?? [])])];
  const tags = unitedTags(head, other).slice(0, LIMITS.tags);
  const { taint: _taint, parents: _parents, ...rest } = record;
  return {
    ...rest,
    trust_tier: Math.min(head.trust_tier, other.trust_tier),
    origin: unitedOrigins(head.origin, other.origin),
    guard: unitedMark(record, head, other),
    ...(tags.length > 0 ? { tags } : {}),
    ...(taint.length > 0 ? { taint } : {}),
    ...(parents.length > 0 ? { parents } : {}),
  };
}

function foreignPart(record: MemoryRecord, head: MemoryRecord, other: MemoryRecord): string | undefined {
  if (record.memory_id !== head.memory_id) return 'memory_id';
  if (record.owner !== head.owner) return 'owner';
  const [before, brought] = [sealedTextsOf(head), sealedTextsOf(other)];
  return Object.entries(sealedTextsOf(record)).find(([field, text]) => text !== before[field] && text !== brought[field])?.[0];
}

/**
 * Confirmed is what was confirmed of both, by the same person; readers have confirmed the very texts of the head, which somebody else's saying
 * the same takes from nobody.
 */
function unitedMark(record: MemoryRecord, head: MemoryRecord, other: MemoryRecord): MemoryRecord['guard'] {
  const { guard } = record;
  const { confirmed_by: by } = head.guard;
  const { confirmed_by: _by, confirmed_for: _for, ...mark } = guard;
  const same = by !== undefined && JSON.stringify(by) === JSON.stringify(other.guard.confirmed_by);
  const unchanged = JSON.stringify(sealedTextsOf(record)) === JSON.stringify(sealedTextsOf(head)) && !bringsTags(head, other);
  const readers = head.guard.confirmed_for?.filter((one) => unchanged || other.guard.confirmed_for?.includes(one)) ?? [];
  return { ...mark, ...(same ? { confirmed_by: by } : {}), ...(readers.length > 0 ? { confirmed_for: readers } : {}) };
}

/** Origins of both, each once; the first one is always kept. */
function unitedOrigins(first: readonly Origin[], second: readonly Origin[]): readonly Origin[] {
  const known = new Set(first.map(originOf));
  const all = [...first, ...second.filter((origin) => !known.has(originOf(origin)))];
  return all.length <= MAX_ORIGINS ? all : [...all.slice(0, 1), ...all.slice(1 - MAX_ORIGINS)];
}

const originOf = ({ type, uri, principal, connector, doc_hash }: Origin): string =>
  JSON.stringify([type, uri, principal, connector, doc_hash]);
