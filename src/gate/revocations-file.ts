/** The revocations file: YAML beside the configuration, read again when it changes, so that an operator can end a token without a restart. */
import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { isIssuerName } from '../config/issuers.ts';
import type { Clock } from '../domain/clock.ts';
import { HindsightError } from '../errors.ts';
import { checkPolicy, type DeepReadonly } from '../policy.ts';
import { REVOCABLE, type RevocationMark, type RevocationSource } from './revocations.ts';

/** A change is seen after this time at the latest; a look at the file's time costs 20 us. */
const LOOK_EVERY_MS = 1_000;
const MAX_ENTRIES = 100_000;

const id = z.string().min(1).max(256).optional();
const time = z.iso.datetime({ offset: true }).transform((v) => Date.parse(v) / 1_000);

export const revocationsSchema = z.strictObject({
  version: z.literal(1),
  revoked: z
    .array(
      z
        .strictObject({
          issuer: z.string().refine(isIssuerName, 'must be the iss claim of the token'),
          jti: id,
          sub: id,
          sid: id,
          /** Tokens issued at this time and later are good again: everything of a subject or session ends, and it can begin anew. */
          issued_before: time.optional(),
          /** The line counts until then: the end of the token's life, after which it is refused anyway. */
          until: time.optional(),
        })
        .refine((row) => REVOCABLE.filter((kind) => row[kind] !== undefined).length === 1, 'must name one of jti, sub and sid'),
    )
    .max(MAX_ENTRIES),
});
type Rows = DeepReadonly<z.output<typeof revocationsSchema>>['revoked'];

interface Entry {
  readonly before: number;
  readonly until: number;
}

export interface RevocationsFileOptions {
  readonly path: string;
  /** False: the file need not exist yet; an operator may make it later. */
  readonly required: boolean;
  readonly clock: Clock;
  /** Told once for each change that cannot be read: what was read before still counts, and nothing that was revoked comes back. */
  readonly onFault: (fault: string) => void;
}

/** Reads the file at once. Throws ERR_CONFIG_INVALID when it is damaged, and when it is missing although it was named. */
export async function openRevocationsFile({ path, required, clock, onFault }: RevocationsFileOptions): Promise<RevocationSource> {
  let entries: ReadonlyMap<string, readonly Entry[]> = new Map();
  let stamp: string | undefined;
  let lookedAt = -Infinity;
  let looking: Promise<void> | undefined;

  /** A sentence part where the file has changed into something that cannot be used. */
  const look = async (): Promise<string | undefined> => {
    const now = await stampOf(path);
    if (now === stamp) return undefined;
    const before = stamp;
    stamp = now;
    if (now === MISSING) return before === undefined && !required ? undefined : 'the revocations file is missing';
    const { value, fault } = checkPolicy(path, revocationsSchema);
    if (fault !== undefined) return fault;
    entries = byMark(value.revoked);
    return undefined;
  };

  const fault = await look();
  if (fault !== undefined) throw new HindsightError('ERR_CONFIG_INVALID', { params: { detail: fault } });
  lookedAt = clock();

  const refresh = (): Promise<void> =>
    (looking ??= look()
      .then((changed) => {
        if (changed !== undefined) onFault(changed);
      })
      .finally(() => {
        lookedAt = clock();
        looking = undefined;
      }));

  return {
    async find(marks) {
      if (clock() - lookedAt >= LOOK_EVERY_MS) await refresh();
      const nowSeconds = clock() / 1_000;
      return marks.map((mark) => {
        const times = (entries.get(keyOf(mark)) ?? []).filter(({ until }) => nowSeconds < until).map(({ before }) => before);
        return times.length > 0 ? Math.max(...times) : undefined;
      });
    },
  };
}

const MISSING = 'missing';

async function stampOf(path: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(path);
    return `${mtimeMs}:${size}:${ino}`;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return MISSING;
    return 'unreadable';
  }
}

function byMark(rows: Rows): ReadonlyMap<string, readonly Entry[]> {
  const entries = new Map<string, Entry[]>();
  for (const row of rows)
    for (const kind of REVOCABLE) {
      const id = row[kind];
      if (id === undefined) continue;
      const key = keyOf({ kind, issuer: row.issuer, id });
      entries.set(key, [...(entries.get(key) ?? []), { before: row.issued_before ?? Infinity, until: row.until ?? Infinity }]);
    }
  return entries;
}

/** An issuer's name holds no `|`. */
function keyOf({ kind, issuer, id }: RevocationMark): string {
  return `${kind}|${issuer}|${id}`;
}
