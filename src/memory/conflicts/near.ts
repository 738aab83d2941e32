/** Memories that may say nearly the same as a new one: by their words, from the index and from what this process has stored in the last seconds. */
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../domain/clock.ts';
import { DEFAULT_STATUSES, type MemoryRecord } from '../../domain/memory.ts';
import type { SimilarSpec } from '../../domain/ports.ts';
import type { Scoped } from '../../domain/sealed.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { ENDING_TERMS } from './claims.ts';
import { standingOf, viewOf } from './keys.ts';

/** Longer texts are left to the embed job: their words say little about what they say. */
const MAX_CHARS = 2_000;
const MAX_TERMS = 64;
/** The index shows a write within ten seconds (mappings/memory.json); after this time it is looked for there alone. */
const RECENT_MS = 15_000;
/** Over all places, characters with those of metadata: what is older than these is looked for in the index alone. */
const RECENT_KEPT = 5_000;
const RECENT_CHARS = 5_000_000;
/** As many are compared with each new text. */
const RECENT_IN_PLACE = 500;
/** Records, and characters of them, compared before other calls get their turn on the event loop. */
const RECORDS_PER_SLICE = 16;
const CHARS_PER_SLICE = 4_000;

/** Distinct terms of a text that is compared by them, but for those that end what the others say; undefined for one that is not. */
export function termsOf({ lex_uni, content }: Pick<MemoryRecord, 'lex_uni' | 'content'>): ReadonlySet<string> | undefined {
  if (lex_uni === undefined || content.length > MAX_CHARS) return undefined;
  const all = lex_uni.split(' ');
  const telling = all.filter((term) => !ENDING_TERMS.has(term));
  return new Set(telling.length > 0 ? telling : all);
}

/** Whether at least this share, 0..1, of the terms of both is in both (Jaccard); most pairs are told apart after a few terms. */
export function shareTerms(a: ReadonlySet<string>, b: ReadonlySet<string>, overlap: number): boolean {
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  if (few.size / many.size < overlap) return false;
  // so many may be missing from the larger one, and one more for what floats lose
  let spare = few.size - (overlap * (few.size + many.size)) / (1 + overlap) + 1;
  let common = 0;
  for (const term of few) {
    if (many.has(term)) common += 1;
    else if (--spare < 0) return false;
  }
  return common / (few.size + many.size - common) >= overlap;
}

/** What a comparison never reads, and may be large. */
const UNREAD: ReadonlySet<string> = new Set(['passages', 'summary', 'sealed', 'keywords', 'entities', 'codes']);

interface Recent {
  readonly place: string;
  /** As far as a comparison reads it. */
  readonly record: MemoryRecord;
  readonly terms: ReadonlySet<string>;
  readonly chars: number;
  readonly atMs: number;
}

/** What this process has stored lately, by namespace and view; a ring, bounded over all of them. */
export interface RecentTexts {
  /** What is stored as given (`admission: keep`) is left to the index. */
  remember(record: MemoryRecord): void;
  /** It has ended, or says something else: whoever compares with it would read it for nothing. */
  forget(memoryId: string): void;
  /** Oldest first; those that share enough terms are found one by one. */
  near(record: MemoryRecord, terms: ReadonlySet<string>, overlap: number): Iterable<MemoryRecord>;
}

export function createRecentTexts(clock: Clock): RecentTexts {
  // in the order of their time
  const all = new Map<string, Recent>();
  const places = new Map<string, Map<string, Recent>>();
  let chars = 0;
  const drop = (id: string): void => {
    const one = all.get(id);
    if (one === undefined) return;
    all.delete(id);
    chars -= one.chars;
    const place = places.get(one.place);
    place?.delete(id);
    if (place?.size === 0) places.delete(one.place);
  };
  const firstOf = (texts: ReadonlyMap<string, Recent>): string => texts.keys().next().value ?? '';
  return {
    remember(record) {
      const nowMs = clock();
      for (const [id, { atMs }] of all) {
        if (nowMs - atMs < RECENT_MS) break;
        drop(id);
      }
      const terms = termsOf(record);
      if (terms === undefined || standingOf(record) !== 'active' || record.admission === 'keep') return;
      const id = record.memory_id;
      drop(id);
      const key = placeOf(record);
      const kept = slim(record);
      const one = { place: key, record: kept, terms, chars: JSON.stringify(kept).length + (record.lex_uni ?? '').length, atMs: nowMs };
      const place = places.get(key) ?? new Map<string, Recent>();
      if (place.size >= RECENT_IN_PLACE) drop(firstOf(place));
      all.set(id, one);
      places.set(key, place.set(id, one));
      chars += one.chars;
      while (all.size > RECENT_KEPT || chars > RECENT_CHARS) drop(firstOf(all));
    },
    forget: drop,
    *near(record, terms, overlap) {
      const nowMs = clock();
      for (const one of places.get(placeOf(record))?.values() ?? [])
        if (nowMs - one.atMs < RECENT_MS && shareTerms(one.terms, terms, overlap)) yield one.record;
    },
  };
}

