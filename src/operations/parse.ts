/** Raw input -> checked input of one operation: the schema's verdict as public field faults. */
import { MAX_FAULTS, schemaFaults, schemaFieldNames } from '../domain/wire/faults.ts';
import { HindsightError, type FieldFault } from '../errors.ts';
import type { AnyOperation } from './define.ts';

/** The parsed input. ERR_REQUEST_INVALID with at most 20 faults, see domain/wire/faults. */
export function parseInput(operation: AnyOperation, raw: unknown): Record<string, unknown> {
  const parsed = operation.input.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw invalid(schemaFaults(operation.input, parsed.error.issues));
}

/** ERR_REQUEST_INVALID whose text names the first fault. */
export function invalid(faults: readonly FieldFault[]): HindsightError {
  const first = faults[0];
  const detail = first === undefined ? '' : `${first.pointer === '' ? 'the input' : first.pointer} ${first.message}`;
  return new HindsightError('ERR_REQUEST_INVALID', { params: { detail }, faults: faults.slice(0, MAX_FAULTS) });
}

/** Every property name that the operation's input schema knows, at any depth. */
export function fieldNames(operation: AnyOperation): ReadonlySet<string> {
  return schemaFieldNames(operation.input);
}
