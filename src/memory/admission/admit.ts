/** memory_write's question to admission: what becomes of an item whose writer leaves that to the service. */
import type { MemoryRecord } from '../../domain/memory.ts';
import { mapUnscreened } from '../../domain/sealed.ts';
import type { Actor } from '../../domain/principal.ts';
import type { WriteItem } from '../../domain/wire/write.ts';
import { unwrapped } from '../../guard/envelope.ts';
import { fingerprint } from '../../text/clean.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { visibilityOf } from '../record.ts';
import { makeVisible } from '../visible.ts';
import { wasReturned } from '../working/notes.ts';
import { cappedImportance } from './agent-importance.ts';
import { worthOf, type Worth } from './worth.ts';

export interface Weighed {
  /** With the kind, layer, importance and term that were found. */
  readonly item: WriteItem;
  /** What happened and why, in one sentence; none for what is stored as given. */
  readonly reason?: string;
  /** True: not to be stored. */
  readonly dropped: boolean;
  /** The memory that an echo came from; its writer may read it. */
  readonly echoOf?: Pick<MemoryRecord, 'memory_id' | 'version'>;
  /** Weighs it once more with the model's grade, for what the guard has let in; there where no rule speaks about it and a model is configured. */
  readonly again?: () => Promise<Weighed>;
}

const ECHO = 'the service itself returned this text before, and the memory it came from still holds';

/**
 * `clean` has its secrets masked. What says `admission: keep` or names its layer is stored as given, but for an agent's importance.
 * Failures: ERR_STORE_* when a repeated answer has to be looked up.
 */
export async function weigh(deps: MemoryDeps, call: CallContext, clean: WriteItem): Promise<Weighed> {
  const { actor } = call.principal;
  const { policy, ask } = deps.admission;
  if (clean.admission === 'keep' || clean.layer !== undefined)
    return { item: hinted(clean, actor, policy.agentImportanceMax), dropped: false };
  const context = { policy, layers: deps.layers, relations: deps.relations, actor };
  const byRules = worthOf(clean, context);
  const echoOf = byRules.keep ? await echoed(deps, call, clean) : undefined;
  if (echoOf !== undefined) return { item: clean, reason: ECHO, dropped: true, echoOf };
  const weighed = weighedBy(byRules, clean);
  if (byRules.sure || ask === undefined) return weighed;
  const again = async (): Promise<Weighed> => {
    const model = await ask(clean.content, call.signal);
    return model === undefined ? weighed : weighedBy(worthOf(clean, context, model), clean);
  };
  return { ...weighed, again };
}

function hinted(item: WriteItem, actor: Actor, max: number): WriteItem {
  return item.importance === undefined ? item : { ...item, importance: cappedImportance(item.importance, actor, max) };
}

function weighedBy(worth: Worth, clean: WriteItem): Weighed {
  if (!worth.keep) return { item: clean, reason: worth.reason, dropped: true };
  const { kind, layer, importance, ttlSeconds, reason } = worth;
  const item: WriteItem = {
    ...clean,
    layer,
    importance,
    ...(kind === undefined ? {} : { kind }),
    ...(ttlSeconds === undefined ? {} : { ttl_seconds: ttlSeconds }),
  };
  return { item, reason, dropped: false };
}

/**
 * A record of it stands where it is written to, seen by the same people, and its writer still gets it: what has been forgotten since is no
 * echo, and neither is a copy to another place.
 */
async function echoed(deps: MemoryDeps, call: CallContext, item: WriteItem): Promise<Weighed['echoOf']> {
  const { principal } = call;
  const { session_id, content, source, namespace = principal.ownNamespace } = item;
  // a person who says it again means it
  if (principal.actor === 'user' && (source === undefined || source.type === 'user')) return undefined;
  if (!(await wasReturned(deps, call, session_id, content))) return undefined;
  await makeVisible(deps, principal.tenant);
  const visibility = visibilityOf(item, { namespace, principal });
  const links = {
    fingerprint: [fingerprint(unwrapped(content))],
    namespace: [namespace],
    visibility: [visibility],
    ...(visibility === 'private' ? { owner: [principal.owner] } : {}),
  };
  const look = { filter: {}, links, limit: 1, after: undefined };
  const page = await deps.index.list(deps.guard.scope(look, { principal, action: 'read', reach: 'granted', nowMs: deps.clock() }));
  let held: Weighed['echoOf'];
  mapUnscreened(page, ({ records: [first] }) => {
    if (first !== undefined) held = { memory_id: first.memory_id, version: first.version };
  });
  return held;
}
