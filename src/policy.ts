/** Policy loading: one YAML file, one zod schema, a frozen value; used by config and by compose for everything under policies/. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { HindsightError } from './errors.ts';

const MAX_POLICY_BYTES = 4 * 1024 * 1024;
const MAX_FAULTS = 10;

/** A value that nothing can change any more, at any depth. */
export type DeepReadonly<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/**
 * The policy in `file`, checked by `schema` and frozen. Throws ERR_CONFIG_INVALID naming the file and, for each fault, the
 * JSON pointer and what must stand there; values are not repeated.
 */
export function loadPolicy<S extends z.ZodType>(file: string, schema: S): DeepReadonly<z.output<S>> {
  const { value, fault } = checkPolicy(file, schema);
  if (fault !== undefined) throw new HindsightError('ERR_CONFIG_INVALID', { params: { detail: fault } });
  return value;
}

/** The same as a value: `fault` is a sentence part that starts with the file's name. */
export function checkPolicy<S extends z.ZodType>(
  file: string,
  schema: S,
): { readonly value: DeepReadonly<z.output<S>>; readonly fault?: undefined } | { readonly value?: undefined; readonly fault: string } {
  const { document, fault } = readYaml(file);
  if (fault !== undefined) return { fault: `${basename(file)} ${fault}` };
  const parsed = schema.safeParse(document, { reportInput: false });
  if (parsed.success) return { value: deepFreeze(parsed.data) };
  const faults = parsed.error.issues.slice(0, MAX_FAULTS).map((issue) => `${pointerOf(issue.path)} ${issue.message}`);
  return { fault: `${basename(file)} ${faults.join('; ')}` };
}

/**
 * Revision of a policy folder: sha256 (hex) over the relative path and the bytes of every .yaml file below it, in path
 * order, each with its length, so that no two different folders share a revision. `counts` leaves files out by that path.
 */
export function revisionOf(dir: string, counts: (path: string) => boolean = () => true): string {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.ya?ml$/.test(path))
    .map((path) => ({ path, name: path.split(sep).join('/') }))
    .filter(({ name }) => counts(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const hash = createHash('sha256');
  for (const { path, name } of files) {
    const bytes = readFileSync(join(dir, path));
    hash.update(`${Buffer.byteLength(name)}:${name}${bytes.length}:`).update(bytes);
  }
  return hash.digest('hex');
}

/** Freezes plain objects and arrays at every depth, in place, and returns the value. */
export function deepFreeze<T>(value: T): DeepReadonly<T> {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value) && !ArrayBuffer.isView(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value as DeepReadonly<T>;
}

function readYaml(file: string): { readonly document?: unknown; readonly fault?: string } {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return { fault: 'cannot be read' };
  }
  if (Buffer.byteLength(text) > MAX_POLICY_BYTES) return { fault: `is larger than ${MAX_POLICY_BYTES} bytes` };
  const document = parseDocument(text, { version: '1.2', schema: 'core', strict: true, uniqueKeys: true, prettyErrors: false });
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) {
    const line = text.slice(0, fault.pos[0]).split('\n').length;
    return { fault: `line ${line} is not valid YAML (${fault.code})` };
  }
  try {
    return { document: document.toJS({ maxAliasCount: 100 }) };
  } catch {
    return { fault: 'uses too many aliases' };
  }
}

/** RFC 6901; the whole document is "/". */
function pointerOf(path: readonly PropertyKey[]): string {
  return `/${path.map((part) => String(part).replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`;
}