function slim(record: MemoryRecord): MemoryRecord {
  const read = Object.entries(record).filter(([name]) => !UNREAD.has(name) && !/^(?:vec|lex)_/.test(name));
  return Object.fromEntries(read) as unknown as MemoryRecord;
}

/** Memories of the same place and view share this; nothing else is ever compared. */
export function placeOf(record: MemoryRecord): string {
  return JSON.stringify([record.tenant, record.namespace, record.generation, viewOf(record)]);
}

/** What a record is compared with by its words: the search for it, and whose eyes it is made with. */
interface Look {
  readonly terms: ReadonlySet<string>;
  readonly by: Scoped<SimilarSpec>;
  /** Place of its answer. */
  readonly at: number;
}

/** A search of the index for what shares words with some records, under way. */
export interface NearSearch {
  /** By memory id. */
  readonly looks: ReadonlyMap<string, Look>;
  readonly pages: ReturnType<MemoryDeps['index']['similar']>;
}

/** Begun at once, one request for all, so that it can run beside another one; who never asks for its answer hears of no failure. */
export function searchNear(
  deps: Pick<MemoryDeps, 'index' | 'guard' | 'clock' | 'relations'>,
  call: CallContext,
  records: readonly MemoryRecord[],
): NearSearch {
  const { overlap, candidates } = deps.relations.duplicates.lexical;
  const looks = new Map<string, Look>();
  for (const record of records) {
    const terms = termsOf(record);
    if (terms === undefined) continue;
    const shared = record.visibility === 'shared';
    const spec: SimilarSpec = {
      links: {
        namespace: [record.namespace],
        generation: [record.generation],
        visibility: [record.visibility],
        ...(shared ? {} : { owner: [record.owner] }),
      },
      terms: [...terms].slice(0, MAX_TERMS),
      share: overlap,
      limit: candidates,
    };
    const request = {
      principal: call.principal,
      action: 'read',
      reach: 'granted',
      statuses: DEFAULT_STATUSES,
      nowMs: deps.clock(),
    } as const;
    looks.set(record.memory_id, { terms, by: deps.guard.scope(spec, request), at: looks.size });
  }
  const pages = looks.size === 0 ? Promise.resolve([]) : deps.index.similar([...looks.values()].map(({ by }) => by));
  pages.catch(() => undefined);
  return { looks, pages };
}

/** For each record, all of them searched for, the stored memories of its view that the caller can read and that share enough words. Errors: ERR_STORE_*. */
export async function nearOf(
  deps: Pick<MemoryDeps, 'guard' | 'relations'>,
  recent: RecentTexts,
  search: NearSearch,
  records: readonly MemoryRecord[],
): Promise<readonly (readonly MemoryRecord[])[]> {
  const { overlap, candidates } = deps.relations.duplicates.lexical;
  const pages = await search.pages;
  const found: (readonly MemoryRecord[])[] = [];
  let chars = 0;
  for (const [i, record] of records.entries()) {
    const look = search.looks.get(record.memory_id);
    if (look === undefined) {
      found.push([]);
      continue;
    }
    const { terms, by, at } = look;
    chars += record.content.length;
    if (i > 0 && (i % RECORDS_PER_SLICE === 0 || chars > CHARS_PER_SLICE)) {
      await setImmediate();
      chars = 0;
    }
    const page = pages[at];
    const stored = page === undefined ? [] : deps.guard.permitted(page, by);
    const near = new Map<string, MemoryRecord>();
    for (const one of recent.near(record, terms, overlap)) {
      if (near.size >= candidates) break;
      if (one.memory_id !== record.memory_id && by.scope.permits(one)) near.set(one.memory_id, one);
    }
    for (const one of stored) {
      const theirs = one.memory_id === record.memory_id ? undefined : termsOf(one);
      if (theirs === undefined || !shareTerms(terms, theirs, overlap)) continue;
      // the index knows more of one that was stored lately
      if (near.has(one.memory_id) || near.size < candidates) near.set(one.memory_id, one);
    }
    found.push([...near.values()]);
  }
  return found;
}
