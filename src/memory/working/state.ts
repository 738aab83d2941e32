/** memory_state_set and memory_state: the task state of a session, slot by slot; every value and every name passes the guard. */
import { isoTime } from '../../domain/clock.ts';
import { recordOf, type KeptSlot } from '../../domain/working.ts';
import { mapUnscreened } from '../../domain/sealed.ts';
import { TIER } from '../../domain/trust.ts';
import type { TaskState } from '../../domain/wire/state.ts';
import type { StateAnswer, StateInput, StateSetAnswer, StateSetInput } from '../../domain/wire/session.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { invalid } from '../record.ts';
import { trustOf } from '../view.ts';
import { admitText, type WorkingAdmission, type WorkingText } from './draft.ts';
import { keptAnswer, refused } from './kept.ts';
import { asWords, namesIn, textsIn, withTexts } from './state-texts.ts';
import { readSession } from './turns.ts';

/** The state as the guard reads it; null slots say nothing but that they are to go. */
export function admitState(
  deps: MemoryDeps,
  call: CallContext,
  given: Omit<WorkingText, 'content' | 'metadata'> & { readonly state: TaskState },
): Promise<WorkingAdmission> {
  const { state, ...place } = given;
  const slots = Object.fromEntries(Object.entries(state).filter(([, value]) => value !== null));
  return admitText(deps, call, { ...place, content: asWords(namesIn(slots)), metadata: slots });
}

/** @throws ERR_REQUEST_INVALID when it would be too much with what is there, ERR_WORKING_UNAVAILABLE. */
export async function putState(
  deps: MemoryDeps,
  sealed: NonNullable<WorkingAdmission['sealed']>,
  state: TaskState,
  mode: 'merge' | 'replace',
): Promise<void> {
  const remove = Object.keys(state).filter((name) => state[name] === null);
  const { stateBytes, slots } = deps.workingLimits;
  if ((await deps.working.putState(sealed, mode, remove)) === 'too_large')
    throw invalid('/state', `would be larger than ${stateBytes} bytes or ${slots} slots with what the session holds`);
}

/** @throws ERR_NAMESPACE_FORBIDDEN, ERR_GUARD_UNAVAILABLE, and as putState does. */
export async function setState(deps: MemoryDeps, input: StateSetInput, call: CallContext): Promise<Omit<StateSetAnswer, 'trace_id'>> {
  const { merge = false, ...given } = input;
  const admission = await admitState(deps, call, given);
  if (admission.sealed === undefined) return refused(admission);
  await putState(deps, admission.sealed, input.state, merge ? 'merge' : 'replace');
  return keptAnswer(deps, admission);
}

/** @throws ERR_NAMESPACE_FORBIDDEN. */
export async function state(deps: MemoryDeps, input: StateInput, call: CallContext): Promise<Omit<StateAnswer, 'trace_id'>> {
  const { by, key } = readSession(deps, call, input);
  const found = await deps.working.state(by);
  if (found === undefined) return { state: {}, slots: [], expires_at: null, degraded: ['working'] };
  const kept: KeptSlot[] = [];
  const records = mapUnscreened(found, (slots) =>
    slots.map((slot) => {
      // the slots of one call share its id; a screen takes each for itself
      const memoryId = `${slot.memory_id}/${kept.length}`;
      kept.push({ ...slot, memory_id: memoryId });
      const names = asWords([slot.name, ...namesIn(slot.value)]);
      return recordOf({ ...slot, content: names, memory_id: memoryId }, key, { tags: textsIn(slot.value) });
    }),
  );
  const { items, degraded } = await deps.guard.screenRecords(records, by, { floor: TIER[input.trust_floor ?? 'external'] });
  const shown = items.flatMap(({ value: record, referenceOnly }) => {
    const slot = kept.find(({ memory_id: id }) => id === record.memory_id);
    return slot === undefined ? [] : [{ slot, record, referenceOnly }];
  });
  return {
    state: Object.fromEntries(shown.map(({ slot, record }) => [slot.name, withTexts(slot.value, record.tags ?? [])])),
    slots: shown.map(({ slot, record, referenceOnly }) => ({
      name: slot.name,
      ts: slot.created_at,
      trust: trustOf(record),
      reference_only: referenceOnly,
    })),
    expires_at: shown.length === 0 ? null : isoTime(deps.clock() + deps.workingLimits.ttlMs),
    degraded: degraded ? ['guard'] : [],
  };
}
