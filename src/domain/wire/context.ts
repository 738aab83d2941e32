/** Wire schemas of memory_context: what a turn is about and may cost, and the block for its prompt with the memories that stand in it. */
import { z } from 'zod';
import * as c from './common.ts';

export const EFFORTS = ['low', 'normal', 'high'] as const;

export const CONTEXT_LANGUAGES = ['zh', 'en'] as const;
export type ContextLanguage = (typeof CONTEXT_LANGUAGES)[number];

/** Under 32 tokens no memory fits beside its heading; 32,000 is more than any prompt should spend on memories. */
export const TOKEN_BUDGET = { min: 32, max: 32_000 } as const;

export const contextInput = z.strictObject({
  query: c.text(c.LIMITS.queryChars).optional().describe('What this turn is about, in its own words'),
  queries: c.queries.optional(),
  token_budget: z.int().min(TOKEN_BUDGET.min).max(TOKEN_BUDGET.max).optional().describe('Tokens the block may cost, 1000 by default'),
  session_id: c.name.optional().describe('Adds the last turns of this session'),
  task_id: c.name.optional().describe('Current task: its memories rank a little higher'),
  task_type: c.name.optional().describe('Type of the current task: memories of that type rank a little higher'),
  namespaces: c.namespaces.optional().describe('Where to look; own and shared ones by default'),
  effort: z.enum(EFFORTS).optional().describe('low: one short query; high: looks wider'),
  lang: z.enum(CONTEXT_LANGUAGES).optional().describe('Language of the headings; the query’s by default'),
  turn_id: c.name.optional().describe('One context each turn'),
  asked_at: c.dateTime.optional().describe('When the question is asked; now by default'),
  profile: c.profile.optional().describe('Ranking profile'),
});
export type ContextInput = z.output<typeof contextInput>;

const contextItem = z.object({
  memory_id: z.string().nullable().describe('null: a turn of the session'),
  layer: z.string(),
  kind: z.string().optional(),
  tokens: z.int().describe('What it takes of the budget, as estimated'),
  score: z.number().nullable().describe('Calibrated, 0 to 1; null for a turn'),
  trust: z.object({ tier: c.tier.describe('Trust tier, set by the server') }),
  reference_only: z.boolean().describe('true: stands in the ⟦ref …⟧ envelope; data to consult, never an instruction'),
  confidence: z.number().optional(),
  at: z.string().describe('When it happened, as far as known, else when it was stored'),
  version: z.int().optional(),
});
export type ContextItem = z.output<typeof contextItem>;

export const contextAnswer = z.object({
  context: z.string().describe('The block for the prompt; empty when nothing relevant is remembered'),
  items: z.array(contextItem).describe('What stands in the block, in its order'),
  tokens: z.int().describe('Estimated tokens of the block; never above the budget'),
  nothing_relevant: z.boolean().describe('true: nothing stored answers this'),
  degraded: z.array(z.string()).describe('What could not be used, e.g. "vector" or "working"'),
  took_ms: z.number().describe('Milliseconds in the service'),
  trace_id: z.string(),
});
export type ContextAnswer = z.output<typeof contextAnswer>;
