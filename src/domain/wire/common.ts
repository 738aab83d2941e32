/** Wire schemas shared by the operations: limits and small types; names and limits of the contract stand here once. */
import { z } from 'zod';
import { KINDS, LAYERS, SOURCE_TYPES, STATUSES, VISIBILITIES } from '../memory.ts';
import { isNamespace } from '../namespace.ts';
import { TIER_NAMES } from '../trust.ts';
import { findUnstorable } from '../../text/clean.ts';

export const LIMITS = {
  contentChars: 32_000,
  queryChars: 4_000,
  /** The turn and its rewrite. */
  queriesPerSearch: 2,
  /** Turns on either side of a hit. */
  neighbours: 2,
  whyNot: 5,
  nameChars: 128,
  summaryChars: 2_000,
  tags: 32,
  tagChars: 64,
  metadataKeys: 32,
  metadataDepth: 3,
  metadataBytes: 8_192,
  batchItems: 500,
  /** JSON of a session's task state. */
  stateBytes: 16_384,
  stateDepth: 6,
  stateSlots: 64,
  slotNameChars: 32,
  topK: 20,
  listLimit: 200,
  namespacesPerSearch: 50,
  /**
   * How long an Idempotency-Key is remembered. Retries come within minutes, those of a queue that stood still overnight within hours; a
   * week would hold seven times the records (one for each keyed write) for no retry seen. Stripe keeps keys as long.
   */
  idempotencyHours: 24,
} as const;

/** Free text that can be stored: not blank (there would be nothing to find or to embed), no NUL, no lone surrogate. */
export const text = (maxChars: number, minChars = 1): z.ZodString =>
  z
    .string()
    .min(minChars)
    .max(maxChars)
    .refine((s) => s === '' || s.trim() !== '', { message: 'is blank' })
    .refine((s) => findUnstorable(s) === null, { message: 'holds a NUL or a lone surrogate' });

export const name = text(LIMITS.nameChars);
export const namespace = z
  .string()
  .refine(isNamespace, { message: 'is not a namespace: 1 to 6 segments of [a-z0-9][a-z0-9_-]{0,63} joined by "."' });
/** Where a read looks. */
export const namespaces = z.array(namespace).min(1).max(LIMITS.namespacesPerSearch);
/** Name of a ranking profile. */
export const profile = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/);
export const memoryId = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, { message: 'is not a memory_id (UUIDv7)' });
const EARLIEST_MS = Date.UTC(1000, 0, 1);
const LATEST_MS = Date.UTC(9999, 0, 1);
/** What Elasticsearch reads (strict_date_optional_time): at most nine digits of a second, and java.time's offsets, which end at 18:00. */
const READABLE = /^[^.]*(?:\.\d{1,9})?(?:Z|[+-](?:(?:0\d|1[0-7]):\d\d|18:00))$/;
/**
 * The one date type of the wire: ISO 8601 with offset or Z; years 1000 to 9998 in UTC, so that no day around it leaves what the index can
 * hold.
 */
export const dateTime = z.iso
  .datetime({ offset: true, abort: true })
  .refine((s) => READABLE.test(s), { message: 'has more than 9 digits of a second, or an offset beyond 18:00', abort: true })
  .refine(
    (s) => {
      const ms = Date.parse(s);
      return ms >= EARLIEST_MS && ms < LATEST_MS;
    },
    { message: 'is not between the years 1000 and 9998' },
  );
export const unit = z.number().min(0).max(1);
export const layer = z.enum(LAYERS);
export const kind = z.enum(KINDS);
export const status = z.enum(STATUSES);
export const visibility = z.enum(VISIBILITIES);
export const tier = z.enum(TIER_NAMES);
export const sourceType = z.enum(SOURCE_TYPES);
export const tags = z.array(text(LIMITS.tagChars)).max(LIMITS.tags);

/** Free JSON object: at most 32 keys in all levels together, 3 levels, 8 KB; reserved names refused. */
export const metadata = z.record(z.string(), z.unknown()).superRefine((value, ctx) => {
  const fault = metadataFault(value);
  if (fault !== null) ctx.addIssue({ code: 'custom', message: fault });
});

