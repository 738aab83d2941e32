/** Wire schemas of memory_recall_trace. */
import { z } from 'zod';

export const recallTraceInput = z.strictObject({
  trace_id: z
    .string()
    .regex(/^[0-9a-f]{32}$/, { message: 'is not a trace_id (32 hexadecimal digits)' })
    .describe('trace_id that the search or the context block answered with'),
});
export type RecallTraceInput = z.output<typeof recallTraceInput>;

export const recallTraceAnswer = z.object({
  recalls: z
    .array(
      z.object({
        operation: z.string().describe('memory_search or memory_context'),
        at: z.string(),
        owner: z.string().describe('Hash of issuer and subject of who asked'),
        actor: z.string().describe('user, agent or service'),
        namespaces: z.array(z.string()).describe('Asked for by name, and those of what came back'),
        query: z.string().optional().describe('What was asked, masked; for the person who asked, and with memory:reveal'),
        query_state: z
          .enum(['open', 'sealed', 'gone'])
          .describe('sealed: kept, and not for this caller; gone: the tenant’s key was deleted, or there was none'),
        hits: z
          .array(
            z.object({
              memory_id: z.string(),
              score: z.number().describe('Calibrated, 0 to 1'),
              parts: z.record(z.string(), z.number()).describe('Contribution of each signal to the score'),
            }),
          )
          .describe('What came back, best first'),
      }),
    )
    .describe('Oldest first; one trace may hold several'),
  trace_id: z.string(),
});
export type RecallTraceAnswer = z.output<typeof recallTraceAnswer>;
