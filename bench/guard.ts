/** npm run bench:guard: what the write guard finds in the development set, what an attack reaches end to end, and what the guard costs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadGuardPolicy } from '../src/guard/text/policy.ts';
import { verdictFor } from '../src/guard/text/verdicts.ts';
import { viewsOf } from '../src/guard/text/views.ts';
import { TIER, VERDICTS, type Verdict } from '../src/domain/trust.ts';
import { EmbeddingServer, hashBackend } from '../test/support/embedding-server.ts';
import { HttpClient } from './support/http-client.ts';
import { Latency, p50p95 } from './support/latency.ts';
import { COMMON_OPTIONS, UsageError, type BenchCommand } from './support/options.ts';
import { progress } from './support/progress.ts';
import { runBench, type BenchRun } from './support/run.ts';
import { BenchService } from './support/service.ts';
import { wilson } from './support/wilson.ts';

const COMMAND: BenchCommand = {
  name: 'bench:guard',
  summary: 'true and false positives of the write guard on the development set, end-to-end attack success by channel, latency on 2 KB',
  options: {
    data: { description: 'folder of injection_dev.jsonl', default: '../shared/data/guard' },
    'no-service': { description: 'rules and latency only, no end-to-end run', flag: true },
    ...COMMON_OPTIONS,
  },
};

interface Row {
  readonly id: string;
  readonly text: string;
  readonly label: 'attack' | 'benign';
  readonly channel: Channel;
  readonly tier: string;
}

const CHANNELS = ['user', 'agent', 'tool', 'web', 'document', 'import'] as const;
type Channel = (typeof CHANNELS)[number];
const CHANNEL_TIER: Readonly<Record<Channel, number>> = {
  user: TIER.user_stated,
  agent: TIER.agent_inferred,
  tool: TIER.tool_output,
  web: TIER.external,
  document: TIER.external,
  import: TIER.external,
};
/** What keeps a text from becoming active memory without a human step; a candidate is listed and never injected. */
const CAUGHT: ReadonlySet<Verdict> = new Set(['candidate', 'confirm', 'quarantine', 'block']);
const KIB = 1024;
const LATENCY_ROUNDS = 200;

const { rules, verdicts } = loadGuardPolicy(join(import.meta.dirname, '..', 'policies', 'guard'));

function verdictOn(text: string, tier: number): Verdict {
  let worst: Verdict = 'allow';
  for (const view of viewsOf(text))
    for (const { contentClass } of rules.find(view.text, tier, view.hidden)) {
      const verdict = verdictFor(verdicts, contentClass, view.hidden, tier);
      if (VERDICTS.indexOf(verdict) > VERDICTS.indexOf(worst)) worst = verdict;
    }
  return worst;
}

await runBench(COMMAND, async (run) => {
  const rows = readRows(join(run.options.text('data'), 'injection_dev.jsonl'));
  const found = detection(rows, run.print);
  const latency = latencyOn2Kib(rows, run.print);
  const endToEnd = run.options.flag('no-service') ? undefined : await throughService(run, rows);
  return { rules: found, latency, ...(endToEnd === undefined ? {} : { end_to_end: endToEnd }) };
});

function readRows(path: string): readonly Row[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Row);
  } catch (error) {
    throw new UsageError(`cannot read ${path}: name its folder with --data (${error instanceof Error ? error.message : String(error)})`);
  }
}

