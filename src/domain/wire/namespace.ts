/** Wire schemas of memory_namespace and memory_collect: what holds for a whole namespace. */
import { z } from 'zod';
import * as c from './common.ts';

const namespace = c.namespace.describe('Which namespace');
const collect = z.enum(['on', 'off']);

export const namespaceInput = z.strictObject({ namespace });
export type NamespaceInput = z.output<typeof namespaceInput>;

export const collectInput = z.strictObject({
  namespace,
  collect: collect.describe('off: what is written to this namespace is dropped; what is in it stays, and can be corrected and forgotten'),
});
export type CollectInput = z.output<typeof collectInput>;

export const namespaceAnswer = z.object({
  namespace: z.string(),
  collect: collect.describe('Whether new memories are kept'),
  trace_id: z.string(),
});
export type NamespaceAnswer = z.output<typeof namespaceAnswer>;
