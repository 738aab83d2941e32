/** Raw input -> checked input of one operation: the schema's verdict as public field faults that repeat neither values nor unknown keys. */
import { z } from 'zod';
import { HindsightError, type FieldFault } from '../errors.ts';
import type { AnyOperation } from './define.ts';

const MAX_FAULTS = 20;

/**
 * The parsed input. ERR_REQUEST_INVALID with at most 20 faults, each by JSON pointer (RFC 6901) into the input; a key that the schema
 * does not name is reported at its parent.
 */
export function parseInput(operation: AnyOperation, raw: unknown): Record<string, unknown> {
  const parsed = operation.input.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw invalid(faultsOf(parsed.error.issues, fieldNames(operation)));
}

/** ERR_REQUEST_INVALID whose text names the first fault. */
export function invalid(faults: readonly FieldFault[]): HindsightError {
  const first = faults[0];
  const detail = first === undefined ? '' : `${first.pointer === '' ? 'the input' : first.pointer} ${first.message}`;
  return new HindsightError('ERR_REQUEST_INVALID', { params: { detail }, faults: faults.slice(0, MAX_FAULTS) });
}

function faultsOf(issues: readonly z.core.$ZodIssue[], known: ReadonlySet<string>): FieldFault[] {
  return issues.slice(0, MAX_FAULTS).map((issue) => ({ pointer: pointerOf(issue.path, known), message: messageOf(issue) }));
}

/** JSON pointer of a path, cut before the first segment that is neither an index nor a name of the contract. */
export function pointerOf(path: readonly PropertyKey[], known: ReadonlySet<string>): string {
  let pointer = '';
  for (const segment of path) {
    if (typeof segment !== 'number' && !known.has(String(segment))) break;
    pointer += `/${String(segment)}`;
  }
  return pointer;
}

/** The schema library's messages name types, limits and allowed values, never the value; its messages that name a key are replaced. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return 'has a field that is not known';
  if (issue.code === 'invalid_key') return 'has a key that is not allowed';
  if (issue.code === 'custom') return issue.message;
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) return 'is required';
  return `is not valid: ${issue.message.replace(/^Invalid (?:input|string): /, '')}`;
}

const namesOf = new WeakMap<AnyOperation, ReadonlySet<string>>();

/** Every property name that the operation's input schema knows, at any depth. */
export function fieldNames(operation: AnyOperation): ReadonlySet<string> {
  let names = namesOf.get(operation);
  if (names === undefined) {
    const found = new Set<string>();
    collect(z.toJSONSchema(operation.input, { io: 'input' }), found);
    namesOf.set(operation, (names = found));
  }
  return names;
}

function collect(node: unknown, found: Set<string>): void {
  if (typeof node !== 'object' || node === null) return;
  for (const [key, child] of Object.entries(node as Record<string, unknown>)) {
    if (key === 'properties' && typeof child === 'object' && child !== null) for (const name of Object.keys(child)) found.add(name);
    collect(child, found);
  }
}
