/** What a figure was measured on: without it a number means nothing to the next reader. */
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';
import { basename, join } from 'node:path';
import type { BenchEngine } from './engine.ts';

export interface Machine {
  readonly cores: number;
  readonly cpu: string;
  readonly memory_gb: number;
  /** One-minute load average before the run. */
  readonly load: number;
  readonly node: string;
  readonly elasticsearch: string;
  readonly jdk: string;
  readonly commit: string;
  readonly date: string;
  readonly command: string;
  /** All of it in one line. */
  readonly line: string;
}

interface NodesInfo {
  readonly nodes: Readonly<Record<string, { readonly version: string; readonly jvm?: { readonly version: string } }>>;
}

/** Reads it all; paths and addresses in the command are shortened to their last part, so a result names no machine. */
export async function machineLine(engine: BenchEngine, script: string, args: readonly string[]): Promise<Machine> {
  const info = await engine.client.json<NodesInfo>({ method: 'GET', path: '/_nodes/jvm?filter_path=nodes.*.version,nodes.*.jvm.version' });
  const node = Object.values(info.nodes)[0];
  const facts = {
    cores: cpus().length,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memory_gb: Math.round(totalmem() / 2 ** 30),
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
    node: process.versions.node,
    elasticsearch: node?.version ?? 'unknown',
    jdk: node?.jvm?.version ?? 'unknown',
    commit: commit(),
    date: new Date().toISOString(),
    command: ['npm run', script, ...(args.length > 0 ? ['--'] : []), ...shortened(args)].join(' '),
  };
  const line =
    `${facts.cores} cores (${facts.cpu}, load ${facts.load}), ${facts.memory_gb} GB; Node ${facts.node}; ` +
    `Elasticsearch ${facts.elasticsearch} on JDK ${facts.jdk}; ${facts.date.slice(0, 16)}Z; commit ${facts.commit}; ${facts.command}`;
  return { ...facts, line };
}

/** Arguments without folders and URLs. */
export function shortened(args: readonly string[]): string[] {
  return args.map((arg) => {
    const [, name, value] = /^(--[a-z-]+=)(.*)$/.exec(arg) ?? [undefined, '', arg];
    return `${name ?? ''}${(value ?? arg).includes('/') ? basename(value ?? arg) : (value ?? arg)}`;
  });
}

function commit(): string {
  try {
    const root = join(import.meta.dirname, '..', '..');
    const read = (...args: string[]): string =>
      execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const dirty = read('status', '--porcelain', '--untracked-files=no', '--', 'src', 'mappings', 'policies').trim() !== '';
    return `${read('rev-parse', '--short', 'HEAD').trim()}${dirty ? '+' : ''}`;
  } catch {
    return 'unknown';
  }
}
