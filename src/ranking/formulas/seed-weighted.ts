/** Seed formula: 0.5 vector + 0.2 keyword + 0.2 exp(-0.01 days) + 0.1 task (1.0 the same, 0.5 another). */
import type { RankContext } from '../context.ts';
import type { Evidence } from '../signals/signal.ts';
import { sumOf, weightedParts } from './formula.ts';
import type { Formula, Overrides } from './formula.ts';

const OTHER_TASK = 0.5;

/** The early articles gave a memory of another task half a point, where the catalogue gives none. */
const TASK: Overrides = {
  task: {
    raw: ({ record }: Evidence, { taskId, taskType }: RankContext) => {
      if (taskId === undefined && taskType === undefined) return undefined;
      const same = (taskId !== undefined && record.task_id === taskId) || (taskType !== undefined && record.task_type === taskType);
      return same ? 1 : OTHER_TASK;
    },
    sentence: (raw, _normalised, lang) =>
      raw >= 1
        ? lang === 'zh'
          ? '属于当前任务或同类任务'
          : 'It belongs to the current task or its type'
        : lang === 'zh'
          ? '属于另一任务'
          : 'It belongs to another task',
  },
};

/** exp(-0.01 days) is the profile's half-life of 69.3 days. */
export const seedWeighted: Formula = (page, context) =>
  page.map((evidence) => {
    const parts = weightedParts(evidence, context, TASK);
    return { evidence, parts, total: sumOf(parts) };
  });
