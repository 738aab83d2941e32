/** What `tune` found: as JSON, for people in both languages, and as a profile. Pure. */
import { inLang, type Lang } from '../command-spec.ts';
import type { Estimate } from './chance.ts';
import type { MeasureName } from './fit.ts';
import type { Weights } from './questions.ts';

export interface Moved {
  readonly signal: string;
  readonly from: number;
  readonly to: number;
  /** In how many folds it moved the same way. */
  readonly folds: number;
}

export interface TuneResult {
  readonly profile: string;
  readonly questions: number;
  /** None of their relevant memories is among the candidates: no weights can help them. */
  readonly out_of_reach: number;
  readonly folds: number;
  readonly seed: number;
  readonly measure: MeasureName;
  /** Both as the service answered; `after` by weights that were found without the question. */
  readonly before: Readonly<Record<MeasureName, number>>;
  readonly after: Readonly<Record<MeasureName, number>>;
  /** Paired differences, mean and 95 % interval. */
  readonly gain: Readonly<Record<MeasureName, Estimate>>;
  /** The interval of the tuned measure lies above 0. */
  readonly certain: boolean;
  readonly moved: readonly Moved[];
  /** Found on all questions. */
  readonly weights: Weights;
  readonly file?: string;
}

const figure = (value: number): string => value.toFixed(3);
const signed = (value: number): string => `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(3)}`;
const LABELS: Readonly<Record<MeasureName, string>> = { ndcg: 'nDCG@10', mrr: 'MRR@10 ' };

export function wordsFor(result: TuneResult, lang: Lang): string {
  const { profile, questions, folds, seed, out_of_reach: out, moved, file } = result;
  const lines = [
    inLang(
      {
        en: `${questions} questions, ${folds} folds, seed ${seed}; profile ${profile}; held-out answers of the service`,
        zh: `${questions} 个问题，${folds} 折，种子 ${seed}；方案 ${profile}；以下为留出问题上服务的实际回答`,
      },
      lang,
    ),
    ...(['ndcg', 'mrr'] as const).map((name) => {
      const { mean, low, high } = result.gain[name];
      return `  ${LABELS[name]}  ${figure(result.before[name])} -> ${figure(result.after[name])}  ${signed(mean)} [${signed(low)}, ${signed(high)}] (95 %)`;
    }),
    ...(out === 0
      ? []
      : [
          inLang(
            {
              en: `${out} of them have no relevant memory among their candidates: no weights can help them (are ids and namespaces right?)`,
              zh: `其中 ${out} 个问题的候选里没有任何相关记忆，权重帮不上忙（请检查 id 和命名空间）`,
            },
            lang,
          ),
        ]),
    inLang(verdictOf(result), lang),
    ...moved.map(({ signal, from, to, folds: same }) => `  ${signal.padEnd(12)} ${from} -> ${to}  (${same}/${folds})`),
    ...(file === undefined ? [] : [inLang({ en: `written to ${file}`, zh: `已写入 ${file}` }, lang)]),
  ];
  return `${lines.join('\n')}\n`;
}

function verdictOf({ certain, gain, measure, moved }: TuneResult): { readonly en: string; readonly zh: string } {
  if (moved.length === 0)
    return { en: 'No better weights were found: keep the profile as it is.', zh: '没有找到更好的权重：请保持原方案。' };
  if (certain)
    return {
      en: 'The interval lies above 0: the weights of all questions are better than the profile’s. Weights that moved, and in how many folds they moved the same way:',
      zh: '置信区间高于 0：新权重优于原方案。变动的权重及在几折中朝同一方向变动：',
    };
  if (gain[measure].high < 0)
    return {
      en: 'The interval lies below 0: held out, the weights are worse. Keep the profile as it is. What moved:',
      zh: '置信区间低于 0：在留出的问题上更差，请保持原方案。变动的权重：',
    };
  return {
    en: 'The interval includes 0: this may be chance. Judge more questions before you rely on it. What moved:',
    zh: '置信区间包含 0：可能只是碰巧。使用之前请标注更多问题。变动的权重：',
  };
}

/** A profile that extends the one tuned; weights stand in it as a whole. */
export function profileYaml(result: TuneResult): string {
  const { profile, questions, folds, seed, measure, gain, certain, weights, moved } = result;
  const { mean, low, high } = gain[measure];
  const head = [
    `# Weights of ${profile}, tuned by "hindsight-es tune": ${questions} judged questions, ${folds} folds, seed ${seed}.`,
    `# Held-out gain of ${LABELS[measure].trim()} ${signed(mean)} [${signed(low)}, ${signed(high)}]${certain ? '' : ': the interval includes 0, this may be chance'}.`,
    `# Moved: ${moved.map(({ signal, from, to }) => `${signal} ${from} -> ${to}`).join(', ')}.`,
  ];
  const recency = moved.some(({ signal }) => signal === 'recency');
  const lines = [
    ...head,
    `extends: ${profile}`,
    'version: 1',
    `description: ${JSON.stringify(`${profile}, with weights tuned on ${questions} judged questions.`)}`,
    // a weight of recency that was measured holds for every question, as a caller's does
    ...(recency ? ['boosts:', '  recency_asked: 0'] : []),
    'weights:',
    ...Object.entries(weights).map(([signal, weight]) => `  ${signal}: ${weight}`),
  ];
  return `${lines.join('\n')}\n`;
}
