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
/** An order takes three words; pairs like skip_review and api_key are names of things. */
const MIN_WORDS = 3;
const SEPARATORS = /[_\-./:+~?&=#,;|\\\u2010-\u2015\uff3f\u00b7\u30fb]+/g;
const INNER_CAPITAL = /(?<=[a-z\d])(?=[A-Z])/g;
/** A value that is a name and no path, address or text. */
const NAME_VALUE = /^[\p{L}\p{N}_-]+$/u;
const SCHEME = /^[a-z][a-z\d+.-]{0,31}:\/{0,2}/i;

/** The words of one name apart; undefined when it has no separators or too few words to say anything. */
export function wordsOf(name: string): string | undefined {
  const apart = name.normalize('NFKC').replace(INNER_CAPITAL, ' ').replace(SEPARATORS, ' ').trim();
  if (apart === name.trim()) return undefined;
  const words = apart.split(/\s+/);
  // Chinese has no spaces: a name with one separator may be a sentence
  return words.length >= MIN_WORDS || /\p{Script=Han}{2}/u.test(apart) ? words.join(' ') : undefined;
}

/** Every name of a record as the words it spells, each by itself: names side by side make no sentence. */
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
