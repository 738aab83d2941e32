/** memory_update: corrects or invalidates a memory; the old version is kept, and whoever is less trusted or not its owner only proposes. */
import { canonicalJson } from '../domain/canonical-json.ts';
import { isoTime } from '../domain/clock.ts';
import type { MemoryRecord, StoredRecord } from '../domain/memory.ts';
import { metadata as metadataSchema } from '../domain/wire/common.ts';
import type { UpdateAnswer, UpdateInput } from '../domain/wire/write.ts';
import { HindsightError } from '../errors.ts';
import { mayShare } from '../gate/access-policy.ts';
import { tierAgainst } from '../guard/confirmation.ts';
import type { Consent, MemoryDraft } from '../guard/admission.ts';
import { cappedImportance } from './admission/agent-importance.ts';
import { defined, mergePatch } from './canonical.ts';
import type { MemoryDeps } from './deps.ts';
import type { CallContext } from './gateway.ts';
import { loadForChange } from './load.ts';
import { masked, maskedFingerprint, remasked, textsOf } from './masking.ts';
import { BLOCKED, propose } from './proposals.ts';
import { dueSpaces, eventAt, invalid, utc, writerOf } from './record.ts';
import { replaceHead } from './replace-head.ts';
import { movesToSlot } from './restored-slot.ts';
import { shownStatuses } from './statuses.ts';
import { textFields, withoutDerived } from './texts.ts';
import type { TurnLinks } from './turn-links.ts';
import { compareAndSet, withoutVectors } from './versions.ts';

type Answer = Omit<UpdateAnswer, 'trace_id'>;

/**
 * Failures: ERR_MEMORY_NOT_FOUND, ERR_NAMESPACE_FORBIDDEN, ERR_PRECONDITION_FAILED when `version` is not the head's, ERR_SCOPE_MISSING when a
 * private memory is to be shared without memory:share, ERR_VERSION_CONFLICT when others kept changing it. With a `consent` the change is
 * the `proposal`'s that a person let in, so it is made, with what the proposal keeps sealed.
 */
export async function update(
  deps: MemoryDeps,
  turns: TurnLinks,
  input: UpdateInput,
  call: CallContext,
  consent?: Consent,
  proposal?: MemoryRecord,
): Promise<Answer> {
  const answer = await compareAndSet<Answer>(
    () => loadForChange(deps, call, input.memory_id, 'write', shownStatuses(call.principal)),
    (stored) => attempt(deps, turns, input, call, stored, consent, proposal),
    { deps, signal: call.signal },
  );
  if (answer.outcome !== 'unchanged') {
    await deps.dirty.mark(call.principal.tenant);
    deps.nudge(call.principal.tenant);
  }
  return answer;
}

async function attempt(
  deps: MemoryDeps,
  turns: TurnLinks,
  input: UpdateInput,
  call: CallContext,
  stored: StoredRecord,
  consent: Consent | undefined,
  proposal: MemoryRecord | undefined,
): Promise<{ readonly done: Answer } | 'conflict'> {
  const head = stored.record;
  if (input.version !== undefined && input.version !== head.version)
    throw new HindsightError('ERR_PRECONDITION_FAILED', { params: { version: head.version } });
  refuseHiding(deps, input, head, call);
  const { value: clean, found } = masked(deps, head.tenant, input);
  const changed = await remasked(deps, head, applied(hinted(deps, clean, head, call), head, call), found, proposal);
  const memory_id = head.memory_id;
  const proposes = consent === undefined && onlyProposes(deps, input, head, call);
  // whoever may only propose would learn from `unchanged` that the value they tried is the one that is masked here
  if (canonicalJson(changed) === canonicalJson(head) && !(proposes && found.length > 0))
    return { done: { memory_id, outcome: 'unchanged', version: head.version } };
  const nowIso = isoTime(deps.clock());
  const rebuiltTexts = await rebuilt(deps, turns, head, changed);
  const next = { ...rebuiltTexts, ...maskedFingerprint(rebuiltTexts.content, rebuiltTexts) };
  const unmasked = found.length === 0 ? undefined : { ...textsOf(next), ...givenTexts(input) };
  if (proposes) return { done: await propose(deps, call, head, next, nowIso, unmasked) };

  const draft: MemoryDraft = {
    ...next,
    version: head.version + 1,
    updated_at: nowIso,
    valid_from: nowIso,
    created_by: writerOf(call.principal),
  };
  const { record, sealed, mark } = await deps.guard.admit(draft, {
    principal: call.principal,
    parents: [],
    previous: head,
    ...(consent === undefined ? {} : { consent }),
    ...(unmasked === undefined ? {} : { unmasked }),
  });
  const guard = { ...mark, rule_ids: [...mark.rule_ids] };
  if (record === undefined || sealed === undefined)
    return { done: { memory_id, outcome: 'blocked', version: head.version, reason: BLOCKED, guard } };
  if (record.status !== draft.status) return { done: await propose(deps, call, head, next, nowIso, unmasked) };

  const slot = await movesToSlot(deps, turns, head, record, call);
  const tied = { record: slot.record, sealed: slot.record === record ? sealed : deps.guard.readmit(slot.record, record) };
  if ((await replaceHead(deps, turns, call, stored, tied)) === 'conflict') return 'conflict';
  await slot.settle(call);
  return { done: { memory_id, outcome: 'updated', version: record.version, guard, ...defined({ reason: slot.reason }) } };
}

