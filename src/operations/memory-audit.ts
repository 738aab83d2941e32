/** memory_audit: who did what, of the caller's tenant; REST and the command line, never a tool. */
import type { AuditRecord } from '../domain/audit.ts';
import { auditAnswer, auditInput, auditRecord, type AuditAnswer } from '../domain/wire/audit.ts';
import { defineOperation } from './define.ts';

const PAGE = 50;

export const memoryAudit = defineOperation({
  name: 'memory_audit',
  title: 'Audit log',
  description:
    'List who did what with the memories of the tenant, newest first: every call with its caller, its outcome, the ids and rules concerned, never a text. ' +
    'Use it to find out who read or changed a memory, or what was refused. Do NOT use it for the changes of one memory (memory_history).',
  effect: 'read',
  idempotent: true,
  scope: 'memory:audit',
  cost: 5,
  http: [{ method: 'GET', path: '/v1/audit', status: 200 }],
  mcp: { tool: 'never', fields: [] },
  input: auditInput,
  output: auditAnswer,
  examples: [
    { limit: 20 },
    { operation: 'memory_forget', from: '2026-05-01T00:00:00Z', to: '2026-06-01T00:00:00Z' },
    { memory_id: '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b' },
    { verdict: 'deny', actor: 'agent' },
  ],
  handle: async ({ limit = PAGE, cursor, ...filter }, context) => {
    const { records, next } = await context.audit.read(filter, limit, cursor, context.principal);
    return { records: records.flatMap(recordView), next_cursor: next ?? null, trace_id: context.traceId };
  },
});

/** Heads, signature and key name are of the service's own records alone; what somebody else put into the log need have no form, and verify names it. */
function recordView(record: AuditRecord): AuditAnswer['records'] {
  const { success, data } = auditRecord.safeParse(record);
  return success ? [data] : [];
}
