/** Additive signals that function_score adds and does not report: each has ONE value, used by the engine clause and by the service that subtracts it. */
import { isoTime } from '../../domain/clock.ts';
import type { HitRecord } from '../../domain/ranking.ts';
import { tierName } from '../../domain/trust.ts';
import type { RankContext } from '../context.ts';
import { clip, percent } from './signal.ts';
import type { EnginePart, Signal } from './signal.ts';

const DAY_MS = 86_400_000;
/** A record that says nothing about its importance or confidence stands in the middle. */
const UNKNOWN_WORTH = 0.5;
/** access_level is floor(log2(count + 1)); level 10 (1,023 uses) counts as full. */
const ACCESS_STEP = 0.1;
const TIER_STEP = 0.2;
/** A memory of another task but of the same type counts half. */
const SAME_TYPE = 0.5;

/** `field x factor`, absent = missing: field_value_factor without a modifier. */
const fieldPart = (field: 'importance' | 'confidence' | 'access_level' | 'trust_tier', factor: number, missing: number): EnginePart => ({
  value: (record) => (record[field] ?? missing) * factor,
  functions: (weight) => [{ field_value_factor: { field, factor, missing }, weight }],
  always: true,
});

const importance = fieldPart('importance', 1, UNKNOWN_WORTH);
const confidence = fieldPart('confidence', 1, UNKNOWN_WORTH);
const access = fieldPart('access_level', ACCESS_STEP, 0);
const trust = fieldPart('trust_tier', TIER_STEP, 0);

/** Days between the event and the moment of asking, either way: the exp decay of Elasticsearch is symmetric. */
const ageDays = (record: HitRecord, context: RankContext): number => Math.abs(context.askedAtMs - Date.parse(record.event_at)) / DAY_MS;
const decay = (days: number, context: RankContext): number => 0.5 ** (days / context.profile.halfLifeDays);

function taskFit(record: HitRecord, context: RankContext): number {
  if (context.taskId !== undefined && record.task_id === context.taskId) return 1;
  return context.taskType !== undefined && record.task_type === context.taskType ? SAME_TYPE : 0;
}

const recency: EnginePart = {
  value: (record, context) => decay(ageDays(record, context), context),
  functions: (weight, context) => [
    {
      exp: {
        event_at: { origin: isoTime(context.askedAtMs), scale: `${Math.round(context.profile.halfLifeDays * DAY_MS)}ms`, decay: 0.5 },
      },
      weight,
    },
  ],
  always: true,
};

const task: EnginePart = {
  value: taskFit,
  functions: (weight, { taskId, taskType }) => {
    const sameId = { term: { task_id: taskId } };
    const sameType = { term: { task_type: taskType } };
    const type = taskId === undefined ? sameType : { bool: { filter: [sameType], must_not: [sameId] } };
    return [
      ...(taskId === undefined ? [] : [{ filter: sameId, weight }]),
      ...(taskType === undefined ? [] : [{ filter: type, weight: weight * SAME_TYPE }]),
    ];
  },
  always: false,
};

export const WORTH: readonly Signal[] = [
  {
    name: 'recency',
    formula: '0.5 ^ (days between event_at and the time of asking / half-life)',
    source: 'Elasticsearch function_score exp decay with decay .5; retrieval.md: neutral up to a weight of .05, costs recall at .2',
    raw: (evidence, context) => ageDays(evidence.record, context),
    normalise: (raw, context) => clip(decay(raw, context)),
    engine: recency,
    sentence: (raw, _normalised, lang) =>
      lang === 'zh' ? `距提问时间 ${raw.toFixed(1)} 天` : `It is ${raw.toFixed(1)} days away from the time of asking`,
  },
  {
    name: 'importance',
    formula: 'importance, 0.5 when not known',
    source: 'Park et al. 2023, Generative Agents, 4.1 (importance as a summand); kept small, additive',
    raw: (evidence, context) => importance.value(evidence.record, context),
    normalise: (raw) => clip(raw),
    engine: importance,
    sentence: (raw, _normalised, lang) => (lang === 'zh' ? `重要性 ${percent(raw)}` : `Its importance is ${percent(raw)}`),
  },
  {
    name: 'confidence',
    formula: 'confidence, 0.5 when not known',
    source: 'product.md, worth fields',
    raw: (evidence, context) => confidence.value(evidence.record, context),
    normalise: (raw) => clip(raw),
    engine: confidence,
    sentence: (raw, _normalised, lang) => (lang === 'zh' ? `可信程度 ${percent(raw)}` : `Its confidence is ${percent(raw)}`),
  },
  {
    name: 'access',
    formula: 'access_level / 10, access_level = floor(log2(uses + 1))',
    source: 'product.md, worth fields; logarithmic as in ACT-R base-level learning',
    raw: (evidence) => evidence.record.access_level ?? 0,
    normalise: (raw) => clip(raw * ACCESS_STEP),
    engine: access,
    sentence: (raw, _normalised, lang) =>
      lang === 'zh' ? `被用过约 ${2 ** raw - 1} 次` : `It was used about ${2 ** raw - 1} times before`,
  },
  {
    name: 'trust',
    formula: 'trust_tier / 5',
    source: 'product.md: what the user states counts more than what an agent or a page claims',
    raw: (evidence) => evidence.record.trust_tier,
    normalise: (raw) => clip(raw * TIER_STEP),
    engine: trust,
    sentence: (raw, _normalised, lang) => (lang === 'zh' ? `信任等级 ${tierName(raw)}` : `Its trust tier is ${tierName(raw)}`),
  },
  {
    name: 'task',
    formula: '1 for the same task_id, 0.5 for the same task_type, else 0',
    source: 'product.md, task_id and task_type are soft signals',
    raw: (evidence, context) =>
      context.taskId === undefined && context.taskType === undefined ? undefined : taskFit(evidence.record, context) || null,
    normalise: (raw) => clip(raw),
    engine: task,
    sentence: (raw, _normalised, lang) =>
      raw >= 1
        ? lang === 'zh'
          ? '属于当前任务'
          : 'It belongs to the current task'
        : lang === 'zh'
          ? '属于同类任务'
          : 'It belongs to a task of the same type',
  },
];
