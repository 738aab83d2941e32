/** What a peers run tells: figures for bench/results and tables for README. Pure. */
import { markdownTable, share, withInterval } from '../report/markdown.ts';
import { estimates, questionFigures, type Estimates } from '../quality/figures.ts';
import { Latency, type Percentiles } from '../support/latency.ts';
import type { PeerJob } from './job.ts';
import type { Kept } from './kept.ts';
import type { Peer } from './peer.ts';

/** One peer on one set: its figures, or why there are none. */
export interface PeerRow {
  readonly peer: Peer;
  readonly job: PeerJob;
  readonly kept?: Kept | undefined;
  readonly reason?: string | undefined;
}

export interface Measured {
  readonly quality: Estimates;
  readonly write: Percentiles;
  readonly search: Percentiles;
}

/** Metrics of kept rankings and times. */
export function measured(job: PeerJob, { answers }: Kept): Measured {
  const figures = job.queries.map((query, i) => questionFigures(answers.ranked[i] ?? [], new Set(query.relevant)));
  return { quality: estimates(figures), write: latencyOf(answers.writeMs), search: latencyOf(answers.searchMs) };
}

function latencyOf(times: readonly number[]): Percentiles {
  const latency = new Latency();
  for (const ms of times) latency.add(ms);
  return latency.summary();
}

/** Everything as numbers. */
export function peerFigures(rows: readonly PeerRow[]): unknown[] {
  return rows.map(({ peer, job, kept, reason }) => {
    const head = { peer: peer.name, set: job.set };
    if (kept === undefined) return { ...head, not_measured: reason };
    const { quality, write, search } = measured(job, kept);
    const { recall_5, ndcg_10, mrr } = quality;
    const { version, date, load, commit, embedder, answers } = kept;
    return {
      ...head,
      version,
      setting: peer.setting,
      recall_5,
      ndcg_10,
      mrr,
      write,
      search,
      refused: answers.refused,
      ...answers.extra,
      embedder_p50_ms: embedder,
      date,
      load,
      commit,
    };
  });
}

/** The tables: rankings, times, settings. */
export function peerMarkdown(peers: readonly Peer[], jobs: readonly PeerJob[], rows: readonly PeerRow[]): string {
  const rowOf = (peer: Peer, job: PeerJob): PeerRow | undefined => rows.find((row) => row.peer === peer && row.job === job);
  const reasonOf = (peer: Peer): string | undefined => rows.find((row) => row.peer === peer && row.kept === undefined)?.reason;
  const cells = (peer: Peer, tell: (found: Measured, kept: Kept) => string[], width: number): string[] =>
    jobs.flatMap((job) => {
      const kept = rowOf(peer, job)?.kept;
      return kept === undefined ? Array<string>(width).fill('–') : tell(measured(job, kept), kept);
    });
  const quality = peers.map((peer) => [
    peer.name,
    ...cells(peer, ({ quality: q }) => [withInterval(q.recall_5), share(q.ndcg_10.mean), share(q.mrr.mean)], 3),
  ]);
  const times = peers.map((peer) => [peer.name, ...cells(peer, ({ write, search }) => [twoTimes(write), twoTimes(search)], 2)]);
  const settings = peers.map((peer) => {
    const all = rows.filter((row) => row.peer === peer);
    const refused = all.reduce((sum, { kept }) => sum + (kept?.answers.refused ?? 0), 0);
    return [
      peer.name,
      all.find(({ kept }) => kept !== undefined)?.kept?.version ?? '–',
      refused === 0 ? peer.setting : `${peer.setting}; ${refused} documents not stored`,
      reasonOf(peer) ?? 'yes',
    ];
  });
  return [
    jobs.map((job) => `${shortName(job)}: ${job.documents.length} documents, ${job.queries.length} questions`).join('; ') + '.',
    markdownTable(['', ...jobs.flatMap((job) => [`${shortName(job)} R@5`, 'nDCG@10', 'MRR'])], quality),
    `One write and one search, p50 / p95 in ms; theirs are calls of a library in its own process, ours an HTTP request to a server${loadNote(rows)}:`,
    markdownTable(['', ...jobs.flatMap((job) => [`${shortName(job)} write`, 'search'])], times),
    ...ownNote(rows),
    markdownTable(['', 'version', 'setting', 'measured'], settings),
  ].join('\n\n');
}

/** Times of a busy machine are no one's; the reader sees it. */
function loadNote(rows: readonly PeerRow[]): string {
  const loads = rows.flatMap(({ kept }) => (kept === undefined ? [] : [kept.load]));
  if (loads.length === 0) return '';
  return `; load average before each of them ${Math.min(...loads)} to ${Math.max(...loads)}`;
}

/** What one of our calls does that a peer's call does not, or the other way round. */
function ownNote(rows: readonly PeerRow[]): string[] {
  const parts = rows.flatMap(({ job, kept }) => {
    const extra = kept?.answers.extra ?? {};
    if (extra['search_engine_mean_ms'] === undefined) return [];
    const ms = (name: string): string => (extra[name] ?? Number.NaN).toFixed(1);
    return [
      `${shortName(job)}: ${ms('write_searchable_p50_ms')} / ${ms('write_searchable_p95_ms')} ms until a search finds it, ` +
        `${ms('search_engine_mean_ms')} ms of a search in Elasticsearch (mean)`,
    ];
  });
  if (parts.length === 0) return [];
  return [`Our write answers when it is stored durably and embeds afterwards; a peer embeds within its call. ${parts.join('; ')}.`];
}

const shortName = (job: PeerJob): string => job.set.replace(/\.dev$/, '');
const twoTimes = ({ p50_ms, p95_ms }: Percentiles): string => `${p50_ms.toFixed(1)} / ${p95_ms.toFixed(1)}`;
