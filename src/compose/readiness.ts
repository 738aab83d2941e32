/** What /readyz asks: whether the shards of this service's own indices can be read and written. */
import type { Clock } from '../domain/clock.ts';
import type { StoreClient } from '../elastic/client.ts';

/** One answer serves all probes this long: /readyz needs no token, and must not be a way to load the cluster. */
const CACHE_MS = 1_000;
const TIMEOUT_MS = 1_500;

interface ReadinessParts {
  readonly client: StoreClient;
  readonly prefix: string;
  readonly clock: Clock;
}

/**
 * False when a primary shard of an own index is missing (red) or Elasticsearch does not answer within 1.5 s. Yellow will do: on a single
 * node replicas stay unassigned. Others' indices on the cluster do not matter.
 */
export function createReadiness({ client, prefix, clock }: ReadinessParts): () => Promise<boolean> {
  let answer: Promise<boolean> | undefined;
  let askedMs = 0;
  const ask = async (): Promise<boolean> => {
    const health = await client.cluster.health(
      { index: `${prefix}-*`, timeout: '1s', filter_path: 'status' },
      { requestTimeout: TIMEOUT_MS },
    );
    return health.status !== 'red';
  };
  return () => {
    const nowMs = clock();
    if (answer === undefined || nowMs - askedMs >= CACHE_MS || nowMs < askedMs) {
      askedMs = nowMs;
      answer = ask().catch(() => false);
    }
    return answer;
  };
}
