/** memory_write's question to admission: what becomes of an item whose writer leaves that to the service. */
import { mapUnscreened } from '../../domain/sealed.ts';
import type { WriteItem } from '../../domain/wire/write.ts';
import { unwrapped } from '../../guard/envelope.ts';
import { fingerprint } from '../../text/clean.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { visibilityOf } from '../record.ts';
import { makeVisible } from '../search.ts';
import { wasReturned } from '../working/notes.ts';
import { worthOf, type Worth } from './worth.ts';

export interface Weighed {
  /** With the kind, layer, importance and term that were found. */
  readonly item: WriteItem;
  /** What happened and why, in one sentence; none for what is stored as given. */
  readonly reason?: string;
  /** True: not to be stored. */
  readonly dropped: boolean;
  /** Weighs it once more with the model's grade, for what the guard has let in; there where no rule speaks about it and a model is configured. */
  readonly again?: () => Promise<Weighed>;
}

const ECHO = 'not kept: the service itself returned this text before, and the memory it came from still holds';

/**
 * `clean` has its secrets masked. What names its layer or says `admission: keep` is stored as given.
 * Failures: ERR_STORE_* when a repeated answer has to be looked up.
 */
export async function weigh(deps: MemoryDeps, call: CallContext, clean: WriteItem): Promise<Weighed> {
  const { actor } = call.principal;
  if (clean.admission === 'keep' || clean.layer !== undefined) return { item: clean, dropped: false };
  const { policy, ask } = deps.admission;
  const context = { policy, layers: deps.layers, actor };
  const byRules = worthOf(clean, context);
  if (byRules.keep && (await isEcho(deps, call, clean))) return { item: clean, reason: ECHO, dropped: true };
  const weighed = weighedBy(byRules, clean);
  if (byRules.sure || ask === undefined) return weighed;
  const again = async (): Promise<Weighed> => {
    const model = await ask(clean.content, call.signal);
    return model === undefined ? weighed : weighedBy(worthOf(clean, context, model), clean);
  };
  return { ...weighed, again };
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
async function isEcho(deps: MemoryDeps, call: CallContext, item: WriteItem): Promise<boolean> {
  const { principal } = call;
  const { session_id, content, source, namespace = principal.ownNamespace } = item;
  // a person who says it again means it
  if (principal.actor === 'user' && (source === undefined || source.type === 'user')) return false;
  if (!(await wasReturned(deps, call, session_id, content))) return false;
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
  let held = false;
  mapUnscreened(page, ({ records }) => (held = records.length > 0));
  return held;
}
