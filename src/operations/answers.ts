/** What the service answers to each operation's examples, in their order: for OpenAPI; a test asks the running service and compares. */
import { AT, GUARD, ID, LATER, MEMORY, TRACE, TRUST } from './answers-parts.ts';
import { AUDIT_ANSWERS } from './answers-audit.ts';
import { REVIEW_ANSWERS } from './answers-review.ts';
import { SEARCH_ANSWERS } from './answers-search.ts';
import { SESSION_ANSWERS } from './answers-session.ts';
import { SUMMARY_ANSWERS } from './answers-summary.ts';
import { WRITE_ANSWERS } from './answers-write.ts';

/** The block for a turn about Ana's breakfast. */
const BREAKFAST = {
  context:
    'From long-term memory, for this turn:\n## Facts\n- Ana · morning drink: Ana prefers green tea in the morning and never drinks coffee. [said by the user, 2026-05-04]',
  items: [
    {
      memory_id: ID,
      layer: 'semantic',
      kind: 'preference',
      tokens: 34,
      score: 0.45,
      trust: { tier: 'user_stated' },
      reference_only: false,
      at: AT,
      version: 1,
    },
  ],
  tokens: 48,
  nothing_relevant: false,
  degraded: [],
  took_ms: 14,
  trace_id: TRACE,
};

/** Lists show their first elements; the text of the instructions shows its beginning. */
export const ANSWERS: Readonly<Record<string, readonly object[]>> = {
  ...WRITE_ANSWERS,
  ...SEARCH_ANSWERS,
  ...REVIEW_ANSWERS,
  ...SESSION_ANSWERS,
  ...SUMMARY_ANSWERS,
  ...AUDIT_ANSWERS,
  memory_context: [
    BREAKFAST,
    {
      context: '以下来自长期记忆，供本轮参考：\n## 事实\n- 李明·过敏：李明对花生过敏，点餐时要避开花生酱。（用户说的，2026-05-04）',
      items: [
        {
          memory_id: '0197a1b2-c3d5-7b21-9c02-5d1e8f0a7b6c',
          layer: 'semantic',
          kind: 'constraint',
          tokens: 40,
          score: 0.45,
          trust: { tier: 'user_stated' },
          reference_only: false,
          at: AT,
          version: 1,
        },
      ],
      tokens: 60,
      nothing_relevant: false,
      degraded: [],
      took_ms: 14,
      trace_id: TRACE,
    },
    { ...BREAKFAST, items: [{ ...BREAKFAST.items[0], score: 0.231 }] },
  ],
  memory_get: [
    {
      ...MEMORY,
      memory_id: ID,
      content: 'Ana prefers green tea in the morning and never drinks coffee.',
      layer: 'semantic',
      kind: 'preference',
      importance: 1,
      subject: 'Ana',
      topic: 'morning drink',
      tags: ['drinks'],
      trace_id: TRACE,
    },
    {
      ...MEMORY,
      memory_id: ID,
      content: 'Ana prefers green tea in the morning and never drinks coffee.',
      layer: 'semantic',
      kind: 'preference',
      importance: 1,
      subject: 'Ana',
      topic: 'morning drink',
      tags: ['drinks'],
      versions: [
        {
          version: 1,
          content: 'Ana prefers green tea in the morning and never drinks coffee.',
          status: 'active',
          valid_from: AT,
          changed_by: { actor: 'user' },
          trust: TRUST,
          reference_only: false,
          changes: [],
        },
      ],
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
          importance: 0.75,
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
          importance: 1,
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
  memory_feedback: [{ results: [{ memory_id: ID, counted: true }], trace_id: TRACE }],
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
      text: '# How to use the long-term memory\n\n## When to recall (memory_context, memory_search)\n\n- At the start of a turn or task that may depend on earlier sessions - call memory_context once, with the words of the user or the task; put its block before your answer, and give session_id where you have one.\n…',
      trace_id: TRACE,
    },
    {
      lang: 'zh',
      title: '如何使用长期记忆',
      text: '# 如何使用长期记忆\n\n## 何时回忆（memory_context、memory_search）\n\n- 每轮对话或任务开始时，只要答案可能取决于以往会话，就用用户的原话或任务描述调用一次 memory_context，把返回的文本块放在回答之前；有 session_id 就带上。\n…',
      trace_id: TRACE,
    },
  ],
};
