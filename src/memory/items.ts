/** Splits a write request into items and checks each on its own, so that a bad one never takes the good ones with it. */
import type { z } from 'zod';
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
export function checkItems(input: WriteInput): CheckedItems {
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
  return { single: false, items: items.map((item, i) => checkItem(item, `/items/${i}`)) };
}

function checkItem(value: unknown, base: string): CheckedItem {
  const parsed = writeItem.safeParse(value, { reportInput: false });
  return parsed.success ? { item: parsed.data } : { faults: parsed.error.issues.map((issue) => faultOf(issue, base)) };
}

/** The pointer of the field (for an unknown key, of the object it stands in) and a message that never repeats the value. */
function faultOf(issue: z.core.$ZodIssue, base: string): FieldFault {
  const pointer = base + issue.path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  if (issue.code === 'unrecognized_keys') return { pointer: pointer === '' ? '/' : pointer, message: 'has a field that is not known' };
  if (issue.code === 'invalid_key') return { pointer, message: 'is not a valid name' };
  return { pointer, message: issue.message };
}

function detailOf(faults: readonly FieldFault[]): string {
  return faults
    .slice(0, 5)
    .map(({ pointer, message }) => `${pointer} ${message}`)
    .join('; ');
}
