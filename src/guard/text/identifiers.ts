/** Names read as the sentences they spell: `ignore_all_previous_instructions` in a key, tag, id, address or namespace; a reading of the text guard beside those of views.ts. */
import type { MemoryRecord } from '../../domain/memory.ts';

/** What of a record a caller can name; contents and other running text are none of it. */
export type Named = Partial<
  Pick<
    MemoryRecord,
    'title' | 'subject' | 'topic' | 'task_type' | 'session_id' | 'task_id' | 'tags' | 'keywords' | 'entities' | 'triggers' | 'metadata'
  >
>;

/** Longer ones are running text, which the other readings take. */
const MAX_NAME_CHARS = 200;
const MAX_URI_CHARS = 2_048;
const MAX_LINE_CHARS = 4_096;
const LINE_OVERLAP_CHARS = 512;
const BETWEEN_HAN = /(?<=\p{Script=Han}) (?=\p{Script=Han})/gu;
/** An order takes three words; pairs like skip_review and api_key are names of things. */
const MIN_WORDS = 3;
const SEPARATORS = /[_\-./:+~?&=#,;|\\\u2010-\u2015\uff3f\u00b7\u30fb]+/g;
const INNER_CAPITAL = /(?<=[a-z\d])(?=[A-Z])/g;
/** A value that is a name and no path, address or text. */
const NAME_VALUE = /^[\p{L}\p{N}_-]+$/u;
const SCHEME = /^[a-z][a-z\d+.-]{0,31}:\/{0,2}/i;

/** The words of one name apart; undefined when it has no separators or too few words to say anything. */
export function wordsOf(name: string): string | undefined {
  const apart = spaced(name);
  if (apart === name.trim()) return undefined;
  const words = apart.split(/\s+/);
  // Chinese has no spaces: a name with one separator may be a sentence
  return words.length >= MIN_WORDS || /\p{Script=Han}{2}/u.test(apart) ? words.join(' ') : undefined;
}

const spaced = (name: string): string => name.normalize('NFKC').replace(INNER_CAPITAL, ' ').replace(SEPARATORS, ' ').trim();

/** Every name of a record as the words it spells, each by itself. */
export function namesOf(record: Named): readonly string[] {
  const spelled = new Set<string>();
  const add = (name: string | undefined): void => {
    const words = name === undefined || name.length > MAX_NAME_CHARS ? undefined : wordsOf(name);
    if (words !== undefined) spelled.add(words);
  };
  for (const field of ['title', 'subject', 'topic', 'task_type', 'session_id', 'task_id'] as const) add(record[field]);
  for (const field of ['tags', 'keywords', 'entities', 'triggers'] as const) record[field]?.forEach((name) => add(name));
  addMetadata(record.metadata, add);
  return [...spelled];
}

/**
 * The short fields of a record read on as one line, for an order may be split over them, a word or two in each: all of them in the order in
 * which answers show them, and the values of metadata without their keys between. None where that is what the plain reading joins already
 * (views.ts, a line that goes on in the next): no name has separators, and no two of them are Chinese, which has no spaces.
 */
export function joinedNamesOf(record: Named): readonly string[] {
  const { title, subject, topic, task_type, session_id, task_id, tags = [], keywords = [], entities = [], metadata } = record;
  const values: string[] = [];
  const pairs: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === 'string') {
      values.push(value);
      pairs.push(value);
    }
    if (typeof value !== 'object' || value === null) return;
    for (const [key, part] of Object.entries(value)) {
      if (!Array.isArray(value)) pairs.push(key);
      walk(part);
    }
  };
  walk(metadata);
  const short = [title, subject, topic, task_type, session_id, task_id].filter((name) => name !== undefined);
  return [[...short, ...tags, ...keywords, ...entities, ...pairs], values].flatMap(linesOf);
}

/** In windows that overlap, so that nothing put before an order hides it. */
function linesOf(names: readonly string[]): readonly string[] {
  const short = names.filter((name) => name.length <= MAX_NAME_CHARS);
  const apart = short.map((name) => spaced(name));
  const line = apart.join(' ').replace(BETWEEN_HAN, '');
  const read = short.length < 2 || line === short.map((name) => name.trim()).join(' ');
  if (read) return [];
  const lines: string[] = [];
  for (let from = 0; from === 0 || from + LINE_OVERLAP_CHARS < line.length; from += MAX_LINE_CHARS - LINE_OVERLAP_CHARS)
    lines.push(line.slice(from, from + MAX_LINE_CHARS));
  return lines;
}

/** What the words of an address say; without its scheme, which alone would make a destination of it. */
export function wordsOfAddress(uri: string): string | undefined {
  return wordsOf(decoded(uri.slice(0, MAX_URI_CHARS)).replace(SCHEME, ''));
}

/** Keys, values that are names, and each such pair as one: either half may hold half of the words. */
function addMetadata(value: unknown, add: (name: string) => void): void {
  if (typeof value === 'string' && NAME_VALUE.test(value)) add(value);
  if (Array.isArray(value)) for (const part of value) addMetadata(part, add);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  for (const [key, part] of Object.entries(value)) {
    add(key);
    if (typeof part === 'string' && NAME_VALUE.test(part)) add(`${key}_${part}`);
    addMetadata(part, add);
  }
}

function decoded(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}