/** The texts of the request itself; metadata comes as a patch, whose values are all there is to judge. */
function givenTexts({ content, summary, tags, metadata }: UpdateInput): ReturnType<typeof textsOf> {
  return textsOf(defined({ content, summary: summary ?? undefined, tags, metadata }));
}

/**
 * Below the record's tier a change is a proposal, and so is every change of somebody else's memory: its owner did not say it, and the
 * record would go on to say so (guard.md, derivation; G12). Hiding somebody else's memory is not speaking for him: with memory:admin it
 * is done, as forgetting is.
 */
function onlyProposes(deps: MemoryDeps, input: UpdateInput, head: MemoryRecord, { principal }: CallContext): boolean {
  if (deps.guard.tierOf(principal) < tierAgainst(head, principal.owner)) return true;
  if (head.owner === principal.owner) return false;
  const { memory_id: _id, version: _version, visibility: _visibility, expires_at: _end, ...rest } = input;
  const hidesOnly = Object.values(rest).every((value) => value === undefined);
  return !(hidesOnly && principal.scopes.has('memory:admin'));
}

/**
 * What takes a memory out of others' sight is forgetting, whatever the field: an expiry that has passed is refused, and making somebody
 * else's shared memory private or letting it end sooner takes memory:admin, as forgetting it does.
 */
function refuseHiding(deps: MemoryDeps, input: UpdateInput, head: MemoryRecord, { principal }: CallContext): void {
  const endsMs = typeof input.expires_at === 'string' ? Date.parse(input.expires_at) : undefined;
  if (endsMs !== undefined && endsMs <= deps.clock()) throw invalid('/expires_at', 'has passed; to take a memory away use memory_forget');
  if (head.owner === principal.owner || principal.scopes.has('memory:admin')) return;
  const endsSooner = endsMs !== undefined && (head.expires_at === undefined || endsMs < Date.parse(head.expires_at));
  const hides = input.visibility === 'private' && head.visibility === 'shared';
  if (endsSooner || hides) throw new HindsightError('ERR_NAMESPACE_FORBIDDEN', { params: { action: 'forget' } });
}

/** As at the write; what others set above that stays until it is taken down. */
function hinted({ admission: { policy } }: MemoryDeps, input: UpdateInput, head: MemoryRecord, { principal }: CallContext): UpdateInput {
  const { importance: given } = input;
  if (typeof given !== 'number') return input;
  return { ...input, importance: cappedImportance(given, principal.actor, Math.max(policy.agentImportanceMax, head.importance ?? 0)) };
}

/** The head with the input laid over it, nothing else touched; equal to the head when nothing changes. */
function applied(input: UpdateInput, head: MemoryRecord, call: CallContext): MemoryRecord {
  if (input.visibility === 'shared' && head.visibility === 'private') {
    const { principal } = call;
    if (!principal.scopes.has('memory:share')) throw new HindsightError('ERR_SCOPE_MISSING', { params: { scope: 'memory:share' } });
    if (head.owner !== principal.owner || !mayShare(principal, head.namespace))
      throw new HindsightError('ERR_NAMESPACE_FORBIDDEN', { params: { action: 'share' } });
  }
  const fields: Record<string, unknown> = { ...head };
  const set = (field: keyof MemoryRecord, value: unknown): void => {
    if (value === undefined) return;
    if (value === null) delete fields[field];
    else fields[field] = value;
  };
  const occurredAt = typeof input.occurred_at === 'string' ? utc(input.occurred_at) : input.occurred_at;
  set('content', input.content);
  set('summary', input.summary);
  set('tags', input.tags === undefined ? undefined : input.tags.length === 0 ? null : [...new Set(input.tags)]);
  set('importance', input.importance);
  set('confidence', input.confidence);
  set('occurred_at', occurredAt);
  if (occurredAt !== undefined) set('event_at', eventAt(occurredAt ?? undefined, head.created_at));
  set('expires_at', typeof input.expires_at === 'string' ? utc(input.expires_at) : input.expires_at);
  set('visibility', input.visibility);
  set('pinned', input.pinned);
  if (input.metadata !== undefined) set('metadata', patchedMetadata(head.metadata, input.metadata));
  if (input.invalid === true && head.status !== 'superseded') {
    set('status', 'superseded');
    set('reason', 'no longer holds');
  }
  return fields as unknown as MemoryRecord;
}

/** The merged metadata, checked like that of a write; null when nothing is left. */
function patchedMetadata(before: MemoryRecord['metadata'], patch: Readonly<Record<string, unknown>>): Record<string, unknown> | null {
  const parsed = metadataSchema.safeParse(mergePatch(before ?? {}, patch));
  if (!parsed.success) throw invalid('/metadata', parsed.error.issues[0]?.message ?? 'is not valid');
  return Object.keys(parsed.data).length > 0 ? parsed.data : null;
}

/**
 * With new derived fields where a text changed. Vectors are of the old content, so with it they go and the spaces are due again; a summary
 * is a lexical field alone.
 */
async function rebuilt(deps: MemoryDeps, turns: TurnLinks, head: MemoryRecord, changed: MemoryRecord): Promise<MemoryRecord> {
  if (changed.content === head.content && changed.summary === head.summary) return changed;
  const derived = textFields(changed);
  if (changed.content === head.content) {
    const { lex_summary: _old, ...rest } = changed;
    return { ...rest, ...defined({ lex_summary: derived.lex_summary }) };
  }
  const fresh = { ...withoutDerived(withoutVectors(changed)), ...derived };
  return turns.withContext({ ...fresh, spaces_due: dueSpaces(deps, changed) });
}
