/** A schema's verdict as public field faults, in one wording for single calls and for the items of a batch; values and unknown keys are not repeated. */
import { z } from 'zod';
import type { FieldFault } from '../../errors.ts';

/** Faults told of one input: enough to mend it, however broken it is. */
export const MAX_FAULTS = 20;

/** The first faults, each by JSON pointer (RFC 6901) under `base`; a key that the schema does not name is reported at its parent. */
export function schemaFaults(schema: z.ZodType, issues: readonly z.core.$ZodIssue[], base = ''): FieldFault[] {
  const known = schemaFieldNames(schema);
  return issues.slice(0, MAX_FAULTS).map((issue) => ({ pointer: base + pointerOf(issue.path, known), message: messageOf(issue) }));
}

/** Cut before the first segment that is neither an index nor a name of the contract. */
function pointerOf(path: readonly PropertyKey[], known: ReadonlySet<string>): string {
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

const namesOf = new WeakMap<z.ZodType, ReadonlySet<string>>();

/** Every property name that an input schema knows, at any depth. */
export function schemaFieldNames(schema: z.ZodType): ReadonlySet<string> {
  let names = namesOf.get(schema);
  if (names === undefined) {
    const found = new Set<string>();
    collect(z.toJSONSchema(schema, { io: 'input' }), found);
    namesOf.set(schema, (names = found));
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
