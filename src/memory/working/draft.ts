/** From a text of a session to what the guard judges: masked, with the place and the time it belongs to; nothing is derived from it but its language. */
import { isoTime } from '../../domain/clock.ts';
import type { Principal } from '../../domain/principal.ts';
import type { SessionQuery, TurnRole } from '../../domain/working.ts';
import type { WriteItem } from '../../domain/wire/write.ts';
import type { Admission } from '../../guard/guard.ts';
import { fingerprint } from '../../text/clean.ts';
import { language } from '../../text/script.ts';
import { defined } from '../canonical.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { masked, textsOf } from '../masking.ts';
import { writerOf } from '../record.ts';
import { collects } from './collects.ts';

export interface WorkingText {
  readonly session_id: string;
  readonly namespace?: string | undefined;
  readonly content: string;
  /** Slots of the task state. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly source?: WriteItem['source'];
}

/** As the guard admits it; `mark` is none where the namespace takes nothing new. */
export type WorkingAdmission = Omit<Admission, 'mark'> & { readonly mark: Admission['mark'] | undefined; readonly masked: string[] };

/**
 * The guard's admission of a text, with which it may be kept. Secrets are masked and not sealed: a session is over before anybody would
 * reveal them, and no key is needed. @throws ERR_NAMESPACE_FORBIDDEN, ERR_GUARD_UNAVAILABLE.
 */
export async function admitText(deps: MemoryDeps, call: CallContext, given: WorkingText): Promise<WorkingAdmission> {
  const { principal } = call;
  const nowMs = deps.clock();
  const namespace = given.namespace ?? principal.ownNamespace;
  deps.guard.scope({}, { principal, action: 'write', reach: [namespace], nowMs });
  if (!(await collects(deps, principal.tenant, namespace))) return { record: undefined, sealed: undefined, mark: undefined, masked: [] };
  const { value: clean, found } = masked(deps, principal.tenant, given);
  const kinds = [...new Set(found.map(({ kind }) => kind))].sort();
  const at = isoTime(nowMs);
  const draft = {
    doc_type: 'memory',
    memory_id: deps.newId(),
    tenant: principal.tenant,
    namespace,
    generation: 0,
    owner: principal.owner,
    created_by: writerOf(principal),
    visibility: 'private',
    layer: 'working',
    session_id: clean.session_id,
    content: clean.content,
    language: language(clean.content),
    fingerprint: fingerprint(clean.content),
    created_at: at,
    updated_at: at,
    valid_from: at,
    event_at: at,
    status: 'active',
    version: 1,
    ...defined({ metadata: clean.metadata, masked: kinds.length === 0 ? undefined : kinds }),
  } as const;
  const admission = await deps.guard.admit(draft, {
    principal,
    source: clean.source,
    parents: [],
    ...(found.length === 0 ? {} : { unmasked: textsOf(given) }),
  });
  // what waits for a person, or is held back, has no place in a session: it would be over before anybody decides
  const { record } = admission;
  const keeps = record !== undefined && (record.status === 'active' || record.status === 'candidate');
  return { ...admission, ...(keeps ? {} : { record: undefined, sealed: undefined }), masked: kinds };
}

/** The session that a caller names, as it is kept: an id that is a secret itself is known by its mark. */
export function sessionQuery(
  deps: MemoryDeps,
  { tenant, ownNamespace }: Principal,
  given: { readonly session_id: string; readonly namespace?: string | undefined },
): SessionQuery {
  const { value } = masked(deps, tenant, { session_id: given.session_id });
  return { namespace: given.namespace ?? ownNamespace, session_id: value.session_id };
}

/** Types of source that a speaker's words cannot have: an assistant infers, a tool brings what others wrote. */
const TOO_GOOD: Readonly<Partial<Record<TurnRole, readonly string[]>>> = { assistant: ['user'], tool: ['user', 'agent'] };

/** The source of a turn: what its role says at least; a caller may name a lesser one. */
export function sourceOf(role: TurnRole, given: WorkingText['source']): WorkingText['source'] {
  const tooGood = TOO_GOOD[role];
  if (tooGood === undefined || (given !== undefined && !tooGood.includes(given.type))) return given;
  return { ...given, type: role === 'tool' ? 'tool' : 'agent' };
}
