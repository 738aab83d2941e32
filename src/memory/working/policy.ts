/** The numbers of working memory (policies/working.yaml), read once at start. */
import { z } from 'zod';
import type { WorkingLimits } from '../../domain/working.ts';
import { LIMITS } from '../../domain/wire/common.ts';

const DAY_SECONDS = 86_400;
const seconds = z
  .int()
  .min(1)
  .max(7 * DAY_SECONDS);

export const workingPolicySchema = z
  .strictObject({
    version: z.int().min(1),
    turns: z.int().min(1).max(200),
    state_bytes: z.int().min(2).max(LIMITS.stateBytes),
    slots: z.int().min(1).max(1_000),
    ttl_seconds: seconds,
    dropped: z.strictObject({ entries: z.int().min(0).max(1_000), chars: z.int().min(1).max(LIMITS.contentChars), ttl_seconds: seconds }),
    returned: z.strictObject({ fingerprints: z.int().min(0).max(100_000), ttl_seconds: seconds }),
    in_process: z.strictObject({ sessions: z.int().min(1).max(1_000_000), megabytes: z.int().min(1).max(4_096) }),
  })
  .transform(({ dropped, returned, in_process, ...file }): WorkingLimits => ({
    turns: file.turns,
    stateBytes: file.state_bytes,
    slots: file.slots,
    ttlMs: file.ttl_seconds * 1_000,
    dropped: { entries: dropped.entries, chars: dropped.chars, ttlMs: dropped.ttl_seconds * 1_000 },
    returned: { fingerprints: returned.fingerprints, ttlMs: returned.ttl_seconds * 1_000 },
    inProcess: { sessions: in_process.sessions, bytes: in_process.megabytes * 1_048_576 },
  }));
