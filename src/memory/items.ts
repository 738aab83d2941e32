/** Splits a write request into items and checks each on its own, so that a bad one never takes the good ones with it. */
import { setImmediate } from 'node:timers/promises';
import { schemaFaults } from '../domain/wire/faults.ts';
import { writeItem, type WriteInput, type WriteItem } from '../domain/wire/write.ts';
import type { FieldFault } from '../errors.ts';
import { HindsightError } from '../errors.ts';
import { invalid } from './record.ts';

export type CheckedItem = { readonly item: WriteItem } | { readonly faults: readonly FieldFault[] };

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
    if (single.content === undefined) throw invalid('/content', 'is required, unless items is given');
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
  const parsed = writeItem.safeParse(value);
  return parsed.success ? { item: parsed.data } : { faults: schemaFaults(writeItem, parsed.error.issues, base) };
}

function detailOf(faults: readonly FieldFault[]): string {
  return faults
    .slice(0, 5)
    .map(({ pointer, message }) => `${pointer === '' ? 'the input' : pointer} ${message}`)
    .join('; ');
}
