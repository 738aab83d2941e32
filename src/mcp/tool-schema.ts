/** JSON Schemas of a tool, cut to what a model needs: the tool list stands in every prompt, so each of its bytes is paid for again and again. */
import { z } from 'zod';
import type { AnyOperation } from '../operations/define.ts';

/** MCP_TOOLS. */
export type ToolChoice = 'default' | 'all';

/** JSON Schema 2020-12 without `$schema`: clients that check with a draft-07 validator refuse a dialect they do not know. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: string[];
  readonly additionalProperties?: false;
  readonly [keyword: string]: unknown;
}

type Node = Readonly<Record<string, unknown>>;

/** Bounds that the service checks anyway and that cost more than they tell: the pattern behind `format: date-time` has 350 characters. */
const UNTOLD: ReadonlySet<string> = new Set([
  '$schema',
  'pattern',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'propertyNames',
  'required',
]);

/**
 * The operation's declared fields as the tool's input, each with its description. Of an object field that is declared part by part
 * (`filter.kind`) only those parts are listed; an undeclared field is refused. Throws on a declared field that the input lacks.
 */
export function inputSchemaOf(operation: AnyOperation, tools: ToolChoice): ObjectSchema {
  const whole = z.toJSONSchema(operation.input, { io: 'input', target: 'draft-2020-12' }) as Node;
  const needed = new Set([...((whole['required'] ?? []) as string[]), ...(operation.mcp.required ?? [])]);
  const properties: Record<string, object> = {};
  for (const [field, parts] of declaredFields(operation, tools)) {
    const schema = propertyOf(operation, whole, field);
    const shown = parts.length === 0 ? schema : { ...schema, properties: pick(operation, schema, parts) };
    properties[field] = worded(operation, field, shorten(shown));
  }
  const required = Object.keys(properties).filter((field) => needed.has(field));
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }), additionalProperties: false };
}

/**
 * Names and types of what every answer holds at its top level: enough to address it, and clients check answers against it. What stands
 * deeper or comes now and then is described by the OpenAPI document.
 */
export function outputSchemaOf(operation: AnyOperation): ObjectSchema {
  const whole = z.toJSONSchema(operation.output, { io: 'output', target: 'draft-2020-12' }) as Node;
  const always = operation.mcp.answer ?? ((whole['required'] ?? []) as string[]);
  const properties = Object.fromEntries(always.map((name) => [name, typeOf(propertyOf(operation, whole, name))]));
  return { type: 'object', properties };
}

/** Top-level fields that the tool takes, with the parts that are listed of each (none = all). */
export function declaredFields({ mcp }: AnyOperation, tools: ToolChoice = 'all'): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>();
  for (const path of [...mcp.fields, ...(tools === 'all' ? (mcp.more ?? []) : [])]) {
    const [field = '', part] = path.split('.');
    const parts = fields.get(field) ?? [];
    fields.set(field, part === undefined ? parts : [...parts, part]);
  }
  return fields;
}

function pick(operation: AnyOperation, schema: Node, parts: readonly string[]): Record<string, Node> {
  return Object.fromEntries(parts.map((part) => [part, propertyOf(operation, schema, part)]));
}

function propertyOf(operation: AnyOperation, schema: Node, name: string): Node {
  const property = (schema['properties'] as Readonly<Record<string, Node>> | undefined)?.[name];
  if (property === undefined) throw new Error(`${operation.name} declares the field ${name}, which its schema does not have`);
  return property;
}

/** The node with the operation's own words for it and its parts, where it has any. */
function worded({ mcp: { words = {} } }: AnyOperation, path: string, node: Record<string, unknown>): Record<string, unknown> {
  const parts = Object.entries((node['properties'] ?? {}) as Record<string, Record<string, unknown>>);
  const said = (at: string, of: Record<string, unknown>): Record<string, unknown> =>
    words[at] === undefined ? of : { ...of, description: words[at] };
  if (parts.length === 0) return said(path, node);
  return said(path, { ...node, properties: Object.fromEntries(parts.map(([name, part]) => [name, said(`${path}.${name}`, part)])) });
}

/** Numeric bounds and the values of single fields stay, a model goes by them; a range's two ends explain themselves by name. */
function shorten(node: Node, depth = 1): Record<string, unknown> {
  const short: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    if (UNTOLD.has(key) || value === Number.MAX_SAFE_INTEGER || (key === 'description' && depth > 2)) continue;
    if (key === 'properties')
      short[key] = Object.fromEntries(
        Object.entries(value as Record<string, Node>).map(([name, child]) => [name, shorten(child, depth + 1)]),
      );
    else if (key === 'anyOf') Object.assign(short, shortenEither(value as readonly Node[]));
    else if (key === 'items') short[key] = { type: (value as Node)['type'] };
    // an object field of free keys is told by its description; the outermost object says that unknown fields are refused
    else if (key !== 'additionalProperties') short[key] = value;
  }
  return short;
}

/** `X or null` as X with two types: the same in half the bytes. */
function shortenEither(either: readonly Node[]): Node {
  const values = either.filter((node) => node['type'] !== 'null');
  const [value] = values;
  if (values.length !== 1 || value === undefined) return { anyOf: either.map((node) => shorten(node)) };
  return { ...shorten(value), type: [value['type'], 'null'] };
}

function typeOf({ type, anyOf }: Node): object {
  return { type: Array.isArray(anyOf) ? (anyOf as readonly Node[]).map((child) => child['type']) : type };
}
