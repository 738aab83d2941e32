/** The catalogue of signals: everything a score can be made of. A new signal is one entry here and a weight in a profile. */
import type { HitRecord } from '../../domain/ranking.ts';
import type { QueryClause } from '../../domain/scope.ts';
import { engineWeight } from '../context.ts';
import type { RankContext } from '../context.ts';
import { FEEDBACK } from './feedback.ts';
import { MATCHES } from './matches.ts';
import { clip, percent } from './signal.ts';
import type { Signal } from './signal.ts';
import { SIMILARITY } from './similarity.ts';
import { WORTH } from './worth.ts';

const REDUNDANCY: Signal = {
  name: 'redundancy',
  formula: 'share of words in common (Jaccard) with the most alike better hit; counted against the score',
  source: 'Carbonell and Goldstein 1998, maximal marginal relevance; only in the profile seed-strategy (neutral or worse on dev)',
  raw: (evidence) => evidence.redundancy,
  normalise: (raw) => clip(raw),
  sentence: (raw, _normalised, lang) =>
    lang === 'zh' ? `与更好的结果有 ${percent(raw)} 重复` : `${percent(raw)} of its words repeat a better hit`,
};

/** Only a formula that sees the whole page knows it (formulas/newer). */
const NEWEST: Signal = {
  name: 'newest',
  formula:
    '1 when an older hit of the same subject, a day or more before, answers a question for what holds now in the same words of it; ' +
    '.25 when it says nearly the same, shared words .5 to .9 (Jaccard)',
  source: 'bench:relevance, changed facts; costs the dev sets nothing of recall@5 and .0006 of nDCG@10 at .2',
  raw: () => undefined,
  normalise: (raw) => clip(raw),
  sentence: (_raw, _normalised, lang) => (lang === 'zh' ? '是同一件事较新的说法' : 'It says anew what an older memory says otherwise'),
};

/** The same (formulas/earliest), of a question for the first conversation. */
const EARLIEST: Signal = {
  name: 'earliest',
  formula:
    '1 on the earliest day among the hits, 0 on the latest, the days between in even steps; only where the first conversation is asked for',
  source: 'bench:quality, dev: MemoryBank en .981 -> 1.000, zh .978 -> .990, across languages + .009 recall@5; no other set asks for it',
  raw: () => undefined,
  normalise: (raw) => clip(raw),
  sentence: (raw, _normalised, lang) =>
    raw >= 1
      ? lang === 'zh'
        ? '是其中最早的一天'
        : 'It is of the earliest day among them'
      : lang === 'zh'
        ? `早于 ${percent(raw)} 的日子`
        : `It is earlier than ${percent(raw)} of their days`,
};

export const SIGNALS: readonly Signal[] = [...SIMILARITY, ...MATCHES, ...WORTH, ...FEEDBACK, REDUNDANCY, NEWEST, EARLIEST];

/** Names a profile or a caller may weigh. */
export const WEIGHT_NAMES: readonly string[] = SIGNALS.filter((signal) => signal.weightOf === undefined).map((signal) => signal.name);

/** Added to every record when all functions carry a filter: Elasticsearch gives 1 to a record that no function matches, so one always must. */
const ANCHOR = 1;

/** The functions of function_score with their weights in engine units; [] when no additive signal has a weight. */
export function engineFunctions(context: RankContext): readonly QueryClause[] {
  return enginePlan(context).functions;
}

/** What those functions add to the `_score` of a record: the same values, computed from the fields that came back. */
export function engineTotal(record: HitRecord, context: RankContext): number {
  const { parts, anchor } = enginePlan(context);
  return parts.reduce((sum, { engine, weight }) => sum + weight * engine.value(record, context), anchor);
}

type WeighedPart = { readonly engine: NonNullable<Signal['engine']>; readonly weight: number };

interface EnginePlan {
  readonly parts: readonly WeighedPart[];
  readonly functions: readonly QueryClause[];
  readonly anchor: number;
}

/** The same for each hit of a search. */
const plans = new WeakMap<RankContext, EnginePlan>();

function enginePlan(context: RankContext): EnginePlan {
  const known = plans.get(context);
  if (known !== undefined) return known;
  const parts = SIGNALS.flatMap(({ name, engine }): WeighedPart[] => {
    const weight = engineWeight(context, name);
    return engine === undefined || weight === 0 ? [] : [{ engine, weight }];
  });
  const own = parts.flatMap(({ engine, weight }) => engine.functions(weight, context));
  const anchor = own.length > 0 && !parts.some(({ engine }) => engine.always) ? ANCHOR : 0;
  const plan = { parts, functions: anchor > 0 ? [{ weight: anchor }, ...own] : own, anchor };
  plans.set(context, plan);
  return plan;
}
