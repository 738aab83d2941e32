/** Decides for a batch what becomes of each record: claims its text and slot, compares it with what it meets, and moves the claims; nothing is stored here. */
import type { MemoryRecord } from '../../domain/memory.ts';
import type { RecordRef } from '../../domain/ports.ts';
import type { HeldSlot } from '../../domain/slots.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { serviceReads } from '../service-reads.ts';
import { shownStatuses } from '../statuses.ts';
import { against, EARLIER, meetingSame, type Meeting, type Rights } from './against.ts';
import { isContested, isRepeat, metByWords } from './by-words.ts';
import { claimAll, claimsOf, movedTo, renewed, type Claimant, type Standing } from './standings.ts';
import { plainly, type Claimed, type Entry, type Step } from './entry.ts';
import type { Heads } from './heads.ts';
import { standingOf } from './keys.ts';
import { meets, refOf, repeats } from './meet.ts';
import { nearOf, searchNear, type NearSearch, type RecentTexts } from './near.ts';
import { paced } from './pace.ts';
import { isSameTurn, knownPasts } from './past.ts';
import { saidOver } from './said-over.ts';
import { endUnfinished, type Unfinished } from './unfinished.ts';
import { againstUnread } from './unread.ts';
import { within } from './within.ts';

/** One step for each entry; `mine`: ids of all that the call writes. Errors: ERR_STORE_*. */
export type Plan = (call: CallContext, entries: readonly Entry[], mine: ReadonlySet<string>) => Promise<readonly Step[]>;

/** A step, the claims to move for it, and the superseded memories of earlier moves that are to be marked first. */
interface Decision {
  readonly step: Step;
  readonly moves: readonly HeldSlot[];
  readonly unfinished: readonly Unfinished[];
  /** Of a doubted memory said again: what becomes of it where something that it may not move says otherwise still. */
  readonly otherwise?: Decision;
}

/** Texts of a call whose search does not wait for their claims: one round trip less for whoever writes one by one. */
const SEARCHED_EARLY = 4;

/** Relations of two texts between two turns of other calls: 0.05 to 0.3 ms each. */
const RELATIONS_PER_SLICE = 50;

const REPLAYED = 'told before, and what it said has been replaced since';

const WAIT: Decision = { step: { do: 'wait' }, moves: [], unfinished: [] };

