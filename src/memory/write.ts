/** memory_write: checks, admits and stores one memory or a batch; vectors are left to the embed job, and the grade of a model is waited for within bounds. */
import { setImmediate } from 'node:timers/promises';
import { isoTime } from '../domain/clock.ts';
import type { MemoryRecord } from '../domain/memory.ts';
import type { CreateOutcome, NamespaceRecord } from '../domain/ports.ts';
import type { Admitted } from '../domain/sealed.ts';
import type { WriteInput, WriteItem, WriteResult } from '../domain/wire/write.ts';
import { HindsightError } from '../errors.ts';
import { weigh, type Weighed } from './admission/admit.ts';
import { defined } from './canonical.ts';
import type { Conflicts, Stored } from './conflicts/conflicts.ts';
import type { Entry } from './conflicts/entry.ts';
import type { MemoryDeps } from './deps.ts';
import { bareResult, COLLECTION_OFF, failedResult, faultsOf, invalidResult } from './item-results.ts';
import type { CallContext } from './gateway.ts';
import { idempotent } from './idempotency.ts';
import { checkItems, type CheckedItems } from './items.ts';
import { loadVisible } from './load.ts';
import { keepOf, masked, maskedFingerprint, maskFieldsOf, textsOf } from './masking.ts';
import { draftOf } from './record.ts';
import { waitSettled } from './settle.ts';
import type { TurnLinks } from './turn-links.ts';
import { judgeWorking } from './working/write.ts';
import { inGroups, isLargeUnlinked, type Answer } from './write-groups.ts';

/** Items, and characters of them, analysed before other calls get their turn on the event loop. */
const ITEMS_PER_SLICE = 16;
const CHARS_PER_SLICE = 32_000;
/** The model grades items of a call for so long, and ends the one it is at; of later ones the rules' grade stands. */
const GRADING_MS = 8_000;

/** What became of an item before anything was stored: a result, or a record to store. */
type Judged =
  | { readonly result: WriteResult }
  /** `why`: what admission found in it. */
  | { readonly entry: Entry; readonly why?: string | undefined }
  /** For working memory: kept when all of the call is judged. */
  | { readonly keep: () => Promise<WriteResult> };

/**
 * Stores what the request holds. Faults of a single item are the request's (ERR_REQUEST_INVALID, ERR_NAMESPACE_FORBIDDEN,
 * ERR_MEMORY_NOT_FOUND for parents); in a batch they are the item's. ERR_STORE_UNAVAILABLE and ERR_GUARD_UNAVAILABLE stop the whole call.
 */
export async function write(
  deps: MemoryDeps,
  turns: TurnLinks,
  conflicts: Conflicts,
  input: WriteInput,
  call: CallContext,
): Promise<Answer> {
  const checked = await checkItems(input);
  const ids = checked.items.map(() => deps.newId());
  const gradesUntilMs = deps.clock() + GRADING_MS;
  if (call.idempotencyKey === undefined && isLargeUnlinked(checked)) {
    // what a group foretells is not the call's answer
    const part = { ...call, aboutToStore: undefined };
    const answer = await inGroups(ids.length, {
      judge: (from, to) => judgeAll(deps, checked, call, ids, gradesUntilMs, from, to),
      store: (judged) => store(deps, turns, conflicts, part, judged),
      keysOf: (judged) => conflicts.keysOf(entriesOf(judged).map(({ entry }) => entry)),
    });
    return input.wait === true ? waitSettled(deps, call, answer) : answer;
  }
  const answer = await idempotent(deps, call, input, ids, {
    judge: (given) => judgeAll(deps, checked, call, given, gradesUntilMs),
    perform: (judged) => store(deps, turns, conflicts, call, judged),
    isFinal: ({ results }) => results.every((r) => r.outcome !== 'failed'),
  });
  return input.wait === true ? waitSettled(deps, call, answer) : answer;
}

async function store(
  deps: MemoryDeps,
  turns: TurnLinks,
  conflicts: Conflicts,
  call: CallContext,
  judged: readonly Judged[],
): Promise<Answer> {
  const entries = entriesOf(judged);
  const foretells = !judged.some((j) => 'keep' in j);
  const stored = await conflicts.storeAll(
    call,
    entries.map(({ entry }) => entry),
    (records, foretold) => put(deps, turns, call, records, foretells && foretold !== undefined ? inPlace(judged, foretold, []) : undefined),
  );
  const results = stored.map((result, i) => withReason(result, entries[i]?.why));
  return { results: inPlace(judged, results, await keepAll(judged)) };
}

/** Results of the items in their order: `stored` those of what goes to the store, `kept` by place. */
function inPlace(judged: readonly Judged[], stored: readonly WriteResult[], kept: readonly (WriteResult | undefined)[]): WriteResult[] {
  let next = 0;
  return judged.map((j, i) => ('result' in j ? j.result : 'keep' in j ? (kept[i] ?? failedResult()) : (stored[next++] ?? failedResult())));
}

