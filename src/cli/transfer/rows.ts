/** A line of an import file -> the item to send: renamed fields, a namespace where it has none, and what becomes of unknown fields. Pure. */

export interface RowOptions {
  /** New name -> old one, which may be dotted to reach into an object. */
  readonly map: ReadonlyMap<string, string>;
  readonly namespace: string | undefined;
  readonly extra: 'reject' | 'drop' | 'metadata';
  /** Fields that the service knows; undefined leaves unknown ones to its verdict. */
  readonly known: ReadonlySet<string>;
}

export interface RowFault {
  readonly line: number;
  /** JSON pointer into the row. */
  readonly pointer: string;
  readonly reason: string;
}

export type Row = { readonly item: Record<string, unknown> } | { readonly reason: string };

export function rowOf(text: string | undefined, options: RowOptions): Row {
  if (text === undefined) return { reason: 'is longer than 1 MiB' };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { reason: 'is not JSON' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { reason: 'is not a JSON object' };
  const source = value as Record<string, unknown>;
  const item: Record<string, unknown> = Object.assign(Object.create(null) as object, source);
  for (const [name, old] of options.map) {
    const found = reach(source, old);
    if (found === undefined) continue;
    // the old name is free again, unless something else is called so on purpose
    if (old in item && !options.map.has(old)) delete item[old];
    item[name] = found;
  }
  if (options.namespace !== undefined) item['namespace'] ??= options.namespace;
  if (options.extra !== 'reject') moveUnknown(item, options);
  // null is how many tools spell an absent field
  return { item: Object.fromEntries(Object.entries(item).filter(([, part]) => part !== null)) };
}

function moveUnknown(item: Record<string, unknown>, { extra, known }: RowOptions): void {
  const rest: Record<string, unknown> = {};
  for (const name of Object.keys(item))
    if (!known.has(name)) {
      rest[name] = item[name];
      delete item[name];
    }
  if (extra === 'metadata' && Object.keys(rest).length > 0) item['metadata'] = { ...rest, ...(item['metadata'] as object | undefined) };
}

function reach(source: Record<string, unknown>, path: string): unknown {
  if (path in source) return source[path];
  return path.split('.').reduce<unknown>((node, key) => (isObject(node) && Object.hasOwn(node, key) ? node[key] : undefined), source);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `new=old`, each; undefined for one that is none. */
export function parseMap(given: readonly string[]): ReadonlyMap<string, string> | undefined {
  const pairs = given.map((text) => /^([a-z_]{1,64})=(.{1,256})$/.exec(text));
  return pairs.includes(null) ? undefined : new Map(pairs.map((m) => [m?.[1] ?? '', m?.[2] ?? ''] as const));
}
