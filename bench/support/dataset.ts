/** Reads a retrieval set (JSON lines) and makes write items and questions of it. The rows stay in memory: results hold figures only. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { LIMITS } from '../../src/domain/wire/common.ts';
import { UsageError } from './options.ts';

export interface CorpusRow {
  readonly id: string;
  readonly namespace: string;
  readonly text: string;
  readonly created_at: string;
  readonly speaker?: string;
  readonly session?: number | string;
}

export interface QueryRow {
  readonly id: string;
  readonly namespace: string;
  readonly query: string;
  readonly relevant: readonly string[];
  readonly category: string;
  readonly asked_at: string;
}

export interface RetrievalSet {
  readonly name: string;
  readonly corpus: readonly CorpusRow[];
  readonly queries: readonly QueryRow[];
}

/** A write item and the document it is (a part of). */
export interface SetItem {
  readonly documentId: string;
  readonly item: Readonly<Record<string, unknown>>;
}

/** Categories the published figures leave out (LoCoMo's swapped speakers). */
export const LEFT_OUT: ReadonlySet<string> = new Set(['adversarial']);

/** Names of the sets in a folder. Throws a UsageError saying what is missing when there is none. */
export function setNames(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder).flatMap((file) => /^(.+\.\w+)\.queries\.jsonl$/.exec(file)?.[1] ?? []) : [];
  if (names.length === 0)
    throw new UsageError(
      `no retrieval data in ${basename(folder)}: it needs <set>.<split>.corpus.jsonl and .queries.jsonl; name their folder with --data`,
    );
  return names.sort();
}

/** One set; `name` with or without its split ("locomo" = "locomo.dev"). */
export function readSet(folder: string, name: string): RetrievalSet {
  const full = name.includes('.') ? name : `${name}.dev`;
  if (!setNames(folder).includes(full)) throw new UsageError(`there is no set ${name}; there are ${setNames(folder).join(', ')}`);
  return {
    name: full,
    corpus: readLines<CorpusRow>(join(folder, `${full}.corpus.jsonl`)),
    queries: readLines<QueryRow>(join(folder, `${full}.queries.jsonl`)),
  };
}

function readLines<T>(file: string): T[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as T);
}

/** The namespace as the product spells it. */
export const namespaceOf = (row: { readonly namespace: string }): string => row.namespace.replaceAll('/', '.');

/** Write items in the order of the rows: created_at as occurred_at, speaker as subject, turns counted within their session. */
export function setItems(corpus: readonly CorpusRow[]): SetItem[] {
  const turns = new Map<string, number>();
  return corpus.flatMap((row) => {
    const parts = splitText(row.text, LIMITS.contentChars);
    return parts.map((content) => {
      const session = row.session === undefined ? undefined : `session-${row.session}`;
      const key = `${row.namespace} ${session}`;
      const turn = turns.get(key) ?? 0;
      turns.set(key, turn + 1);
      return {
        documentId: row.id,
        item: {
          content,
          namespace: namespaceOf(row),
          occurred_at: row.created_at,
          admission: 'keep',
          ...(row.speaker === undefined ? {} : { subject: row.speaker }),
          ...(session === undefined ? {} : { session_id: session, turn }),
        },
      };
    });
  });
}

/** Pieces of at most `max` UTF-16 units, cut after a line or a sentence where there is one in the second half. */
export function splitText(text: string, max: number): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > max) {
    const window = rest.slice(0, max);
    const ends = ['\n', '。', '. '].map((mark) => window.lastIndexOf(mark) + mark.length).filter((end) => end > max / 2);
    let cut = ends[0] ?? max;
    // Never between the halves of a surrogate pair.
    if (/[\uD800-\uDBFF]/.test(rest.charAt(cut - 1))) cut -= 1;
    parts.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return rest === '' ? parts : [...parts, rest];
}

/** Document ids of hits, best first, each once: any part of a document counts for it. */
export function documentsOf(memoryIds: readonly string[], documents: ReadonlyMap<string, string>): string[] {
  return [...new Set(memoryIds.map((id) => documents.get(id)).filter((id) => id !== undefined))];
}

/** For each document that repeats an earlier one's text and speaker in its namespace: that earlier document. Searches show one of such copies. */
export function firstCopies(corpus: readonly CorpusRow[]): Map<string, string> {
  const seen = new Map<string, string>();
  const copies = new Map<string, string>();
  for (const { id, namespace, speaker, text } of corpus) {
    const key = JSON.stringify([namespace, speaker, text]);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, id);
    else copies.set(id, first);
  }
  return copies;
}
