/** What the service answers to each operation's examples, in their order: for OpenAPI; a test asks the running service and compares. */
import { AT, GUARD, ID, LATER, MEMORY, TRACE, TRUST } from './answers-parts.ts';
import { AUDIT_ANSWERS } from './answers-audit.ts';
import { REVIEW_ANSWERS } from './answers-review.ts';
import { SESSION_ANSWERS } from './answers-session.ts';

/** Lists show their first elements; the text of the instructions shows its beginning. */
export const ANSWERS: Readonly<Record<string, readonly object[]>> = {
  memory_write: [
    {
      results: [{ memory_id: ID, outcome: 'stored', version: 1, settled: false, replaced: [], masked: [], guard: GUARD }],
      trace_id: TRACE,
    },
    {
      results: [
        {
          memory_id: '0197a1b2-c3d5-7b21-9c02-5d1e8f0a7b6c',
          outcome: 'stored',
          version: 1,
          settled: true,
          replaced: [],
          masked: [],
          guard: GUARD,
        },
      ],
      trace_id: TRACE,
    },
    {
      results: [
        {
          memory_id: '0197a1b2-c3d6-7c40-a115-2f3e4d5c6b7a',
          outcome: 'stored',
          version: 1,
          settled: false,
          replaced: [],
          masked: [],
          guard: GUARD,
        },
        {
          memory_id: '0197a1b2-c3d7-7d8e-b226-6a5b4c3d2e1f',
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
  memory_search: [
    {
      hits: [
        {
          memory_id: ID,
          content: 'Ana prefers green tea in the morning and never drinks coffee.',
          score: 0.532,
          namespace: 'user.alice',
          layer: 'semantic',
          kind: 'preference',
          subject: 'Ana',
          topic: 'morning drink',
          tags: ['drinks'],
          trust: TRUST,
          reference_only: false,
          created_at: AT,
          version: 1,
          status: 'active',
        },
      ],
      nothing_relevant: false,
      degraded: [],
      took_ms: 14,
      trace_id: TRACE,
    },
    {
      hits: [
        {
          memory_id: '0197a1b2-c3d5-7b21-9c02-5d1e8f0a7b6c',
          content: '李明对花生过敏，点餐时要避开花生酱。',
          score: 0.469,
          namespace: 'user.alice',
          layer: 'semantic',
          kind: 'constraint',
          subject: '李明',
          topic: '过敏',
          tags: [],
          trust: TRUST,
          reference_only: false,
          created_at: AT,
          version: 1,
          status: 'active',
          explain: {
            engine_score: 312.638,
            signals: [
              {
                signal: 'vector',
                raw: 0.462,
                normalised: 0.437,
                weight: 0.7,
                contribution: 0.306,
                sentence: 'Its meaning is 44% close to the question (cosine 0.462)',
              },
              {
                signal: 'lexical',
                raw: 0.434,
                normalised: 0.018,
                weight: 0.3,
                contribution: 0.005,
                sentence: 'It shares words with the question (BM25 0.4)',
              },
              { signal: 'speaker', raw: 1, normalised: 1, weight: 0.1, contribution: 0.1, sentence: 'The question names whom it is about' },
            ],
          },
        },
      ],
      nothing_relevant: false,
      degraded: [],
      took_ms: 14,
      trace_id: TRACE,
    },
    {
      hits: [
        {
          memory_id: '0197a1b2-c3d6-7c40-a115-2f3e4d5c6b7a',
          content: 'The release train leaves every second Tuesday.',
          score: 0.442,
          namespace: 'user.alice',
          layer: 'semantic',
          kind: 'fact',
          tags: [],
          trust: TRUST,
          reference_only: false,
          created_at: AT,
          version: 1,
          status: 'active',
        },
      ],
      nothing_relevant: false,
      degraded: [],
      took_ms: 14,
      trace_id: TRACE,
    },
  ],
  ...REVIEW_ANSWERS,
  ...SESSION_ANSWERS,
  ...AUDIT_ANSWERS,
  memory_get: [
    {
      ...MEMORY,
      memory_id: ID,
      content: 'Ana prefers green tea in the morning and never drinks coffee.',
      layer: 'semantic',
      kind: 'preference',
      subject: 'Ana',
      topic: 'morning drink',
      tags: ['drinks'],
      trace_id: TRACE,
    },
  ],
  memory_list: [
    {
      items: [
        {
          ...MEMORY,
          memory_id: '0197a1b2-c3d7-7d8e-b226-6a5b4c3d2e1f',
          content: 'Build 4711 failed because the disk was full.',
          layer: 'episodic',
          kind: 'event',
          tags: [],
          occurred_at: '2026-05-04T09:30:00.000Z',
        },
      ],
      next_cursor: null,
      trace_id: TRACE,
    },
    {
      items: [
        {
          memory_id: ID,
          ...MEMORY,
          content: 'Ana prefers green tea in the morning and never drinks coffee.',
          layer: 'semantic',
          kind: 'preference',
          subject: 'Ana',
          topic: 'morning drink',
          tags: ['drinks'],
        },
      ],
      next_cursor: null,
      trace_id: TRACE,
    },
  ],
  memory_update: [
    { memory_id: ID, outcome: 'updated', version: 2, guard: GUARD, trace_id: TRACE },
    { memory_id: ID, outcome: 'updated', version: 2, guard: GUARD, trace_id: TRACE },
  ],
  memory_history: [
    {
      memory_id: ID,
      versions: [
        {
          version: 2,
          content: 'Ana prefers oat milk tea in the morning.',
          status: 'active',
          valid_from: LATER,
          changed_by: { actor: 'user' },
          trust: TRUST,
          reference_only: false,
          changes: [
            {
              field: 'content',
              before: 'Ana prefers green tea in the morning and never drinks coffee.',
              after: 'Ana prefers oat milk tea in the morning.',
            },
          ],
        },
        {
          version: 1,
          content: 'Ana prefers green tea in the morning and never drinks coffee.',
          status: 'active',
          valid_from: AT,
          valid_to: LATER,
          changed_by: { actor: 'user' },
          trust: TRUST,
          reference_only: false,
          changes: [],
        },
      ],
      trace_id: TRACE,
    },
  ],
  memory_restore: [{ memory_id: ID, outcome: 'restored', version: 3, restored_version: 1, guard: GUARD, trace_id: TRACE }],
  memory_forget: [
    { forgotten: 1, memory_ids: [ID], trace_id: TRACE },
    {
      forgotten: 0,
      memory_ids: [],
      count: 1,
      sample: [
        { memory_id: ID, content: 'Ana prefers green tea in the morning and never drinks coffee.', created_at: AT, reference_only: false },
      ],
      plan: 'TclLDoIwFAXQvdxxm0CRtnTmOigx',
      plan_expires_at: '2026-05-04T09:40:05.123Z',
      trace_id: TRACE,
    },
    { forgotten: 0, memory_ids: [], count: 0, sample: [], trace_id: TRACE },
  ],
  memory_import: [
    {
      results: [
        {
          memory_id: '0197a1b2-c3d6-7c40-a115-2f3e4d5c6b7a',
          outcome: 'stored',
          version: 1,
          settled: false,
          replaced: [],
          masked: [],
          guard: GUARD,
        },
        {
          memory_id: '0197a1b2-c3d5-7b21-9c02-5d1e8f0a7b6c',
          outcome: 'stored',
          version: 1,
          settled: false,
          replaced: [],
          masked: [],
          guard: GUARD,
        },
      ],
      verified: false,
      trace_id: TRACE,
    },
  ],
  memory_reveal: [{ memory_id: ID, version: 1, values: [], trace_id: TRACE }],
  memory_keys_delete: [{ tenant: 'local', keys_deleted: 0, purged: true, trace_id: TRACE }],
  memory_namespace: [{ namespace: 'user.alice', collect: 'on', trace_id: TRACE }],
  memory_collect: [{ namespace: 'user.alice', collect: 'on', trace_id: TRACE }],
  memory_stats: [
    {
      service: {
        url: 'http://127.0.0.1:8420',
        version: '0.1.0',
        uptime_seconds: 86_412,
        engine: 'Elasticsearch 8.19.9',
        embedding: 'local models',
        redis: 'off',
      },
      tenant: 'local',
      memories: 4,
      namespaces: [{ namespace: 'user.alice', memories: 4 }],
      embedding_queue: { due: 0, dead: 0 },
      degraded: [],
      trace_id: TRACE,
    },
    {
      service: {
        url: 'http://127.0.0.1:8420',
        version: '0.1.0',
        uptime_seconds: 86_412,
        engine: 'Elasticsearch 8.19.9',
        embedding: 'local models',
        redis: 'off',
      },
      tenant: 'local',
      memories: 0,
      namespaces: [],
      embedding_queue: { due: 0, dead: 0 },
      degraded: [],
      trace_id: TRACE,
    },
  ],
  memory_instructions: [
    {
      lang: 'en',
      title: 'How to use the long-term memory',
      text: '# How to use the long-term memory\n\n## When to recall (memory_search)\n\n- Before answering anything that may depend on earlier sessions - preferences, people, decisions, ongoing work, “as I told you”, “like last time”.\n…',
      trace_id: TRACE,
    },
    {
      lang: 'zh',
      title: '如何使用长期记忆',
      text: '# 如何使用长期记忆\n\n## 何时回忆（memory_search）\n\n- 凡是答案可能取决于以往会话——偏好、人物、决定、进行中的工作、“我说过”“还记得吗”“像上次那样”——先搜索再回答。\n…',
      trace_id: TRACE,
    },
  ],
};
