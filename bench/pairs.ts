/** npm run bench:pairs: how well duplicates, changed values, retractions and contradictions are told apart, on the project's own labelled pairs. */
import { join } from 'node:path';
import { relationOf } from '../src/memory/conflicts/relation.ts';
import { loadRelationPolicy } from '../src/memory/conflicts/relation-policy.ts';
import { nearness } from './pairs/nearness.ts';
import { LANGS, readPairs, scoreOf, type PairRow, type Score } from './pairs/score.ts';
import { markdownTable, share } from './report/markdown.ts';
import { COMMON_OPTIONS, type BenchCommand } from './support/options.ts';
import { runBench } from './support/run.ts';

const COMMAND: BenchCommand = {
  name: 'bench:pairs',
  summary: 'the relation of two memories, told from their texts, on labelled pairs in Chinese and English',
  options: {
    vectors: { description: 'true: also how near the pairs are in the two local vector spaces', default: 'false' },
    ...COMMON_OPTIONS,
  },
};
const KINDS = ['same', 'changed', 'retracted', 'adds', 'unsure', 'different'] as const;
const root = join(import.meta.dirname, '..');

await runBench(COMMAND, async ({ print, options }) => {
  const policy = loadRelationPolicy(join(root, 'policies'));
  const rows = readPairs(join(root, 'test', 'pairs'));
  const tell = ({ older, newer }: PairRow) => relationOf(older, newer, policy).kind;
  // as code that has run before, and texts that have not been read lately
  rows.forEach(tell);
  const before = process.cpuUsage();
  rows.forEach(tell);
  const { user, system } = process.cpuUsage(before);
  const microsAPair = (user + system) / rows.length;
  const scores = Object.fromEntries(
    (['dev', 'held_out'] as const).flatMap((half) =>
      [...LANGS, 'both'].map((lang): [string, Score] => [
        `${half} ${lang}`,
        scoreOf(
          rows.filter((row) => row.half === half && (lang === 'both' || row.lang === lang)),
          tell,
        ),
      ]),
    ),
  );
  print(
    markdownTable(
      ['pairs', 'number', 'right', 'wrong merges', 'supersession precision', 'recall'],
      Object.entries(scores).map(([name, { pairs, right, wrongMerges, precision, recall }]) => [
        name,
        String(pairs),
        share(right / pairs),
        String(wrongMerges),
        share(precision),
        share(recall),
      ]),
    ),
  );
  for (const half of ['dev', 'held_out']) {
    const confusion: Score['confusion'] = scores[`${half} both`]?.confusion ?? {};
    const lines = KINDS.map((label) => [label, ...KINDS.map((kind) => String(confusion[label]?.[kind] ?? 0))]);
    print(`\n${half}: label, then what was told\n${markdownTable(['', ...KINDS], lines)}`);
  }
  print(`\n${microsAPair.toFixed(0)} µs of CPU time a pair`);
  if (options.text('vectors') !== 'true') return { scores, cpu_micros_a_pair: Math.round(microsAPair) };
  const near = await nearness(rows, policy);
  print(
    `\nshare of the pairs that are compared by their vectors (near ${policy.duplicates.vector.near}), and median similarity\n` +
      markdownTable(
        ['space', 'class', 'pairs', 'compared', 'median'],
        near.map(({ space, kind, pairs, compared, median }) => [space, kind, String(pairs), share(compared), share(median)]),
      ),
  );
  return { scores, cpu_micros_a_pair: Math.round(microsAPair), near };
});
