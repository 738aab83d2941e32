/** `tune` itself: asks the judged questions, finds weights fold by fold, and measures them by the service's own answers to held-out questions. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../domain/clock.ts';
import type { RankingProfile } from '../../domain/ranking.ts';
import { loadProfiles } from '../../ranking/profile.ts';
import { inLang, UsageError, type Invocation, type OptionValues, type Words } from '../command-spec.ts';
import { connect } from '../connect.ts';
import { EXIT } from '../exit-codes.ts';
import { CommandFailed } from '../failure.ts';
import type { RestClient } from '../rest-client.ts';
import { createProgress } from '../transfer/progress.ts';
import { askExplained, askRanked, inTurn } from './ask.ts';
import { estimate, foldsOf, meanOf } from './chance.ts';
import { fit, MEASURES, movedIn, type MeasureName } from './fit.ts';
import { readJudged, type JudgedRow } from './judged.ts';
import { questionOf, tracing, type Question, type Weights } from './questions.ts';
import { profileYaml, wordsFor, type TuneResult } from './result.ts';

const SHIPPED_POLICIES = join(fileURLToPath(new URL('../../..', import.meta.url)), 'policies');
const LEAST_QUESTIONS = 10;
const MAX_FAULTS = 5;

interface Job {
  readonly client: RestClient;
  readonly rows: readonly JudgedRow[];
  readonly profile: RankingProfile;
  readonly folds: number;
  readonly seed: number;
  readonly measure: MeasureName;
  readonly told: () => void;
}

/** Throws UsageError, CommandFailed for rows that cannot be taken and for a service without its vectors, Refused and Unreachable. */
export async function tuneWeights(values: OptionValues, invocation: Invocation): Promise<number> {
  const { words, lang, stdout, stderr, env } = invocation;
  const [given, ...more] = words;
  const fault = (text: Words): UsageError => new UsageError(inLang(text, lang), 'tune');
  if (given === undefined || more.length > 0) throw fault({ en: 'takes one JUDGED.jsonl', zh: '需要一个标注文件' });
  const option = (name: string): string | undefined => (typeof values[name] === 'string' ? values[name] : undefined);
  const measure = option('measure') ?? 'ndcg';
  if (measure !== 'ndcg' && measure !== 'mrr') throw fault({ en: '--measure takes ndcg or mrr', zh: '--measure 只能是 ndcg 或 mrr' });
  const folds = wholeNumber(option('folds') ?? '5', 2, 20);
  if (folds === undefined) throw fault({ en: '--folds takes a number from 2 to 20', zh: '--folds 取 2 到 20' });
  const seed = wholeNumber(option('seed') ?? '1', 0, 4_294_967_295);
  if (seed === undefined) throw fault({ en: '--seed takes a whole number', zh: '--seed 取整数' });
  const out = option('out');
  if (out !== undefined && !/^[a-z][a-z0-9-]{0,63}\.yaml$/.test(basename(out)))
    throw fault({
      en: '--out takes NAME.yaml, of small letters, digits and -',
      zh: '--out 的文件名应为小写字母、数字和 - 组成的 NAME.yaml',
    });
  // before hundreds of questions are asked for nothing
  if (out !== undefined && existsSync(resolve(out)))
    throw new CommandFailed(inLang({ en: `${out} is there already`, zh: `${out} 已存在` }, lang));
  const profile = profileNamed(option('profile') ?? 'assistant', option('policies') ?? env['POLICIES_DIR'], invocation);
  const rows = await rowsOf(resolve(given), given, invocation);
  if (rows.length < folds) throw fault({ en: 'there are fewer questions than folds', zh: '问题数少于折数' });
  const client = connect(values, invocation);
  const progress = createProgress(3 * rows.length, stderr);
  let done = 0;
  const told = (): void => progress.at((done += 1));
  const found = await tuned({ client, rows, profile, folds, seed, measure, told }, invocation).finally(() => progress.end());
  const file = out !== undefined && found.moved.length > 0 ? resolve(out) : undefined;
  const result: TuneResult = file === undefined ? found : { ...found, file };
  if (file !== undefined) await write(file, profileYaml(result), invocation);
  stdout.write(values['json'] === true ? `${JSON.stringify(result)}\n` : wordsFor(result, lang));
  return EXIT.ok;
}

