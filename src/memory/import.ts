/** memory_import: records from a file, each through the guard; what the service signed itself keeps id, times and trust, nothing else does. */
import { setImmediate } from 'node:timers/promises';
import { isoTime } from '../domain/clock.ts';
import type { MemoryRecord, Status } from '../domain/memory.ts';
import type { CreateOutcome, NamespaceRecord } from '../domain/ports.ts';
import { TIER } from '../domain/trust.ts';
import { schemaFaults } from '../domain/wire/faults.ts';
import { transferItem, type ImportAnswer, type ImportInput, type TransferItem } from '../domain/wire/transfer.ts';
import type { WriteItem, WriteResult } from '../domain/wire/write.ts';
import { HindsightError } from '../errors.ts';
import type { AdmissionContext, MemoryDraft } from '../guard/admission.ts';
import { maskedKinds } from '../guard/secrets/stage.ts';
import { defined } from './canonical.ts';
import type { MemoryDeps } from './deps.ts';
import { bareResult, COLLECTION_OFF, failedResult, faultsOf, invalidResult } from './item-results.ts';
import type { CallContext } from './gateway.ts';
import { idempotent } from './idempotency.ts';
import { masked, maskedFingerprint, maskFieldsOf, textsOf } from './masking.ts';
import { draftOf, eventAt, utc } from './record.ts';
import { isLineOurs, isManifestOurs } from './transfer-seal.ts';
import type { TurnLinks } from './turn-links.ts';

/** Items judged before other calls get their turn on the event loop. */
const ITEMS_PER_SLICE = 16;
/** A row may say that it is less than active, never more. */
const KEPT_STATUSES: readonly Status[] = ['candidate', 'superseded', 'archived'];

type Answer = Omit<ImportAnswer, 'trace_id'>;
type Judged = { readonly result: WriteResult } | { readonly record: MemoryRecord };

/** How far a row is believed: signed by this service, plain, or from a file that claims more than it can show. */
type Standing = 'signed' | 'plain' | 'doubtful';

/**
 * Faults are told item by item. A plain row is written at the caller's tier or below; a row that carries a signature this service did not
 * make, or comes with such a manifest, is external (guard.md: a manifest that does not verify makes the whole file tier 0).
 * @throws ERR_ACTOR_FORBIDDEN for agents, ERR_IDEMPOTENCY_*, ERR_STORE_UNAVAILABLE, ERR_GUARD_UNAVAILABLE.
 */
export async function importItems(deps: MemoryDeps, turns: TurnLinks, input: ImportInput, call: CallContext): Promise<Answer> {
  if (call.principal.actor === 'agent') throw new HindsightError('ERR_ACTOR_FORBIDDEN');
  const { manifest, items } = input;
  const verified = manifest !== undefined && isManifestOurs(manifest, call.principal.tenant, deps.keys.transfer);
  if (items.length === 0) return { results: [], verified };
  const results = await idempotent(
    deps,
    call,
    input,
    items.map(() => deps.newId()),
    {
      judge: (ids) => judgeAll(deps, call, input, verified, ids),
      perform: (judged) => store(deps, turns, call, judged),
      isFinal: (all) => all.every((r) => r.outcome !== 'failed'),
    },
  );
  return { results: [...results], verified };
}

async function judgeAll(
  deps: MemoryDeps,
  call: CallContext,
  { manifest, items }: ImportInput,
  verified: boolean,
  ids: readonly string[],
): Promise<readonly Judged[]> {
  const places = new Map<string, Promise<NamespaceRecord>>();
  const judged: Judged[] = [];
  for (const [i, raw] of items.entries()) {
    if (i > 0 && i % ITEMS_PER_SLICE === 0) await setImmediate();
    const base = `/items/${i}`;
    const parsed = transferItem.safeParse(raw);
    if (!parsed.success) {
      judged.push({ result: invalidResult(schemaFaults(transferItem, parsed.error.issues, base)) });
      continue;
    }
    const item = parsed.data;
    const ours = verified && manifest !== undefined && isLineOurs(item, manifest.export_id, call.principal.tenant, deps.keys.transfer);
    const standing = ours ? 'signed' : manifest === undefined && item.sig === undefined ? 'plain' : 'doubtful';
    try {
      judged.push(await judge(deps, call, item, standing, ids[i] ?? deps.newId(), places));
    } catch (error) {
      if (!(error instanceof HindsightError) || error.status >= 500) throw error;
      judged.push({ result: invalidResult(faultsOf(error, base)) });
    }
  }
  return judged;
}

