/** What a session is noted to have seen besides its turns: texts that admission dropped, and texts that were returned to it. Never in a write's way. */
import type { SessionKey } from '../../domain/working.ts';
import type { WriteItem } from '../../domain/wire/write.ts';
import { unwrapped } from '../../guard/envelope.ts';
import { fingerprint } from '../../text/clean.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { admitText, sessionQuery } from './draft.ts';

/**
 * Keeps a text that was not worth storing in its session for a day, judged like any other; without a session it is gone. Never throws, and
 * nobody needs to wait for it. Takes the item as it was given, not masked yet.
 */
export async function noteDropped(
  deps: MemoryDeps,
  call: CallContext,
  item: Pick<WriteItem, 'content' | 'namespace' | 'source' | 'session_id'>,
  reason: string,
): Promise<void> {
  const { session_id, content, namespace, source } = item;
  if (session_id === undefined) return;
  try {
    const { sealed } = await admitText(deps, call, { session_id, namespace, content, ...(source === undefined ? {} : { source }) });
    if (sealed !== undefined) await deps.working.noteDropped(sealed, reason);
  } catch (error) {
    deps.onDegraded?.('working', error);
  }
}

/** Texts that leave to a caller, so that they are known when the caller writes them back; with no session, for all of the caller's. */
export async function noteReturned(
  deps: MemoryDeps,
  { principal }: Pick<CallContext, 'principal'>,
  sessionId: string | undefined,
  texts: readonly string[],
): Promise<void> {
  await deps.working.noteReturned(
    seenBy(deps, principal, sessionId),
    texts.map((text) => fingerprint(unwrapped(text))),
  );
}

/** Whether this text was returned to the session, or to its caller outside of any session, within a day. */
export async function wasReturned(
  deps: MemoryDeps,
  { principal }: Pick<CallContext, 'principal'>,
  sessionId: string | undefined,
  text: string,
): Promise<boolean> {
  const print = fingerprint(unwrapped(text));
  const sessions = [...new Set([sessionId, undefined])].map((id) => seenBy(deps, principal, id));
  return (await Promise.all(sessions.map((session) => deps.working.wasReturned(session, print)))).includes(true);
}

/** A search looks in several namespaces: what it brings is noted under the caller's own. */
function seenBy(deps: MemoryDeps, principal: CallContext['principal'], sessionId = ''): SessionKey {
  const { tenant, owner } = principal;
  return { tenant, owner, ...sessionQuery(deps, principal, { session_id: sessionId }) };
}
