/** The judge as a stage of admission, after the rules and after masking: a language model reads what they let in, and can only hold it back. */
import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../../domain/clock.ts';
import type { LanguageModel } from '../../domain/language-model.ts';
import { TIER, tierName, VERDICTS, type Verdict } from '../../domain/trust.ts';
import type { AdmissionStage, Judgement } from '../admission.ts';
import { sealedTextsOf } from '../sealed-texts.ts';
import { verdictFor, type VerdictTable } from '../text/verdicts.ts';
import type { JudgePolicy } from './policy.ts';
import { answerSchema, questionAbout } from './question.ts';

export interface JudgeOptions {
  readonly model: LanguageModel;
  readonly policy: JudgePolicy;
  readonly verdicts: VerdictTable;
  readonly clock: Clock;
  /** Told of every judged write; `error` of a failed one: log and metrics. */
  readonly onJudged?: (outcome: JudgeOutcome, error?: unknown) => void;
  /** 0 up to 1: which texts without a sign are judged. */
  readonly random?: (text: string) => number;
}

/** `rested`: not asked, because the model had failed several times in a row; `limited`: because its call had asked enough. */
export type JudgeOutcome = 'passed' | 'held' | 'failed' | 'rested' | 'limited';

/** The same number for the same text, so that sending it again is no second draw; nobody outside can work it out. */
function drawer(): (text: string) => number {
  const key = randomBytes(32);
  return (text) => createHmac('sha256', key).update(text).digest().readUInt32BE() / 2 ** 32;
}

/** What a failing judge leads to, and words to it: a person decides. */
const PENDING: Verdict = 'confirm';
/** A window with its question stays within the context of small local models; what stands on a cut is whole in one of two. */
const WINDOW_CHARS = 6_000;
const OVERLAP_CHARS = 400;
const BOUNDARY_BYTES = 12;
const HAN = /\p{Script=Han}/gu;

/**
 * Judged is what the stages before let in, up to `max_tier`, and what no person has consented to. A failing model never lets anything
 * through: the write pends. Nothing of a text is logged.
 */
export function judgeStage(options: JudgeOptions): AdmissionStage {
  const { model, policy, verdicts, clock, onJudged = () => undefined, random = drawer() } = options;
  const signs = compiled(policy.signs);
  const toJudge = compiled(policy.to_judge);
  let failures = 0;
  let restsUntilMs = 0;
  const spent = new WeakMap<object, number>();

  /** Whether a call may still ask so many questions; they are counted as asked. */
  const mayAsk = (batch: object | undefined, questions: number): boolean => {
    if (batch === undefined) return true;
    const before = spent.get(batch) ?? 0;
    if (before > 0 && before + questions > policy.batch_calls) return false;
    spent.set(batch, before + questions);
    return true;
  };

  /** Whether a model should read it. */
  const matters = (text: string, tier: number): boolean => {
    if (signs.test(text)) return true;
    const units = text.length + (text.match(HAN)?.length ?? 0);
    return units >= policy.min_chars && random(text) < (policy.share[tierName(tier)] ?? 0);
  };

  const capped = (verdict: Verdict): Verdict =>
    VERDICTS.indexOf(verdict) > VERDICTS.indexOf(policy.max_verdict) ? policy.max_verdict : verdict;

  const ask = async (text: string, tier: number, signal: AbortSignal): Promise<Found> => {
    const boundary = randomBytes(BOUNDARY_BYTES).toString('hex');
    const answer = { name: 'review', schema: answerSchema };
    const { check, ...said } = await model.complete({ ...questionAbout(text, boundary), answer, timeoutMs: policy.time_ms, signal });
    if (check !== boundary) throw new Error('the answer is not to this question');
    if (said.speaks_to_reviewer) return { verdict: PENDING, ruleIds: ['judge-addressed'] };
    if (said.class === 'harmless') return { verdict: 'allow', ruleIds: [] };
    const verdict = capped(verdictFor(verdicts, said.class, false, tier));
    return { verdict, ruleIds: verdict === 'allow' ? [] : [`judge-${said.class}`] };
  };

  const judged = async (text: string, tier: number, batch: object | undefined): Promise<Found> => {
    if (restsUntilMs > clock()) {
      onJudged('rested');
      return FAILED;
    }
    const windows = windowsOf(text);
    if (!mayAsk(batch, windows.length)) {
      onJudged('limited');
      return LIMITED;
    }
    // one window that fails ends the others: the write pends anyway
    const all = new AbortController();
    try {
      const found = gravest(await Promise.all(windows.map((window) => ask(window, tier, all.signal))));
      failures = 0;
      onJudged(VERDICTS.indexOf(found.verdict) > VERDICTS.indexOf('flag') ? 'held' : 'passed');
      return found;
    } catch (error) {
      all.abort();
      failures += 1;
      if (failures >= policy.failures) {
        restsUntilMs = clock() + policy.rest_ms;
        // one try afterwards, not as many as before
        failures = policy.failures - 1;
      }
      onJudged('failed', error);
      return FAILED;
    }
  };

  return {
    name: 'judge',
    judge: async (draft, { consent, previous, batch }, sofar) => {
      if (consent !== undefined || sofar.tier > TIER[policy.max_tier] || isDecided(sofar)) return {};
      const text = textOf(draft);
      // another importance or expiry says nothing new
      if (previous !== undefined && textOf(previous) === text) return {};
      const plain = text.normalize('NFKC').toLowerCase();
      const addressed = toJudge.test(plain);
      if (!addressed && !matters(plain, sofar.tier)) return {};
      const found = await judged(text, sofar.tier, batch);
      return addressed ? gravest([found, ADDRESSED]) : found;
    },
  };
}

const textOf = (record: Parameters<typeof sealedTextsOf>[0]): string => Object.values(sealedTextsOf(record)).join('\n');

type Found = Pick<Judgement, 'verdict' | 'ruleIds'>;

const FAILED: Found = { verdict: PENDING, ruleIds: ['judge-failed'] };
const LIMITED: Found = { verdict: PENDING, ruleIds: ['judge-limit'] };
const ADDRESSED: Found = { verdict: PENDING, ruleIds: ['judge-addressed'] };

/** Candidates, quarantined and blocked texts go to people or nowhere: there is nothing to raise. */
const isDecided = ({ verdict }: Judgement): boolean => VERDICTS.indexOf(verdict) > VERDICTS.indexOf('flag');

const compiled = (sources: readonly string[]): RegExp => new RegExp(sources.map((source) => `(?:${source})`).join('|'), 'u');

function gravest(all: readonly Found[]): Found {
  const verdict = all.reduce<Verdict>((worst, { verdict: v }) => (VERDICTS.indexOf(v) > VERDICTS.indexOf(worst) ? v : worst), 'allow');
  return { verdict, ruleIds: [...new Set(all.flatMap(({ ruleIds }) => ruleIds))] };
}

/** The whole text: what is cut off could not be judged. */
function windowsOf(text: string): readonly string[] {
  const windows: string[] = [];
  for (let from = 0; from === 0 || from + OVERLAP_CHARS < text.length; from += WINDOW_CHARS - OVERLAP_CHARS)
    windows.push(text.slice(from, from + WINDOW_CHARS));
  return windows;
}
