/** npm run bench:relevance: what is found to the letter among 50,000 records, what a large namespace costs in recall, and when nothing is relevant. */
import { join, resolve } from 'node:path';
import { askAll, type Found, type Question } from './relevance/ask.ts';
import { changedFigures, type ChangedFigures } from './relevance/changed.ts';
import { crowdOf } from './relevance/crowd.ts';
import { curveOf, floorMarkdown, floorPlot, type Judged } from './relevance/floor.ts';
import { knownFigures, knownMarkdown } from './relevance/known.ts';
import { shortFigures, shortMarkdown, shortSlices, type ShortSlice } from './relevance/short.ts';
import { verdictsMarkdown, verdictsOf, type Verdicts } from './relevance/verdicts.ts';
import { LARGE, RelevanceStore, smallOf, TENANT, type Slice } from './relevance/store.ts';
import { markdownTable, share, withInterval } from './report/markdown.ts';
import { BOOTSTRAP, bootstrapMean } from './support/bootstrap.ts';
import { LEFT_OUT, readSet, type QueryRow, type RetrievalSet } from './support/dataset.ts';
import { HttpClient } from './support/http-client.ts';
import { COMMON_OPTIONS, UsageError, type BenchCommand, type Options } from './support/options.ts';
import { progress } from './support/progress.ts';
import { sample } from './support/random.ts';
import { recallAt } from './support/ranking-metrics.ts';
import { runBench, type BenchRun } from './support/run.ts';
import { BenchService } from './support/service.ts';
import { tenantToken } from './support/tokens.ts';
import { loadProfiles } from '../src/ranking/profile.ts';

const ROOT = join(import.meta.dirname, '..');
const SEED = 20_261_130;
/** Documents of a set that go into the small and the large namespace, whole source namespaces at a time. */
const SLICE = 600;
const STRANGERS_A_SET = 40;

const COMMAND: BenchCommand = {
  name: 'bench:relevance',
  summary: 'known codes and dev questions in one large namespace, and precision and recall of nothing_relevant with the curve',
  options: {
    records: { description: 'records of the large namespace beside those of the sets', default: '50000' },
    codes: { description: 'questions for a known code, half Chinese', default: '100' },
    things: { description: 'questions for a known number, name and quoted phrase each, half Chinese', default: '60' },
    limit: { description: 'questions of a set at most, drawn by a fixed seed', default: '150' },
    data: { description: 'folder with <set>.<split>.corpus.jsonl and <set>.<split>.queries.jsonl', default: '../shared/data/retrieval' },
    sets: { description: 'sets whose questions are asked in both namespaces', default: 'locomo,memdaily_zh' },
    strangers: {
      description: 'sets whose questions nothing stored answers, or none',
      default: 'cmrc2018_zh,madial_en,memorybank_zh,memorybank_en',
    },
    short: { description: 'set whose Chinese texts are asked for by one to four characters, or none', default: 'memdaily_zh' },
    work: { description: 'folder kept between runs: the written namespaces are noted there', default: '.cache/bench/relevance' },
    out: { description: 'folder for the results', default: 'bench/results' },
    engine: COMMON_OPTIONS.engine,
    'no-results': COMMON_OPTIONS['no-results'],
  },
};

await runBench(COMMAND, measure, { check: readSlices, keptFolder: (options) => resolve(ROOT, options.text('work')) });

interface SetSlice extends Slice {
  readonly answerable: readonly QueryRow[];
  /** Questions that nothing in the slice answers: of other people, and the labelled adversarial ones. */
  readonly unanswerable: readonly QueryRow[];
}

function readSlices(options: Options): SetSlice[] {
  const names = options.list('sets');
  if (names.length === 0) throw new UsageError('--sets needs at least one set');
  return names.map((name) => sliceOf(readSet(resolve(ROOT, options.text('data')), name), options.count('limit')));
}

/** Questions of people that no namespace here knows, as many of each set. */
function strangersOf(options: Options): QueryRow[] {
  const names = options.list('strangers').filter((name) => name !== 'none');
  return names.flatMap((name) => sample(readSet(resolve(ROOT, options.text('data')), name).queries, STRANGERS_A_SET, SEED));
}

function shortOf(options: Options): ShortSlice[] {
  const name = options.text('short');
  return name === 'none' ? [] : shortSlices(readSet(resolve(ROOT, options.text('data')), name).corpus, SEED);
}

