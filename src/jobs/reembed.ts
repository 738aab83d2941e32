/** The reembed job: finds records without a vector in a space that is configured now and makes them due, so that the embed job fills them. */
import { isoTime, type Clock } from '../domain/clock.ts';
import type { EmbedQueue, MemoryIndex, RecordPatch, ReembedCandidate, ReembedQueue } from '../domain/ports.ts';
import { HindsightError } from '../errors.ts';
import type { EmbeddingProvider } from '../providers/embedding/provider.ts';
import { spacesOf } from '../providers/embedding/spaces-of.ts';
import { REEMBED_MARK } from '../stores/embed-queue.ts';
import type { Job } from './worker.ts';

export interface ReembedProgress {
  /** Records looked at and made due since the pass over this tenant began. */
  readonly checked: number;
  readonly marked: number;
}

export interface ReembedJobOptions {
  readonly index: Pick<MemoryIndex, 'patchMany' | 'refresh'>;
  readonly candidates: ReembedQueue;
  readonly queue: Pick<EmbedQueue, 'depth'>;
  readonly embedder: Pick<EmbeddingProvider, 'spaces' | 'spacesForText'>;
  readonly clock: Clock;
  /** The tenant has records newly due. */
  readonly nudge: (tenant: string) => void;
  /** Records of all tenants that lack a space and have not been looked at in this pass. */
  readonly onUnchecked?: (records: number) => void;
  readonly onProgress?: (tenant: string, progress: ReembedProgress & { readonly done: boolean }) => void;
}

/** Records looked at in one go: without vectors they are a megabyte at most of ordinary memories. */
const PAGE = 200;
/** With this many due nothing more is made due: the queue stays short enough to be counted, and a stop leaves little half done. */
const DUE_LIMIT = 1_000;
/**
 * Rest between two passes over a tenant. What this process writes needs none: only another version, or another model, that writes beside
 * it does. Ten minutes catch a rolling update; each pass that finds nothing doubles it, so that texts which rightly lack a space (Chinese
 * ones the en space) are not read for ever.
 */
const FIRST_REST_MS = 600_000;
const LAST_REST_MS = 21_600_000;
/** Spaces of no configured model stay due this long for a version that knows them; were that one only slow, it makes them due again. */
export const FOREIGN_DUE_MS = 86_400_000;

interface Pass extends ReembedProgress {
  /** Position in the tenant, in the order of memory_id. */
  readonly after: string | undefined;
  readonly restMs: number;
  /** Set when the pass is over. */
  readonly nextAtMs: number | undefined;
}

const BEGUN: Pass = { after: undefined, checked: 0, marked: 0, restMs: FIRST_REST_MS, nextAtMs: undefined };

/**
 * One run takes a page of a tenant. Where it stands is kept in this process alone: after a restart what was made due already is no longer
 * found. A record that moves meanwhile is left to the next pass. ERR_STORE_* ends the run; its page is taken again.
 */
export function createReembedJob(options: ReembedJobOptions): Job {
  const { index, candidates, queue, embedder, clock, nudge } = options;
  const passes = new Map<string, Pass>();
  let nextLookMs = 0;

  /** The tenant's pass under way, begun anew when its rest is over; undefined while it rests. */
  const passOf = (tenant: string): Pass | undefined => {
    const pass = passes.get(tenant) ?? BEGUN;
    if (pass.nextAtMs === undefined) return pass;
    return pass.nextAtMs > clock() ? undefined : { ...BEGUN, restMs: pass.restMs };
  };

  return {
    name: 'reembed',
    due: async () => {
      if (clock() < nextLookMs) return [];
      const found = (await candidates.tenants()).flatMap(({ tenant, count }) => {
        const pass = passOf(tenant);
        return pass === undefined ? [] : [{ tenant, left: Math.max(0, count - (pass.checked - pass.marked)) }];
      });
      options.onUnchecked?.(found.reduce((sum, { left }) => sum + left, 0));
      if (found.length === 0) nextLookMs = clock() + FIRST_REST_MS;
      return found.map(({ tenant }) => tenant);
    },
    run: async (tenant, { nudged }) => {
      const pass = passOf(tenant);
      if (pass === undefined) return 'idle';
      // What the page before made due counts only when it shows.
      if (nudged) await index.refresh(tenant);
      if ((await queue.depth()).due >= DUE_LIMIT) return 'idle';
      const known = embedder.spaces.map((space) => space.name);
      const page = await candidates.page(tenant, { after: pass.after, limit: PAGE });
      const nowMs = clock();
      const marks = page.candidates.flatMap(({ record, at }) => {
        const patch = markOf(record, spacesOf(embedder, record), known, nowMs);
        return patch === undefined ? [] : [{ memoryId: record.memory_id, patch, at }];
      });
      const outcomes = await index.patchMany(tenant, marks);
      if (marks.length > 0 && outcomes.every((outcome) => outcome === 'away'))
        throw new HindsightError('ERR_STORE_UNAVAILABLE', { cause: new Error('no record could be made due') });
      const done = page.next === undefined;
      const checked = pass.checked + page.candidates.length;
      const marked = pass.marked + outcomes.filter((outcome) => outcome === 'replaced').length;
      const restMs = marked > 0 ? FIRST_REST_MS : pass.restMs;
      passes.set(tenant, {
        after: page.next,
        checked,
        marked,
        restMs: done ? Math.min(LAST_REST_MS, restMs * (marked > 0 ? 1 : 2)) : pass.restMs,
        nextAtMs: done ? nowMs + restMs : undefined,
      });
      options.onProgress?.(tenant, { checked, marked, done });
      if (marks.length > 0) nudge(tenant);
      return done ? 'idle' : 'more';
    },
  };
}

/**
 * What must change of a record; undefined when it is right as it is. Pure. `wanted` are the spaces its text belongs in, `known` those that
 * are configured. Another model may take what the one before failed on: the tries begin anew.
 */
function markOf(
  record: ReembedCandidate['record'],
  wanted: readonly string[],
  known: readonly string[],
  nowMs: number,
): RecordPatch | undefined {
  const { spaces_ready: ready = [], spaces_due: due = [] } = record;
  const missing = wanted.filter((space) => !ready.includes(space) && !due.includes(space));
  const leaseUntilMs = record.lease_until === undefined ? 0 : Date.parse(record.lease_until);
  if (missing.length > 0) {
    return {
      spaces_due: [...due, ...missing],
      // Whoever holds it now keeps it.
      ...(leaseUntilMs > nowMs && (record.embed_tries ?? 0) === 0 ? {} : { lease_by: REEMBED_MARK, lease_until: isoTime(nowMs) }),
      ...(record.embed_tries === undefined ? {} : { embed_tries: 0, embed_error: '' }),
    };
  }
  const touchedMs = Math.max(leaseUntilMs, Date.parse(record.updated_at));
  const nobodys = due.length > 0 && !due.some((space) => known.includes(space)) && touchedMs <= nowMs - FOREIGN_DUE_MS;
  return nobodys ? { spaces_due: [] } : undefined;
}
