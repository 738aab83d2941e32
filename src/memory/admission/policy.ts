/** The admission policy (policies/admission.yaml): features of sentences, the rules that join them, grades and terms; read once at start. */
import { z } from 'zod';
import { KINDS, type Kind } from '../../domain/memory.ts';
import type { DeepReadonly } from '../../policy.ts';
import { commonWords, type CommonWords } from './substance.ts';

const patterns = z
  .array(z.string().min(1))
  .min(1)
  .refine((sources) => sources.every(compiles), 'must be regular expressions');
const names = z.array(z.string().regex(/^[a-z_]+$/));
const grade = z.int().min(1).max(5);
const examples = { match: z.array(z.string()).min(1), pass: z.array(z.string()).min(1) };

export const admissionSchema = z
  .strictObject({
    version: z.int().min(1),
    keep_from: z.number().min(0).max(1),
    agent_importance_max: z.number().min(0).max(1),
    plain_grade: grade,
    model: z.strictObject({ time_ms: z.int().min(100).max(60_000), failures: z.int().min(1), rest_ms: z.int().min(0).max(3_600_000) }),
    volatile: z.array(z.strictObject({ ttl_seconds: z.int().min(60), patterns, ...examples })),
    /** What tells the value of an attribute is kept as what holds, unless it tells of the past or of how the value came about. */
    values: z.strictObject({ kinds: z.array(z.enum(KINDS)).min(1), as: z.enum(KINDS), unless: patterns, ...examples }),
    lead_in: patterns,
    /** Words of any talk, between white space. */
    common: z.string().min(1),
    /** Levels of substance by name: words beyond the common ones. */
    substance: z.record(z.string().regex(/^[a-z_]+$/), z.int().min(1)),
    /** What shows that a text of no session is talk all the same: features, and keys of the metadata that mark a turn of a log or stand beside such. */
    talk: z.strictObject({
      features: names.min(1),
      soft_features: names,
      unless: names,
      agent_features: names,
      metadata: z.array(z.string().min(1)).min(1),
      metadata_beside: z.array(z.string().min(1)),
      ...examples,
    }),
    features: z.record(z.string().regex(/^[a-z_]+$/), z.union([patterns, z.strictObject({ cased: z.literal(true), patterns })])),
    rules: z
      .array(
        z.strictObject({
          id: z.string().regex(/^[a-z-]+$/),
          grade,
          kind: z.enum(KINDS).optional(),
          reason: z.string().min(1),
          /** What it is about is not worth keeping. */
          drops: z.literal(true).optional(),
          /** Only among turns: a text written without a session is read by the other rules first, and may well be an order to oneself. */
          of_turns: z.literal(true).optional(),
          /** Kept, but a language model may know better. */
          unsure: z.literal(true).optional(),
          /** A clause of such a sentence may state something all the same. */
          carries: z.literal(true).optional(),
          /** Holds for such a clause too. */
          carried: z.literal(true).optional(),
          all: names.min(1),
          any: names.optional(),
          none: names.optional(),
          ...examples,
        }),
      )
      .min(1),
  })
  .superRefine(({ features, rules, substance, talk }, ctx) => {
    const check = (path: (string | number)[], named: readonly string[]): void => {
      for (const name of named)
        if (features[name] === undefined && substance[name] === undefined && !BY_SPEAKER.includes(name))
          ctx.addIssue({ code: 'custom', path, message: `names a feature that there is not: ${name}` });
    };
    for (const [i, rule] of rules.entries()) check(['rules', i], [...rule.all, ...(rule.any ?? []), ...(rule.none ?? [])]);
    check(['talk', 'features'], [...talk.features, ...talk.soft_features, ...talk.unless, ...talk.agent_features, ...READ_BY_CODE]);
  });

/** Whose words they are: known from the item, not from the text. */
export const SPEAKERS = ['person', 'agent', 'tool'] as const;
export type Speaker = (typeof SPEAKERS)[number];
const BY_SPEAKER: readonly string[] = SPEAKERS.map(speakerFeature);

