/** npm run bench:peers: other memories for agents beside this one: the same documents, questions and embedder; rankings, and times of a write and a search. */
import { mkdirSync, rmSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { peers } from './peers/catalogue.ts';
import { EmbeddingServer } from './peers/embedding-server.ts';
import { jobOf, type PeerJob } from './peers/job.ts';
import { KeptFigures, type Kept } from './peers/kept.ts';
import { PeerUnavailable, type Peer } from './peers/peer.ts';
import { peerFigures, peerMarkdown, type PeerRow } from './peers/report.ts';
import { readSet } from './support/dataset.ts';
import { fingerprintOf } from './support/fingerprint.ts';
import { COMMON_OPTIONS, UsageError, type BenchCommand, type Options } from './support/options.ts';
import { progress } from './support/progress.ts';
import { runBench, type BenchRun } from './support/run.ts';
import { engineCacheDir } from '../test/support/engine.ts';

const ROOT = join(import.meta.dirname, '..');
const ALL = peers();

const COMMAND: BenchCommand = {
  name: 'bench:peers',
  summary: 'recall@5, nDCG@10, MRR and times of a write and a search of other agent memories and of this one, all with one embedder',
  options: {
    data: { description: 'folder with <set>.<split>.corpus.jsonl and <set>.<split>.queries.jsonl', default: '../shared/data/retrieval' },
    sets: { description: 'sets to measure', default: 'memorybank_zh,memorybank_en,locomo' },
    documents: { description: 'documents a set at most: whole namespaces, drawn by a fixed seed', default: '800' },
    questions: { description: 'questions a set at most, drawn by a fixed seed', default: '150' },
    peers: { description: `who is measured, of ${ALL.map((peer) => peer.id).join(', ')}; the others' kept figures stand`, default: 'all' },
    again: { description: 'measure those named by --peers again, though their figures are kept', flag: true },
    work: { description: "folder outside this one for the peers' packages and the kept figures (default: peers in the cache folder)" },
    out: { description: 'folder for the results', default: 'bench/results' },
    engine: COMMON_OPTIONS.engine,
    'no-results': COMMON_OPTIONS['no-results'],
  },
};

await runBench(COMMAND, measure, { check: (options) => void [chosen(options), jobsOf(options)] });

/** The peers to measure; a wrong name costs no time. */
function chosen(options: Options): ReadonlySet<Peer> {
  const names = options.list('peers');
  if (names.length === 1 && names[0] === 'all') return new Set(ALL);
  return new Set(
    names.map((name) => {
      const peer = ALL.find(({ id }) => id === name);
      if (peer === undefined) throw new UsageError(`there is no peer ${name}; there are ${ALL.map(({ id }) => id).join(', ')}`);
      return peer;
    }),
  );
}

function jobsOf(options: Options): PeerJob[] {
  const size = { documents: options.count('documents'), questions: options.count('questions') };
  return options.list('sets').map((name) => jobOf(readSet(resolve(ROOT, options.text('data')), name), size));
}

async function measure(run: BenchRun): Promise<Record<string, unknown>> {
  const { options } = run;
  const work = resolve(options.optional('work') ?? join(engineCacheDir(), 'peers'));
  if (!join(work, '/').startsWith(join(ROOT, '/'))) mkdirSync(work, { recursive: true });
  else throw new UsageError('--work must lie outside this folder: what is installed there is not part of it');
  const jobs = jobsOf(options);
  const wanted = chosen(options);
  const kept = new KeptFigures(work);
  const rows: PeerRow[] = [];
  const embedder = await EmbeddingServer.start();
  try {
    for (const peer of ALL) rows.push(...(await rowsOf(run, peer, jobs, wanted.has(peer), { work, kept, embedder })));
  } finally {
    await embedder.stop();
  }
  const markdown = peerMarkdown(ALL, jobs, rows);
  run.print(`\n${markdown}`);
  run.attach('peers.md', `${run.machine.line}\n\n${markdown}\n`);
  return {
    sets: jobs.map(({ set, language, model, documents, queries }) => ({
      set,
      language,
      model,
      documents: documents.length,
      questions: queries.length,
    })),
    rows: peerFigures(rows),
  };
}

interface Means {
  readonly work: string;
  readonly kept: KeptFigures;
  readonly embedder: EmbeddingServer;
}

/** A peer's figures on all sets: kept ones, where they hold, or measured now. What cannot be measured gets the reason. */
async function rowsOf(run: BenchRun, peer: Peer, jobs: readonly PeerJob[], measures: boolean, means: Means): Promise<PeerRow[]> {
  const { work, kept } = means;
  const { absent } = peer;
  if (absent !== undefined) return jobs.map((job) => ({ peer, job, reason: absent }));
  const rows: PeerRow[] = [];
  let version: string | undefined;
  for (const job of jobs) {
    const earlier = kept.read(peer, job);
    const holds = earlier !== undefined && (!measures || (earlier.peer === peer.fingerprint() && !run.options.flag('again')));
    if (holds || !measures) {
      progress(`${peer.id}, ${job.set}: ${earlier === undefined ? 'not measured in this run' : `kept, of ${earlier.date}`}`);
      rows.push({ peer, job, kept: earlier, reason: earlier === undefined ? 'not measured in this run' : undefined });
      continue;
    }
    try {
      version ??= await peer.prepare(work);
      const found = await measureOne(run, peer, job, version, means);
      kept.write(peer, job, found);
      rows.push({ peer, job, kept: found });
    } catch (error) {
      if (!(error instanceof PeerUnavailable)) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      const reason = error instanceof PeerUnavailable ? error.message : 'it failed in a way the bench does not know';
      progress(`${peer.id}, ${job.set}: ${reason}`);
      rows.push({ peer, job, reason });
    }
  }
  return rows;
}

async function measureOne(run: BenchRun, peer: Peer, job: PeerJob, version: string, { embedder }: Means): Promise<Kept> {
  progress(`${peer.id}, ${job.set}: ${job.documents.length} documents, ${job.queries.length} questions`);
  const folder = join(run.folder, `${peer.id}-${job.set}`);
  mkdirSync(folder, { recursive: true });
  const [load = 0] = loadavg();
  embedder.takeTimes();
  const indexPrefix = run.prefix(fingerprintOf([peer.id, job.set]).slice(0, 8));
  const answers = await peer.run(job, { folder, embeddingsUrl: embedder.url, engine: run.engine, indexPrefix });
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const { query, passage } = embedder.takeTimes();
  return {
    job: job.fingerprint,
    peer: peer.fingerprint(),
    version,
    date: new Date().toISOString(),
    load: Math.round(load * 10) / 10,
    commit: run.machine.commit,
    embedder: { query: query || null, passage: passage || null },
    answers,
  };
}
