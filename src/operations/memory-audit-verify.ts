/** memory_audit_verify: whether the tenant's audit log is as it was written, and where not; REST and the command line, never a tool. */
import { auditVerifyAnswer, auditVerifyInput } from '../domain/wire/audit.ts';
import { defineOperation } from './define.ts';

export const memoryAuditVerify = defineOperation({
  name: 'memory_audit_verify',
  title: 'Check the audit log',
  description:
    'Follow every hash chain of the tenant’s audit log and hold it against the signed anchors: says where a record was edited, deleted, put elsewhere or cut off. ' +
    'Use it before relying on the audit log. Do NOT use it to read it (memory_audit).',
  effect: 'read',
  idempotent: true,
  scope: 'memory:audit',
  cost: 50,
  http: [{ method: 'GET', path: '/v1/audit/verify', status: 200 }],
  mcp: { tool: 'never', fields: [] },
  input: auditVerifyInput,
  output: auditVerifyAnswer,
  examples: [{}],
  handle: async (_value, context) => {
    const report = await context.audit.verify(context.principal, context.signal);
    return { ...report, faults: [...report.faults], intact: report.fault_count === 0, trace_id: context.traceId };
  },
});