function entriesOf(judged: readonly Judged[]): readonly Extract<Judged, { entry: Entry }>[] {
  return judged.flatMap((j) => ('entry' in j ? [j] : []));
}

/** Working memory's part, by place. What cannot be kept is its item's failure in a batch, and the call's where it is alone. */
async function keepAll(judged: readonly Judged[]): Promise<readonly (WriteResult | undefined)[]> {
  const kept: (WriteResult | undefined)[] = [];
  for (const [i, j] of judged.entries()) {
    try {
      kept.push('keep' in j ? await j.keep() : undefined);
    } catch (error) {
      if (judged.length === 1 || !(error instanceof HindsightError)) throw error;
      kept.push(error.status >= 500 ? bareResult('failed', error.message) : invalidResult(faultsOf(error, `/items/${i}`)));
    }
  }
  return kept;
}

/** Links, lets in and stores what was decided to be stored; `foretold`: what the call will answer when the store takes it. */
async function put(
  deps: MemoryDeps,
  turns: TurnLinks,
  call: CallContext,
  records: readonly { readonly record: MemoryRecord; readonly admitted: MemoryRecord }[],
  foretold: readonly WriteResult[] | undefined,
): Promise<readonly Stored[]> {
  const linked = await turns.linkAll(records.map(({ record }) => record));
  const boxes = linked.map((record, i) => deps.guard.readmit(record, records[i]?.admitted ?? record));
  if (foretold !== undefined && boxes.length > 0) call.aboutToStore?.(foretold);
  const outcomes = await createAll(deps, boxes);
  await announce(
    deps,
    turns,
    call,
    linked.filter((_record, i) => isStored(outcomes[i])),
  );
  return linked.map((record, i) => ({ record, outcome: outcomes[i] }));
}

/** One request to the store, whatever the number. */
async function createAll(deps: MemoryDeps, boxes: readonly Admitted<MemoryRecord>[]): Promise<readonly CreateOutcome[]> {
  const [only, ...more] = boxes;
  if (only === undefined) return [];
  return more.length === 0 ? [await deps.index.create(only)] : deps.index.createMany(boxes);
}

/** Read-your-writes and the embed job hear of what was stored. */
async function announce(deps: MemoryDeps, turns: TurnLinks, call: CallContext, stored: readonly MemoryRecord[]): Promise<void> {
  if (stored.length === 0) return;
  const { tenant } = call.principal;
  await deps.dirty.mark(tenant);
  await turns.linkStored(stored);
  if (stored.some((r) => (r.spaces_due ?? []).length > 0)) deps.nudge(tenant);
}

async function judgeAll(
  deps: MemoryDeps,
  checked: CheckedItems,
  call: CallContext,
  ids: readonly string[],
  gradesUntilMs: number,
  from = 0,
  to = ids.length,
): Promise<readonly Judged[]> {
  const items = checked.items.slice(from, to);
  const good = items.flatMap((c) => ('item' in c ? [c.item] : []));
  const visible = await loadVisible(
    deps,
    call,
    good.flatMap((item) => item.source?.parents ?? []),
  );
  const batch: Batch = { visible, places: new Map(), gradesUntilMs };
  const judgeEntry = async (entry: CheckedItems['items'][number], i: number): Promise<Judged> => {
    if ('faults' in entry) return { result: invalidResult(entry.faults) };
    try {
      if ('working' in entry) return await judgeWorking(deps, call, entry.working);
      return await judge(deps, call, entry.item, ids[i] ?? deps.newId(), batch);
    } catch (error) {
      if (checked.single || !(error instanceof HindsightError) || error.status >= 500) throw error;
      return { result: invalidResult(faultsOf(error, `/items/${i}`)) };
    }
  };
  const judged: Promise<Judged>[] = [];
  let chars = 0;
  for (const [offset, entry] of items.entries()) {
    const i = from + offset;
    chars += 'item' in entry ? entry.item.content.length : 0;
    if (offset > 0 && (offset % ITEMS_PER_SLICE === 0 || chars > CHARS_PER_SLICE)) {
      await setImmediate();
      chars = 0;
    }
    const one = judgeEntry(entry, i);
    // an earlier one may end the call first
    one.catch(() => undefined);
    judged.push(one);
    await judged[judged.length - deps.guard.admitsAtOnce];
  }
  return Promise.all(judged);
}

/** What the items of a call share. */
interface Batch {
  /** Parents that the caller may see. */
  readonly visible: ReadonlyMap<string, MemoryRecord>;
  readonly places: Map<string, Promise<NamespaceRecord>>;
  readonly gradesUntilMs: number;
}

