/** Example answers of memory_write; a part of answers.ts. */
import { GUARD, ID, TRACE } from './answers-parts.ts';

export const WRITE_ANSWERS: Readonly<Record<string, readonly object[]>> = {
  memory_write: [
    {
      results: [
        {
          memory_id: ID,
          outcome: 'stored',
          reason: 'kept as preference in semantic memory: a preference (grade 5 of 5, by rules)',
          version: 1,
          settled: false,
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
          memory_id: '0197a1b2-c3d5-7b21-9c02-5d1e8f0a7b6c',
          outcome: 'stored',
          reason: 'kept as constraint in semantic memory: a fact about a person or what is theirs (grade 4 of 5, by rules)',
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
          reason: 'kept as fact in semantic memory: something that happens at a time (grade 4 of 5, by rules)',
          version: 1,
          settled: false,
          replaced: [],
          masked: [],
          guard: GUARD,
        },
        {
          memory_id: '0197a1b2-c3d7-7d8e-b226-6a5b4c3d2e1f',
          outcome: 'stored',
          reason: 'kept as event in episodic memory: an error (grade 4 of 5, by rules)',
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
};
