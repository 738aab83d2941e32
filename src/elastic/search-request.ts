/** Sends a search as a line of JSON that is spelled here: of a hybrid query most bytes are numbers of vectors. */
import type { Client, estypes } from '@elastic/elasticsearch';
import { ANSWER } from './client.ts';
import { vectorJson } from './record-json.ts';

const JSON_TYPE = 'application/vnd.elasticsearch+json; compatible-with=8';
const HEADERS = { 'content-type': JSON_TYPE, accept: JSON_TYPE };
const VECTOR = 'query_vector';
/** A quote within a text is written with a backslash, so no text holds this. */
const PLACE = `"${VECTOR}":"here"`;

/**
 * `client.search`, whose serialiser would search the shortest spelling of each double of a vector: a third of what sending a search cost.
 * `include_named_queries_score` of the body goes into the query string, where Elasticsearch wants it. Throws what the client throws.
 */
export async function sendSearch<T>(
  client: Client,
  index: string | readonly string[],
  { include_named_queries_score: named, ...body }: Record<string, unknown>,
): Promise<estypes.SearchResponse<T>> {
  const several = typeof index !== 'string';
  const indices = several ? index.join(',') : index;
  return client.transport.request<estypes.SearchResponse<T>>(
    {
      method: 'POST',
      path: `/${encodeURIComponent(indices)}/_search`,
      querystring: {
        allow_partial_search_results: false,
        ...(several ? { ignore_unavailable: true } : {}),
        ...(named === undefined ? {} : { include_named_queries_score: named }),
      },
      body: searchJson(body),
      meta: { name: 'search', pathParts: { index: indices } },
    },
    { ...ANSWER, headers: HEADERS },
  );
}

/** The body as JSON, the numbers of its query vectors with seven places. */
export function searchJson(body: Readonly<Record<string, unknown>>): string {
  const clauses: KnnClause[] = [];
  collect(body, clauses);
  if (clauses.length === 0) return JSON.stringify(body);
  const vectors = clauses.map((clause) => clause.query_vector);
  // out of the body while it is written: a replacer would be called for every value in it
  for (const clause of clauses) clause.query_vector = 'here';
  let text;
  try {
    text = JSON.stringify(body);
  } finally {
    for (const [i, clause] of clauses.entries()) clause.query_vector = vectors[i] as number[];
  }
  const [first = '', ...rest] = text.split(PLACE);
  return rest.reduce((spelled, part, i) => `${spelled}"${VECTOR}":${vectorJson(vectors[i] as number[])}${part}`, first);
}

interface KnnClause {
  query_vector: readonly number[] | 'here';
}

/** The knn clauses in the order in which they are written. */
function collect(value: object, found: KnnClause[]): void {
  if (VECTOR in value && Array.isArray(value[VECTOR])) found.push(value as KnnClause);
  for (const part of Object.values(value) as unknown[]) {
    // a list of numbers is a vector, or has no clause in it
    if (typeof part === 'object' && part !== null && !(Array.isArray(part) && typeof part[0] === 'number')) collect(part, found);
  }
}
