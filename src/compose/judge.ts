/** The guard's optional judge: with LLM_MODEL a stage of admission that asks a language model, without it none. */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Clock } from '../domain/clock.ts';
import type { LanguageModel } from '../domain/language-model.ts';
import type { AdmissionStage } from '../guard/admission.ts';
import { judgeSchema } from '../guard/judge/policy.ts';
import { judgeStage } from '../guard/judge/stage.ts';
import type { VerdictTable } from '../guard/text/verdicts.ts';
import { loadPolicy } from '../policy.ts';
import { MAX_CALLS, OpenAiLanguageModel } from '../providers/llm/openai.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export interface JudgeParts {
  readonly policiesDir: string;
  readonly verdicts: VerdictTable;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Stages to be put after all others, so that the model sees masked text, and the model for whoever else asks it. Nothing is called before the first write. */
export function openJudge(
  config: Config,
  { policiesDir, verdicts, clock, logger, metrics }: JudgeParts,
): {
  readonly stages: readonly AdmissionStage[];
  readonly model: LanguageModel | undefined;
  readonly admitsAtOnce: number;
  close(): Promise<void>;
} {
  if (config.llm === undefined) return { stages: [], model: undefined, admitsAtOnce: 1, close: async () => undefined };
  const { baseUrl, model: name, apiKey } = config.llm;
  const policy = loadPolicy(join(policiesDir, 'judge.yaml'), judgeSchema);
  const model = new OpenAiLanguageModel({ baseUrl, model: name, ...(apiKey === undefined ? {} : { apiKey }) });
  const stage = judgeStage({
    model,
    policy,
    verdicts,
    clock,
    onJudged: (outcome, err) => {
      metrics.judged(outcome);
      if (outcome === 'failed')
        logger.warn({ err, model: name }, 'the language model could not judge a write; a person has to decide on it');
    },
  });
  logger.info({ model: name }, 'a language model judges what the rules let in');
  return { stages: [stage], model, admitsAtOnce: MAX_CALLS, close: () => model.close() };
}
