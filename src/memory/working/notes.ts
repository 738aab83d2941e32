/** Which texts were returned to a session or its caller, so that admission knows them when they come back. */
import type { SessionKey } from '../../domain/working.ts';
import { unwrapped } from '../../guard/envelope.ts';
import { fingerprint } from '../../text/clean.ts';
import { remembered } from '../../text/remembered.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { sessionQuery } from './draft.ts';

/** The same memories leave again and again. */
const printOf = remembered(fingerprint, { texts: 2_000, chars: 4_000 });

/** Texts that leave to a caller, so that they are known when the caller writes them back; with no session, for all of the caller's. */
export async function noteReturned(
  deps: MemoryDeps,
  { principal }: Pick<CallContext, 'principal'>,
  sessionId: string | undefined,
  texts: readonly string[],
): Promise<void> {
  await deps.working.noteReturned(
    seenBy(deps, principal, sessionId),
    texts.map((text) => printOf(unwrapped(text))),
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
