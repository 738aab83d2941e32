/** Reads the judged questions of `tune`: rows of JSON, every faulty one told by its line. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { dateTime, LIMITS, memoryId, namespaces, text } from '../../domain/wire/common.ts';

const row = z.strictObject({
  query: text(LIMITS.queryChars),
  relevant: z.array(memoryId).min(1).max(1_000),
  namespaces: namespaces.optional(),
  asked_at: dateTime.optional(),
});
export type JudgedRow = z.output<typeof row>;

export interface Judged {
  readonly rows: readonly JudgedRow[];
  /** `line 3: /relevant …`, never a value. */
  readonly faults: readonly string[];
}

/** Rejects with what the file system says. Empty lines are passed over. */
export async function readJudged(path: string): Promise<Judged> {
  const rows: JudgedRow[] = [];
  const faults: string[] = [];
  for (const [i, line] of (await readFile(path, 'utf8')).split('\n').entries()) {
    if (line.trim() === '') continue;
    const parsed = row.safeParse(jsonOf(line), { reportInput: false });
    if (parsed.success) rows.push(parsed.data);
    else faults.push(...parsed.error.issues.map((issue) => `line ${i + 1}: /${issue.path.join('/')} ${issue.message}`));
  }
  return { rows, faults };
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}
