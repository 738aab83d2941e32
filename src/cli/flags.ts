/** Command line options of an operation, derived from its input schema: nested fields flat, free objects as key=value. Pure. */
import { z } from 'zod';
import type { FieldFault } from '../errors.ts';
import type { AnyOperation } from '../operations/define.ts';
import type { CommandOption, OptionValues, Words } from './command-spec.ts';
import { fieldWords } from './field-words.ts';

export interface Flag {
  /** Option without dashes. */
  readonly name: string;
  /** Where the value goes in the operation's input. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'object';
  readonly list: boolean;
  /** An empty value takes the field away. */
  readonly nullable: boolean;
  /** May be as long as a text: several words of the command line are then one value. */
  readonly isText: boolean;
  readonly choices: readonly string[];
  readonly description: Words;
}

type JsonSchema = Readonly<Record<string, unknown>>;

/** Options of the commands themselves; a field of such a name gets `input-` before it. */
const RESERVED = new Set(['json', 'url', 'token', 'data-dir', 'lang', 'help', 'yes']);
/** Longer than names and ids. */
const TEXT_CHARS = 128;

/** One flag for each field; lists of objects have none (they come as files, by `import`). Names are unique. */
export function flagsOf(operation: AnyOperation): readonly Flag[] {
  const { properties = {} } = z.toJSONSchema(operation.input, { io: 'input', target: 'draft-2020-12' }) as { properties?: object };
  const all = Object.entries(properties).flatMap(([name, schema]) => flatten([name], schema as JsonSchema));
  const short = (flag: Flag): string => kebab(flag.path[0] === 'filter' && flag.path.length > 1 ? flag.path.slice(1) : flag.path);
  const top = new Set(all.filter((flag) => flag.path[0] !== 'filter').map((flag) => kebab(flag.path)));
  return all.map((flag) => {
    const name = short(flag);
    if (RESERVED.has(name)) return { ...flag, name: `input-${name}` };
    // `filter.task_id` beside `task_id`: the condition keeps its whole name
    return { ...flag, name: flag.path[0] === 'filter' && top.has(name) ? kebab(flag.path) : name };
  });
}

const kebab = (path: readonly string[]): string => path.join('-').replaceAll('_', '-');

function flatten(path: readonly string[], given: JsonSchema): Flag[] {
  const { schema, nullable } = withoutNull(given);
  if (schema['type'] === 'object' && schema['properties'] !== undefined) {
    return Object.entries(schema['properties'] as Record<string, JsonSchema>).flatMap(([name, child]) => flatten([...path, name], child));
  }
  const list = schema['type'] === 'array';
  const value = list ? withoutNull((schema['items'] ?? {}) as JsonSchema).schema : schema;
  const type = value['type'] as Flag['type'] | undefined;
  if (type === undefined || (list && type === 'object')) return [];
  const choices = Array.isArray(value['enum']) ? value['enum'].map(String) : [];
  const description = fieldWords(path, textOf(given['description'] ?? schema['description']));
  return [{ name: kebab(path), path, type, list, nullable, isText: Number(value['maxLength']) > TEXT_CHARS, choices, description }];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function withoutNull(schema: JsonSchema): { readonly schema: JsonSchema; readonly nullable: boolean } {
  const options = schema['anyOf'] as readonly JsonSchema[] | undefined;
  if (options === undefined) return { schema, nullable: false };
  const real = options.filter((option) => option['type'] !== 'null');
  return { schema: real[0] ?? {}, nullable: real.length < options.length };
}

/** As the command declares it. */
export function optionOf(flag: Flag): CommandOption {
  const value = flag.choices.length > 0 && flag.choices.length <= 4 ? flag.choices.join('|') : placeholder(flag);
  return {
    type: flag.type === 'boolean' ? 'boolean' : 'string',
    ...(flag.list || flag.type === 'object' ? { multiple: true } : {}),
    ...(flag.type === 'boolean' ? {} : { value }),
    description: flag.choices.length > 4 ? withChoices(flag) : flag.description,
  };
}

function placeholder({ type, list, path, isText }: Flag): string {
  if (type === 'object') return 'KEY=VALUE';
  if (type !== 'string') return 'N';
  if (/(?:_at|gte|lt)$/.test(path.at(-1) ?? '')) return 'TIME';
  return list && !isText ? 'A,B' : 'TEXT';
}

function withChoices({ description, choices }: Flag): Words {
  const tail = ` [${choices.join(', ')}]`;
  return typeof description === 'string' ? description + tail : { en: description.en + tail, zh: description.zh + tail };
}

/** What the flags say, as the operation's raw input. Values that do not look like their type stay as they are: the schema refuses them. */
export function inputOf(
  flags: readonly Flag[],
  values: OptionValues,
  lists: Readonly<Record<string, readonly string[]>>,
): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const flag of flags) {
    const given = lists[flag.name] ?? values[flag.name];
    if (given === undefined) continue;
    place(input, flag.path, typeof given === 'object' ? manyOf(flag, given) : valueOf(flag, given));
  }
  return input;
}

function manyOf(flag: Flag, given: readonly string[]): unknown {
  if (flag.type === 'object') return objectOf(given);
  // a sentence has commas of its own: each text has its flag
  if (flag.isText) return given.map((text) => valueOf(flag, text));
  // a comma separates; a value that holds one is given by a flag of its own with the comma doubled
  const parts = given.flatMap((text) => text.replaceAll(',,', '\0').split(',')).map((text) => text.replaceAll('\0', ',').trim());
  return parts.filter((text) => text !== '').map((text) => valueOf(flag, text));
}

function valueOf(flag: Flag, given: string | boolean): unknown {
  if (typeof given === 'boolean') return given;
  if (flag.nullable && given === '') return null;
  if (flag.type !== 'integer' && flag.type !== 'number') return given;
  return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(given) ? Number(given) : given;
}

/** `{…}` as JSON, else key=value; numbers, true, false and null as JSON reads them. */
function objectOf(given: readonly string[]): unknown {
  const merged: Record<string, unknown> = {};
  for (const text of given) {
    if (text.startsWith('{')) {
      const parsed = asJson(text);
      if (typeof parsed !== 'object' || parsed === null) return text;
      Object.assign(merged, parsed);
      continue;
    }
    const cut = text.indexOf('=');
    if (cut < 1) return text;
    const value = text.slice(cut + 1);
    merged[text.slice(0, cut)] = /^(?:-?\d+(?:\.\d+)?|true|false|null)$/.test(value) ? asJson(value) : value;
  }
  return merged;
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function place(input: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let node = input;
  for (const name of path.slice(0, -1)) node = (node[name] ??= {}) as Record<string, unknown>;
  node[path.at(-1) ?? ''] = value;
}

/** Faults of the input in the words of the command line: `--top-k is not valid: …`; the positional field by `word`. */
export function faultLines(faults: readonly FieldFault[], flags: readonly Flag[], positional: string | undefined): string[] {
  return faults.map(({ pointer, message }) => {
    const flag = flags.find(({ path }) => pointer === `/${path.join('/')}` || pointer.startsWith(`/${path.join('/')}/`));
    if (flag === undefined) return `${pointer === '' ? 'the request' : pointer} ${message}`;
    return `${flag.path.join('.') === positional ? flag.name.toUpperCase() : `--${flag.name}`} ${message}`;
  });
}
