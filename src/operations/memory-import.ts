/** memory_import: records of a file, in batches. */
import { importAnswer, importInput } from '../domain/wire/transfer.ts';
import { defineOperation } from './define.ts';

const ITEMS_PER_POINT = 25;

export const memoryImport = defineOperation({
  name: 'memory_import',
  title: 'Import memories',
  description:
    'Store records of a file as given: no worth filter, no duplicate check. ' +
    'Use it for an export of this service, with its manifest, or for rows made elsewhere; send each batch with an Idempotency-Key. ' +
    'Do NOT use it for what a conversation brings (memory_write). For people and services only, with memory:admin.',
  effect: 'write',
  idempotent: false,
  scope: 'memory:admin',
  cost: 2,
  extraCost: (value) => Math.floor(value.items.length / ITEMS_PER_POINT),
  http: [{ method: 'POST', path: '/v1/import', status: 200, idempotencyKey: true, largeBody: true }],
  mcp: { tool: 'never', fields: ['items'] },
  input: importInput,
  output: importAnswer,
  examples: [
    {
      items: [
        { content: 'The release train leaves every second Tuesday.', kind: 'fact', occurred_at: '2026-05-04T09:30:00Z' },
        { content: '李明对花生过敏。', kind: 'constraint', subject: '李明', trust: { tier: 'external' } },
      ],
    },
  ],
  handle: async (value, context) => ({ ...(await context.memory.importItems(value, context)), trace_id: context.traceId }),
});
