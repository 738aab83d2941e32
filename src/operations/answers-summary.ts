/** Example answers of memory_summarize; a part of answers.ts. */
import { AT, GUARD, ID, TRACE } from './answers-parts.ts';

const ALLERGY = '0197a1b2-c3d5-7b21-9c02-5d1e8f0a7b6c';
const TRAIN = '0197a1b2-c3d6-7c3a-8f11-6e2f9a1b8c7d';

const quote = (text: string, id: string): object => ({ text, memory_ids: [id], at: AT, trust: 'user_stated', reference_only: false });
const TEA_TEXT = 'Ana prefers green tea in the morning and never drinks coffee.';
const ALLERGY_TEXT = '李明对花生过敏，点餐时要避开花生酱。';
const TRAIN_TEXT = 'The release train leaves every second Tuesday.';

export const SUMMARY_ANSWERS: Readonly<Record<string, readonly object[]>> = {
  memory_summarize: [
    {
      summary: `${TEA_TEXT} [${ID}]\n${ALLERGY_TEXT} [${ALLERGY}]\n${TRAIN_TEXT} [${TRAIN}]`,
      sentences: [quote(TEA_TEXT, ID), quote(ALLERGY_TEXT, ALLERGY), quote(TRAIN_TEXT, TRAIN)],
      method: 'extractive',
      memories: 4,
      truncated: false,
      degraded: [],
      trace_id: TRACE,
    },
    {
      summary: `${ALLERGY_TEXT} [${ALLERGY}]`,
      sentences: [quote(ALLERGY_TEXT, ALLERGY)],
      method: 'extractive',
      memories: 4,
      truncated: false,
      degraded: [],
      results: [
        {
          memory_id: '0197a1b2-c3d7-7d4b-9a22-7f3a0b2c9d8e',
          outcome: 'stored',
          version: 1,
          settled: false,
          replaced: [],
          masked: [],
          guard: GUARD,
        },
      ],
      trace_id: TRACE,
    },
  ],
};
