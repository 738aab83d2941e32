/** A large batch of memory_write in groups: the store works on one while the next is judged. */
import type { WriteAnswer, WriteResult } from '../domain/wire/write.ts';
import { failedResult } from './item-results.ts';
import type { CheckedItems } from './items.ts';

/** Items judged and stored together in a large batch, and groups under way at once (bench:import). */
const ITEMS_PER_GROUP = 125;
const GROUPS_AT_ONCE = 2;

export type Answer = Pick<WriteAnswer, 'results'>;

/** The two steps of a write, for the items from one place to before another. */
interface GroupWork<J> {
  readonly judge: (from: number, to: number) => Promise<J>;
  readonly store: (judged: J) => Promise<Answer>;
  /** What it claims: a group that claims what an earlier one does is stored after it, for the last word of a slot to be the last one said. */
  readonly keysOf: (judged: J) => readonly string[];
}

interface Failed {
  readonly error: unknown;
  readonly items: number;
}

/** A batch worth splitting, whose items do not lend each other their words. */
export function isLargeUnlinked({ items }: CheckedItems): boolean {
  return items.length > ITEMS_PER_GROUP && !items.some((c) => 'item' in c && c.item.session_id !== undefined && c.item.turn !== undefined);
}

/**
 * A group that fails as a whole is told item by item when another was stored, because then the call has an effect; when none was, its
 * error is the call's.
 */
export async function inGroups<J>(items: number, { judge, store, keysOf }: GroupWork<J>): Promise<Answer> {
  const groups: Promise<Answer | Failed>[] = [];
  const last = new Map<string, Promise<Answer | Failed>>();
  for (let from = 0; from < items; from += ITEMS_PER_GROUP) {
    const to = Math.min(from + ITEMS_PER_GROUP, items);
    const failed = (error: unknown): Failed => ({ error, items: to - from });
    try {
      const judged = await judge(from, to);
      const keys = keysOf(judged);
      const before = new Set(keys.flatMap((key) => last.get(key) ?? []));
      const stored = Promise.all(before)
        .then(() => store(judged))
        .catch(failed);
      for (const key of keys) last.set(key, stored);
      groups.push(stored);
    } catch (error) {
      groups.push(Promise.resolve(failed(error)));
    }
    const settled = await groups[groups.length - GROUPS_AT_ONCE];
    // a store that is away is asked no further
    if (settled !== undefined && isFailed(settled)) {
      groups.push(Promise.resolve({ error: settled.error, items: items - to }));
      break;
    }
  }
  const answers = await Promise.all(groups);
  const [first] = answers;
  if (first !== undefined && isFailed(first) && answers.every(isFailed)) throw first.error;
  return { results: answers.flatMap((a) => (isFailed(a) ? Array<WriteResult>(a.items).fill(failedResult()) : a.results)) };
}

function isFailed(answer: Answer | Failed): answer is Failed {
  return 'error' in answer;
}
