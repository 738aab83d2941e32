/** Whether what callers noted beside two memories tells their subjects apart: a customer's plan says nothing of another customer's. Pure. */
import { canonicalJson } from '../../domain/canonical-json.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import type { RelationPolicy } from './relation-policy.ts';

type Noted = Pick<MemoryRecord, 'metadata'>;

/** `other`: a key that both have has another value; `partly`: only one of them has it. */
export type Distinction = 'none' | 'partly' | 'other';

/** Words of a key: customer_id, customerId and customer-id are the same two. */
const WORD_END = /[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u;

/** Leaves of the metadata that tell subjects apart, by their path; what only tells how or when it was written down (policies/slots.yaml) is none. */
function distinctions({ metadata }: Noted, policy: RelationPolicy): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const read = (value: unknown, path: readonly string[]): void => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [key, inner] of Object.entries(value)) read(inner, [...path, key]);
      return;
    }
    if (!isBookkeeping(path.at(-1) ?? '', policy)) found.set(path.join('.'), canonicalJson(value));
  };
  read(metadata ?? {}, []);
  return found;
}

const ID_WORDS: ReadonlySet<string> = new Set(['id', 'no', 'nr', 'number']);

/** Named by its last word before `id` or the like. */
function isBookkeeping(key: string, { bookkeeping }: RelationPolicy): boolean {
  const words = key
    .normalize('NFKC')
    .split(WORD_END)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
  if (words.length > 1 && ID_WORDS.has(words.at(-1) ?? '')) words.pop();
  return bookkeeping.has(words.at(-1) ?? '');
}

/** What a slot is told apart by besides its subject and topic; empty for most memories. */
export function distinctionKey(record: Noted, policy: RelationPolicy): string {
  if (record.metadata === undefined) return '';
  const found = [...distinctions(record, policy)].sort(([a], [b]) => (a < b ? -1 : 1));
  return found.length === 0 ? '' : JSON.stringify(found);
}

export function distinguish(one: Noted, other: Noted, policy: RelationPolicy): Distinction {
  if (one.metadata === undefined && other.metadata === undefined) return 'none';
  const [a, b] = [distinctions(one, policy), distinctions(other, policy)];
  const shared = [...a].filter(([path]) => b.has(path));
  if (shared.some(([path, value]) => b.get(path) !== value)) return 'other';
  return shared.length === Math.max(a.size, b.size) ? 'none' : 'partly';
}