async function tuned({ client, rows, profile, folds, seed, measure, told }: Job, { lang }: Invocation): Promise<TuneResult> {
  const { name, weights: base } = profile;
  const weights = tracing(profile);
  const nowMs = systemClock();
  const questions = await inTurn(
    rows,
    async (row): Promise<Question> => {
      const answer = await askExplained(client, row, { profile: name, weights });
      if (answer.degraded.length > 0) throw new CommandFailed(inLang(degradedWords(answer.degraded), lang), EXIT.unavailable);
      return questionOf(row, answer, profile, nowMs);
    },
    told,
  );
  const foldOf = foldsOf(rows.length, folds, seed);
  const fits = Array.from({ length: folds }, (_, fold) =>
    fit(
      questions.filter((_question, i) => foldOf[i] !== fold),
      base,
      measure,
    ),
  );
  const final = fit(questions, base, measure);
  const before = await inTurn(rows, (row) => askRanked(client, row, { profile: name }), told);
  const after = await inTurn(
    rows,
    (row, i) => askRanked(client, row, { profile: name, weights: changed(base, fits[foldOf[i] ?? 0]) }),
    told,
  );
  const figuresOf = (answers: readonly (readonly string[])[], of: MeasureName): readonly number[] =>
    answers.map((ids, i) => MEASURES[of](ids, questions[i]?.relevant ?? new Set()));
  const compared = (of: MeasureName) => {
    const [old, now] = [figuresOf(before, of), figuresOf(after, of)];
    const differences = now.map((value, i) => value - (old[i] ?? 0));
    return { before: meanOf(old), after: meanOf(now), gain: estimate(differences, seed) };
  };
  const [ndcg, mrr] = [compared('ndcg'), compared('mrr')];
  const gain = { ndcg: ndcg.gain, mrr: mrr.gain };
  return {
    profile: name,
    questions: rows.length,
    out_of_reach: questions.filter(({ relevant, candidates }) => !candidates.some(({ memoryId }) => relevant.has(memoryId))).length,
    folds,
    seed,
    measure,
    before: { ndcg: ndcg.before, mrr: mrr.before },
    after: { ndcg: ndcg.after, mrr: mrr.after },
    gain,
    certain: gain[measure].low > 0,
    moved: movedIn(base, final).map((one) => ({ ...one, folds: fits.filter((fold) => sameWay(one, fold)).length })),
    weights: final,
  };
}

/** What a search is told beside the profile: weights that moved alone, so that all else is as the profile has it. */
function changed(base: Weights, weights: Weights = base): Weights {
  return Object.fromEntries(movedIn(base, weights).map(({ signal, to }) => [signal, to]));
}

function sameWay({ signal, from, to }: { readonly signal: string; readonly from: number; readonly to: number }, fold: Weights): boolean {
  return Math.sign((fold[signal] ?? 0) - from) === Math.sign(to - from);
}

function wholeNumber(value: string, least: number, most: number): number | undefined {
  const number = Number(value);
  return /^\d{1,10}$/.test(value) && number >= least && number <= most ? number : undefined;
}

function profileNamed(name: string, policies: string | undefined, { lang }: Invocation): RankingProfile {
  const profiles = loadProfiles(join(policies === undefined || policies === '' ? SHIPPED_POLICIES : resolve(policies), 'ranking'));
  const profile = profiles.get(name);
  const known = [...profiles.values()].filter(({ formula }) => formula === 'hybrid').map((one) => one.name);
  if (profile === undefined || !known.includes(name))
    throw new UsageError(inLang({ en: `--profile takes ${known.join(', ')}`, zh: `--profile 可取 ${known.join('、')}` }, lang), 'tune');
  return profile;
}

async function rowsOf(path: string, given: string, { lang }: Invocation): Promise<readonly JudgedRow[]> {
  const { rows, faults } = await readJudged(path).catch((error: NodeJS.ErrnoException) => {
    const why = error.code ?? error.message;
    throw new CommandFailed(inLang({ en: `${given} cannot be read (${why})`, zh: `无法读取 ${given}（${why}）` }, lang));
  });
  if (faults.length > 0) {
    const shown = faults.slice(0, MAX_FAULTS).join('; ');
    const others = faults.length > MAX_FAULTS ? `; … (${faults.length})` : '';
    throw new CommandFailed(`${given}: ${shown}${others}`, EXIT.usage);
  }
  if (rows.length < LEAST_QUESTIONS)
    throw new CommandFailed(
      inLang(
        {
          en: `${given} holds ${rows.length} judged questions; fewer than ${LEAST_QUESTIONS} say nothing about weights`,
          zh: `${given} 只有 ${rows.length} 个标注问题；少于 ${LEAST_QUESTIONS} 个无法说明权重的好坏`,
        },
        lang,
      ),
      EXIT.usage,
    );
  return rows;
}

function degradedWords(parts: readonly string[]): Words {
  return {
    en: `the service answers without ${parts.join(', ')}: weights found so would not fit what it does with it`,
    zh: `服务当前缺少 ${parts.join('、')}：此时得出的权重并不适用于正常状态`,
  };
}

/** Never over a file that is there. */
async function write(file: string, text: string, { lang }: Invocation): Promise<void> {
  await writeFile(file, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    const why = error.code ?? error.message;
    throw new CommandFailed(inLang({ en: `${file} cannot be written (${why})`, zh: `无法写入 ${file}（${why}）` }, lang));
  });
}
