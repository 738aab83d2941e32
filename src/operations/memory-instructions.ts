/** memory_instructions: what an agent should know about remembering and recalling; the same text is the MCP prompt of that name. */
import { z } from 'zod';
import { defineOperation } from './define.ts';
import { INSTRUCTION_LANGUAGES } from './instructions.ts';

export const memoryInstructions = defineOperation({
  name: 'memory_instructions',
  title: 'How to use the memory',
  description:
    'The text that tells an agent when to recall, when to remember, when not, how to treat reference-only hits, and that secrets stay out. ' +
    'Use it once, to put it into an agent’s system prompt. Do NOT call it on every turn: it changes with a release or a policy alone.',
  effect: 'read',
  idempotent: true,
  scope: 'memory:read',
  cost: 1,
  http: [{ method: 'GET', path: '/v1/instructions', status: 200 }],
  mcp: { tool: 'never', fields: [] },
  input: z.strictObject({ lang: z.enum(INSTRUCTION_LANGUAGES).optional().describe('Language of the text: zh or en (by default)') }),
  output: z.object({
    lang: z.enum(INSTRUCTION_LANGUAGES),
    title: z.string(),
    text: z.string().describe('Markdown, for a system prompt'),
    trace_id: z.string(),
  }),
  examples: [{ lang: 'en' }, { lang: 'zh' }],
  handle: async ({ lang = 'en' }, { instructions, traceId }) => ({ lang, ...instructions[lang], trace_id: traceId }),
});
