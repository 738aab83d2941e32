/** memory_keys_delete: the end of a tenant's keys; REST and the command line, never a tool. */
import { keysDeleteAnswer, keysDeleteInput } from '../domain/wire/keys.ts';
import { defineOperation } from './define.ts';

export const memoryKeysDelete = defineOperation({
  name: 'memory_keys_delete',
  title: 'Delete the keys of a tenant',
  description:
    'Delete the keys of the tenant: what was sealed for it can never be read again, in backups neither. Masked texts stay. ' +
    'Use it when a tenant leaves. Do NOT use it to forget memories (memory_forget). There is no way back.',
  effect: 'destructive',
  idempotent: true,
  scope: 'memory:admin',
  cost: 50,
  http: [{ method: 'POST', path: '/v1/keys/delete', status: 200 }],
  mcp: { tool: 'never', fields: [] },
  cli: { name: 'keys' },
  input: keysDeleteInput,
  output: keysDeleteAnswer,
  examples: [{ tenant: 'local' }],
  handle: async (value, context) => ({ ...(await context.memory.deleteKeys(value, context)), trace_id: context.traceId }),
});
