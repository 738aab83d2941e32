/** The questions of bench:relevance over REST, hits as documents with their scores. */
import type { HttpClient } from '../support/http-client.ts';
import { inTurn } from '../support/import.ts';
import { progressOf } from '../support/progress.ts';

const AT_ONCE = 2;
/** Enough for recall@5 and for the best score. */
const TOP_K = 10;

export interface Question {
  readonly query: string;
  readonly namespace: string;
  readonly asked_at: string;
}

export interface Found {
  /** Best first, each document once. */
  readonly documents: readonly string[];
  /** Calibrated score of the best hit; 0 without one. */
  readonly best: number;
  readonly nothingRelevant: boolean;
}

interface SearchAnswer {
  readonly hits: readonly { readonly memory_id: string; readonly score: number }[];
  readonly nothing_relevant: boolean;
  readonly degraded: readonly string[];
}

/** One answer a question, in their order. `min_score: 0` keeps what stands under the floor. A degraded answer is an Error: it measures something else. */
export async function askAll(
  client: HttpClient,
  name: string,
  questions: readonly Question[],
  documents: ReadonlyMap<string, string>,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Found[]> {
  const found: Found[] = [];
  const told = progressOf(name, questions.length);
  let done = 0;
  await inTurn(questions, AT_ONCE, async ({ query, namespace, asked_at }, i) => {
    const body = JSON.stringify({ query, namespaces: [namespace], asked_at, top_k: TOP_K, ...more });
    const answer = await client.json<SearchAnswer>({ method: 'POST', path: '/v1/memories/search', body });
    if (answer.degraded.length > 0) throw new Error(`a search was degraded: ${answer.degraded.join(', ')}`);
    found[i] = {
      documents: [...new Set(answer.hits.map(({ memory_id }) => documents.get(memory_id) ?? memory_id))],
      best: answer.hits[0]?.score ?? 0,
      nothingRelevant: answer.nothing_relevant,
    };
    told((done += 1));
  });
  return found;
}
