/** npm run bench:guard: what the write guard finds, what an attack reaches end to end, what the guard costs in time and in recall. */
import { join, resolve } from 'node:path';
import { loadGuardPolicy } from '../src/guard/text/policy.ts';
import type { TextJudge } from '../src/guard/screening/rescan.ts';
import { textJudge } from '../src/guard/text/stage.ts';
import { EmbeddingServer, hashBackend } from '../test/support/embedding-server.ts';
import { costOn2Kib, lagOn32Kib } from './guard/cost.ts';
import { detection } from './guard/detection.ts';
import { endToEnd, endToEndFigures, endToEndLines, type EndToEndFigures } from './guard/end-to-end.ts';
import { overMcp, overRest } from './guard/front-ends.ts';
import { writePoliciesWithoutRules } from './guard/policies-off.ts';
import { lossFigures, overallLoss, writeAndAsk, type LossFigures, type SetAnswers } from './guard/recall-loss.ts';
import { guardMarkdown, type GuardFigures, type RulesFigures } from './guard/report.ts';
import { CHANNELS, readRows, type Row } from './guard/rows.ts';
import { readSet, type RetrievalSet } from './support/dataset.ts';
import { embedded } from './support/embedded.ts';
import { HttpClient } from './support/http-client.ts';
import { COMMON_OPTIONS, type BenchCommand } from './support/options.ts';
import { progress } from './support/progress.ts';
import { sample } from './support/random.ts';
import { runBench, type BenchRun } from './support/run.ts';
import { BenchService } from './support/service.ts';
import { tenantToken } from './support/tokens.ts';

const ROOT = join(import.meta.dirname, '..');
const POLICIES = join(ROOT, 'policies');
const OWN = join(ROOT, 'test', 'policies', 'texts');

const COMMAND: BenchCommand = {
  name: 'bench:guard',
  summary: 'true and false positives of the write guard, end-to-end attack success by channel, benign recall loss, latency on 2 KB',
  options: {
    data: { description: 'folder of injection_dev.jsonl', default: '../shared/data/guard' },
    parts: {
      description: 'what to measure: rules (with cost), service (end to end), recall (benign recall loss)',
      default: 'rules,service,recall',
    },
    'mcp-rows': { description: 'attack rows of each channel that go through MCP as well', default: '12' },
    'recall-data': { description: 'folder of the labelled sets for the benign recall loss', default: '../shared/data/retrieval' },
    'recall-sets': {
      description: 'sets asked with and without the rules',
      default: 'memorybank_zh,memorybank_en,cmrc2018_zh,madial_zh,madial_en',
    },
    'recall-embedding': {
      description: 'hash (words hashed into vectors: fast, and the same with and without rules) or local (the models of npm start)',
      default: 'hash',
    },
    out: { description: 'folder for the results', default: 'bench/results' },
    ...COMMON_OPTIONS,
  },
};
const SEED = 20_261_130;
const HASH_DIMS = 384;
/** Of the benign recall loss. */
const TENANT = 'recall';

await runBench(COMMAND, async (run) => {
  const dev = readRows(join(resolve(ROOT, run.options.text('data')), 'injection_dev.jsonl'));
  const own = ['attacks', 'benign', 'attacks-2', 'benign-2'].flatMap((file) => readRows(join(OWN, `${file}.jsonl`)));
  const judge = textJudge(loadGuardPolicy(join(POLICIES, 'guard')));
  const parts = new Set(run.options.list('parts'));
  const figures: GuardFigures = {
    ...(parts.has('rules') ? { rules: await rulesFigures(dev, own, judge) } : {}),
    ...(parts.has('service') ? await throughService(run, dev, own) : {}),
    ...(parts.has('recall') ? { loss: await recallLoss(run) } : {}),
  };
  const markdown = guardMarkdown(run.machine.line, figures);
  run.print(`\n${markdown}`);
  run.attach('guard.md', `${markdown}\n`);
  return { ...figures };
});

async function rulesFigures(dev: readonly Row[], own: readonly Row[], judge: TextJudge): Promise<RulesFigures> {
  return {
    dev: await detection(dev, judge, (row) => row.tier),
    own: await detection(own, judge, (row) => row.split ?? ''),
    cost: await costOn2Kib(dev, judge),
    lag: await lagOn32Kib(dev, judge),
  };
}

