/** Dates written in digits alone, alike in both languages. Guards keep versions, addresses, codes and scores out. */
import { YEAR } from './rule.ts';
import type { DateRule } from './rule.ts';

/** Not inside a longer number, a version, a path or a code: `v2.3.1`, `10.0.0.1`, `INV-2023-05-07`. */
const BEFORE = String.raw`(?<![A-Za-z0-9_][./-]?)`;
const AFTER = String.raw`(?!\d|[./-]\d)`;

export const NUMERIC_RULES: readonly DateRule[] = [
  {
    examples: ['2023-05-07', '2023/5/7', '2023.5.7', '2023-05-07T10:00', '2023 - 5 - 7'],
    pattern: new RegExp(`${BEFORE}(?<y>${YEAR}) ?(?<sep>[-/.]) ?(?<m>\\d{1,2}) ?\\k<sep> ?(?<d>\\d{1,2})${AFTER}`, 'g'),
    read: ({ y, m, d }, out) => out.day(Number(y), Number(m), Number(d)),
  },
  {
    // Month first as in English; day first where the month would not exist.
    examples: ['5/7/2023', '25/12/2023', '05-07-2023'],
    pattern: new RegExp(`${BEFORE}(?<a>\\d{1,2})(?<sep>[-/])(?<b>\\d{1,2})\\k<sep>(?<y>${YEAR})${AFTER}`, 'g'),
    read: ({ a, b, y }, out) => out.day(Number(y), Number(a), Number(b)) || out.day(Number(y), Number(b), Number(a)),
  },
  {
    examples: ['07.05.2023', '7.5.2023'],
    pattern: new RegExp(`${BEFORE}(?<d>\\d{1,2})\\.(?<m>\\d{1,2})\\.(?<y>${YEAR})${AFTER}`, 'g'),
    read: ({ d, m, y }, out) => out.day(Number(y), Number(m), Number(d)),
  },
  {
    examples: ['2023-05', '2023/12'],
    pattern: new RegExp(`${BEFORE}(?<y>${YEAR})[-/](?<m>0[1-9]|1[0-2])${AFTER}(?! ?年)`, 'g'),
    read: ({ y, m }, out) => out.month(Number(y), Number(m)),
  },
];
