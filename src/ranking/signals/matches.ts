/** Signals that named clauses of the one query report: words, the person asked about, dates. */
import { clip, percent } from './signal.ts';
import type { Signal } from './signal.ts';

const SOURCE = 'retrieval.md, the one query that won';

export const MATCHES: readonly Signal[] = [
  {
    name: 'lexical',
    formula: 'bm25 / (bm25 + lexical_saturation) of the named clause "lex"',
    source: `${SOURCE}; saturation 24 measured on dev`,
    raw: (evidence) => evidence.lexical,
    normalise: (raw, context) => clip(raw / (raw + context.profile.lexicalSaturation)),
    sentence: (raw, _normalised, lang) =>
      lang === 'zh'
        ? `与问题有相同的词语（BM25 ${Number(raw.toPrecision(2))}）`
        : `It shares words with the question (BM25 ${Number(raw.toPrecision(2))})`,
  },
  {
    name: 'speaker',
    formula: '1 when the question names the subject (named clause "spk"), else none',
    source: `${SOURCE}; LoCoMo recall@5 + .04`,
    raw: (evidence) => (evidence.speaker ? 1 : null),
    normalise: (raw) => clip(raw),
    sentence: (_raw, _normalised, lang) => (lang === 'zh' ? '问题提到了它的主体' : 'The question names whom it is about'),
  },
  {
    name: 'date',
    formula:
      'sum of the fits of the dates in the question to event_at (named clause "date"): 1 on a named day, less for the days around it, a month, a week',
    source: `${SOURCE}; MemoryBank zh recall@5 .898 -> .981, en .917 -> .969`,
    raw: (evidence) => evidence.date,
    normalise: (raw) => clip(raw),
    sentence: (_raw, normalised, lang) =>
      lang === 'zh'
        ? `时间与问题中的日期相符（${percent(normalised)}）`
        : `Its time fits the date in the question (${percent(normalised)})`,
  },
  {
    name: 'exact',
    formula:
      'share of the codes and quoted phrases of the question that the record holds; in a question without any, 1 for a rare name (named clause "exact")',
    source: 'bench:relevance, known codes in 50,000 records; boosts.exact engine units for all of them',
    raw: (evidence, context) => (context.exact.length === 0 ? undefined : evidence.exact),
    normalise: (raw) => clip(raw),
    sentence: (raw, _normalised, lang) =>
      lang === 'zh'
        ? `含有问题中 ${percent(raw)} 的编号、引用的原文或罕见名称`
        : `It holds ${percent(raw)} of the codes, quoted phrases or rare names of the question, to the letter`,
  },
];
