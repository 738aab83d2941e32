/** Query vectors within a time box: a search never waits longer for the model than the box allows, it goes on without vectors. */
import type { QueryVector } from '../domain/ranking.ts';
import type { MemoryDeps } from './deps.ts';

/** A local query vector takes 3-5 ms (retrieval.md); a remote one that takes longer than this is as good as down. */
const EMBED_LIMIT_MS = 2_000;

/**
 * One vector for each space, in order; undefined when the model is away, refuses the text or takes too long (the caller then says
 * `degraded: ["vector"]`). Throws only the caller's own abort reason.
 */
export async function queryVectors(
  deps: Pick<MemoryDeps, 'embedder' | 'onDegraded'>,
  query: string,
  spaceNames: readonly string[],
  signal: AbortSignal,
  limitMs = EMBED_LIMIT_MS,
): Promise<readonly QueryVector[] | undefined> {
  const limit = AbortSignal.timeout(limitMs);
  const either = AbortSignal.any([signal, limit]);
  try {
    return await Promise.race([Promise.all(spaceNames.map((name) => queryVector(deps, query, name, either))), aborted(either)]);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    deps.onDegraded?.('vector', error);
    return undefined;
  }
}

async function queryVector(deps: Pick<MemoryDeps, 'embedder'>, query: string, name: string, signal: AbortSignal): Promise<QueryVector> {
  const space = deps.embedder.spaces.find((s) => s.name === name);
  if (space === undefined) throw new Error(`no vector space ${name}`);
  const [vector] = await deps.embedder.embed(name, [query], 'query', signal);
  if (vector === undefined) throw new Error(`no vector from space ${name}`);
  return { space: name, field: space.field, vector, boost: space.knnBoost, calibration: space.calibration };
}

/** Rejects when the signal fires: a provider that does not heed it must not hold the search. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
