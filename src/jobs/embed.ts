/** The embed job: takes records whose vectors are due, embeds them and writes the vectors back; started by the worker, nudged by writes. */
import { isDeepStrictEqual } from 'node:util';
import { isoTime, type Clock } from '../domain/clock.ts';
import { STATUSES, type MemoryRecord, type Passage, type StoredRecord } from '../domain/memory.ts';
import type { EmbedQueue, EmbedTask, MemoryIndex, RecordPatch } from '../domain/ports.ts';
import { lendsContext } from '../domain/turns.ts';
import type { Guard } from '../guard/guard.ts';
import { EmbeddingRejected, type EmbeddingProvider } from '../providers/embedding/provider.ts';
import { EMBED_TRIES_MAX } from '../stores/embed-queue.ts';
import { bodyOf } from '../text/body.ts';
import { embedAll, type Embedded, type EmbedWork } from './embed-batch.ts';
import { textsToEmbed } from './embed-text.ts';
import { jobPrincipal } from './principal.ts';
import type { Job } from './worker.ts';

export interface EmbedJobOptions {
  readonly index: MemoryIndex;
  readonly queue: EmbedQueue;
  readonly guard: Guard;
  readonly embedder: Pick<EmbeddingProvider, 'spaces' | 'spacesForText' | 'embed'>;
  readonly clock: Clock;
  /** Names this process in leases. */
  readonly by: string;
  readonly onDepth?: (depth: { readonly due: number; readonly dead: number }) => void;
  readonly onFailed?: (reason: 'unavailable' | 'rejected', error: unknown) => void;
  /** Told of a record that is given up after five tries: it stays searchable by its words. */
  readonly onDead?: (tenant: string, memoryId: string) => void;
}

/** A batch of local vectors takes about a second; a crash costs the rest of the lease. */
const BATCH = 16;
const LEASE_MS = 60_000;
/** First pause of a refused text; doubles with each try. */
const RETRY_MS = 1_000;
/** The same where the endpoint failed: overload may pass, so five tries must take minutes (30 s to 4 min between them). */
const RETRY_FAILED_MS = 15_000;
const MAX_CAS_TRIES = 3;

type Patch = RecordPatch;
type LinkedWork = EmbedWork & { readonly previous: StoredRecord | undefined };
const UNTOUCHED: Embedded = { vectors: new Map(), failed: undefined };

interface Change {
  readonly record: MemoryRecord;
  readonly at: StoredRecord['at'];
  readonly patch: Patch;
  /** What the vectors of the patch were made from; undefined when it has none. */
  readonly texts: readonly string[] | undefined;
}

/**
 * One run takes a batch. Throws EmbeddingUnavailable when the model is away: the leases are given back and no try is consumed. A text
 * that the model refuses or fails on, while it takes others, costs its record a try; after five it is a dead letter.
 */
export function createEmbedJob(options: EmbedJobOptions): Job {
  const { index, queue, guard, embedder, clock, by } = options;

  const load = async (record: MemoryRecord, memoryIds: readonly string[], statuses?: typeof STATUSES): Promise<readonly StoredRecord[]> => {
    const scope = guard.scope(
      { memoryIds },
      {
        principal: jobPrincipal(record),
        action: 'read',
        reach: [record.namespace],
        nowMs: clock(),
        ...(statuses === undefined ? {} : { statuses }),
      },
    );
    return guard.permitted(await index.get(scope), scope);
  };

  /** The turn before, as far as it may lend its words now: it may have been forgotten or made private since. */
  const previousOf = async (record: MemoryRecord): Promise<StoredRecord | undefined> => {
    if (record.prev_turn_id === undefined) return undefined;
    const [previous] = await load(record, [record.prev_turn_id]);
    return previous !== undefined && lendsContext(previous.record, record, clock()) ? previous : undefined;
  };

  /** Whether a patch made of `record` still holds for what is stored `now`: its vectors would be made from the very same texts. */
  const holds = async ({ record, texts }: Change, now: MemoryRecord): Promise<boolean> => {
    if (texts === undefined) return now.content === record.content && now.subject === record.subject;
    const previous = await previousOf(now);
    return now.prev_turn_id === record.prev_turn_id && isDeepStrictEqual(textsToEmbed(now, previous?.record), texts);
  };

  /** Writes patches by position; where only the position moved (a counter, a link), once more at the new one. */
  const complete = async (tenant: string, changes: readonly Change[]): Promise<void> => {
    let open = changes;
    for (let attempt = 0; open.length > 0 && attempt < MAX_CAS_TRIES; attempt += 1) {
      const outcomes = await index.patchMany(
        tenant,
        open.map(({ record, patch, at }) => ({ memoryId: record.memory_id, patch, at })),
      );
      const moved = open.filter((_, i) => outcomes[i] === 'conflict');
      const again: Change[] = [];
      for (const change of moved) {
        const [now] = await load(change.record, [change.record.memory_id], STATUSES);
        if (now !== undefined && (await holds(change, now.record))) again.push({ ...change, at: now.at });
      }
      open = again;
    }
  };

  const workOf = async ({ record: stored }: EmbedTask, known: readonly string[]): Promise<LinkedWork> => {
    const previous = await previousOf(stored.record);
    return {
      stored,
      previous,
      spaces: wantedSpaces(stored.record, known, embedder),
      texts: textsToEmbed(stored.record, previous?.record),
    };
  };

  return {
    name: 'embed',
    due: async () => {
      if (options.onDepth !== undefined) options.onDepth(await queue.depth());
      return (await queue.dueTenants()).map(({ tenant }) => tenant);
    },
    run: async (tenant, { nudged, signal }) => {
      // Asked before anything is claimed: while the model has not told its dimension there is nothing to do.
      const known = embedder.spaces.map((space) => space.name);
      // What was just written shows in the claim's search only after a refresh.
      if (nudged) await index.refresh(tenant);
      const tasks = await queue.claim(tenant, { limit: BATCH, leaseMs: LEASE_MS, by });
      if (tasks.length === 0) return 'idle';
      const works = await Promise.all(tasks.map((task) => workOf(task, known)));
      const { results, outage } = await embedAll(embedder, works, signal);
      const nowMs = clock();
      const linked = new Map(works.map((w) => [w.previous?.record.memory_id, w.stored.record.memory_id]));
      const changes = works.map((work): Change => {
        const result = results.get(work) ?? UNTOUCHED;
        const next = linked.get(work.stored.record.memory_id);
        return {
          record: work.stored.record,
          at: work.stored.at,
          texts: work.texts,
          patch: { ...patchOf(work, result, nowMs, embedder), ...(next === undefined ? {} : { next_turn_id: next }) },
        };
      });
      await complete(tenant, [...changes, ...linksOutside(works)]);
      for (const [{ stored }, { failed }] of results) {
        if (failed === undefined) continue;
        options.onFailed?.(failed instanceof EmbeddingRejected ? 'rejected' : 'unavailable', failed);
        if ((stored.record.embed_tries ?? 0) + 1 >= EMBED_TRIES_MAX) options.onDead?.(tenant, stored.record.memory_id);
      }
      if (outage !== undefined) {
        options.onFailed?.('unavailable', outage);
        throw outage;
      }
      return tasks.length === BATCH ? 'more' : 'idle';
    },
  };
}