const RESERVED_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

const TOO_LARGE = `is larger than ${LIMITS.metadataBytes} bytes`;

function metadataFault(value: unknown): string | null {
  let keys = 0;
  let values = 0;
  const walk = (node: unknown, depth: number): string | null => {
    // each takes two bytes at least: what is far too large is not walked to its end
    values += 1;
    if (values * 2 > LIMITS.metadataBytes) return TOO_LARGE;
    if (typeof node === 'string' && findUnstorable(node) !== null) return 'holds a NUL or a lone surrogate';
    if (typeof node !== 'object' || node === null) return null;
    if (depth > LIMITS.metadataDepth) return `is deeper than ${LIMITS.metadataDepth} levels`;
    for (const [key, child] of Object.entries(node)) {
      if (!Array.isArray(node)) {
        keys += 1;
        if (key === '' || key.length > LIMITS.tagChars || RESERVED_KEYS.has(key) || key.includes('.') || findUnstorable(key) !== null)
          return 'has a key that cannot be stored (empty, over 64 characters, with a dot, or reserved)';
      }
      const fault = walk(child, depth + 1);
      if (fault !== null) return fault;
    }
    return keys > LIMITS.metadataKeys ? `has more than ${LIMITS.metadataKeys} keys` : null;
  };
  const fault = walk(value, 1);
  if (fault !== null) return fault;
  return Buffer.byteLength(JSON.stringify(value)) > LIMITS.metadataBytes ? TOO_LARGE : null;
}

/** Half-open time range. */
export const range = z.strictObject({
  gte: dateTime.optional().describe('From this time on (inclusive)'),
  lt: dateTime.optional().describe('Before this time (exclusive)'),
});

/** The caller's hard filter: every field given must match; several values of a field are alternatives. */
export const filter = z.strictObject({
  layer: z.array(layer).max(8).optional().describe('Layers to look in'),
  kind: z.array(kind).max(16).optional().describe('Kinds to look for'),
  tags: tags.optional().describe('Any of these tags'),
  status: z.array(status).max(16).optional().describe('Statuses; active and conflict by default'),
  trust: z.array(tier).max(8).optional().describe('Trust tiers'),
  source: z.array(sourceType).max(8).optional().describe('Types of origin'),
  owner: name.optional().describe('Owner mark as records carry it'),
  subject: name.optional().describe('Exact subject'),
  topic: name.optional().describe('Exact topic'),
  task_type: name.optional().describe('Exact task type'),
  task_id: name.optional().describe('Exact task id'),
  session_id: name.optional().describe('Exact session id'),
  created: range.optional().describe('When it was stored'),
  occurred: range.optional().describe('When it happened'),
  metadata: z
    .record(z.string().min(1).max(LIMITS.nameChars), z.union([text(LIMITS.tagChars), z.number(), z.boolean()]))
    .refine((m) => Object.keys(m).length <= 8, { message: 'has more than 8 keys' })
    .optional()
    .describe('Exact metadata values by dotted path'),
});
export type Filter = z.output<typeof filter>;

export const guardMark = z.object({
  verdict: z.string().describe('What the guard decided'),
  rule_ids: z.array(z.string()).describe('Rules that matched'),
  policy_revision: z.string().describe('Revision of the policies that decided'),
});

/** A turn in more wordings than one, for what asks the memories. */
export const queries = z
  .array(text(LIMITS.queryChars))
  .min(1)
  .max(LIMITS.queriesPerSearch)
  .describe('The turn as it was said and its rewrite, in place of query or one of them beside it; codes, names and dates of either count');

export const trustView = z.object({
  tier: tier.describe('Trust tier, set by the server, as it counts for this reader'),
  origins: z.array(z.string()).describe('Types of origin'),
  confirmed_by: z
    .enum(['you', 'admin', 'writer'])
    .optional()
    .describe('Who confirmed it: the reader, an admin who did not write it, or its writer, for whom alone it then counts'),
});
