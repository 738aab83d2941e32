/** Wire schemas of memory_stats. */
import { z } from 'zod';
import * as c from './common.ts';

export const statsInput = z.strictObject({
  namespaces: c.namespaces.optional().describe('Which namespaces; all that the token may read by default'),
});
export type StatsInput = z.output<typeof statsInput>;

export const statsAnswer = z.object({
  service: z.object({
    url: z.string().describe('Under which clients reach it'),
    version: z.string(),
    uptime_seconds: z.int(),
    engine: z.string().describe('Which Elasticsearch'),
    embedding: z.string().describe('Which models make the vectors'),
    redis: z.enum(['off', 'ok', 'away']).describe('off: not configured; away: limits and marks are kept in the process meanwhile'),
  }),
  tenant: z.string().describe('Tenant of the token'),
  memories: z.int().describe('Memories that the token may read and a search would look at'),
  namespaces: z
    .array(z.object({ namespace: z.string(), memories: z.int() }))
    .describe('The same by namespace, largest first; at most 1,000'),
  embedding_queue: z.object({
    due: z.int().describe('Readable memories whose vectors are still to be made'),
    dead: z.int().describe('Readable memories that were tried too often; they stay findable by their words'),
  }),
  degraded: z.array(z.string()).describe('Parts that work without something they should have'),
  trace_id: z.string(),
});
export type StatsAnswer = z.output<typeof statsAnswer>;