function sliceOf({ name, corpus, queries }: RetrievalSet, limit: number): SetSlice {
  const taken = new Set<string>();
  let documents = 0;
  for (const { namespace } of corpus) {
    if (taken.has(namespace)) documents += 1;
    else if (documents < SLICE) {
      taken.add(namespace);
      documents += 1;
    }
  }
  const inside = queries.filter(({ namespace }) => taken.has(namespace));
  const outside = queries.filter(({ namespace }) => !taken.has(namespace));
  const strangers = sample(outside, limit, SEED);
  return {
    set: name,
    corpus: corpus.filter(({ namespace }) => taken.has(namespace)),
    answerable: sample(
      inside.filter(({ category }) => !LEFT_OUT.has(category)),
      limit,
      SEED,
    ),
    unanswerable: [...strangers, ...inside.filter(({ category }) => LEFT_OUT.has(category))],
  };
}

async function measure(run: BenchRun): Promise<Record<string, unknown>> {
  const { engine, options } = run;
  const slices = readSlices(options);
  const records = options.count('records');
  const crowd = crowdOf(records, { codes: options.count('codes'), things: options.count('things') }, SEED);
  const content = { slices, short: shortOf(options), crowd, records };
  const store = RelevanceStore.open(join(run.folder, 'stored.json'), engine);
  const there = await store.holds(content);
  const service = await BenchService.start({ engineUrl: engine.url, prefix: store.prefix, folder: run.folder });
  const client = new HttpClient(service.url, { authorization: `Bearer ${await tenantToken(service.dataDir, TENANT)}` }, 2);
  try {
    if (there) progress('stored by an earlier run');
    else await store.write(client, content);
    const ask = (name: string, questions: readonly Question[], more = {}): Promise<Found[]> =>
      askAll(client, name, questions, store.documents, more);

    const known = await knownFigures(ask, crowd.known);
    const short = await shortFigures(client, content.short, store.documents, SEED);
    const changed: ChangedFigures[] = [];
    for (const profile of ['assistant', 'support']) changed.push(await changedFigures(client, store.documents, profile));
    const sizes: { set: string; questions: number; small: number[]; large: number[] }[] = [];
    const judged: Judged[] = [];
    const verdicts: Verdicts[] = [];
    const others = strangersOf(options);
    for (const { set, answerable, unanswerable } of slices) {
      const at = (namespace: string, rows: readonly QueryRow[]): Question[] =>
        rows.map(({ query, asked_at }) => ({ query, namespace, asked_at }));
      const keep = { min_score: 0 };
      const small = await ask(`${set}: alone`, at(smallOf(set), answerable), keep);
      const large = await ask(`${set}: in the crowd`, at(LARGE, answerable), keep);
      const strangers = await ask(`${set}: unanswerable`, at(smallOf(set), unanswerable), keep);
      const recall = (found: readonly Found[]): number[] =>
        found.map(({ documents }, i) => recallAt(5, documents, new Set(answerable[i]?.relevant)));
      sizes.push({ set, questions: answerable.length, small: recall(small), large: recall(large) });
      judged.push({
        set,
        answerable: small.map(({ best, documents }, i) => ({
          best,
          found: documents.some((id) => answerable[i]?.relevant.includes(id)),
        })),
        unanswerable: strangers.map(({ best }) => best),
      });
      verdicts.push(
        await verdictsOf(client, store.documents, {
          set,
          answerable: at(smallOf(set), answerable),
          found: judged.at(-1)?.answerable.map((one) => one.found) ?? [],
          own: at(smallOf(set), unanswerable),
          others: at(smallOf(set), others),
        }),
      );
    }
    const floor = loadProfiles(join(ROOT, 'policies', 'ranking')).get('assistant')?.floor ?? 0;
    const curve = curveOf(judged);
    const rows = sizes.map(({ set, questions, small, large }) => ({
      set,
      questions,
      small: bootstrapMean(small, BOOTSTRAP),
      large: bootstrapMean(large, BOOTSTRAP),
      difference: bootstrapMean(
        large.map((value, i) => value - (small[i] ?? 0)),
        BOOTSTRAP,
      ),
    }));
    const markdown = [
      knownMarkdown(known, records),
      markdownTable(
        ['recall@5', 'questions', 'alone', `among ${records}`, 'difference'],
        rows.map(({ set, questions, small, large, difference }) => [
          set,
          String(questions),
          withInterval(small),
          withInterval(large),
          withInterval(difference),
        ]),
      ),
      floorMarkdown(judged, floor),
      verdictsMarkdown(verdicts),
      markdownTable(
        ['changed facts, the newest first', 'zh', 'en'],
        changed.map(({ profile, zh, en }) => [profile, share(zh), share(en)]),
      ),
      shortMarkdown(short),
    ].join('\n\n');
    run.print(`\n${markdown}`);
    run.attach('relevance.md', `${run.machine.line}\n\n${markdown}\n`);
    run.attach('relevance-floor.svg', floorPlot(curve, floor));
    return {
      records,
      known,
      recall_5: rows,
      floor,
      curve,
      verdicts,
      changed_facts: changed,
      short_questions: short,
    };
  } finally {
    client.close();
    await service.stop();
  }
}
