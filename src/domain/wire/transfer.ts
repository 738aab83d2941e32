/** Wire schemas of memory_export and memory_import, and the lines of an export file. */
import { z } from 'zod';
import { SOURCE_TYPES } from '../memory.ts';
import * as c from './common.ts';
import { writeAnswer, writeItem } from './write.ts';

export const EXPORT_FORMAT = 1;

/** A record as an export file carries it: what a write takes, and what only a signature can keep. */
export const transferItem = writeItem.omit({ ttl_seconds: true, admission: true, secrets: true, state: true }).extend({
  memory_id: c.memoryId.optional().describe('Its id; kept only under a valid signature'),
  created_at: c.dateTime.optional().describe('When it was stored; kept only under a valid signature, else it stands in for occurred_at'),
  updated_at: c.dateTime.optional().describe('When it was last changed'),
  expires_at: c.dateTime.optional().describe('When it ends'),
  status: c.status.optional().describe('candidate, superseded and archived are kept, anything else becomes active'),
  supersedes: z.array(c.memoryId).max(64).optional().describe('Memories it replaced'),
  superseded_by: c.memoryId.optional().describe('Memory that replaced it'),
  trust: z
    .strictObject({
      tier: c.tier.describe('Trust tier; can lower the trust, never raise it'),
      taint: z.array(z.enum(SOURCE_TYPES)).max(32).optional().describe('Sources that it was tainted by'),
      parents: z.array(c.memoryId).max(256).optional().describe('Memories it was derived from'),
      origin: z
        .array(
          z.strictObject({
            type: z.enum(SOURCE_TYPES).describe('Type of the source'),
            uri: z.string().max(2_048).optional().describe('Address of the source'),
            principal: z.string().max(128).describe('Mark of who wrote it'),
            client_id: z.string().max(256).optional().describe('Program that wrote it'),
            connector: z.string().max(256).optional().describe('Connector that brought it'),
            doc_hash: z.string().max(128).optional().describe('Hash of the source'),
            ts: c.dateTime.describe('When it was written'),
          }),
        )
        .max(32)
        .optional()
        .describe('Where it came from'),
    })
    .optional()
    .describe('Trust as it was exported'),
  sig: z.string().max(128).optional().describe('Signature of the line by the service that exported it'),
});
export type TransferItem = z.output<typeof transferItem>;

const hex64 = z.string().regex(/^[0-9a-f]{64}$/);

/** The last line of an export file: without it the file was cut off. */
export const manifest = z.strictObject({
  format: z.literal(EXPORT_FORMAT).describe('Version of the format'),
  export_id: z.string().min(1).max(64).describe('Which export'),
  tenant: z.string().max(128).describe('Whose it is'),
  count: z.int().min(0).describe('Records in the file'),
  sha256: hex64.describe('SHA-256 of all bytes before this line, uncompressed'),
  created_at: c.dateTime.describe('When the export ended'),
  key_id: z.string().max(64).describe('Which key signed it'),
  signature: z.string().max(128).describe('HMAC-SHA-256 over all of this, by a key of the service'),
});
export type Manifest = z.output<typeof manifest>;

export const exportInput = z.strictObject({
  namespaces: c.namespaces.optional().describe('Which namespaces; all that the token may read by default'),
  filter: c.filter.optional().describe('Hard conditions; active and conflict by default'),
});
export type ExportInput = z.output<typeof exportInput>;

export const exportAnswer = z.object({
  lines: z.unknown().describe('The file, line by line'),
  trace_id: z.string(),
});

export const importInput = z.strictObject({
  manifest: manifest
    .optional()
    .describe('Last line of the export file that the items come from; without items the call only says whether it is valid'),
  items: z
    .array(z.unknown())
    .max(c.LIMITS.batchItems)
    .describe('Records of an export file, or what a write takes; each is judged on its own'),
});
export type ImportInput = z.output<typeof importInput>;

export const importAnswer = writeAnswer.extend({
  verified: z.boolean().describe('true: the manifest is this service’s own, so signed items keep id, times and trust'),
});
export type ImportAnswer = z.output<typeof importAnswer>;
