/** Asks every question of a set in every ranking over REST and turns the hits into figures. */
import { documentsOf, namespaceOf, type QueryRow } from '../support/dataset.ts';
import type { HttpClient } from '../support/http-client.ts';
import { inTurn } from '../support/import.ts';
import { Latency } from '../support/latency.ts';
import { progressOf } from '../support/progress.ts';
import { questionFigures, type Answers, type QuestionFigures } from './figures.ts';
import { BM25_ROW, DEFAULT_ROW, rrf, RRF_ROW, VECTOR_ROW, type RankingRow } from './rows.ts';

const AT_ONCE = 2;

export interface Asked {
  readonly answers: Answers;
  /** Searches of the default ranking, the first asking of each question, embedding included. */
  readonly latency: Latency;
}

/** How hits become documents that labels speak of. */
export interface Labels {
  /** Document of each memory id. */
  readonly documents: ReadonlyMap<string, string>;
  /** The document that stands for another one, for those that have one; empty: every document stands for itself. */
  readonly copies: ReadonlyMap<string, string>;
}

/** All rows of one question follow each other, so that the service embeds it once. A degraded answer is an Error: it measures something else. */
export async function askSet(
  client: HttpClient,
  set: string,
  queries: readonly QueryRow[],
  rows: readonly RankingRow[],
  { documents, copies }: Labels,
): Promise<Asked> {
  const latency = new Latency();
  const figures = new Map<string, QuestionFigures[]>();
  const note = (row: string, question: number, found: QuestionFigures): void => {
    const list = figures.get(row) ?? [];
    list[question] = found;
    figures.set(row, list);
  };
  const told = progressOf(`${set}: questions`, queries.length);
  let done = 0;
  await inTurn(queries, AT_ONCE, async (query, q) => {
    const first = (id: string): string => copies.get(id) ?? id;
    const relevant = new Set(query.relevant.map(first));
    const lists = new Map<string, readonly string[]>();
    for (const row of rows) {
      const from = performance.now();
      const ids = await search(client, query, row);
      if (row.name === DEFAULT_ROW) latency.add(performance.now() - from);
      lists.set(row.name, ids);
    }
    const [words, vectors] = [lists.get(BM25_ROW), lists.get(VECTOR_ROW)];
    if (words !== undefined && vectors !== undefined) lists.set(RRF_ROW, rrf([words, vectors]));
    for (const [name, ids] of lists) note(name, q, questionFigures([...new Set(documentsOf(ids, documents).map(first))], relevant));
    done += 1;
    told(done);
  });
  return { answers: { set, categories: queries.map((query) => query.category), rows: figures }, latency };
}

async function search(client: HttpClient, query: QueryRow, row: RankingRow): Promise<string[]> {
  const body = JSON.stringify({ query: query.query, namespaces: [namespaceOf(query)], asked_at: query.asked_at, ...row.request });
  const answer = await client.json<{ hits: { memory_id: string }[]; degraded: string[] }>({
    method: 'POST',
    path: '/v1/memories/search',
    body,
  });
  if (answer.degraded.length > 0) throw new Error(`a search was degraded: ${answer.degraded.join(', ')}`);
  return answer.hits.map((hit) => hit.memory_id);
}
