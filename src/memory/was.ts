/** What a hit said before: its own last version that said something else, or the memory it superseded; memory_search and memory_context show it beside what holds. */
import { SEARCHABLE_STATUSES, type MemoryRecord } from '../domain/memory.ts';
import type { HitRecord } from '../domain/ranking.ts';
import { mapUnscreened } from '../domain/sealed.ts';
import type { AccessRequest } from '../gate/access-policy.ts';
import type { ScreenOptions } from '../guard/guard.ts';
import type { MemoryDeps } from './deps.ts';

/** As the reader may see it: in the envelope where its own tier asks for it. */
export interface Was {
  readonly content: string;
  /** When it ceased to hold, ISO 8601. */
  readonly until: string;
  /** The memory that said it, where that is another one. */
  readonly memory_id?: string;
}

/** What of a hit decides; read from the hit as screened, for neither is a text. */
export type Successor = Pick<HitRecord, 'memory_id' | 'version' | 'fingerprint' | 'valid_from' | 'created_at' | 'supersedes'>;

/** Since and until when a hit said what it says, ISO 8601; without `to` it says so still. */
export interface Held {
  readonly from: string;
  readonly to?: string;
}

/** Versions looked back over for other words: what changed in between is worth, tags or status. */
const STEPS = 3;

/**
 * One predecessor for each hit that has one, by the hit's memory_id; one look-up for all of them, and none where no hit can have one. What the
 * reader may not see now (forgotten, expired, private to others, under the trust floor, held back by today's rules) is nobody's predecessor.
 * ERR_STORE_*.
 */
export async function predecessorsOf(
  deps: Pick<MemoryDeps, 'index' | 'guard'>,
  request: AccessRequest,
  hits: readonly Successor[],
  options: Pick<ScreenOptions, 'floor' | 'boundary'>,
): Promise<ReadonlyMap<string, Was>> {
  const looks = hits.filter(({ version, supersedes = [] }) => version > 1 || supersedes.length > 0);
  if (looks.length === 0) return new Map();
  const by = deps.guard.scope({ of: looks, steps: STEPS }, { ...request, statuses: SEARCHABLE_STATUSES });
  const chosen = new Map<string, { readonly of: string; readonly until: string; readonly own: boolean }>();
  const found = mapUnscreened(await deps.index.predecessors(by), (records) => {
    const permitted = records.filter((record) => by.scope.permits(record));
    return looks.flatMap((hit) => {
      const before = ownBefore(hit, permitted) ?? otherBefore(hit, permitted);
      if (before === undefined) return [];
      const { record, until } = before;
      chosen.set(keyOf(record), { of: hit.memory_id, until, own: record.memory_id === hit.memory_id });
      return [record];
    });
  });
  const { items } = await deps.guard.screenRecords(found, by, { ...options, prompt: true });
  const was = new Map<string, Was>();
  for (const { value } of items) {
    const link = chosen.get(keyOf(value));
    if (link === undefined) continue;
    was.set(link.of, { content: value.content, until: link.until, ...(link.own ? {} : { memory_id: value.memory_id }) });
  }
  return was;
}

/**
 * When each of the hits held, by memory_id: from the first of the last versions with its words on (as far back as is looked), up to the
 * version that says it holds no longer. ERR_STORE_*.
 */
export async function heldSince(
  deps: Pick<MemoryDeps, 'index' | 'guard'>,
  request: AccessRequest,
  hits: readonly (Successor & Pick<HitRecord, 'status' | 'valid_to'>)[],
): Promise<ReadonlyMap<string, Held>> {
  const looks = hits.flatMap(({ memory_id, version }) => (version > 1 ? [{ memory_id, version }] : []));
  const by = deps.guard.scope({ of: looks, steps: STEPS }, { ...request, statuses: SEARCHABLE_STATUSES });
  const found = looks.length === 0 ? [] : deps.guard.permitted(await deps.index.predecessors(by), by);
  return new Map(
    hits.map((hit) => {
      const ended = hit.valid_to ?? (hit.status === 'superseded' ? hit.valid_from : undefined);
      let from = hit.valid_from;
      for (let version = hit.version - 1; version > 0; version -= 1) {
        const before = found.find((record) => record.memory_id === hit.memory_id && record.version === version);
        if (before === undefined || before.fingerprint !== hit.fingerprint) break;
        from = before.valid_from;
      }
      return [hit.memory_id, { from, ...(ended === undefined ? {} : { to: ended }) }];
    }),
  );
}

const keyOf = ({ memory_id, version }: Pick<MemoryRecord, 'memory_id' | 'version'>): string => `${memory_id}@${version}`;

interface Before {
  readonly record: MemoryRecord;
  readonly until: string;
}

/** The newest earlier version with other words, which held until the version after it began. */
function ownBefore(hit: Successor, records: readonly MemoryRecord[]): Before | undefined {
  const versions = records.filter((record) => record.memory_id === hit.memory_id).sort((a, b) => b.version - a.version);
  const at = versions.findIndex((record) => record.fingerprint !== hit.fingerprint);
  const record = versions[at];
  if (record === undefined) return undefined;
  const next = at === 0 ? hit : versions[at - 1];
  // a version in between that may not be seen: the copy's own end is near enough
  const until = next?.version === record.version + 1 ? next.valid_from : (record.valid_to ?? hit.valid_from);
  return { record, until };
}

/** The last memory that it superseded and that is seen still; it held until the version began that says it does no longer. */
function otherBefore(hit: Successor, records: readonly MemoryRecord[]): Before | undefined {
  for (const id of [...(hit.supersedes ?? [])].reverse()) {
    const record = records.find((other) => other.memory_id === id);
    if (record === undefined || record.fingerprint === hit.fingerprint) continue;
    const ended = record.valid_to ?? (record.status === 'superseded' ? record.valid_from : undefined);
    return { record, until: ended ?? hit.created_at };
  }
  return undefined;
}
