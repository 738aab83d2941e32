/** Memories that may say nearly the same as a new one: by their words, from the index and from what this process has stored in the last seconds. */
import type { Clock } from '../../domain/clock.ts';
import { DEFAULT_STATUSES, type MemoryRecord } from '../../domain/memory.ts';
import type { SimilarSpec } from '../../domain/ports.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { standingOf, viewOf } from './keys.ts';

/** Longer texts are left to the embed job: their words say little about what they say. */
const MAX_CHARS = 2_000;
const MAX_TERMS = 64;
/** The index shows a write within ten seconds (mappings/memory.json); after this time it is looked for there alone. */
const RECENT_MS = 15_000;
const RECENT_KEPT = 500;
const PLACES_KEPT = 1_000;

/** Distinct terms of a text that is compared by them; undefined for one that is not. */
export function termsOf({ lex_uni, content }: Pick<MemoryRecord, 'lex_uni' | 'content'>): ReadonlySet<string> | undefined {
  if (lex_uni === undefined || content.length > MAX_CHARS) return undefined;
  return new Set(lex_uni.split(' '));
}

/** Share of the terms of both that both have, 0..1 (Jaccard). */
export function sharedTerms(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  let common = 0;
  for (const term of few) if (many.has(term)) common += 1;
  return common / (a.size + b.size - common);
}

interface Recent {
  readonly record: MemoryRecord;
  readonly terms: ReadonlySet<string>;
  readonly atMs: number;
}

/** What this process has stored lately, by namespace and view. */
export interface RecentTexts {
  remember(record: MemoryRecord): void;
  near(record: MemoryRecord, terms: ReadonlySet<string>, overlap: number): readonly MemoryRecord[];
}

export function createRecentTexts(clock: Clock): RecentTexts {
  const places = new Map<string, Recent[]>();
  return {
    remember(record) {
      const terms = termsOf(record);
      if (terms === undefined || standingOf(record) !== 'active') return;
      const key = placeOf(record);
      const nowMs = clock();
      const kept = (places.get(key) ?? []).filter((one) => nowMs - one.atMs < RECENT_MS && one.record.memory_id !== record.memory_id);
      if (!places.has(key) && places.size >= PLACES_KEPT) places.clear();
      places.set(key, [...kept.slice(-RECENT_KEPT + 1), { record, terms, atMs: nowMs }]);
    },
    near(record, terms, overlap) {
      const nowMs = clock();
      return (places.get(placeOf(record)) ?? []).flatMap((one) =>
        nowMs - one.atMs < RECENT_MS && sharedTerms(one.terms, terms) >= overlap ? [one.record] : [],
      );
    },
  };
}

/** Memories of the same place and view share this; nothing else is ever compared. */
export function placeOf(record: MemoryRecord): string {
  return JSON.stringify([record.tenant, record.namespace, record.generation, viewOf(record)]);
}

/** For each record the stored memories of its view that the caller can read and that share enough words: one request for all. */
export async function nearOf(
  deps: Pick<MemoryDeps, 'index' | 'guard' | 'clock' | 'relations'>,
  recent: RecentTexts,
  call: CallContext,
  records: readonly MemoryRecord[],
): Promise<readonly (readonly MemoryRecord[])[]> {
  const { overlap, candidates } = deps.relations.duplicates.lexical;
  const looks = records.flatMap((record, i) => {
    const terms = termsOf(record);
    if (terms === undefined) return [];
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
    return [{ i, record, terms, by: deps.guard.scope(spec, request) }];
  });
  const found: (readonly MemoryRecord[])[] = records.map(() => []);
  if (looks.length === 0) return found;
  const pages = await deps.index.similar(looks.map(({ by }) => by));
  for (const [at, { i, record, terms, by }] of looks.entries()) {
    const page = pages[at];
    const stored = page === undefined ? [] : deps.guard.permitted(page, by);
    const lately = recent.near(record, terms, overlap).filter((one) => by.scope.permits(one));
    const near = [...lately, ...stored].filter((one) => {
      const theirs = termsOf(one);
      return one.memory_id !== record.memory_id && theirs !== undefined && sharedTerms(terms, theirs) >= overlap;
    });
    found[i] = [...new Map(near.map((one) => [one.memory_id, one])).values()].slice(0, candidates);
  }
  return found;
}
