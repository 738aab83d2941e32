/** Seed formula: 0.2 vector + 0.3 task type + 0.3 confidence + 0.1 recency - 0.1 redundancy, chosen greedily. */
import { analyze } from '../../text/analyze.ts';
import type { RankContext } from '../context.ts';
import type { Evidence } from '../signals/signal.ts';
import { sumOf, weightedParts } from './formula.ts';
import type { Formula, Overrides, Scored } from './formula.ts';
import { jaccard } from '../words.ts';

const TASK_TYPE: Overrides = {
  task: {
    raw: ({ record }: Evidence, { taskType }: RankContext) =>
      taskType === undefined ? undefined : record.task_type === taskType ? 1 : null,
    sentence: (_raw, _normalised, lang) => (lang === 'zh' ? '属于同类任务' : 'It belongs to a task of the same type'),
  },
};

/** Takes the best hit, then again the best of the rest with its likeness to those taken counted against it. At most 100 hits. */
export const seedStrategy: Formula = (page, context) => {
  const rest = page.map((evidence) => ({ evidence, words: wordsOf(evidence), redundancy: 0 }));
  const chosen: Scored[] = [];
  while (rest.length > 0) {
    const scored = rest.map(({ evidence, redundancy }) => score({ ...evidence, redundancy }, context));
    const best = scored.reduce((top, { total }, index) => (total > (scored[top]?.total ?? 0) ? index : top), 0);
    const [taken] = rest.splice(best, 1);
    const result = scored[best];
    if (taken === undefined || result === undefined) break;
    chosen.push(result);
    for (const other of rest) other.redundancy = Math.max(other.redundancy, jaccard(other.words, taken.words));
  }
  return chosen;
};

function score(evidence: Evidence, context: RankContext): Scored {
  const parts = weightedParts(evidence, context, TASK_TYPE).map((part) =>
    part.signal === 'redundancy' ? { ...part, contribution: -part.contribution } : part,
  );
  return { evidence, parts, total: sumOf(parts) };
}

function wordsOf({ record }: Evidence): ReadonlySet<string> {
  const { uni, bi } = analyze(record.content);
  return new Set([...uni, ...bi]);
}
