/** Concepts and rules (policies/guard) made ready, and what they find in one reading of a text; the core of the text guard. */
import { z } from 'zod';
import { TIER, TIER_NAMES } from '../../domain/trust.ts';
import type { DeepReadonly } from '../../policy.ts';
import { Reading, type CompiledConcepts, type Language, type Span } from './reading.ts';
import { StartIndex } from './start-index.ts';

const patterns = z.array(z.string().min(1)).min(1);

export const conceptsSchema = z.strictObject({
  version: z.int().min(1),
  concepts: z.record(
    z.string().regex(/^[a-z_]+$/),
    z.strictObject({ en: patterns.optional(), zh: patterns.optional(), xx: patterns.optional(), any: patterns.optional() }),
  ),
});

export const CONTENT_CLASSES = ['directive', 'sensitive'] as const;
export type ContentClass = (typeof CONTENT_CLASSES)[number];

export const rulesSchema = z.strictObject({
  version: z.int().min(1),
  rules: z
    .array(
      z.strictObject({
        id: z.string().regex(/^[a-z0-9-]+$/),
        class: z.enum(CONTENT_CLASSES),
        unit: z.enum(['sentence', 'near', 'text']).default('sentence'),
        all: z.array(z.string()).min(1),
        any: z.array(z.string()).optional(),
        none: z.array(z.string()).optional(),
        max_tier: z.enum(TIER_NAMES).optional(),
        // true: also in the words of an address, where most of what pages are called says nothing to anybody
        addresses: z.boolean().optional(),
        match: z.array(z.string()).min(1),
        pass: z.array(z.string()).min(1),
      }),
    )
    .min(1, 'must hold a rule: without any, nothing is judged'),
});

export type Concepts = DeepReadonly<z.output<typeof conceptsSchema>>;
export type Rules = DeepReadonly<z.output<typeof rulesSchema>>;

export interface Finding {
  readonly ruleId: string;
  readonly contentClass: ContentClass;
  /** Whether the rule holds in the words of an address too. */
  readonly addresses: boolean;
}

/** A rule; concepts by their numbers. */
interface Compiled {
  readonly first: number;
  readonly others: readonly number[];
  /** `first` and `others`, those with the shortest patterns first: what they rule out leaves the long ones alone. */
  readonly needed: readonly number[];
  readonly any: readonly number[];
  readonly none: readonly number[];
  readonly unit: 'sentence' | 'near' | 'text';
  readonly maxTier: number;
  readonly finding: Finding;
}

export interface RuleSet {
  /**
   * Rules that hold in one reading (normalised) for a writer of this tier. Words that a person or their agent quotes in a report
   * (a post-mortem, a manual, a rule's id) are named, not meant; in a hidden reading they are meant all the same.
   */
  find(text: string, tier: number, hidden: boolean): readonly Finding[];
}

const NEAR_CHARS = 200;
/** The concept that makes quoted words a report. */
const REPORT = 'report';
/** Compiles policies. Throws a sentence naming the rule when it names a concept that there is not, or a pattern that is none. */
export function compileRules(concepts: Concepts, rules: Rules): RuleSet {
  const names = Object.keys(concepts.concepts);
  const compiledConcepts = compileConcepts(Object.values(concepts.concepts));
  const report = names.indexOf(REPORT);
  const patternChars = (concept: number): number =>
    (compiledConcepts.concepts[concept] ?? []).reduce((sum, c) => sum + c.pattern.source.length, 0);
  const compiled: readonly Compiled[] = rules.rules.map((rule) => {
    const indexOf = (name: string): number => {
      const index = names.indexOf(name);
      if (index < 0) throw new Error(`rule ${rule.id} names the concept ${name}, which there is not`);
      return index;
    };
    const [first = -1, ...others] = rule.all.map(indexOf);
    return {
      first,
      others,
      needed: [first, ...others].sort((a, b) => patternChars(a) - patternChars(b)),
      any: (rule.any ?? []).map(indexOf),
      none: (rule.none ?? []).map(indexOf),
      unit: rule.unit,
      maxTier: TIER[rule.max_tier ?? 'operator'],
      finding: { ruleId: rule.id, contentClass: rule.class, addresses: rule.addresses === true },
    };
  });
  return {
    find: (text, tier, hidden) => {
      const reading = new Reading(text, compiledConcepts, !hidden && tier >= TIER.agent_inferred);
      const found: Finding[] = [];
      for (const rule of compiled) if (tier <= rule.maxTier && holds(rule, reading, report)) found.push(rule.finding);
      return found;
    },
  };
}

function compileConcepts(concepts: readonly Concepts['concepts'][string][]): CompiledConcepts {
  const sources: string[] = [];
  const compiled = concepts.map((byLanguage) =>
    Object.entries(byLanguage).map(([language, alternatives = []]) => {
      const source = alternatives.map((alternative) => `(?:${alternative})`).join('|');
      return { language: language as Language, source, number: sources.push(source) - 1 };
    }),
  );
  const starts = new StartIndex(sources);
  return {
    starts,
    concepts: compiled.map((patterns) =>
      patterns.map(({ language, source, number }) => ({
        language,
        number,
        pattern: new RegExp(source, starts.indexed[number] === true ? 'y' : 'g'),
      })),
    ),
  };
}

/** Quoted, with a word of a report outside the quotation and near it. */
function quotedInReport(reading: Reading, report: number, [start, end]: Span): boolean {
  if (report < 0) return false;
  return reading.quotes.some(
    ([from, to]) =>
      start >= from &&
      end <= to &&
      reading.spans(report).some(([a, b]) => (b <= from || a >= to) && a < to + NEAR_CHARS && b > from - NEAR_CHARS),
  );
}

/** Index of the first item that fits, where all after one that fits do too; the length when there is none. */
function firstWhere<T>(items: readonly T[], fits: (item: T) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(items[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function holds({ first, others, needed, any, none, unit }: Compiled, reading: Reading, report: number): boolean {
  // most rules end here, before any pattern is tried or any place is measured
  for (const name of needed) if (!reading.mayHave(name)) return false;
  for (const name of needed) if (!reading.has(name)) return false;
  if (any.length > 0 && !any.some((name) => reading.has(name))) return false;
  for (const span of reading.spans(first)) {
    if (quotedInReport(reading, report, span)) continue;
    const [from, to] = reach(unit, span, reading);
    const inside = (name: number): boolean => {
      const found = reading.spans(name);
      const next = found[firstWhere(found, ([, end]) => end > from)];
      return next !== undefined && next[0] < to;
    };
    if (!others.every(inside)) continue;
    if (any.length > 0 && !any.some(inside)) continue;
    if (none.some(inside)) continue;
    return true;
  }
  return false;
}

function reach(unit: Compiled['unit'], [start, end]: Span, reading: Reading): Span {
  const { length } = reading.text;
  if (unit === 'text') return [0, length];
  if (unit === 'near') return [start - NEAR_CHARS, end + NEAR_CHARS];
  const { ends } = reading;
  const from = ends[firstWhere(ends, (at) => at > start) - 1] ?? 0;
  // a match may reach over the end of its sentence
  return [from, ends[firstWhere(ends, (at) => at >= end && at > start)] ?? length];
}