async function judge(
  deps: MemoryDeps,
  call: CallContext,
  item: WriteItem,
  memoryId: string,
  { visible, places, gradesUntilMs }: Batch,
): Promise<Judged> {
  const { principal } = call;
  const namespace = item.namespace ?? principal.ownNamespace;
  const nowMs = deps.clock();
  deps.guard.scope({}, { principal, action: 'write', reach: [namespace], nowMs });
  const parents = (item.source?.parents ?? []).map((id) => visible.get(id));
  if (parents.includes(undefined))
    throw new HindsightError('ERR_MEMORY_NOT_FOUND', {
      faults: [{ pointer: '/source/parents', message: 'names a memory that cannot be read' }],
    });
  const { value: clean, found } = masked(deps, principal.tenant, item, keepOf(item, principal));
  const weighed = await weigh(deps, call, clean);
  if (isTurn(weighed) && weighed.again === undefined) return judgeTurn(deps, call, item, weighed);
  // Checked before the namespace is made, so that a refused item leaves nothing behind.
  const unplaced = draftOf(isTurn(weighed) ? clean : weighed.item, { memoryId, namespace, generation: 0, principal, nowMs }, deps);
  const place = places.get(namespace) ?? deps.namespaces.ensure(principal.tenant, namespace, principal.owner);
  places.set(namespace, place);
  const { generation, collect } = await place;
  if (collect === 'off') return { result: bareResult('dropped', COLLECTION_OFF) };
  const fields = await maskFieldsOf(deps, unplaced, found);
  const admission = await deps.guard.admit(
    { ...unplaced, generation, ...fields, ...maskedFingerprint(unplaced.content, fields) },
    {
      principal,
      source: clean.source,
      batch: call,
      parents: parents.filter((p) => p !== undefined),
      ...(found.length === 0 ? {} : { unmasked: textsOf(item) }),
    },
  );
  if (admission.record === undefined)
    return {
      result: { ...bareResult('blocked', 'the guard does not let this in'), guard: mutable(admission.mark) },
    };
  const { status } = admission.record;
  // the model sees nothing that the guard holds back
  const asks = weighed.again !== undefined && deps.clock() < gradesUntilMs && (status === 'active' || status === 'candidate');
  const final = asks ? ((await weighed.again?.()) ?? weighed) : weighed;
  if (isTurn(final) && status !== 'quarantined') return judgeTurn(deps, call, item, final);
  const { reason, dropped, echoOf } = final;
  // what the guard holds back is looked at by a person, worth a memory or not
  if (dropped && status !== 'quarantined') {
    if (echoOf === undefined && admission.sealed !== undefined && admission.record.session_id !== undefined)
      await deps.working.noteDropped(admission.sealed, reason ?? '');
    const answer = echoOf === undefined ? bareResult('dropped', reason) : { ...bareResult('duplicate', reason), ...echoOf };
    return { result: { ...answer, masked: kindsOf(found), guard: mutable(admission.mark) } };
  }
  const record = final === weighed ? admission.record : { ...admission.record, ...gradedFields(final.item, admission.record, nowMs) };
  return { entry: { record, checked: item.admission !== 'keep' }, why: reason };
}

/** What the model's grade sets of a record that was let in without it. */
function gradedFields(item: WriteItem, record: MemoryRecord, nowMs: number): Partial<MemoryRecord> {
  return defined({
    kind: item.kind,
    layer: item.layer ?? record.layer,
    importance: item.importance,
    expires_at: item.ttl_seconds === undefined ? undefined : isoTime(nowMs + item.ttl_seconds * 1_000),
  });
}

function isTurn({ item, reason }: Weighed): boolean {
  return item.layer === 'working' && reason !== undefined;
}

/** What nobody called a memory, and nothing shows to be one, is a turn of its session. */
async function judgeTurn(deps: MemoryDeps, call: CallContext, item: WriteItem, { reason = '' }: Weighed): Promise<Judged> {
  const { session_id, namespace, content, source } = item;
  const judged = await judgeWorking(deps, call, { session_id, namespace, content, source });
  return 'result' in judged ? judged : { keep: async () => because(await judged.keep(), reason) };
}

function because(result: WriteResult, reason: string): WriteResult {
  return result.outcome === 'stored' && result.reason !== undefined
    ? { ...result, reason: `${reason}; ${result.reason}` }
    : withReason(result, reason);
}

/** The answer always says why; what conflicts or working memory say of it comes first. */
function withReason(result: WriteResult, reason: string | undefined): WriteResult {
  return result.reason !== undefined || reason === undefined ? result : { ...result, reason };
}

function kindsOf(found: readonly { readonly kind: string }[]): string[] {
  return [...new Set(found.map(({ kind }) => kind))].sort();
}

/** An id that exists already is this call's own: ids are random, so only a repeat of the call or of its request can have made it. */
function isStored(outcome: CreateOutcome | undefined): boolean {
  return outcome?.outcome === 'created' || outcome?.outcome === 'exists';
}

function mutable(mark: MemoryRecord['guard']): NonNullable<WriteResult['guard']> {
  return { verdict: mark.verdict, rule_ids: [...mark.rule_ids], policy_revision: mark.policy_revision };
}
