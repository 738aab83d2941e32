/** memory_export: everything the caller may read, as a file that memory_import takes. */
import { exportAnswer, exportInput } from '../domain/wire/transfer.ts';
import { defineOperation } from './define.ts';

export const memoryExport = defineOperation({
  name: 'memory_export',
  title: 'Export memories',
  description:
    'Stream all memories that fit as gzip NDJSON: a head, one signed line for each memory, and a signed manifest as the last line. ' +
    'Use it to back up, to move or to hand a person their data; a file without its manifest was cut off. ' +
    'Do NOT use it to look something up (memory_search) or to page (memory_list). For people only, with memory:admin.',
  effect: 'read',
  idempotent: true,
  scope: 'memory:admin',
  cost: 50,
  http: [
    {
      method: 'GET',
      path: '/v1/export',
      status: 200,
      stream: { field: 'lines', contentType: 'application/gzip', fileName: 'memories.jsonl.gz' },
    },
  ],
  mcp: { tool: 'never', fields: [] },
  input: exportInput,
  output: exportAnswer,
  examples: [{}, { namespaces: ['team.sales'], filter: { kind: ['fact'] } }],
  handle: async (value, context) => ({ lines: await context.memory.exportLines(value, context), trace_id: context.traceId }),
});
