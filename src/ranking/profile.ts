/** Ranking profiles: policies/ranking/*.yaml read, checked and frozen at start; a caller's weights laid over one of them. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { RankingProfile } from '../domain/ranking.ts';
import { HindsightError } from '../errors.ts';
import { FORMULAS } from './formulas/registry.ts';
import { WEIGHT_NAMES } from './signals/catalogue.ts';

const MAX_WEIGHT = 10;
const boost = z.number().min(0).max(1_000);
const share = z.number().min(0).max(1);

/** Every number of the one query that a profile sets; named as in the YAML. */
const boosts = z.strictObject({
  unit: boost.describe('Engine units of one point of calibrated score; 0 keeps all additive signals out of the engine'),
  neighbours: z.int().min(20).max(10_000).describe('k and num_candidates of each knn clause'),
  vector: boost.describe('Multiplier of the knn boosts of the vector spaces'),
  lexical: boost.describe('Multiplier of the lexical clauses'),
  uni: boost.describe('Stems and lone Han characters'),
  bi: boost.describe('Han bigrams'),
  word: boost.describe('Dictionary words of two or more Han characters'),
  context: boost.describe('Previous turn + turn, for questions in Latin script'),
  names: boost.describe('Capitalised words, on top of uni'),
  summary: boost.describe('Summary field'),
  codes: boost.describe('Exact codes'),
  exact: boost.describe('All codes and quoted phrases of the question, or a rare name, to the letter'),
  rescue_similarity: share.describe('Calibrated similarity that a record with one of them has at least'),
  date_day: share.describe('Fit of a day the question names'),
  date_near: share.describe('Fit of the day before and the three days after'),
  date_month: share.describe('Fit of a month'),
  date_next_month: share.describe('Fit of the first ten days of the month after'),
  date_week: share.describe('Fit of a week'),
  date_year: share.describe('Fit of a year'),
  recency_asked: share.describe('Least weight of recency when the question asks for the latest'),
  short_knn: boost.describe('knn boost for Chinese questions of at most four characters'),
  short_vector_share: share.describe('Share of the vector in vector + lexical for such questions'),
  named_vector_share: share.describe('The same for questions in Latin script that name somebody or something'),
  long_vector_share: share.describe('The same for questions of three or more sentences'),
  last_sentence: share.describe('Share of the last sentence in the vector of a question of three or more sentences'),
  last_sentence_han: share.describe('The same for questions with Han characters'),
  due_similarity: share.describe('Calibrated similarity a record stands at in the engine while its vector is due'),
});

const body = z.strictObject({
  version: z.int().min(1),
  description: z.string().min(1).max(500),
  extends: z.string().optional(),
  formula: z.enum(Object.keys(FORMULAS)),
  candidates: z.int().min(1).max(200),
  boosts,
  weights: z.strictObject(Object.fromEntries(WEIGHT_NAMES.map((name) => [name, z.number().min(0).max(MAX_WEIGHT).optional()]))),
  half_life_days: z.number().positive().max(36_500),
  lexical_saturation: z.number().positive().max(1_000),
  floor: share,
  floors: z
    .strictObject({
      long: share.describe('Floor of questions of three or more sentences'),
      latin: share.describe('Floor of memories in Latin script under a Chinese question'),
      han: share.describe('Floor of Chinese memories under a question in Latin script'),
    })
    .optional(),
  rerank: z
    .strictObject({
      margin: share.describe('A cross-encoder is asked where the first two scores are closer than this'),
      weight: z.number().min(0).max(MAX_WEIGHT).describe('Of its relevance (0 to 1) in the calibrated sum'),
      candidates: z.int().min(2).max(100).describe('Hits that it reads at most'),
    })
    .optional(),
});

/**
 * All profiles of a folder by name (the file's). A profile may extend another, and that one a third: its fields replace what it inherits,
 * `boosts` key by key, `weights` as a whole.
 * @throws ERR_CONFIG_INVALID naming every fault of every file.
 */
