/** memory_turns_add and memory_turns: the last turns of a session, each through the guard on its way in and out. */
import { isoTime } from '../../domain/clock.ts';
import type { MemoryRecord, Status } from '../../domain/memory.ts';
import type { Principal } from '../../domain/principal.ts';
import { mapUnscreened, type Scoped } from '../../domain/sealed.ts';
import { TIER } from '../../domain/trust.ts';
import { recordOf, type SessionKey, type SessionQuery, type TurnRole } from '../../domain/working.ts';
import type { TurnAddAnswer, TurnAddInput, TurnsAnswer, TurnsInput } from '../../domain/wire/session.ts';
import type { Guard, ScreenedItem } from '../../guard/guard.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { trustOf } from '../view.ts';
import { admitText, sessionQuery, sourceOf } from './draft.ts';
import { keptAnswer, refused } from './kept.ts';

/** @throws ERR_NAMESPACE_FORBIDDEN, ERR_GUARD_UNAVAILABLE, ERR_WORKING_UNAVAILABLE. */
export async function addTurn(deps: MemoryDeps, input: TurnAddInput, call: CallContext): Promise<Omit<TurnAddAnswer, 'trace_id'>> {
  const { role, content, session_id, namespace } = input;
  const admission = await admitText(deps, call, { session_id, namespace, content, source: sourceOf(role, input.source) });
  if (admission.sealed === undefined) return { ...refused(admission), turns: null };
  const turns = await deps.working.addTurn(admission.sealed, role);
  return { ...keptAnswer(deps, admission), turns };
}

/** What is held as a candidate is shown to people alone: an agent's reading of a session goes into its prompt. */
function statusesFor({ actor }: Principal): readonly Status[] {
  return actor === 'user' ? ['active', 'candidate'] : ['active'];
}

export interface NamedSession {
  readonly session_id: string;
  readonly namespace?: string | undefined;
}

/** A session bound to its reader, and its key. @throws ERR_NAMESPACE_FORBIDDEN. */
export function readSession(
  deps: MemoryDeps,
  { principal }: Pick<CallContext, 'principal'>,
  given: NamedSession,
): { readonly by: Scoped<SessionQuery>; readonly key: SessionKey } {
  const query = sessionQuery(deps, principal, given);
  const by = deps.guard.scope(query, {
    principal,
    action: 'read',
    reach: [query.namespace],
    statuses: statusesFor(principal),
    nowMs: deps.clock(),
  });
  return { by, key: { tenant: principal.tenant, owner: principal.owner, ...query } };
}

export interface ShownTurn extends ScreenedItem<MemoryRecord> {
  readonly role: TurnRole;
}

/** The screened turns of a session, oldest first; `degraded` names what was away. For memory_turns and for the context of a prompt. */
export async function shownTurns(
  deps: MemoryDeps,
  call: CallContext,
  given: NamedSession,
  options: NonNullable<Parameters<Guard['screenRecords']>[2]> = {},
): Promise<{ readonly turns: readonly ShownTurn[]; readonly degraded: string[] }> {
  const { by, key } = readSession(deps, call, given);
  const found = await deps.working.turns(by);
  if (found === undefined) return { turns: [], degraded: ['working'] };
  const roles = new Map<string, TurnRole>();
  const records = mapUnscreened(found, (turns) =>
    turns.map((turn) => {
      roles.set(turn.memory_id, turn.role);
      return recordOf(turn, key);
    }),
  );
  const { items, degraded } = await deps.guard.screenRecords(records, by, options);
  return {
    turns: items.map((item) => ({ ...item, role: roles.get(item.value.memory_id) ?? 'system' })),
    degraded: degraded ? ['guard'] : [],
  };
}

/** @throws ERR_NAMESPACE_FORBIDDEN. */
export async function turns(deps: MemoryDeps, input: TurnsInput, call: CallContext): Promise<Omit<TurnsAnswer, 'trace_id'>> {
  const options = { floor: TIER[input.trust_floor ?? 'external'] };
  const shown = await shownTurns(deps, call, input, options);
  const last = input.last === undefined ? shown.turns : shown.turns.slice(-input.last);
  const dropped = input.dropped === true ? await shownDropped(deps, call, input, options) : undefined;
  return {
    turns: last.map(({ value, role, referenceOnly }) => ({
      turn_id: value.memory_id,
      role,
      content: value.content,
      ts: value.created_at,
      status: value.status,
      trust: trustOf(value),
      reference_only: referenceOnly,
    })),
    ...(dropped === undefined ? {} : { dropped: dropped.texts }),
    expires_at: shown.turns.length === 0 ? null : isoTime(deps.clock() + deps.workingLimits.ttlMs),
    degraded: [...new Set([...shown.degraded, ...(dropped?.degraded ?? [])])],
  };
}

async function shownDropped(
  deps: MemoryDeps,
  call: CallContext,
  given: TurnsInput,
  options: NonNullable<Parameters<Guard['screenRecords']>[2]>,
): Promise<{ readonly texts: NonNullable<TurnsAnswer['dropped']>; readonly degraded: string[] }> {
  const { by, key } = readSession(deps, call, given);
  const found = await deps.working.dropped(by);
  if (found === undefined) return { texts: [], degraded: ['working'] };
  const reasons = new Map<string, string>();
  const records = mapUnscreened(found, (texts) =>
    texts.map((text) => {
      reasons.set(text.memory_id, text.reason);
      return recordOf(text, key);
    }),
  );
  const { items, degraded } = await deps.guard.screenRecords(records, by, options);
  return {
    texts: items.map(({ value, referenceOnly }) => ({
      content: value.content,
      reason: reasons.get(value.memory_id) ?? '',
      ts: value.created_at,
      trust: trustOf(value),
      reference_only: referenceOnly,
    })),
    degraded: degraded ? ['guard'] : [],
  };
}
