/** Wire schemas of memory_reveal and memory_keys_delete: what is sealed at rest, and the end of it. */
import { z } from 'zod';
import * as c from './common.ts';

export const revealInput = z.strictObject({ memory_id: c.memoryId.describe('Which memory') });
export type RevealInput = z.output<typeof revealInput>;

export const revealAnswer = z.object({
  memory_id: z.string().describe('The memory'),
  version: z.int().describe('Content version'),
  values: z
    .array(
      z.object({
        field: z.string().describe('Where it stood'),
        kind: z.string().describe('Kind of secret'),
        value: z.string().describe('As it was written'),
      }),
    )
    .describe('What was masked and kept sealed, in the order of the text; empty when nothing was kept'),
  trace_id: z.string(),
});
export type RevealAnswer = z.output<typeof revealAnswer>;

export const keysDeleteInput = z.strictObject({
  tenant: z.string().min(1).max(256).describe('The tenant of the token, spelled out: what was sealed for it cannot be read any more'),
});
export type KeysDeleteInput = z.output<typeof keysDeleteInput>;

export const keysDeleteAnswer = z.object({
  tenant: z.string().describe('Whose keys they were'),
  keys_deleted: z.int().describe('How many there were; 0 when they were deleted before, or none was made'),
  purged: z
    .boolean()
    .describe('false: wrapped by MASTER_KEY they are still in the engine’s files, for a minute; the service clears them then'),
  trace_id: z.string(),
});
export type KeysDeleteAnswer = z.output<typeof keysDeleteAnswer>;
