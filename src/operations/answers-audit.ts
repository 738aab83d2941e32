/** Example answers of the audit log: records and the check of its chains; a part of answers.ts. */
import { AT, GUARD, ID, TRACE } from './answers-parts.ts';

const WRITE = {
  record_type: 'operation',
  tenant: 'local',
  at: AT,
  operation: 'memory_write',
  scope: 'memory:write',
  actor: 'user',
  owner: '2bd806c97f0e00af1a1fc3328fa763a9',
  outcome: 'ok',
  verdict: ['allow'],
  policy_revision: GUARD.policy_revision,
  memory_ids: [ID, '0197a1b2-c3d5-7b21-9c02-5d1e8f0a7b6c'],
  trace_id: '7d5d747be160e280504c099d984bcfe0',
  count: 4,
  detail: { outcomes: { stored: 4 }, ahead: true },
  chain: '5f0c2b7e9a41d386-8f1fb9d1ea1d6a2f4c5b',
  seq: 1,
  prev_hash: 'e2c6f2a1e0a0a0e4e8f5d0f6b8a4c1d9b7a3958271605f4e3d2c1b0a99887766',
  hash: '4c1a7e0f3b5d6978a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718',
};

export const AUDIT_ANSWERS: Readonly<Record<string, readonly object[]>> = {
  memory_audit: [
    { records: [WRITE], next_cursor: null, trace_id: TRACE },
    { records: [], next_cursor: null, trace_id: TRACE },
    { records: [WRITE], next_cursor: null, trace_id: TRACE },
    { records: [], next_cursor: null, trace_id: TRACE },
  ],
  memory_recall_trace: [
    {
      recalls: [
        {
          operation: 'memory_search',
          at: AT,
          owner: '2bd806c97f0e00af1a1fc3328fa763a9',
          actor: 'user',
          namespaces: ['user.alice'],
          query: 'What does Ana drink in the morning?',
          query_state: 'open',
          hits: [
            {
              memory_id: ID,
              score: 0.7,
              parts: { vector: 0.31, lexical: 0.21, speaker: 0.1, importance: 0.03, confidence: 0.02, trust: 0.03 },
            },
          ],
        },
      ],
      trace_id: TRACE,
    },
  ],
  memory_audit_verify: [
    { intact: true, chains: 1, records: 1, anchors: 1, open_chains: 1, unanchored: 1, faults: [], fault_count: 0, trace_id: TRACE },
  ],
};
