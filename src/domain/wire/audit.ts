/** Wire schemas of memory_audit and memory_audit_verify. */
import { z } from 'zod';
import { AUDIT_OUTCOMES, AUDIT_RECORD_TYPES } from '../audit.ts';
import { ACTORS } from '../principal.ts';
import { VERDICTS } from '../trust.ts';
import * as c from './common.ts';

const AUDIT_VERDICTS = [...VERDICTS, 'deny'] as const;

export const auditInput = z.strictObject({
  from: c.dateTime.optional().describe('From this time on (inclusive)'),
  to: c.dateTime.optional().describe('Before this time (exclusive)'),
  operation: z
    .string()
    .regex(/^[a-z][a-z_]{0,63}$/, { message: 'is not the name of an operation or a job' })
    .optional()
    .describe('Calls of this operation, or what this job did'),
  actor: z.enum(ACTORS).optional().describe('Calls by users, agents or services'),
  owner: z
    .string()
    .regex(/^[0-9a-f]{32}$/, { message: 'is not an owner mark' })
    .optional()
    .describe('Calls by this person: owner as records carry it'),
  memory_id: c.memoryId.optional().describe('Calls that named, returned or changed this memory'),
  trace_id: z
    .string()
    .regex(/^[0-9a-f]{32}$/, { message: 'is not a trace id' })
    .optional()
    .describe('The call with this trace_id'),
  verdict: z.enum(AUDIT_VERDICTS).optional().describe('Calls with this verdict of the guard; deny: refused by rights or limits'),
  outcome: z.enum(AUDIT_OUTCOMES).optional().describe('What became of the call'),
  limit: z.int().min(1).max(c.LIMITS.listLimit).optional().describe('Page size, 50 by default'),
  cursor: z.string().min(1).max(4_096).optional().describe('next_cursor of the page before'),
});

export const auditRecord = z.object({
  record_type: z.enum(AUDIT_RECORD_TYPES).describe('What is told of; gap: how many records are missing, and why'),
  tenant: z.string(),
  at: z.string().describe('When the record was made'),
  operation: z.string().optional().describe('Operation or job'),
  scope: z.string().optional().describe('Scope the operation needs'),
  actor: z.string().optional(),
  owner: z.string().optional().describe('Hash of issuer and subject'),
  client_id: z.string().optional(),
  outcome: z.string().optional(),
  reason: z.string().optional().describe('Error code'),
  verdict: z.array(z.string()).optional().describe('Verdicts of the guard; deny: refused by rights or limits'),
  rule_ids: z.array(z.string()).optional().describe('Rules that matched'),
  policy_revision: z.string().describe('Revision of the policies that decided'),
  namespaces: z.array(z.string()).optional(),
  memory_ids: z.array(z.string()).optional().describe('Memories that were named, returned or changed'),
  trace_id: z.string().optional(),
  query_hmac: z.string().optional().describe('Keyed hash of the query: equal for equal queries of a tenant'),
  content_hmac: z.string().optional().describe('Keyed hash of the content'),
  count: z.int().optional(),
  took_ms: z.number().optional(),
  detail: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'Counts and words of the call. ahead: stored beside what it tells of; corrects: seq, in the same chain, of such a record that something else came of',
    ),
  chain: z.string().describe('Chain of this tenant in one process'),
  seq: z.int().describe('Place in the chain'),
  prev_hash: z.string().describe('Hash of the record before it'),
  hash: z.string().describe('SHA-256 of all other fields as JSON with sorted keys'),
});

export const auditAnswer = z.object({
  records: z.array(auditRecord).describe('Newest first'),
  next_cursor: z.string().nullable().describe('Brings the next page; null at the end'),
  trace_id: z.string(),
});
export type AuditAnswer = z.output<typeof auditAnswer>;

export const auditVerifyInput = z.strictObject({});

export const auditVerifyAnswer = z.object({
  intact: z.boolean().describe('true: no chain breaks anywhere'),
  chains: z.int().describe('One for each process that wrote'),
  records: z.int(),
  anchors: z.int().describe('Signed records that vouch for them'),
  open_chains: z.int().describe('Chains whose process runs, or was killed'),
  unanchored: z.int().describe('Last records of those that no anchor knows yet: what was cut off behind them would leave no trace'),
  faults: z
    .array(
      z.object({
        kind: z
          .string()
          .describe(
            'edited, missing, broken, rewritten, truncated, forged, unknown_key: signed with another SERVICE_SECRET, to be checked with it in SERVICE_SECRET_PREVIOUS, or former_key: signed with a former one after it was replaced',
          ),
        chain: z.string(),
        seq: z.int().describe('First record concerned'),
        to_seq: z.int().optional().describe('Last record concerned'),
      }),
    )
    .describe('Where chains break; the first 100'),
  fault_count: z.int(),
  trace_id: z.string(),
});
export type AuditVerifyAnswer = z.output<typeof auditVerifyAnswer>;