async function judge(
  deps: MemoryDeps,
  call: CallContext,
  item: TransferItem,
  standing: Standing,
  newId: string,
  places: Map<string, Promise<NamespaceRecord>>,
): Promise<Judged> {
  const { principal } = call;
  const namespace = item.namespace ?? principal.ownNamespace;
  const nowMs = deps.clock();
  deps.guard.scope({}, { principal, action: 'write', reach: [namespace], nowMs });
  const memoryId = standing === 'signed' ? (item.memory_id ?? newId) : newId;
  const given = writeItemOf(item, standing);
  const { value: clean, found } = masked(deps, principal.tenant, given);
  const unplaced = draftOf({ ...clean, admission: 'keep' }, { memoryId, namespace, generation: 0, principal, nowMs }, deps);
  const place = places.get(namespace) ?? deps.namespaces.ensure(principal.tenant, namespace, principal.owner);
  places.set(namespace, place);
  const { generation, collect } = await place;
  if (collect === 'off') return { result: bareResult('dropped', COLLECTION_OFF) };
  const fields = await maskFieldsOf(deps, unplaced, found);
  const draft = { ...asExported(unplaced, item, standing, nowMs), generation, ...fields, ...maskedFingerprint(unplaced.content, fields) };
  const context = { ...contextOf(draft, { ...item, source: clean.source }, standing, principal), batch: call };
  const admission = await deps.guard.admit(draft, found.length === 0 ? context : { ...context, unmasked: textsOf(given) });
  if (admission.record !== undefined) return { record: admission.record };
  return {
    result: {
      ...bareResult('blocked', 'the guard does not let this in'),
      guard: { ...admission.mark, rule_ids: [...admission.mark.rule_ids] },
    },
  };
}

/** The part of a row that a plain write takes too. A time that only a signature could keep says at least when it happened. */
function writeItemOf(item: TransferItem, standing: Standing): WriteItem {
  const {
    memory_id: _id,
    updated_at: _up,
    expires_at: _end,
    status: _st,
    supersedes: _s,
    superseded_by: _by,
    trust: _t,
    sig: _sig,
    ...rest
  } = item;
  const { created_at: createdAt, ...written } = rest;
  const occurredAt = written.occurred_at ?? (standing === 'signed' ? undefined : createdAt);
  return { ...written, ...defined({ occurred_at: occurredAt }) };
}

/** Status, end and, for a signed row, the times and links it had. */
function asExported(draft: MemoryDraft, item: TransferItem, standing: Standing, nowMs: number): MemoryDraft {
  const status = item.status !== undefined && KEPT_STATUSES.includes(item.status) ? item.status : draft.status;
  const ended = { ...draft, status, ...(item.expires_at === undefined ? {} : { expires_at: utc(item.expires_at) }) };
  if (standing !== 'signed' || item.created_at === undefined) return ended;
  const past = (time: string): string => isoTime(Math.min(Date.parse(time), nowMs));
  const createdAt = past(item.created_at);
  const updatedAt = past(item.updated_at ?? item.created_at);
  return {
    ...ended,
    ...defined({ supersedes: item.supersedes, superseded_by: item.superseded_by }),
    created_at: createdAt,
    updated_at: updatedAt,
    valid_from: updatedAt,
    event_at: eventAt(draft.occurred_at, createdAt),
  };
}

/** Trust is inherited from the row as from a version before it, so the guard can only lower it. */
function contextOf(draft: MemoryDraft, item: TransferItem, standing: Standing, principal: CallContext['principal']): AdmissionContext {
  const source = standing === 'doubtful' ? { type: 'import' as const } : item.source;
  if (item.trust === undefined) return { principal, source, parents: [] };
  const { tier, taint = [], origin = [], parents = [] } = item.trust;
  const previous: MemoryRecord = {
    ...draft,
    trust_tier: TIER[tier],
    taint,
    // whose words they were is believed on our own word alone
    origin: standing === 'signed' ? origin.map((o) => defined(o)) : [],
    parents: standing === 'signed' ? parents : [],
    guard: { verdict: 'allow', rule_ids: [], policy_revision: '' },
  };
  return { principal, source, parents: [], previous };
}

async function store(deps: MemoryDeps, turns: TurnLinks, call: CallContext, judged: readonly Judged[]): Promise<readonly WriteResult[]> {
  const admitted = judged.flatMap((j) => ('record' in j ? [j.record] : []));
  const linked = await turns.linkAll(admitted);
  const boxes = linked.map((record, i) => deps.guard.readmit(record, admitted[i] ?? record));
  const outcomes = boxes.length === 0 ? [] : await deps.index.createMany(boxes);
  const created = linked.filter((_record, i) => outcomes[i]?.outcome === 'created');
  if (created.length > 0) {
    await deps.dirty.mark(call.principal.tenant);
    await turns.linkStored(created);
    deps.nudge(call.principal.tenant);
  }
  const results = linked.map((record, i) => resultOf(record, outcomes[i]));
  let next = 0;
  return judged.map((j) => ('result' in j ? j.result : (results[next++] ?? failedResult())));
}

/** An id that is taken is the same memory, from this file or never gone; also a forgotten one, which an import does not bring back. */
function resultOf(record: MemoryRecord, outcome: CreateOutcome | undefined): WriteResult {
  const facts = { memory_id: record.memory_id, version: record.version };
  switch (outcome?.outcome) {
    case 'created': {
      const kept = record.status === 'candidate' || record.status === 'pending' || record.status === 'quarantined';
      const guard = { ...record.guard, rule_ids: [...record.guard.rule_ids] };
      const settled = (record.spaces_due ?? []).length === 0;
      return { ...bareResult(kept ? record.status : 'stored'), ...facts, settled, masked: maskedKinds(record.masked), guard };
    }
    case 'exists':
      return { ...bareResult('duplicate', 'this memory is here already, or was forgotten'), ...facts };
    case 'failed':
    case undefined:
      return failedResult(outcome);
  }
}