/** `by_person`, `by_agent`, `by_tool`. */
export function speakerFeature(speaker: Speaker): string {
  return `by_${speaker}`;
}

/** Features that clauses are chosen by. */
const READ_BY_CODE = ['question', 'request', 'asks_word', 'says', 'several_words'] as const;

export type AdmissionPolicy = DeepReadonly<z.output<typeof admissionSchema>>;

export interface AdmissionRule {
  readonly id: string;
  readonly grade: number;
  readonly kind: Kind | undefined;
  readonly reason: string;
  readonly drops: boolean;
  readonly ofTurns: boolean;
  readonly unsure: boolean;
  readonly carries: boolean;
  readonly carried: boolean;
  readonly all: readonly string[];
  readonly any: readonly string[];
  readonly none: readonly string[];
}

/** The policy with its patterns made ready. */
export interface CompiledAdmission {
  readonly keepFrom: number;
  readonly agentImportanceMax: number;
  readonly plainGrade: number;
  readonly model: { readonly timeMs: number; readonly failures: number; readonly restMs: number };
  readonly volatile: readonly { readonly ttlSeconds: number; readonly pattern: RegExp }[];
  readonly values: { readonly kinds: readonly Kind[]; readonly as: Kind; readonly unless: RegExp };
  readonly leadIn: RegExp;
  readonly common: CommonWords;
  readonly substance: ReadonlyMap<string, number>;
  readonly talk: {
    readonly features: readonly string[];
    readonly softFeatures: readonly string[];
    readonly unless: readonly string[];
    readonly agentFeatures: readonly string[];
    readonly marks: ReadonlySet<string>;
    readonly beside: ReadonlySet<string>;
  };
  readonly features: ReadonlyMap<string, { readonly cased: boolean; readonly pattern: RegExp }>;
  readonly rules: readonly AdmissionRule[];
}

/** Compiles a checked policy. */
export function compileAdmission(policy: AdmissionPolicy): CompiledAdmission {
  return {
    keepFrom: policy.keep_from,
    agentImportanceMax: policy.agent_importance_max,
    plainGrade: policy.plain_grade,
    model: { timeMs: policy.model.time_ms, failures: policy.model.failures, restMs: policy.model.rest_ms },
    volatile: policy.volatile.map(({ ttl_seconds: ttlSeconds, patterns: sources }) => ({ ttlSeconds, pattern: joined(sources) })),
    values: { kinds: policy.values.kinds, as: policy.values.as, unless: joined(policy.values.unless) },
    leadIn: joined(policy.lead_in),
    common: commonWords(policy.common.trim().split(/\s+/u)),
    substance: new Map(Object.entries(policy.substance)),
    talk: {
      features: policy.talk.features,
      softFeatures: policy.talk.soft_features,
      unless: policy.talk.unless,
      agentFeatures: policy.talk.agent_features,
      marks: new Set(policy.talk.metadata),
      beside: new Set(policy.talk.metadata_beside),
    },
    features: new Map(
      Object.entries(policy.features).map(([name, feature]) => {
        const sources: readonly string[] = 'patterns' in feature ? feature.patterns : feature;
        return [name, { cased: 'cased' in feature, pattern: joined(sources) }];
      }),
    ),
    rules: policy.rules.map((rule) => ({
      id: rule.id,
      grade: rule.grade,
      kind: rule.kind,
      reason: rule.reason,
      drops: rule.drops === true,
      ofTurns: rule.of_turns === true,
      unsure: rule.unsure === true,
      carries: rule.carries === true,
      carried: rule.carried === true,
      all: rule.all,
      any: rule.any ?? [],
      none: rule.none ?? [],
    })),
  };
}

const joined = (sources: readonly string[]): RegExp => new RegExp(sources.map((source) => `(?:${source})`).join('|'), 'u');

function compiles(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
