/** Concepts and rules (policies/guard) made ready, and what they find in one reading of a text; the core of the text guard. */
import { z } from 'zod';
import { TIER, TIER_NAMES } from '../../domain/trust.ts';
import type { DeepReadonly } from '../../policy.ts';

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
  rules: z.array(
    z.strictObject({
      id: z.string().regex(/^[a-z0-9-]+$/),
      class: z.enum(CONTENT_CLASSES),
      unit: z.enum(['sentence', 'near', 'text']).default('sentence'),
      all: z.array(z.string()).min(1),
      any: z.array(z.string()).optional(),
      none: z.array(z.string()).optional(),
      max_tier: z.enum(TIER_NAMES).optional(),
      match: z.array(z.string()).min(1),
      pass: z.array(z.string()).min(1),
    }),
  ),
});

export type Concepts = DeepReadonly<z.output<typeof conceptsSchema>>;
export type Rules = DeepReadonly<z.output<typeof rulesSchema>>;

/** A place in the text, UTF-16 offsets, end exclusive. */
type Span = readonly [start: number, end: number];

export interface Finding {
  readonly ruleId: string;
  readonly contentClass: ContentClass;
}

interface Compiled {
  readonly id: string;
  readonly contentClass: ContentClass;
  readonly unit: 'sentence' | 'near' | 'text';
  readonly all: readonly string[];
  readonly any: readonly string[];
  readonly none: readonly string[];
  readonly maxTier: number;
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
const QUOTED = /“[^”\n]{2,300}”|"[^"\n]{2,300}"|(?<![\p{L}\p{N}])'[^'\n]{2,300}'(?![\p{L}\p{N}])|「[^」\n]{2,300}」|`[^`\n]{2,300}`/gu;
/** More quotations than this are taken at their word. */
const MAX_QUOTES = 64;
/** Above what a window can hold: harmless matches in front must not use the places up. */
const MAX_SPANS = 4_096;
const HAN = /\p{Script=Han}/u;
const LATIN = /[a-z]/;
const SENTENCE_END = /[。！？!?；;\n]|\.(?=\s|$)/g;

/** Letters of further scripts, or marks on Latin ones. */
const OTHER_LETTER = /[^\P{L}a-z\p{Script=Han}]/u;
/** Little words of the further languages whose patterns are in Latin letters; no sentence of theirs goes without. */
const OTHER_WORDS =
  /\b(?:aus|alles?|allen?|anweisungen|auf|das|dein[a-z]?|den|der|die|du|ein[a-z]?|gib|ich|ist|jetzt|keine?|mir|nicht|ohne|sofort|und|von|zeig|zu|avec|ce|ces|consignes|de|des|donn[a-z]{1,24}|est|et|instructions syst|la|le|les|mes|moi|mot|ne|nouvelles|pas|pour|que|sans|ses|si|sur|tes|toi|ton|toujours|tout[a-z]{0,24}|tu|un|une|vos|votre|vous|al|con|del|el|en|es|esta|instrucciones|las|lo|los|mi|no|para|por|que|sin|su|sus|todas?|todos?|tus?|una|usted|y|che|di|gli|il|istruzioni|le|mostra|nuove|per|quelle|senza|sono|tua|tuo|tutte|tutti|parola)\b/;

/** Which patterns can find anything in a text: those of the other languages are passed over in plain English and Chinese. */
function languagesOf(text: string): ReadonlySet<Language> {
  const languages = new Set<Language>(['any']);
  const han = HAN.test(text);
  const latin = LATIN.test(text);
  if (han) languages.add('zh');
  if (latin) languages.add('en');
  if ((han && latin) || OTHER_LETTER.test(text) || OTHER_WORDS.test(text)) languages.add('xx');
  return languages;
}

type Language = 'en' | 'zh' | 'xx' | 'any';

