/** A peer with a Python library: driver.py runs its adapter in the peer's own environment and hands the answers back as a file. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { namespaceOf } from '../support/dataset.ts';
import { sourceFingerprint } from '../support/fingerprint.ts';
import { progress } from '../support/progress.ts';
import { installPython, lastLine, type PythonPackage } from './install.ts';
import { DEPTH, type PeerJob } from './job.ts';
import { PeerUnavailable, type Peer, type PeerAnswers, type PeerContext } from './peer.ts';

const ADAPTERS = join(import.meta.dirname, 'python');
const RUN_TIMEOUT_MS = 1_200_000;
const KEPT_STDERR = 8_192;

const answersSchema = z.object({
  refused: z.number(),
  write_ms: z.array(z.number()),
  search_ms: z.array(z.number()),
  ranked: z.array(z.array(z.string())),
});

export interface PythonPeerSpec {
  readonly id: string;
  readonly name: string;
  readonly setting: string;
  readonly install: PythonPackage;
  /** File of the adapter, without .py. */
  readonly adapter: string;
  /** Handed to the adapter as they are. */
  readonly options?: Readonly<Record<string, string>>;
}

/** The spec as a peer. */
export function pythonPeer({ id, name, setting, install, adapter, options = {} }: PythonPeerSpec): Peer {
  let python = '';
  return {
    id,
    name,
    setting,
    fingerprint: () =>
      sourceFingerprint([`${adapter}.py`, 'driver.py', 'embedder.py'], ADAPTERS) + JSON.stringify([options, install.others]),
    prepare: async (work) => {
      const installed = await installPython(work, install);
      python = installed.python;
      return installed.version;
    },
    run: async (job, context) => {
      const jobFile = join(context.folder, 'job.json');
      const outFile = join(context.folder, 'answers.json');
      writeFileSync(jobFile, JSON.stringify(pythonJob(job, context, options)));
      await drive(`${id}, ${job.set}`, python, [join(ADAPTERS, 'driver.py'), adapter, jobFile, outFile], context.folder);
      return answersOf(readFileSync(outFile, 'utf8'), job);
    },
  };
}

function pythonJob(job: PeerJob, context: PeerContext, options: Readonly<Record<string, string>>): unknown {
  return {
    language: job.language,
    model: job.model,
    dims: job.dims,
    k: DEPTH,
    documents: job.documents,
    queries: job.queries.map(({ namespace, query }) => ({ namespace: namespaceOf({ namespace }), query })),
    warm_up: job.warmUp,
    embeddings_url: context.embeddingsUrl,
    engine_url: context.engine.url,
    index: `${context.indexPrefix}-memories`,
    folder: context.folder,
    options,
  };
}

/** Runs the driver and shows its progress; PeerUnavailable with the last line of its errors when it fails. */
function drive(label: string, python: string, args: readonly string[], home: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(python, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: RUN_TIMEOUT_MS,
      cwd: home,
      env: {
        PATH: process.env['PATH'],
        HOME: home, // whatever a library leaves in a home folder goes with the run
        LANG: 'C.UTF-8',
        PYTHONDONTWRITEBYTECODE: '1',
        HF_HUB_OFFLINE: '1',
        ANONYMIZED_TELEMETRY: 'False',
        DO_NOT_TRACK: '1',
      },
    });
    const killAtExit = (): void => void child.kill('SIGKILL');
    process.once('exit', killAtExit);
    createInterface({ input: child.stdout }).on('line', (line) => progress(`${label}: ${line}`));
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-KEPT_STDERR);
    });
    child.once('error', reject);
    child.once('close', (code) => {
      process.off('exit', killAtExit);
      if (code === 0) return resolve();
      process.stderr.write(errors);
      reject(new PeerUnavailable(code === null ? 'it did not end in time' : `it failed: ${lastLine(errors)}`));
    });
  });
}

function answersOf(text: string, job: PeerJob): PeerAnswers {
  const { refused, write_ms, search_ms, ranked } = answersSchema.parse(JSON.parse(text));
  if (ranked.length !== job.queries.length) throw new Error('the driver answered another number of questions');
  return { refused, writeMs: write_ms, searchMs: search_ms, ranked };
}
