/** Signals of meaning: the record's vector, its vector in a second space, its best passage, and what stands in for them. Only the best counts. */
import type { QueryVector } from '../../domain/ranking.ts';
import { clip, percent } from './signal.ts';
import type { Signal } from './signal.ts';

const calibrated = (cosine: number, vector: QueryVector | undefined): number =>
  vector === undefined ? 0 : clip((cosine - vector.calibration.offset) / vector.calibration.scale);

const SOURCE = 'retrieval.md, the one query that won: cosine = 2 x part / boost - 1 of an Elasticsearch knn clause with cosine similarity';

export const SIMILARITY: readonly Signal[] = [
  {
    name: 'vector',
    group: 'similarity',
    formula: 'clip((cosine - offset) / scale), offset and scale of the vector space',
    source: SOURCE,
    raw: (evidence, context) => (context.similarity === undefined ? undefined : evidence.cosine),
    normalise: (raw, context) => calibrated(raw, context.similarity?.primary.vector),
    sentence: (raw, normalised, lang) =>
      lang === 'zh'
        ? `语义接近程度 ${percent(normalised)}（余弦 ${raw.toFixed(3)}）`
        : `Its meaning is ${percent(normalised)} close to the question (cosine ${raw.toFixed(3)})`,
  },
  {
    name: 'vector_other',
    weightOf: 'vector',
    group: 'similarity',
    formula: 'clip((cosine - offset) / scale) in the second space, for records that the first does not serve',
    source: SOURCE,
    raw: (evidence, context) => (context.similarity?.other === undefined ? undefined : evidence.otherCosine),
    normalise: (raw, context) => calibrated(raw, context.similarity?.other?.vector),
    sentence: (raw, normalised, lang) =>
      lang === 'zh'
        ? `跨语言语义接近程度 ${percent(normalised)}（余弦 ${raw.toFixed(3)}）`
        : `Its meaning, across languages, is ${percent(normalised)} close to the question (cosine ${raw.toFixed(3)})`,
  },
  {
    name: 'passage',
    weightOf: 'vector',
    group: 'similarity',
    formula: 'clip((cosine - offset) / scale) of the closest passage of a long memory',
    source: SOURCE,
    raw: (evidence, context) => (context.passages ? evidence.passageCosine : undefined),
    normalise: (raw, context) => calibrated(raw, context.similarity?.primary.vector),
    sentence: (raw, normalised, lang) =>
      lang === 'zh'
        ? `其中一段的语义接近程度 ${percent(normalised)}（余弦 ${raw.toFixed(3)}）`
        : `One of its passages is ${percent(normalised)} close to the question (cosine ${raw.toFixed(3)})`,
  },
  {
    name: 'rescue',
    weightOf: 'vector',
    group: 'similarity',
    formula: 'rescue_similarity for a record that holds a code or quoted phrase of the question, whatever its vector says',
    source: 'bench:relevance: outside the k nearest of a large namespace a record would lose the whole vector part',
    raw: (evidence, { similarity }) =>
      similarity?.rescue === undefined ? undefined : evidence.rescued ? similarity.rescue.similarity : null,
    normalise: (raw) => clip(raw),
    sentence: (_raw, normalised, lang) =>
      lang === 'zh'
        ? `因逐字相符，语义按 ${percent(normalised)} 计`
        : `As it matches to the letter, its meaning counts as ${percent(normalised)} close`,
  },
];
