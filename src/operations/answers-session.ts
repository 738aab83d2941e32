/** Example answers of working memory: turns and task state of a session; a part of answers.ts. */
import { GUARD, LATER, TRACE, TRUST } from './answers-parts.ts';

const KEPT = {
  outcome: 'stored',
  reason: 'kept in working memory for 60 minutes after its last use',
  masked: [],
  guard: GUARD,
  expires_at: LATER,
};
const SHOWN = { ts: '2026-05-04T09:30:05.123Z', trust: TRUST, reference_only: false };

export const SESSION_ANSWERS: Readonly<Record<string, readonly object[]>> = {
  memory_turns_add: [{ ...KEPT, turns: 1, trace_id: TRACE }],
  memory_turns: [
    {
      turns: [
        {
          turn_id: '0197a1b2-c3d8-7a11-8c3d-0f1e2d3c4b5a',
          role: 'user',
          content: '我们周五出发，帮我找能带狗的酒店。',
          status: 'active',
          ...SHOWN,
        },
      ],
      expires_at: LATER,
      degraded: [],
      trace_id: TRACE,
    },
  ],
  memory_state_set: [{ ...KEPT, trace_id: TRACE }],
  memory_state: [
    {
      state: { candidates: ['平江客栈'], goal: '订一家能带狗的酒店', step: 2 },
      slots: [
        { name: 'candidates', ...SHOWN },
        { name: 'goal', ...SHOWN },
        { name: 'step', ...SHOWN },
      ],
      expires_at: LATER,
      degraded: [],
      trace_id: TRACE,
    },
  ],
};
