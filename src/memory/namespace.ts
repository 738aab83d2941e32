/** memory_namespace and memory_collect: whether a namespace takes new memories; the switch is a person's, not their agent's. */
import type { CollectInput, NamespaceAnswer, NamespaceInput } from '../domain/wire/namespace.ts';
import { HindsightError } from '../errors.ts';
import type { MemoryDeps } from './deps.ts';
import type { CallContext } from './gateway.ts';

type Answer = Omit<NamespaceAnswer, 'trace_id'>;

/** A namespace that nobody has written to answers like any other. ERR_NAMESPACE_FORBIDDEN, ERR_STORE_*. */
export async function readNamespace(deps: MemoryDeps, { namespace }: NamespaceInput, call: CallContext): Promise<Answer> {
  const { principal } = call;
  deps.guard.scope({}, { principal, action: 'read', reach: [namespace], nowMs: deps.clock() });
  return { namespace, collect: (await deps.namespaces.get(principal.tenant, namespace))?.collect ?? 'on' };
}

/**
 * One's own namespace is one's own to switch, every other takes memory:admin and the right to write there. This process follows at once,
 * others within a minute (stores/namespaces).
 * @throws ERR_ACTOR_FORBIDDEN for agents, ERR_NAMESPACE_FORBIDDEN, ERR_SCOPE_MISSING, ERR_STORE_*.
 */
export async function switchCollect(deps: MemoryDeps, { namespace, collect }: CollectInput, call: CallContext): Promise<Answer> {
  const { principal } = call;
  if (principal.actor === 'agent') throw new HindsightError('ERR_ACTOR_FORBIDDEN');
  deps.guard.scope({}, { principal, action: 'write', reach: [namespace], nowMs: deps.clock() });
  if (namespace !== principal.ownNamespace && !principal.scopes.has('memory:admin'))
    throw new HindsightError('ERR_SCOPE_MISSING', { params: { scope: 'memory:admin' } });
  const record = await deps.namespaces.setCollect(principal.tenant, namespace, principal.owner, collect);
  return { namespace, collect: record.collect };
}