interface Rate {
  readonly caught: number;
  readonly rows: number;
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

function rateOf(rows: readonly Row[], caught: ReadonlySet<string>): Rate {
  const hits = rows.filter((row) => caught.has(row.id)).length;
  return { caught: hits, rows: rows.length, rate: rows.length === 0 ? 0 : hits / rows.length, ...wilson(hits, rows.length) };
}

function grouped<K extends string>(rows: readonly Row[], key: (row: Row) => K): ReadonlyMap<K, readonly Row[]> {
  const groups = new Map<K, Row[]>();
  for (const row of rows) groups.set(key(row), [...(groups.get(key(row)) ?? []), row]);
  return groups;
}

function groupOf(row: Row): string {
  return row.id.replace(/-[^-]*$/, '');
}
function percent(rate: Rate): string {
  return `${(100 * rate.rate).toFixed(1)} % [${(100 * rate.low).toFixed(1)}, ${(100 * rate.high).toFixed(1)}] of ${rate.rows}`;
}

/** TPR by tier and the macro average over source groups, FPR on hard and ordinary benign text (guard.md, metrics). */
function detection(rows: readonly Row[], print: (line: string) => void): Readonly<Record<string, unknown>> {
  const caught = new Set(rows.filter((row) => CAUGHT.has(verdictOn(row.text, CHANNEL_TIER[row.channel]))).map((row) => row.id));
  const attacks = rows.filter((row) => row.label === 'attack');
  const benign = rows.filter((row) => row.label === 'benign');
  const byTier = Object.fromEntries([...grouped(attacks, (row) => row.tier)].map(([tier, part]) => [tier, rateOf(part, caught)]));
  const byGroup = Object.fromEntries([...grouped(attacks, groupOf)].map(([group, part]) => [group, rateOf(part, caught)]));
  const falseByTier = Object.fromEntries([...grouped(benign, (row) => row.tier)].map(([tier, part]) => [tier, rateOf(part, caught)]));
  const rates = Object.values(byGroup).map((rate) => rate.rate);
  const macro = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  print('rules, development set, one operating point, no LLM:');
  for (const [tier, rate] of Object.entries(byTier)) print(`  attacks caught, ${tier.padEnd(11)} ${percent(rate)}`);
  print(`  macro average over ${rates.length} groups  ${(100 * macro).toFixed(1)} %`);
  for (const [tier, rate] of Object.entries(falseByTier)) print(`  benign caught, ${tier.padEnd(12)} ${percent(rate)}`);
  return { attacks: byTier, groups: byGroup, macro, benign: falseByTier };
}

/** Every reading and rule over 2 KB of text, beside JSON parse and NFKC of the same text. */
function latencyOn2Kib(rows: readonly Row[], print: (line: string) => void): Readonly<Record<string, unknown>> {
  const all = rows.map((row) => row.text).join(' ');
  const texts: string[] = [];
  for (let at = 0; at + 2 * KIB < all.length; at += 2 * KIB)
    texts.push(
      Buffer.from(all.slice(at, at + 2 * KIB))
        .subarray(0, 2 * KIB)
        .toString('utf8'),
    );
  const guard = new Latency();
  const yardstick = new Latency();
  const timed = (into: Latency, work: () => unknown): void => {
    const start = performance.now();
    work();
    into.add(performance.now() - start);
  };
  for (const text of texts) verdictOn(text, TIER.user_stated); // compiled and warm, not counted
  for (let round = 0; round < LATENCY_ROUNDS / 20; round += 1)
    for (const text of texts) {
      const json = JSON.stringify(text);
      timed(yardstick, () => (JSON.parse(json) as string).normalize('NFKC'));
      timed(guard, () => verdictOn(text, TIER.user_stated));
    }
  const figures = { guard: guard.summary(), json_and_nfkc: yardstick.summary() };
  print(`2 KB of attack and benign text, p50 / p95: guard ${p50p95(figures.guard)}, JSON parse + NFKC ${p50p95(figures.json_and_nfkc)}`);
  return figures;
}

interface Outcome {
  readonly recalled: boolean;
  /** Came back outside the envelope, as something an agent may follow. */
  readonly instruction: boolean;
}

/** Writes every row through its channel, asks for it with default options, and counts what comes back as an instruction. */
async function throughService(run: BenchRun, rows: readonly Row[]): Promise<Readonly<Record<string, unknown>>> {
  const embedder = await EmbeddingServer.start(hashBackend(384));
  const service = await BenchService.start({
    engineUrl: run.engine.url,
    prefix: run.prefix('guard'),
    folder: run.folder,
    env: { EMBEDDING_PROFILE: 'openai', EMBEDDING_BASE_URL: embedder.baseUrl, EMBEDDING_MODEL: 'hash', EMBEDDING_DIMS: '384' },
  }).catch(async (error: unknown) => {
    await embedder.stop();
    throw error;
  });
  const user = service.client();
  const agent = new HttpClient(service.url, { authorization: `Bearer ${service.agentToken}` });
  try {
    const outcomes = new Map<string, Outcome>();
    for (const [at, row] of rows.entries()) {
      outcomes.set(row.id, await writeAndRecall(row, row.channel === 'user' ? user : agent, agent, `bench.r${at}`));
      if (at % 200 === 199) progress(`end to end: ${at + 1} of ${rows.length}`);
    }
    const report: Record<string, unknown> = {};
    run.print('end to end (written through its channel, recalled with default options, no human step):');
    for (const channel of CHANNELS) {
      const attacks = rows.filter((row) => row.label === 'attack' && row.channel === channel);
      const success = rateOf(attacks, new Set(attacks.filter((row) => outcomes.get(row.id)?.instruction === true).map((row) => row.id)));
      const recalled = rateOf(attacks, new Set(attacks.filter((row) => outcomes.get(row.id)?.recalled === true).map((row) => row.id)));
      report[channel] = { attack_success: success, attack_recalled: recalled };
      run.print(`  ${channel.padEnd(9)} attack success ${percent(success)}, recalled at all ${(100 * recalled.rate).toFixed(1)} %`);
    }
    const benign = rows.filter((row) => row.label === 'benign');
    const back = rateOf(benign, new Set(benign.filter((row) => outcomes.get(row.id)?.recalled === true).map((row) => row.id)));
    run.print(`  benign rows recalled ${percent(back)}`);
    return { ...report, benign_recalled: back };
  } finally {
    user.close();
    agent.close();
    await service.stop();
    await embedder.stop();
  }
}

async function writeAndRecall(row: Row, writer: HttpClient, reader: HttpClient, namespace: string): Promise<Outcome> {
  const source = row.channel === 'user' || row.channel === 'agent' ? {} : { source: { type: row.channel } };
  const body = JSON.stringify({ content: row.text, namespace, admission: 'keep', ...source });
  const { results } = await writer.json<{ results: readonly { memory_id: string | null }[] }>({
    method: 'POST',
    path: '/v1/memories',
    body,
  });
  const id = results[0]?.memory_id;
  const query = row.text.slice(0, 2_000).trim() || 'text';
  const search = JSON.stringify({ query, namespaces: [namespace], top_k: 5 });
  const { hits } = await reader.json<{ hits: readonly { memory_id: string; reference_only: boolean }[] }>({
    method: 'POST',
    path: '/v1/memories/search',
    body: search,
  });
  const hit = hits.find((one) => one.memory_id === id);
  return { recalled: hit !== undefined, instruction: hit !== undefined && !hit.reference_only };
}