/** Compiles policies. Throws a sentence naming the rule when it names a concept that there is not, or a pattern that is none. */
export function compileRules(concepts: Concepts, rules: Rules): RuleSet {
  const compiledConcepts = new Map(
    Object.entries(concepts.concepts).map(([name, byLanguage]) => [
      name,
      Object.entries(byLanguage).map(([language, sources = []]) => ({
        language: language as Language,
        pattern: new RegExp(sources.map((s) => `(?:${s})`).join('|'), 'g'),
      })),
    ]),
  );
  const compiled: readonly Compiled[] = rules.rules.map((rule) => {
    for (const name of [...rule.all, ...(rule.any ?? []), ...(rule.none ?? [])]) {
      if (!compiledConcepts.has(name)) throw new Error(`rule ${rule.id} names the concept ${name}, which there is not`);
    }
    return {
      id: rule.id,
      contentClass: rule.class,
      unit: rule.unit,
      all: rule.all,
      any: rule.any ?? [],
      none: rule.none ?? [],
      maxTier: TIER[rule.max_tier ?? 'operator'],
    };
  });
  return {
    find: (text, tier, hidden) => {
      const languages = languagesOf(text);
      const cache = new Map<string, readonly Span[]>();
      const spans = (name: string): readonly Span[] => {
        let found = cache.get(name);
        if (found === undefined) {
          const here = (compiledConcepts.get(name) ?? []).filter((c) => languages.has(c.language));
          found = disjoint(here.flatMap((c) => spansOf(text, c.pattern, MAX_SPANS)));
          cache.set(name, found);
        }
        return found;
      };
      const units = sentencesOf(text);
      const quotes = hidden || tier < TIER.agent_inferred ? [] : spansOf(text, QUOTED, MAX_QUOTES);
      const quotedInReport = ([start, end]: Span): boolean =>
        quotes.some(
          ([from, to]) =>
            start >= from &&
            end <= to &&
            spans(REPORT).some(([a, b]) => (b <= from || a >= to) && a < to + NEAR_CHARS && b > from - NEAR_CHARS),
        );
      return compiled
        .filter((rule) => tier <= rule.maxTier && holds(rule, (name) => spans(name), units, text, quotedInReport))
        .map((rule) => ({ ruleId: rule.id, contentClass: rule.contentClass }));
    },
  };
}

function spansOf(text: string, pattern: RegExp, limit: number): Span[] {
  const spans: Span[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null && spans.length < limit; match = pattern.exec(text)) {
    spans.push([match.index, match.index + match[0].length]);
    if (match[0].length === 0) pattern.lastIndex++;
  }
  return spans;
}

/** In the order of the text, overlapping ones as one. */
function disjoint(spans: Span[]): readonly Span[] {
  const merged: Span[] = [];
  for (const [start, end] of spans.sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last !== undefined && start < last[1]) merged[merged.length - 1] = [last[0], Math.max(last[1], end)];
    else merged.push([start, end]);
  }
  return merged;
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

/** Ends of sentences, ascending; the last one is the end of the text. */
function sentencesOf(text: string): readonly number[] {
  const ends: number[] = [];
  for (const match of text.matchAll(SENTENCE_END)) ends.push(match.index + 1);
  ends.push(text.length + 1);
  return ends;
}

function holds(
  rule: Compiled,
  spans: (name: string) => readonly Span[],
  ends: readonly number[],
  text: string,
  exempt: (span: Span) => boolean,
): boolean {
  const [first = '', ...others] = rule.all;
  for (const span of spans(first)) {
    if (exempt(span)) continue;
    const [from, to] = reach(rule.unit, span, ends, text.length);
    const inside = (name: string): boolean => {
      const found = spans(name);
      const next = found[firstWhere(found, ([, end]) => end > from)];
      return next !== undefined && next[0] < to;
    };
    if (!others.every(inside)) continue;
    if (rule.any.length > 0 && !rule.any.some(inside)) continue;
    if (rule.none.some(inside)) continue;
    return true;
  }
  return false;
}

function reach(unit: Compiled['unit'], [start, end]: Span, ends: readonly number[], length: number): Span {
  if (unit === 'text') return [0, length];
  if (unit === 'near') return [start - NEAR_CHARS, end + NEAR_CHARS];
  const from = ends[firstWhere(ends, (at) => at > start) - 1] ?? 0;
  // a match may reach over the end of its sentence
  return [from, ends[firstWhere(ends, (at) => at >= end && at > start)] ?? length];
}
