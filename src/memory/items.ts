/** Splits a write request into items and checks each on its own, so that a bad one never takes the good ones with it. */
import { setImmediate } from 'node:timers/promises';
import { schemaFaults } from '../domain/wire/faults.ts';
import { workingItem, type WorkingItem } from '../domain/wire/session.ts';
import { writeItem, type WriteInput, type WriteItem } from '../domain/wire/write.ts';
import type { FieldFault } from '../errors.ts';
import { HindsightError } from '../errors.ts';
import { invalid } from './record.ts';

export type CheckedItem =
  | { readonly item: WriteItem }
  /** Named `layer: working`. */
  | { readonly working: WorkingItem }
  | { readonly faults: readonly FieldFault[] };

export interface CheckedItems {
  /** True when the item stands at the top level: its faults are the request's. */
  readonly single: boolean;
  readonly items: readonly CheckedItem[];
}

/** @throws ERR_REQUEST_INVALID when there is neither content nor items, or both; for a single item also when it has faults. */
export async function checkItems(input: WriteInput): Promise<CheckedItems> {
  const { items, wait: _wait, ...single } = input;
  const fields = Object.entries(single).filter(([, value]) => value !== undefined);
  if (items === undefined) {
    if (single.content === undefined && single.layer !== 'working') throw invalid('/content', 'is required, unless items is given');
    const checked = checkItem(Object.fromEntries(fields), '');
    if ('faults' in checked)
      throw new HindsightError('ERR_REQUEST_INVALID', { params: { detail: detailOf(checked.faults) }, faults: checked.faults });
    return { single: true, items: [checked] };
  }
  const [first] = fields;
  if (first !== undefined) throw invalid(`/${first[0]}`, 'goes into each of the items when items is given');
  const checked: CheckedItem[] = [];
  for (const [i, item] of items.entries()) {
    // up to some milliseconds each, when it is as large or as faulty as it can be
    if (i > 0) await setImmediate();
    checked.push(checkItem(item, `/items/${i}`));
  }
  return { single: false, items: checked };
}

function checkItem(value: unknown, base: string): CheckedItem {
  if (isWorking(value)) return checkWorking(value, base);
  const parsed = writeItem.safeParse(value);
  if (!parsed.success) return { faults: schemaFaults(writeItem, parsed.error.issues, base) };
  return parsed.data.state === undefined
    ? { item: parsed.data }
    : { faults: [{ pointer: `${base}/state`, message: 'goes with layer: working' }] };
}

function isWorking(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && 'layer' in value && value.layer === 'working';
}

/** A field that only long-term memory takes is told by name: it is one of the contract's. */
function checkWorking(value: Readonly<Record<string, unknown>>, base: string): CheckedItem {
  const [other] = Object.keys(value).filter((name) => name in writeItem.shape && !(name in workingItem.shape));
  if (other !== undefined)
    return { faults: [{ pointer: `${base}/${other}`, message: 'is for long-term memory: leave it out for layer: working' }] };
  const parsed = workingItem.safeParse(value);
  return parsed.success ? { working: parsed.data } : { faults: schemaFaults(workingItem, parsed.error.issues, base) };
}

function detailOf(faults: readonly FieldFault[]): string {
  return faults
    .slice(0, 5)
    .map(({ pointer, message }) => `${pointer === '' ? 'the input' : pointer} ${message}`)
    .join('; ');
}
