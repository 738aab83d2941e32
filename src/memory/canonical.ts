/** Small JSON helpers of the write and plan paths: absent instead of undefined, one spelling of a long batch, RFC 7396 merge. */
import { setImmediate } from 'node:timers/promises';
import { canonicalJson } from '../domain/canonical-json.ts';

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The object without the keys whose value is undefined. */
export function defined<T extends object>(value: T): Defined<T> {
  const kept: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(value)) if (part !== undefined) kept[key] = part;
  return kept as Defined<T>;
}

/** canonicalJson of an object with a long list `items`, which lets other calls have their turn in between. */
export async function canonicalJsonOfItems(value: { readonly items?: readonly unknown[] | undefined }): Promise<string> {
  if (value.items === undefined) return canonicalJson(value);
  const items: string[] = [];
  for (const [i, item] of value.items.entries()) {
    if (i > 0 && i % ITEMS_PER_SLICE === 0) await setImmediate();
    items.push(canonicalJson(item));
  }
  const members: Record<string, unknown> = { ...value, items: MARK };
  return canonicalJson(members).replace(`"items":${JSON.stringify(MARK)}`, () => `"items":[${items.join(',')}]`);
}

/** 16 items of 16 KB, the most that 500 of them can have on average, take a few milliseconds. */
const ITEMS_PER_SLICE = 16;
const MARK = '\0items\0';

/** JSON Merge Patch (RFC 7396): null takes a member away, objects merge, anything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isPlainObject(patch)) return patch;
  const merged = new Map(isPlainObject(target) ? Object.entries(target) : []);
  for (const [key, part] of Object.entries(patch)) {
    if (part === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), part));
  }
  return Object.fromEntries(merged);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
