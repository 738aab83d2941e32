/** The rescan: after a change of policy, judges again every searchable record that another revision let in; run by a worker of its own, page by page. */
import { isoTime, type Clock } from '../domain/clock.ts';
import type { RescanMark, RescanMarks, RescanQueue } from '../domain/ports.ts';
import type { RescanJudge } from './rescan-judge.ts';
import type { Job } from './worker.ts';

export interface RescanJobOptions {
  readonly queue: Pick<RescanQueue, 'judgedBefore' | 'refsJudgedBefore'>;
  readonly marks: Pick<RescanMarks, 'mark' | 'keepMark'>;
  readonly judge: RescanJudge;
  readonly policyRevision: string;
  readonly clock: Clock;
  /** Resolves after `ms`, or early when the signal fires. */
  readonly rest: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Records of all tenants that are still to be judged. */
  readonly onUnchecked?: (records: number) => void;
  readonly onProgress?: (tenant: string, progress: Pick<RescanMark, 'checked' | 'held' | 'reported'> & { readonly done: boolean }) => void;
}

/** Between two looks for records of another revision: those of a process that still runs the old policies, during an update. */
export const RESCAN_LOOK_MS = 60_000;
/** Records of a page: a megabyte or less of ordinary memories, with vectors. */
const PAGE = 100;
/** Rest after a page, as a multiple of the time it took: the rescan takes a quarter of one core at most, and calls come first. */
const REST_FACTOR = 3;
const LONGEST_REST_MS = 5_000;

/**
 * One run takes a page of a tenant. Where it stands is kept in the tenant's mark, so that a restart or another process goes on there.
 * Records that stay are not rewritten: a new revision on a million heads would index a million documents and their vectors anew; the mark
 * says the same in one document. A record that a process of the old policies writes later is newer than the mark and is found again.
 */
export function createRescanJob(options: RescanJobOptions): Job {
  const { queue, marks, judge, policyRevision, clock, rest } = options;
  /** Times up to which tenants are known to be judged; saves a read for each tenant at each look. */
  const covered = new Map<string, string>();
  /** When the newest record was changed that the last look found: a clock ahead of ours must not make it new for ever. */
  const newest = new Map<string, string>();

  /** Records still to be judged, by tenant, as the last look found them less what has been judged since. */
  const left = new Map<string, number>();
  const tell = (): void => options.onUnchecked?.([...left.values()].reduce((sum, records) => sum + records, 0));

  const begin = (tenant: string, mark: RescanMark | undefined): RescanMark => {
    const nowIso = isoTime(clock());
    const latest = newest.get(tenant) ?? '';
    const since = mark?.policy_revision === policyRevision ? mark.covered_until : undefined;
    return {
      policy_revision: policyRevision,
      ...(since === undefined ? {} : { covered_until: since }),
      begun_at: latest > nowIso ? latest : nowIso,
      checked: 0,
      held: 0,
      reported: 0,
    };
  };

  return {
    name: 'rescan',
    due: async () => {
      const due: string[] = [];
      left.clear();
      for (const { tenant, count, latest } of await queue.judgedBefore(policyRevision)) {
        newest.set(tenant, latest);
        if (latest <= (covered.get(tenant) ?? '')) continue;
        const mark = (await marks.mark(tenant))?.mark;
        const known = mark?.policy_revision === policyRevision ? mark : undefined;
        if (known?.begun_at === undefined && known?.covered_until !== undefined) {
          covered.set(tenant, known.covered_until);
          if (latest <= known.covered_until) continue;
        }
        due.push(tenant);
        left.set(tenant, Math.max(1, count - (known?.begun_at === undefined ? 0 : known.checked)));
      }
      tell();
      return due;
    },
    run: async (tenant, { signal }) => {
      const begunMs = clock();
      const kept = await marks.mark(tenant);
      const underWay = kept?.mark.policy_revision === policyRevision && kept.mark.begun_at !== undefined;
      const pass = underWay ? kept.mark : begin(tenant, kept?.mark);
      const { refs, next } = await queue.refsJudgedBefore(tenant, {
        revision: policyRevision,
        since: pass.covered_until,
        after: pass.after,
        limit: PAGE,
      });
      const counts = await judge(refs, signal);
      if (counts === 'stopped') return 'idle';
      const { begun_at: begunAt, after: _after, covered_until: since, ...revision } = pass;
      const progress = {
        checked: pass.checked + counts.checked,
        held: pass.held + counts.held,
        reported: pass.reported + counts.reported,
      };
      const done = next === undefined;
      const mark: RescanMark = {
        ...revision,
        ...progress,
        ...place(done ? { covered_until: begunAt } : { covered_until: since, begun_at: begunAt, after: next }),
      };
      // another process was faster: it goes on, and this one looks again later
      if ((await marks.keepMark(tenant, mark, kept?.at)) === 'conflict') return 'idle';
      left.set(tenant, done ? 0 : Math.max(1, (left.get(tenant) ?? 0) - counts.checked));
      tell();
      options.onProgress?.(tenant, { ...progress, done });
      if (done) return 'idle';
      await rest(Math.min(LONGEST_REST_MS, REST_FACTOR * (clock() - begunMs)), signal);
      return signal.aborted ? 'idle' : 'more';
    },
  };
}

/** Without the fields that are not set: the mark is stored as it is. */
function place(fields: { [K in 'covered_until' | 'begun_at' | 'after']?: string | undefined }): Partial<RescanMark> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
