/** policies/context: how memory_context chooses, and the words of its block in both languages; read and checked at start. */
import { join } from 'node:path';
import { z } from 'zod';
import { CONTEXT_LANGUAGES, EFFORTS, type ContextLanguage } from '../../domain/wire/context.ts';
import { HindsightError } from '../../errors.ts';
import { loadPolicy } from '../../policy.ts';

const MAX_LINE_CHARS = 300;
const PLACEHOLDER = /\{([a-z]+)\}/g;

const words = z
  .string()
  .trim()
  .min(1)
  .max(MAX_LINE_CHARS)
  .regex(/^[^\n]*$/, 'must be one line')
  .refine((s) => !s.includes('{'), 'takes no {name}');

/** One line in which each of the names stands once, and no other. */
const template = (...names: readonly string[]): z.ZodType<string> =>
  z
    .string()
    .min(1)
    .max(MAX_LINE_CHARS)
    .regex(/^[^\n]*$/, 'must be one line')
    .refine(
      (s) =>
        [...s.matchAll(PLACEHOLDER)]
          .map(([, name]) => name)
          .sort()
          .join() === [...names].sort().join(),
      `must name ${names.map((name) => `{${name}}`).join(' and ')}, each once`,
    );

const blockWords = z.strictObject({
  version: z.literal(1),
  lang: z.enum(CONTEXT_LANGUAGES),
  head: words,
  reference_note: words,
  sections: z.strictObject({ strategic: words, semantic: words, episodic: words, working: words }),
  item: template('text', 'marks'),
  pair: template('subject', 'topic'),
  titled: template('title'),
  turn: template('speaker', 'text'),
  marks: z.strictObject({ separator: z.string().min(1).max(5), was: template('text', 'date'), outdated: words, disputed: words }),
  confidence: z.strictObject({ high: words, medium: words, low: words }),
  sources: z.strictObject({
    operator: words,
    user_confirmed: words,
    user_stated: words,
    member: words,
    member_confirmed: words,
    agent_inferred: words,
    tool_output: words,
    web: words,
    document: words,
    email: words,
    import: words,
    external: words,
  }),
  speakers: z.strictObject({ user: words, assistant: words, tool: words, system: words }),
});
export type BlockWords = z.output<typeof blockWords>;

const unit = z.number().min(0).max(1);
const effort = z.strictObject({
  /** Whether what held before is looked up. */
  was: z.boolean(),
  candidates: z.int().min(1).max(200),
  items: z.int().min(1).max(100),
  per_layer: z.boolean(),
});
export type EffortRule = z.output<typeof effort>;

const rulesSchema = z.strictObject({
  version: z.literal(1),
  default_token_budget: z.int().min(32).max(32_000),
  effort: z.strictObject(Object.fromEntries(EFFORTS.map((name) => [name, effort])) as Record<(typeof EFFORTS)[number], typeof effort>),
  /** Absent: the profile's floor alone. */
  inject: unit.default(0),
  share_of_best: unit,
  working_share: unit,
  max_item_tokens: z.int().min(50).max(4_000),
  max_was_tokens: z.int().min(0).max(400),
  confidence: z.strictObject({ high: unit, medium: unit }),
});
export type ContextRules = z.output<typeof rulesSchema>;

export interface ContextPolicy {
  readonly rules: ContextRules;
  readonly words: Readonly<Record<ContextLanguage, BlockWords>>;
}

/** From `<policiesDir>/context`. ERR_CONFIG_INVALID naming the file and the fault. */
export function loadContextPolicy(policiesDir: string): ContextPolicy {
  const rules = loadPolicy(join(policiesDir, 'context', 'rules.yaml'), rulesSchema);
  return { rules, words: { zh: loadWords(policiesDir, 'zh'), en: loadWords(policiesDir, 'en') } };
}

function loadWords(policiesDir: string, lang: ContextLanguage): BlockWords {
  const file = loadPolicy(join(policiesDir, 'context', `${lang}.yaml`), blockWords);
  if (file.lang !== lang)
    throw new HindsightError('ERR_CONFIG_INVALID', { params: { detail: `context/${lang}.yaml /lang must be ${lang}` } });
  return file;
}

/** A template with its names filled in; what is filled in is never read as a template. */
export function filled(line: string, values: Readonly<Record<string, string>>): string {
  return line.replace(PLACEHOLDER, (all, name: string) => values[name] ?? all);
}