export function loadProfiles(folder: string): ReadonlyMap<string, RankingProfile> {
  const faults: string[] = [];
  const raw = new Map<string, Record<string, unknown>>();
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith('.yaml')) continue;
    try {
      const content: unknown = parse(readFileSync(join(folder, file), 'utf8'));
      if (isObject(content)) raw.set(basename(file, '.yaml'), content);
      else faults.push(`${file}: is not a mapping`);
    } catch {
      faults.push(`${file}: is not valid YAML`);
    }
  }
  const profiles = new Map<string, RankingProfile>();
  for (const [name, own] of raw) {
    const merged = extended(own, raw);
    if (typeof merged === 'string') faults.push(`${name}.yaml: ${merged}`);
    const parsed = body.safeParse(typeof merged === 'string' ? own : merged);
    if (parsed.success) profiles.set(name, profileOf(name, parsed.data));
    else for (const issue of parsed.error.issues) faults.push(`${name}.yaml: /${issue.path.join('/')} ${issue.message}`);
  }
  if (raw.size === 0 && faults.length === 0) faults.push('there is no ranking profile');
  if (faults.length > 0) throw new HindsightError('ERR_CONFIG_INVALID', { params: { detail: faults.join('; ') } });
  return profiles;
}

/**
 * A profile with a caller's weights laid over it. New weights of vector, lexical and exact also move their parts in the engine, so that
 * the candidates follow; those of the additive signals follow by themselves. A weight of recency that the caller gives holds for every question.
 * @throws ERR_REQUEST_INVALID with a pointer /weights/<name> for each unknown signal or number outside 0..10.
 */
export function withWeights(profile: RankingProfile, weights: Readonly<Record<string, number>>): RankingProfile {
  const faults = Object.entries(weights).flatMap(([name, weight]) => {
    const pointer = `/weights/${name.replace(/~/g, '~0').replace(/\//g, '~1')}`;
    if (!WEIGHT_NAMES.includes(name)) return [{ pointer, message: 'is not a ranking signal' }];
    return weight >= 0 && weight <= MAX_WEIGHT ? [] : [{ pointer, message: `is not a number from 0 to ${MAX_WEIGHT}` }];
  });
  if (faults.length > 0) throw new HindsightError('ERR_REQUEST_INVALID', { params: { detail: 'weights' }, faults });
  const boosts: Record<string, number> = { ...profile.boosts };
  for (const name of ['vector', 'lexical', 'exact'] as const) {
    const [before = 0, after] = [profile.weights[name], weights[name]];
    if (after !== undefined && before > 0) boosts[name] = ((boosts[name] ?? 1) * after) / before;
  }
  if (weights['recency'] !== undefined) boosts['recency_asked'] = 0;
  return frozen({ ...profile, boosts, weights: { ...profile.weights, ...weights } });
}

/** With what its ancestors say; a sentence where one is missing, or where it is its own ancestor. */
function extended(
  own: Record<string, unknown>,
  all: ReadonlyMap<string, Record<string, unknown>>,
  passed: readonly object[] = [],
): Record<string, unknown> | string {
  if (own['extends'] === undefined) return own;
  const named = typeof own['extends'] === 'string' ? all.get(own['extends']) : undefined;
  if (named === undefined) return '/extends names no profile of this folder';
  if (named === own || passed.includes(named)) return '/extends leads back to the profile itself';
  const parent = extended(named, all, [...passed, own]);
  if (typeof parent === 'string') return parent;
  const boosts = isObject(parent['boosts']) && isObject(own['boosts']) ? { ...parent['boosts'], ...own['boosts'] } : parent['boosts'];
  return { ...parent, ...own, boosts };
}

function profileOf(name: string, data: z.output<typeof body>): RankingProfile {
  return frozen({
    name,
    version: data.version,
    description: data.description,
    formula: data.formula,
    candidates: data.candidates,
    boosts: data.boosts,
    weights: Object.fromEntries(Object.entries(data.weights).filter(([, weight]) => weight !== undefined)) as Record<string, number>,
    halfLifeDays: data.half_life_days,
    lexicalSaturation: data.lexical_saturation,
    floor: data.floor,
    ...(data.floors === undefined ? {} : { floors: Object.freeze(data.floors) }),
    // the articles' formulas are kept as they were published
    ...(data.rerank === undefined || data.formula !== 'hybrid' ? {} : { rerank: Object.freeze(data.rerank) }),
  });
}

function frozen(profile: RankingProfile): RankingProfile {
  return Object.freeze({ ...profile, boosts: Object.freeze({ ...profile.boosts }), weights: Object.freeze({ ...profile.weights }) });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
