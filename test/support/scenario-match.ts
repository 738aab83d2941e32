/** The expectation language of scenario files: plain YAML matches by subset, `$` operators say what plain values cannot. */

/** Where a value departs from its pattern, as one sentence; undefined when it fits. */
export type Mismatch = string | undefined;

type Operator = (value: unknown, operand: unknown, at: string) => Mismatch;

const OPERATORS: Readonly<Record<string, Operator>> = {
  /** Some element fits each of these patterns. */
  $has: (value, operand, at) =>
    firstMismatch(asList(operand), (pattern) =>
      asList(value).some((item) => mismatch(item, pattern, at) === undefined)
        ? undefined
        : `${at} holds nothing like ${show(pattern)}: ${show(value)}`,
    ),
  /** No element fits any of these patterns. */
  $lacks: (value, operand, at) =>
    firstMismatch(asList(operand), (pattern) =>
      asList(value).some((item) => mismatch(item, pattern, at) === undefined) ? `${at} holds ${show(pattern)}` : undefined,
    ),
  /** The first element fits. */
  $first: (value, operand, at) => mismatch(asList(value)[0], operand, `${at}/0`),
  /** The elements that there are all fit, and there is one at least. */
  $all: (value, operand, at) =>
    asList(value).length === 0 ? `${at} is empty` : firstMismatch(asList(value), (item, i) => mismatch(item, operand, `${at}/${i}`)),
  $length: (value, operand, at) => mismatch(asList(value).length, operand, `${at}'s length`),
  $text: (value, operand, at) =>
    typeof value === 'string' && new RegExp(String(operand), 'su').test(value)
      ? undefined
      : `${at} does not read ${show(operand)}: ${show(value)}`,
  $not: (value, operand, at) => (mismatch(value, operand, at) === undefined ? `${at} is ${show(operand)}` : undefined),
  $exists: (value, operand, at) =>
    (value !== undefined) === operand ? undefined : `${at} ${operand === true ? 'is missing' : 'is there'}`,
  $gte: (value, operand, at) => (Number(value) >= Number(operand) ? undefined : `${at} is below ${show(operand)}: ${show(value)}`),
  $lte: (value, operand, at) => (Number(value) <= Number(operand) ? undefined : `${at} is above ${show(operand)}: ${show(value)}`),
};

/** Objects match by the keys of the pattern, lists element by element, everything else by value. */
export function mismatch(value: unknown, pattern: unknown, at = ''): Mismatch {
  if (isObject(pattern)) {
    const keys = Object.keys(pattern);
    if (keys.length > 0 && keys.every((key) => key.startsWith('$'))) {
      return firstMismatch(keys, (key) => {
        const operator = OPERATORS[key];
        if (operator === undefined) throw new Error(`no operator ${key}`);
        return operator(value, pattern[key], at);
      });
    }
    if (!isObject(value)) return `${at} is no object: ${show(value)}`;
    return firstMismatch(keys, (key) => mismatch(value[key], pattern[key], `${at}/${key}`));
  }
  if (Array.isArray(pattern)) {
    if (!Array.isArray(value) || value.length !== pattern.length) return `${at} has not ${pattern.length} elements: ${show(value)}`;
    return firstMismatch(pattern, (item, i) => mismatch(value[i], item, `${at}/${i}`));
  }
  return Object.is(value, pattern) ? undefined : `${at} is ${show(value)}, not ${show(pattern)}`;
}

/** `$name` strings replaced by what was saved under the name, at any depth. */
export function substitute(node: unknown, saved: ReadonlyMap<string, unknown>): unknown {
  if (typeof node === 'string') {
    const name = /^\$([a-z]\w*)$/.exec(node)?.[1];
    if (name === undefined) return node;
    if (!saved.has(name)) throw new Error(`nothing was saved as ${name}`);
    return saved.get(name);
  }
  if (Array.isArray(node)) return node.map((item) => substitute(item, saved));
  if (isObject(node)) return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, substitute(child, saved)]));
  return node;
}

/** The value under a dotted path such as `results.0.memory_id`. */
export function valueAt(root: unknown, path: string): unknown {
  let node = root;
  for (const part of path.split('.')) node = isObject(node) || Array.isArray(node) ? (node as Record<string, unknown>)[part] : undefined;
  if (node === undefined) throw new Error(`there is nothing at ${path} in ${show(root)}`);
  return node;
}

function firstMismatch<T>(items: readonly T[], check: (item: T, i: number) => Mismatch): Mismatch {
  for (const [i, item] of items.entries()) {
    const found = check(item, i);
    if (found !== undefined) return found;
  }
  return undefined;
}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 1_500 ? `${text.slice(0, 1_500)}…` : text;
}
