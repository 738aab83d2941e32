/** Signals of feedback: what those who used a memory made of it, for it and against it; only records that somebody gave feedback on have them. */
import { clip } from './signal.ts';
import type { Signal } from './signal.ts';

const SOURCE = 'product.md, worth fields; memory/feedback/score bounds what one principal and less trusted ones can do';

export const FEEDBACK: readonly Signal[] = [
  {
    name: 'feedback',
    formula: 'feedback score where it is above 0, (sum of stances) / (2 + votes); no part without feedback',
    source: SOURCE,
    raw: ({ record }) => ((record.feedback?.score ?? 0) > 0 ? record.feedback?.score : undefined),
    normalise: (raw) => clip(raw),
    sentence: (_raw, _normalised, lang) => (lang === 'zh' ? '用过它的人说它有用' : 'Those who used it found it useful'),
  },
  {
    name: 'complaints',
    weightOf: 'feedback',
    against: true,
    formula: 'minus the feedback score where it is below 0, counted against the score',
    source: SOURCE,
    raw: ({ record }) => ((record.feedback?.score ?? 0) < 0 ? -(record.feedback?.score ?? 0) : undefined),
    normalise: (raw) => clip(raw),
    sentence: (_raw, _normalised, lang) => (lang === 'zh' ? '用过它的人说它不对或已过时' : 'Those who used it called it wrong or outdated'),
  },
];
