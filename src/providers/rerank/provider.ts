/** The one way a cross-encoder fails (port Reranker, domain/reranker), and how its answer, which is untrusted, is read. */
import { z } from 'zod';
import { HindsightError } from '../../errors.ts';

/** Outage, time-out, too many calls, an answer that cannot be used, closed: the order stays as it was. */
export class RerankUnavailable extends HindsightError {
  /** `reason` goes to the log through `cause`, never to a caller. */
  constructor(reason: string, cause?: unknown) {
    super('ERR_RERANK_UNAVAILABLE', { cause: new Error(reason, { cause }) });
  }
}

const rated = z.object({ index: z.int().min(0), relevance_score: z.number().optional(), score: z.number().optional() });
const answers = z.union([
  z.object({ results: z.array(rated) }).transform(({ results }) => results),
  z.object({ data: z.array(rated) }).transform(({ data }) => data),
  z.array(rated),
]);

/**
 * One finite score for each of `count` documents, in their order. Understands `{results: [{index, relevance_score}]}` (Cohere, Jina, vLLM),
 * `{data: […]}` (Voyage) and `[{index, score}]` (text-embeddings-inference).
 * @throws RerankUnavailable for any other form, and where a document is missing or named twice.
 */
export function readScores(text: string, count: number): readonly number[] {
  const parsed = answers.safeParse(jsonOf(text), { reportInput: false });
  if (!parsed.success) throw new RerankUnavailable('the answer of the endpoint is not of the form of /rerank');
  const scores = new Map<number, number>();
  for (const { index, relevance_score: relevance, score = relevance } of parsed.data) {
    if (score === undefined || index >= count || scores.has(index)) throw new RerankUnavailable('the answer does not fit the documents');
    scores.set(index, score);
  }
  if (scores.size !== count) throw new RerankUnavailable('the answer leaves documents out');
  return Array.from({ length: count }, (_, i) => scores.get(i) ?? 0);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // the parser's message quotes the text
    throw new RerankUnavailable('the answer of the endpoint is not JSON');
  }
}
