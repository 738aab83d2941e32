/** Small JSON helpers of the write and plan paths: one spelling per value, absent instead of undefined, RFC 7396 merge. */
import { setImmediate } from 'node:timers/promises';

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The object without the keys whose value is undefined. */
export function defined<T extends object>(value: T): Defined<T> {
  const kept: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(value)) if (part !== undefined) kept[key] = part;
  return kept as Defined<T>;
}

/** JSON with sorted keys: equal values have equal text, so it can be compared and signed. Vectors are spelled at once. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    if (value.every((part) => typeof part === 'number')) return JSON.stringify(value);
    return `[${value.map((part: unknown) => (part === undefined ? 'null' : canonicalJson(part))).join(',')}]`;
  }
  const members = Object.entries(value).filter(([, part]) => part !== undefined);
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, part]) => `${JSON.stringify(key)}:${canonicalJson(part)}`)
    .join(',')}}`;
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
