/** Query string -> raw input: parameters derived from an operation's input schema, nested fields flat (`filter.created.gte` is `created_gte`). */
import { z } from 'zod';
import type { FieldFault } from '../errors.ts';
import { invalid } from '../operations/parse.ts';
import type { AnyOperation } from '../operations/define.ts';

export interface QueryParameter {
  readonly name: string;
  /** Where the value goes in the operation's input. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'number' | 'boolean';
  readonly required: boolean;
  /** May be given several times. */
  readonly list: boolean;
  /** A list whose values cannot hold a comma may also be written `a,b`. */
  readonly splits: boolean;
  /** JSON Schema of the parameter, as OpenAPI shows it. */
  readonly schema: Record<string, unknown>;
}

type JsonSchema = Record<string, unknown>;

/** Fields that hold free keys (metadata) have no flat form and are left out; `skip` are the fields that stand in the path. */
export function queryParameters(
  operation: AnyOperation,
  fields: readonly string[] | undefined,
  skip: readonly string[],
): readonly QueryParameter[] {
  const { properties = {}, required = [] } = z.toJSONSchema(operation.input, { io: 'input', target: 'draft-2020-12' });
  const wanted = Object.entries(properties).filter(([name]) => !skip.includes(name) && (fields === undefined || fields.includes(name)));
  return wanted.flatMap(([name, schema]) => flatten([name], schema as JsonSchema, required.includes(name)));
}

function flatten(path: readonly string[], schema: JsonSchema, required: boolean): QueryParameter[] {
  if (schema['type'] === 'object') {
    const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
    return properties.flatMap(([name, child]) => flatten([...path, name], child, false));
  }
  const list = schema['type'] === 'array';
  const value = list ? (schema['items'] as JsonSchema) : schema;
  // only free text is bounded by a length; names from a closed vocabulary and namespaces hold no comma
  const splits = list && value['maxLength'] === undefined;
  const name = (path[0] === 'filter' ? path.slice(1) : path).join('_');
  return [{ name, path, type: value['type'] as QueryParameter['type'], required, list, splits, schema }];
}

/**
 * The raw input of the query string (without `?`). ERR_REQUEST_INVALID for an unknown parameter (pointer to the whole, the name is not
 * echoed), a single-valued one given twice, and text that is not percent-encoded UTF-8. Values that do not look like their type stay
 * strings, for the schema to refuse.
 */
export function parseQuery(querystring: string, parameters: readonly QueryParameter[]): Record<string, unknown> {
  const byName = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const values = new Map<QueryParameter, string[]>();
  for (const part of querystring.split('&')) {
    if (part === '') continue;
    const cut = part.indexOf('=');
    const parameter = byName.get(decode(cut < 0 ? part : part.slice(0, cut), ''));
    if (parameter === undefined) throw invalid([{ pointer: '', message: 'has a query parameter that is not known' }]);
    const value = decode(cut < 0 ? '' : part.slice(cut + 1), `/${parameter.name}`);
    values.set(parameter, [...(values.get(parameter) ?? []), ...(parameter.splits ? value.split(',') : [value])]);
  }
  const input: Record<string, unknown> = {};
  for (const [parameter, given] of values) {
    if (!parameter.list && given.length > 1) throw invalid([{ pointer: `/${parameter.name}`, message: 'is given more than once' }]);
    const typed = given.map((value) => typedValue(value, parameter.type));
    place(input, parameter.path, parameter.list ? typed : typed[0]);
  }
  return input;
}

/** Pointers of the operation's input, in the names of the query string. */
export function toParameterFaults(faults: readonly FieldFault[], parameters: readonly QueryParameter[]): FieldFault[] {
  return faults.map((fault) => {
    const owner = parameters.find(({ path }) => fault.pointer === `/${path.join('/')}` || fault.pointer.startsWith(`/${path.join('/')}/`));
    return owner === undefined ? fault : { ...fault, pointer: `/${owner.name}${fault.pointer.slice(owner.path.join('/').length + 1)}` };
  });
}

function decode(text: string, pointer: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalid([{ pointer, message: 'is not percent-encoded UTF-8' }]);
  }
}

function typedValue(text: string, type: QueryParameter['type']): unknown {
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  if (type === 'string') return text;
  return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : text;
}

function place(input: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let node = input;
  for (const name of path.slice(0, -1)) node = (node[name] ??= {}) as Record<string, unknown>;
  node[path.at(-1) ?? ''] = value;
}