export function createPlan(deps: MemoryDeps, heads: Pick<Heads, 'supersede'>, recent: RecentTexts): Plan {
  const reads = serviceReads(deps);
  const policy = deps.relations;

  const readable = (call: CallContext, head: MemoryRecord): boolean => {
    const statuses = [...shownStatuses(call.principal), 'pending', 'quarantined'] as const;
    const request = { principal: call.principal, action: 'read', reach: 'granted', statuses, nowMs: deps.clock() } as const;
    return deps.guard.scope({}, request).scope.permits(head);
  };

  /** `isOver`: whether a stored memory of its text was told with it, and has ended or is in doubt since. */
  const onText = (
    call: CallContext,
    { record, print }: Claimant,
    standing: Claimed | undefined,
    isOver: (stored: MemoryRecord) => boolean,
    rights: Rights,
  ): Decision => {
    const plain: Decision = { step: plainly(record), moves: [], unfinished: [] };
    if (print === undefined || standing === undefined) return plain;
    if (standing.state === 'ours') return { ...plain, moves: renewed(standing.held, rights.nowMs) };
    if (standing.state === 'wait') return WAIT;
    const taken = { ...plain, moves: [movedTo(standing.held, print.document)] };
    if (standing.state === 'free') {
      const { former } = standing;
      const isReplay = former?.status === 'superseded' && isOver(former) && readable(call, former);
      return isReplay ? { ...plain, step: repeats(former, REPLAYED) } : taken;
    }
    const { head } = standing;
    if (!readable(call, head.record)) return plain;
    const meeting = meetingSame(head.record, record, 'the same words', rights);
    const kept = standingOf(head.record) === 'held';
    const repeated = ({ does, reason }: Meeting): Decision => {
      if (does === 'beside') return plain;
      if (does === 'merge' && !kept) return { ...plain, step: { do: 'merge', head, outcome: 'duplicate', reason } };
      return { ...plain, step: repeats(head.record, reason) };
    };
    const again = meeting.otherwise;
    if (again !== undefined && isRepeat(again) && isOver(head.record)) return repeated(again);
    if (again !== undefined)
      return { ...taken, step: meets(taken.step, head, meeting), ...(isRepeat(again) ? { otherwise: repeated(again) } : {}) };
    if (meeting.does === 'replace') return kept ? taken : { ...taken, step: meets(taken.step, head, meeting) };
    return repeated(meeting);
  };

  const onSlot = (
    call: CallContext,
    { record, slot }: Claimant,
    standing: Claimed | undefined,
    sofar: Decision,
    rights: Rights,
  ): Decision => {
    const { step } = sofar;
    if (slot === undefined || standing === undefined || step.do !== 'store') return sofar;
    // what the text takes the place of is met again when the slot is free
    if (standing.state === 'wait') return { ...WAIT, moves: step.replaces.length > 0 ? [] : sofar.moves };
    if (standing.state === 'ours') {
      const { held } = standing;
      const previous = held.document.previous_id;
      const mine = { ...sofar, moves: [...sofar.moves, ...renewed(held, rights.nowMs)] };
      if (previous === undefined) return mine;
      // an earlier attempt of this call moved it
      const again = {
        ...step,
        outcome: 'replaced',
        moved: held,
        replaces: [...step.replaces, { ...refOf(record), memory_id: previous }],
      } as const;
      return { ...mine, step: { ...again, record: { ...step.record, supersedes: [previous] } } };
    }
    const { held } = standing;
    const { previous_id: previous } = held.document;
    const unfinished = previous === undefined || !standing.came ? [] : [{ held, former: { ...refOf(record), memory_id: previous } }];
    if (standing.state === 'free') return { step, moves: [...sofar.moves, movedTo(held, slot.document)], unfinished };
    const { head } = standing;
    // of what its writer may not read nothing is told but its id
    const known = (readable(call, head.record) ? against : againstUnread)(head.record, record, policy, rights);
    const met = meets(step, head, known);
    if (met.do !== 'store' || (known.does !== 'replace' && known.does !== 'doubt')) return { ...sofar, step: met };
    const move = movedTo(held, slot.document, known.does === 'replace' ? head.record.memory_id : undefined);
    return { step: known.does === 'replace' ? { ...met, moved: move } : met, moves: [...sofar.moves, move], unfinished };
  };

  const decide = (
    call: CallContext,
    claimant: Claimant,
    standing: Standing,
    isOver: (stored: MemoryRecord) => boolean,
    rights: Rights,
  ): Decision => {
    if (standing.own !== undefined) return { ...WAIT, step: { do: 'done', head: standing.own.record } };
    const said = onText(call, claimant, standing.print, isOver, rights);
    const { otherwise } = said;
    const decision = onSlot(call, claimant, standing.slot, said, rights);
    if (otherwise === undefined) return decision;
    return isContested(decision.step) ? otherwise : { ...decision, otherwise };
  };

  /** What would be stored, and not in doubt, is compared with memories of nearly the same words, as they are this moment. */
  const compareWords = async (
    call: CallContext,
    decisions: Map<number, Decision>,
    rights: Rights,
    begun: NearSearch | undefined,
  ): Promise<void> => {
    const plain = [...decisions].flatMap(([i, decision]) => {
      const { step } = decision;
      if (step.do !== 'store' || step.record.status !== 'active') return [];
      return step.outcome === undefined || step.outcome === 'replaced' ? [{ i, decision, step }] : [];
    });
    const records = plain.map(({ step }) => step.record);
    const found = await nearOf(deps, recent, begun ?? searchNear(deps, call, records), records);
    const pace = paced(RELATIONS_PER_SLICE);
    const met: (readonly RecordRef[])[] = [];
    for (const [at, { step }] of plain.entries()) {
      const near = found[at] ?? [];
      // what its slot holds was read with that
      const taken = new Set(step.replaces.map(({ memory_id: id }) => id));
      const others = near.filter(({ memory_id: id }) => !taken.has(id));
      met.push(others.filter((head) => against(head, step.record, policy, rights).does !== 'beside').map(refOf));
      await pace(near.length);
    }
    const now = new Map((await reads.loadAll(met.flat())).map((stored) => [stored.record.memory_id, stored]));
    for (const [at, { i, decision, step }] of plain.entries()) {
      const meetings = (met[at] ?? []).flatMap(({ memory_id: id }) => {
        const head = now.get(id);
        if (head === undefined || standingOf(head.record) !== 'active') return [];
        return [{ head, meeting: against(head.record, step.record, policy, rights) }];
      });
      const next = metByWords(step, meetings);
      if (isContested(next) && decision.otherwise !== undefined) decisions.set(i, decision.otherwise);
      else if (next !== step) decisions.set(i, { ...decision, step: next });
      await pace(meetings.length);
    }
  };

  /** An earlier value holds no claim, and so is known by its text when it is told again. */
  const repeatPasts = async (decisions: Map<number, Decision>): Promise<void> => {
    const pasts = [...decisions].flatMap(([i, decision]) => {
      const { step } = decision;
      return step.do === 'store' && step.record.status === 'superseded' ? [{ i, decision, record: step.record }] : [];
    });
    const known = await knownPasts(
      reads,
      pasts.map(({ record }) => record),
      policy,
    );
    for (const { i, decision, record } of pasts) {
      const head = known.get(record.memory_id);
      if (head !== undefined) decisions.set(i, { ...decision, moves: [], step: repeats(head, EARLIER) });
    }
  };

  /**
   * Moves claims after the moves before them are ended, texts before slots; an entry that somebody was faster for waits, and holds neither a
   * slot without its text nor the text of a memory that still stands.
   */
  const moveAll = async (
    call: CallContext,
    decisions: Map<number, Decision>,
    standingOfEntry: ReadonlyMap<number, Standing>,
  ): Promise<void> => {
    const { tenant } = call.principal;
    const unfinished = [...decisions.values()].flatMap((decision) => decision.unfinished);
    await endUnfinished(deps.slots, heads, call, unfinished);
    const idle: { id: string; memoryId: string }[] = [];
    const back: HeldSlot[] = [];
    for (const type of ['fingerprint', 'slot'] as const) {
      const all = [...decisions].flatMap(([i, { moves }]) =>
        moves.filter(({ document }) => document.slot_type === type).map((move) => ({ i, move })),
      );
      if (all.length === 0) continue;
      const outcomes = await deps.slots.move(
        tenant,
        all.map(({ move }) => move),
      );
      for (const [at, { i, move }] of all.entries()) {
        const outcome = outcomes[at];
        const decision = decisions.get(i) ?? WAIT;
        const { print, slot } = standingOfEntry.get(i) ?? {};
        if (outcome === undefined || outcome === 'conflict') {
          decisions.set(i, WAIT);
          if (type === 'fingerprint' && slot?.state === 'ours') idle.push({ id: slot.held.id, memoryId: slot.held.document.memory_id });
          const text = type === 'slot' && print?.state === 'held' ? decision.moves.find(({ id }) => id === print.held.id) : undefined;
          if (text !== undefined && print?.state === 'held') back.push(movedTo(text, print.held.document));
          continue;
        }
        const moves = decision.moves.map((one) => (one === move ? outcome : one));
        const { step } = decision;
        const moved = step.do === 'store' && step.moved?.id === move.id ? { ...step, moved: outcome } : step;
        decisions.set(i, { ...decision, moves, step: moved });
      }
    }
    if (back.length > 0) await deps.slots.move(tenant, back);
    if (idle.length > 0) await deps.slots.release(tenant, idle);
  };

  return async (call, entries, mine) => {
    const nowMs = deps.clock();
    const rights: Rights = { admin: call.principal.scopes.has('memory:admin'), nowMs };
    const steps = await within(entries, policy, rights);
    const asking = entries.flatMap(({ record, checked }, i) =>
      checked && steps[i]?.do === 'store' ? [{ i, claimant: claimsOf(record, policy, nowMs) }] : [],
    );
    // what is stored as given pays nothing
    if (asking.length === 0) return steps;
    const claimants = asking.map(({ claimant }) => claimant);
    const records = claimants.map(({ record }) => record).filter((record) => standingOf(record) === 'active');
    // beside the claims, which seldom show that there was nothing to compare; more of them are searched for when that is known
    const begun = records.length <= SEARCHED_EARLY ? searchNear(deps, call, records) : undefined;
    const early = claimants.length <= SEARCHED_EARLY ? slotsSeen(deps, claimants) : undefined;
    const standings = await claimAll(deps.slots, reads, claimants, policy, nowMs, early);
    const told = standings.flatMap(({ print }, at) => {
      const stored = print?.state === 'free' ? print.former : print?.state === 'held' ? print.head.record : undefined;
      return stored === undefined || mine.has(stored.memory_id) ? [] : [{ at: asking[at]?.i ?? 0, stored }];
    });
    const over = await saidOver(
      reads,
      entries,
      told.filter(({ stored: { status } }) => status === 'superseded' || status === 'conflict'),
      policy,
    );
    const decisions = new Map<number, Decision>();
    for (const [at, { i, claimant }] of asking.entries()) {
      const standing = standings[at];
      // what this call has said itself is nothing that it says again
      const isOver = (stored: MemoryRecord): boolean =>
        !mine.has(stored.memory_id) && (over.has(i) || isSameTurn(stored, claimant.record, policy));
      if (standing !== undefined) decisions.set(i, decide(call, claimant, standing, isOver, rights));
    }
    await compareWords(call, decisions, rights, begun);
    await repeatPasts(decisions);
    await moveAll(call, decisions, new Map(asking.flatMap(({ i }, at) => (standings[at] === undefined ? [] : [[i, standings[at]]]))));
    for (const [at, { i }] of asking.entries()) {
      const decision = decisions.get(i);
      const standing = standings[at];
      if (decision === undefined || standing === undefined) continue;
      const { step, moves } = decision;
      const ours = [standing.print, standing.slot].flatMap((claimed) => (claimed?.state === 'ours' ? [claimed.held] : []));
      const claims = [...ours.filter((held) => !moves.some(({ id }) => id === held.id)), ...moves];
      if (step.do === 'repeat' || step.do === 'merge') decisions.set(i, { ...decision, step: { ...step, claims } });
      const holds = claims.map(({ id }) => id);
      if (step.do === 'store') decisions.set(i, { ...decision, step: { ...step, holds } });
    }
    return steps.map((step, i) => decisions.get(i)?.step ?? step);
  };
}

/** The slots as they stand, beside the claims of texts: most that are written to are held. What cannot be read is asked for as ever. */
function slotsSeen({ slots }: Pick<MemoryDeps, 'slots'>, claimants: readonly Claimant[]): Promise<readonly HeldSlot[]> {
  const [first] = claimants;
  const ids = claimants.flatMap(({ slot }) => slot?.id ?? []);
  return first === undefined || ids.length === 0 ? Promise.resolve([]) : slots.read(first.record.tenant, ids).catch(() => []);
}