/**
 * The spaces that are due, as far as this process knows them. In place of those it does not know (another model was configured when
 * the record was written) it takes what a write would choose now, unless that is there: a record is never settled without vectors.
 */
function wantedSpaces(record: MemoryRecord, known: readonly string[], embedder: EmbedJobOptions['embedder']): readonly string[] {
  const due = record.spaces_due ?? [];
  const wanted = due.filter((name) => known.includes(name));
  if (wanted.length === due.length) return wanted;
  const ready = record.spaces_ready ?? [];
  return [...new Set([...wanted, ...embedder.spacesForText(bodyOf(record)).filter((name) => !ready.includes(name))])];
}

/** next_turn_id of turns before that are not in this batch themselves. */
function linksOutside(works: readonly LinkedWork[]): readonly Change[] {
  const inside = new Set(works.map((w) => w.stored.record.memory_id));
  return works.flatMap(({ previous, stored }) => {
    const id = stored.record.memory_id;
    if (previous === undefined || inside.has(previous.record.memory_id) || previous.record.next_turn_id === id) return [];
    return [{ record: previous.record, at: previous.at, texts: undefined, patch: { next_turn_id: id } }];
  });
}

/** The fields that vectors, failures and the end of the lease leave on a record. */
function patchOf(work: EmbedWork, { vectors, failed }: Embedded, nowMs: number, embedder: EmbedJobOptions['embedder']): Patch {
  const { record } = work.stored;
  const due = work.spaces.filter((space) => !vectors.has(space));
  const fields: Record<string, unknown> = {};
  let passages: readonly Passage[] | undefined = record.passages;
  for (const [name, [own, ...more]] of vectors) {
    const field = embedder.spaces.find((space) => space.name === name)?.field;
    if (field === undefined || own === undefined) continue;
    fields[field] = Array.from(own);
    passages = passages?.map((passage, i) => {
      const vector = more[i];
      return vector === undefined ? passage : { ...passage, [field]: Array.from(vector) };
    });
  }
  const tries = (record.embed_tries ?? 0) + (failed === undefined ? 0 : 1);
  const pauseMs = failed instanceof EmbeddingRejected ? RETRY_MS : RETRY_FAILED_MS;
  return {
    ...(fields as Patch),
    ...(vectors.size > 0 && passages !== undefined ? { passages } : {}),
    ...(vectors.size > 0 ? { spaces_ready: [...new Set([...(record.spaces_ready ?? []), ...vectors.keys()])] } : {}),
    spaces_due: due,
    // A text that failed waits longer each time; given back without a try, the record may be taken at once.
    lease_until: isoTime(failed === undefined ? nowMs : nowMs + pauseMs * 2 ** tries),
    ...(failed !== undefined ? { embed_tries: tries, embed_error: failed.code } : {}),
    ...(failed === undefined && due.length === 0 && record.embed_tries !== undefined ? { embed_tries: 0, embed_error: '' } : {}),
  };
}
