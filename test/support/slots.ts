/** A slot store in process, by the port's contract: for unit tests of memory and jobs. */
import type { Clock } from '../../src/domain/clock.ts';
import type { SlotStore } from '../../src/domain/ports.ts';
import type { HeldSlot } from '../../src/domain/slots.ts';

export interface TestSlots extends SlotStore {
  /** Every claim of every tenant. */
  readonly all: () => readonly HeldSlot[];
  readonly calls: string[];
  /** Called before each method: may throw, or change something in between. */
  before: ((method: string) => void | Promise<void>) | undefined;
}

export function createTestSlots(clock: Clock): TestSlots {
  const tenants = new Map<string, Map<string, HeldSlot>>();
  let seqNo = 0;
  const of = (tenant: string): Map<string, HeldSlot> => {
    const known = tenants.get(tenant) ?? new Map<string, HeldSlot>();
    tenants.set(tenant, known);
    return known;
  };
  const clone = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
  const enter = async (method: string): Promise<void> => {
    store.calls.push(method);
    await store.before?.(method);
  };
  const isUnfinished = ({ document }: HeldSlot): boolean =>
    document.previous_id !== undefined && Date.parse(document.lease_until) <= clock();
  const put = (tenant: string, slot: Pick<HeldSlot, 'id' | 'document'>): HeldSlot => {
    const made = { ...slot, at: { seq_no: (seqNo += 1), primary_term: 1 } };
    of(tenant).set(slot.id, clone(made));
    return made;
  };

  const store: TestSlots = {
    calls: [],
    before: undefined,
    all: () => [...tenants.values()].flatMap((slots) => [...slots.values()]),
    claim: async (tenant, claims) => {
      await enter('claim');
      return claims.map((claim) => {
        const there = of(tenant).get(claim.id);
        return there === undefined ? put(tenant, claim) : clone(there);
      });
    },
    read: async (tenant, ids) => {
      await enter('read');
      return ids.flatMap((id) => {
        const there = of(tenant).get(id);
        return there === undefined ? [] : [clone(there)];
      });
    },
    move: async (tenant, moves) => {
      await enter('move');
      return moves.map((move) => (of(tenant).get(move.id)?.at.seq_no === move.at.seq_no ? put(tenant, move) : 'conflict'));
    },
    release: async (tenant, claims) => {
      await enter('release');
      for (const { id, memoryId } of claims) {
        const there = of(tenant).get(id)?.document;
        if (there?.memory_id === memoryId && there.previous_id === undefined) of(tenant).delete(id);
      }
    },
    dueTenants: async () => {
      await enter('dueTenants');
      const counts = [...tenants].map(([tenant, slots]) => ({ tenant, count: [...slots.values()].filter(isUnfinished).length }));
      return counts.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count);
    },
    unfinished: async (tenant, limit) => {
      await enter('unfinished');
      const left = [...of(tenant).values()].filter(isUnfinished);
      return left
        .sort((a, b) => Date.parse(a.document.lease_until) - Date.parse(b.document.lease_until))
        .slice(0, limit)
        .map(clone);
    },
  };
  return store;
}
