/** Forms of a recorded search: the same with a fresh clock, and the plain query of match and knn that it is measured beside. Pure. */

type Json = unknown;
type JsonObject = Readonly<Record<string, Json>>;

const isObject = (value: Json): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The expiry filter holds the moment of the call. Sent again and again with one moment, Elasticsearch would answer it from its filter
 * cache, which it cannot do for the service; so each repetition gets its own.
 */
export function withFreshExpiry(body: string, nowMs: number): string {
  return body.replaceAll(/("expires_at":\{"gt":)("[^"]*"|\d+)/g, `$1"${new Date(nowMs).toISOString()}"`);
}

/** All objects below (and including) a value that hold a key. */
export function findWith(value: Json, key: string): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap((child) => findWith(child, key));
  if (!isObject(value)) return [];
  return [...(key in value ? [value] : []), ...Object.values(value).flatMap((child) => findWith(child, key))];
}

/**
 * What most systems send: one match on the words and one knn over the same vector and filter, size 10, content alone. Made from the
 * recorded body, so filter, words and vector are the same. Throws when the body has no bool filter or no words.
 */
export function plainQuery(body: string): string {
  const parsed = JSON.parse(body) as JsonObject;
  const bool = findWith(parsed['query'], 'filter').find((node) => Array.isArray(node['filter']) && Array.isArray(node['should']));
  const match = findWith(bool?.['should'], 'match')[0];
  const knn = findWith(bool?.['should'], 'knn')[0]?.['knn'];
  if (bool === undefined || match === undefined) throw new Error('the recorded search has no filter or no words');
  const vector = isObject(knn)
    ? [{ knn: { field: knn['field'], query_vector: knn['query_vector'], k: 10, num_candidates: 100, filter: bool['filter'] } }]
    : [];
  return JSON.stringify({
    size: 10,
    track_total_hits: false,
    _source: ['content'],
    query: { bool: { filter: bool['filter'], should: [{ match: match['match'] }, ...vector], minimum_should_match: 1 } },
  });
}