async function throughService(
  run: BenchRun,
  dev: readonly Row[],
  own: readonly Row[],
): Promise<Record<'rest' | 'own_rest' | 'mcp', EndToEndFigures>> {
  const service = await BenchService.start({ engineUrl: run.engine.url, prefix: run.prefix('guard'), folder: run.folder });
  const clients: HttpClient[] = [];
  const client = (token: string): HttpClient => {
    const made = new HttpClient(service.url, { authorization: `Bearer ${token}` }, 4);
    clients.push(made);
    return made;
  };
  const [user, agent] = [overRest(client(service.token)), overRest(client(service.agentToken))];
  const [mcpUser, mcpAgent] = [await overMcp(service.url, service.token, user), await overMcp(service.url, service.agentToken, agent)];
  const some = CHANNELS.flatMap((channel) =>
    sample(
      dev.filter((row) => row.label === 'attack' && row.channel === channel),
      run.options.count('mcp-rows'),
      SEED,
    ),
  );
  const measured = async (name: string, rows: readonly Row[], parties: Parameters<typeof endToEnd>[1]): Promise<EndToEndFigures> => {
    const figures = endToEndFigures(rows, await endToEnd(rows, parties, name.replaceAll(' ', '-')));
    for (const line of endToEndLines(name, figures)) run.print(line);
    return figures;
  };
  try {
    return {
      mcp: await measured('mcp', some, { user: mcpUser, agent: mcpAgent }),
      own_rest: await measured('own', own, { user, agent }),
      rest: await measured('dev', dev, { user, agent }),
    };
  } finally {
    await mcpUser.close();
    await mcpAgent.close();
    for (const one of clients) one.close();
    await service.stop();
  }
}

/** The sets through two services of their own, one with the policies as they are and one without rules. */
async function recallLoss(run: BenchRun): Promise<readonly LossFigures[]> {
  const sets = run.options.list('recall-sets').map((name) => readSet(resolve(ROOT, run.options.text('recall-data')), name));
  const without = join(run.folder, 'policies-without-rules');
  writePoliciesWithoutRules(POLICIES, without);
  const embedder = run.options.text('recall-embedding') === 'hash' ? await EmbeddingServer.start(hashBackend(HASH_DIMS)) : undefined;
  const env: Record<string, string> =
    embedder === undefined
      ? {}
      : {
          EMBEDDING_PROFILE: 'openai',
          EMBEDDING_BASE_URL: embedder.baseUrl,
          EMBEDDING_MODEL: 'hash',
          EMBEDDING_DIMS: String(HASH_DIMS),
        };
  try {
    const on = await answersOf(run, 'on', { ...env, POLICIES_DIR: POLICIES }, sets);
    const off = await answersOf(run, 'off', { ...env, POLICIES_DIR: without }, sets);
    return [...on.map((answers, i) => lossFigures(answers, off[i] as SetAnswers)), overallLoss(on, off)];
  } finally {
    await embedder?.stop();
  }
}

async function answersOf(
  run: BenchRun,
  name: 'on' | 'off',
  env: Readonly<Record<string, string>>,
  sets: readonly RetrievalSet[],
): Promise<readonly SetAnswers[]> {
  progress(`benign recall, rules ${name}`);
  const prefix = run.prefix(name);
  const service = await BenchService.start({ engineUrl: run.engine.url, prefix, folder: join(run.folder, name), env });
  const clientOf = async (actor: 'agent' | 'service'): Promise<HttpClient> =>
    new HttpClient(service.url, { authorization: `Bearer ${await tenantToken(service.dataDir, TENANT, actor)}` }, 4);
  const [writer, reader] = [await clientOf('agent'), await clientOf('service')];
  try {
    const answers: SetAnswers[] = [];
    for (const set of sets)
      answers.push(await writeAndAsk(set, writer, reader, async () => embedded(run.engine, `${prefix}-mem-*-g1`, set.name)));
    return answers;
  } finally {
    writer.close();
    reader.close();
    await service.stop();
  }
}
