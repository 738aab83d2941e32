/** memory_stats: how much is remembered where the caller may read, how far the vectors are, and how the service is. */
import type { StatsAnswer, StatsInput } from '../domain/wire/stats.ts';
import type { MemoryDeps } from './deps.ts';
import type { CallContext } from './gateway.ts';
import { makeVisible } from './visible.ts';

/** Every acknowledged write is counted. ERR_NAMESPACE_FORBIDDEN, ERR_STORE_UNAVAILABLE. */
export async function stats(deps: MemoryDeps, input: StatsInput, call: CallContext): Promise<Omit<StatsAnswer, 'trace_id'>> {
  const { principal } = call;
  const by = deps.guard.scope({ filter: {} }, { principal, action: 'read', reach: input.namespaces ?? 'granted', nowMs: deps.clock() });
  await makeVisible(deps, principal.tenant);
  const { total, namespaces, due, dead } = await deps.index.tally(by);
  const { url, version, startedAtMs, engine, embedding } = deps.about;
  const redis = deps.about.redis();
  return {
    service: {
      url,
      version,
      uptime_seconds: Math.max(0, Math.floor((deps.clock() - startedAtMs) / 1_000)),
      engine,
      embedding,
      redis,
    },
    tenant: principal.tenant,
    memories: total,
    namespaces: namespaces.map(({ namespace, count }) => ({ namespace, memories: count })),
    embedding_queue: { due, dead },
    degraded: [...(redis === 'away' ? ['redis'] : []), ...(dead > 0 ? ['vectors'] : [])],
  };
}
