/** A small memory index in process, behind the same sealed types as the real one: for unit tests of guard, memory and jobs. */
import type { MemoryRecord, SeqNo, StoredRecord } from '../../src/domain/memory.ts';
import type { CreateOutcome, EmbedQueue, EmbedTask, LinkFilter, MemoryIndex, PatchOutcome, RecordPatch } from '../../src/domain/ports.ts';
import type { AsOf, HitRecord, IndexHit, SearchSpec } from '../../src/domain/ranking.ts';
import type { Scope } from '../../src/domain/scope.ts';
import { openAdmitted, openScoped, unscreened } from '../../src/domain/sealed.ts';
import type { Filter } from '../../src/domain/wire/common.ts';
import { filterClauses, linkClauses } from '../../src/elastic/filter.ts';
import { HIT_FIELDS } from '../../src/elastic/query-fields.ts';
import { candidates } from '../../src/ranking/candidates.ts';
import { wordings } from '../../src/ranking/wordings.ts';
import { queryTerms } from '../../src/text/query-terms.ts';
import { matches } from './query-interpreter.ts';

interface Slot {
  record: MemoryRecord;
  seqNo: number;
  /** Searches see a document from the next refresh on. */
  visible: MemoryRecord | undefined;
}

/** The spaces of the test embedder. */
const QUEUE_SPACES: readonly string[] = ['zh', 'en'];
const DAY_MS = 86_400_000;

export interface TestMemoryIndex extends MemoryIndex {
  readonly heads: ReadonlyMap<string, { readonly record: MemoryRecord }>;
  readonly copies: ReadonlyMap<string, MemoryRecord>;
  readonly queue: EmbedQueue;
  /** Position of a record; -1 when there is none. */
  seqNoOf(memoryId: string): number;
  /** Outcomes that patchMany gives in place of writing. */
  refuses: ((memoryId: string, patch: RecordPatch) => PatchOutcome | undefined) | undefined;
  /** Called before each method: may throw, or change something in between. */
  before: ((method: string) => void | Promise<void>) | undefined;
  readonly calls: string[];
  /** Memories whose copies were looked through for sealed values, by call. */
  readonly dropped: (readonly string[])[];
  /** Sets a document aside from the guard, as an operator or an older version could have left it. */
  plant(record: MemoryRecord): void;
  /** The same for the copy of an earlier version. */
  plantVersion(record: MemoryRecord): void;
}

export function createTestMemoryIndex(clock: () => number): TestMemoryIndex {
  const heads = new Map<string, Slot>();
  const copies = new Map<string, MemoryRecord>();
  let seqNo = 0;

  const enter = async (method: string): Promise<void> => {
    index.calls.push(method);
    await index.before?.(method);
  };
  // As through JSON: what is stored shares nothing with what the caller holds, and undefined fields are gone.
  const clone = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
  const put = (record: MemoryRecord): void => {
    heads.set(record.memory_id, { record: clone(record), seqNo: (seqNo += 1), visible: heads.get(record.memory_id)?.visible });
  };
  const at = (slot: Slot): SeqNo => ({ seq_no: slot.seqNo, primary_term: 1 });
  const create = (record: MemoryRecord): CreateOutcome => {
    if (heads.has(record.memory_id)) return { outcome: 'exists' };
    put(record);
    return { outcome: 'created' };
  };
  const visible = (scope: Scope, filter: Filter, links: LinkFilter = {}): MemoryRecord[] =>
    [...heads.values()]
      .flatMap((slot) => (slot.visible === undefined ? [] : [slot.visible]))
      .filter((record) =>
        [...scope.filter, ...filterClauses(filter, scope.principal.owner), ...linkClauses(links)].every((clause) =>
          matches(clause, record as unknown as Record<string, unknown>),
        ),
      );
  const bare = (record: MemoryRecord): MemoryRecord => {
    const kept = Object.entries(record).filter(([field]) => !field.startsWith('vec_'));
    return clone(Object.fromEntries(kept)) as unknown as MemoryRecord;
  };

  /** The version of each memory that stood then; with the head's vectors where it still says the same. */
  const versionsAt = ({ ms, statuses }: AsOf, scope: Scope, filter: Filter): MemoryRecord[] => {
    const fits = (record: MemoryRecord): boolean =>
      [...scope.filter, ...filterClauses(filter, scope.principal.owner)].every((clause) =>
        matches(clause, record as unknown as Record<string, unknown>),
      );
    return [...heads.values()].flatMap(({ record: head }) => {
      if (!scope.permits(head)) return [];
      const own = [...copies.values()].filter((copy) => copy.memory_id === head.memory_id);
      const [then] = [head, ...own].filter((r) => Date.parse(r.valid_from) <= ms).sort((a, b) => b.version - a.version);
      if (then === undefined || !fits(then) || !statuses.includes(then.status)) return [];
      const vectors = Object.fromEntries(Object.entries(head).filter(([field]) => field.startsWith('vec_')));
      return [then.content === head.content ? { ...vectors, ...then } : then];
    });
  };

  const index: TestMemoryIndex = {
    heads,
    copies,
    before: undefined,
    refuses: undefined,
    seqNoOf: (memoryId) => heads.get(memoryId)?.seqNo ?? -1,
    calls: [],
    dropped: [],
    plant: (record) => {
      put(record);
      const slot = heads.get(record.memory_id);
      if (slot !== undefined) slot.visible = slot.record;
    },
    plantVersion: (record) => void copies.set(`${record.memory_id}@${record.version}`, clone(record)),
    create: async (box) => {
      await enter('create');
      return create(openAdmitted(box));
    },
    createMany: async (boxes) => {
      await enter('createMany');
      return boxes.map((box) => create(openAdmitted(box)));
    },
    get: async (box) => {
      await enter('get');
      const slots = openScoped(box).memoryIds.flatMap((id) => heads.get(id) ?? []);
      return unscreened(slots.map((slot) => ({ record: clone(slot.record), at: at(slot) })));
    },
    search: async (box) => {
      await enter('search');
      const spec = openScoped(box);
      const stood = spec.asOf === undefined ? undefined : versionsAt(spec.asOf, box.scope, spec.filter);
      const hits = (stood ?? visible(box.scope, spec.filter))
        .filter((record) => spec.only?.includes(record.memory_id) ?? true)
        .map((record) => hitOf(record, spec))
        .filter((hit) => hit.score > 0)
        .sort((a, b) => b.score - a.score)
        .slice(0, candidates(spec));
      return unscreened({ hits, tookMs: 1 });
    },
    places: async (box) => {
      await enter('places');
      const { spec, scores } = openScoped(box);
      const all = visible(box.scope, spec.filter).map((record) => hitOf(record, spec).score);
      return scores.map((score) => all.filter((other) => other >= score).length);
    },
    similar: async (looks) => {
      await enter('similar');
      return looks.map((look) => {
        const { links, terms, share, limit } = openScoped(look);
        const found = visible(look.scope, {}, links)
          .map((record) => {
            const own = new Set((record.lex_uni ?? '').split(' '));
            return { record, common: terms.filter((term) => own.has(term)).length };
          })
          .filter(({ common }) => common > 0 && common >= Math.floor(share * terms.length))
          .sort((a, b) => b.common - a.common);
        return unscreened(found.slice(0, limit).map(({ record }) => bare(record)));
      });
    },
    nearest: async (looks) => {
      await enter('nearest');
      return looks.map((look) => {
        const { links, field, vector, cosine, limit } = openScoped(look);
        const found = visible(look.scope, {}, links)
          .map((record) => {
            const own = (record as unknown as Record<string, readonly number[] | undefined>)[field] ?? [];
            return { record, near: own.reduce((sum, x, i) => sum + x * (vector[i] ?? 0), 0) };
          })
          .filter(({ near }) => near >= cosine)
          .sort((a, b) => b.near - a.near);
        return unscreened(found.slice(0, limit).map(({ record }) => bare(record)));
      });
    },
    madeOf: async (tenant, namespace, parents) => {
      await enter('madeOf');
      const seen = [...heads.values()].flatMap((slot) => slot.visible ?? []);
      return seen
        .filter((record) => record.tenant === tenant && record.namespace === namespace)
        .filter((record) => (record.parents ?? []).some((id) => parents.includes(id)))
        .map(({ memory_id, owner }) => ({ memory_id, tenant, namespace, owner }));
    },
    list: async (box) => {
      await enter('list');
      const { filter, links, limit, after } = openScoped(box);
      const sorted = visible(box.scope, filter, links).sort((a, b) => compare(positionOf(b), positionOf(a)));
      const rest = after === undefined ? sorted : sorted.filter((record) => compare(positionOf(record), after) < 0);
      const page = rest.slice(0, limit);
      const last = page.at(-1);
      return unscreened({ records: page.map(bare), next: rest.length > limit && last !== undefined ? positionOf(last) : undefined });
    },
    tally: async (box) => {
      const all = visible(box.scope, openScoped(box).filter);
      const counts = new Map<string, number>();
      for (const { namespace } of all) counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
      const due = all.filter((record) => (record.spaces_due ?? []).length > 0);
      const dead = due.filter((record) => (record.embed_tries ?? 0) >= 5).length;
      const namespaces = [...counts].map(([namespace, count]) => ({ namespace, count })).sort((a, b) => b.count - a.count);
      return { total: all.length, namespaces, due: due.length - dead, dead };
    },
    scan: async function* (box) {
      await enter('scan');
      const { filter, pageSize } = openScoped(box);
      const all = visible(box.scope, filter);
      for (let from = 0; from < all.length; from += pageSize) yield unscreened(all.slice(from, from + pageSize).map(bare));
    },
    dropSealedCopies: async (_tenant, memoryIds) => {
      await enter('dropSealedCopies');
      index.dropped.push(memoryIds);
      for (const [id, { sealed: _sealed, key_id: _keyId, ...rest }] of copies) if (memoryIds.includes(rest.memory_id)) copies.set(id, rest);
    },
    replace: async (box, position) => {
      await enter('replace');
      const record = openAdmitted(box);
      if (heads.get(record.memory_id)?.seqNo !== position.seq_no) return 'conflict';
      put(record);
      return 'replaced';
    },
    patchMany: async (_tenant, patches) => {
      await enter('patchMany');
      return patches.map(({ memoryId, patch, at: position }) => {
        const slot = heads.get(memoryId);
        if (slot === undefined) return 'missing';
        if (slot.seqNo !== position.seq_no) return 'conflict';
        const refusal = index.refuses?.(memoryId, patch);
        if (refusal !== undefined) return refusal;
        put({ ...slot.record, ...patch });
        return 'replaced';
      });
    },
    saveVersion: async (box) => {
      await enter('saveVersion');
      const record = openAdmitted(box);
      const id = `${record.memory_id}@${record.version}`;
      if (!copies.has(id)) copies.set(id, clone(record));
    },
    versions: async (box) => {
      await enter('versions');
      const { memoryId, version } = openScoped(box);
      const found = [...copies.values()].filter(
        (record) =>
          record.memory_id === memoryId && record.tenant === box.scope.tenant && (version === undefined || record.version === version),
      );
      return unscreened(found.sort((a, b) => b.version - a.version).map(clone));
    },
    predecessors: async (box) => {
      await enter('predecessors');
      const { of, steps } = openScoped(box);
      const found = of.flatMap(({ memory_id: id, version, supersedes = [] }) => [
        ...Array.from({ length: Math.min(steps, version - 1) }, (_, i) => copies.get(`${id}@${version - 1 - i}`)),
        ...supersedes.map((other) => heads.get(other)?.record),
      ]);
      return unscreened(found.filter((record) => record !== undefined).map(bare));
    },
    refresh: async () => {
      await enter('refresh');
      for (const slot of heads.values()) slot.visible = slot.record;
    },
    holdings: async (box) => {
      await enter('holdings');
      const all = visible(box.scope, {});
      return {
        languages: new Set(all.map((record) => record.language)),
        passages: all.some((record) => record.passages !== undefined),
        summaries: all.some((record) => record.lex_summary !== undefined),
      };
    },
    noteWritten: () => undefined,
    queue: {
      dueTenants: async () => {
        const counts = new Map<string, number>();
        for (const { visible: record } of heads.values())
          if (record !== undefined && isDue(record)) counts.set(record.tenant, (counts.get(record.tenant) ?? 0) + 1);
        return [...counts].map(([tenant, count]) => ({ tenant, count }));
      },
      claim: async (tenant, { limit, leaseMs, by }) => {
        await enter('claim');
        const due = [...heads.values()]
          .filter((slot) => slot.visible?.tenant === tenant && isDue(slot.visible) && isDue(slot.record))
          .slice(0, limit);
        return due.map(({ record }): EmbedTask => {
          put({ ...record, lease_by: by, lease_until: new Date(clock() + leaseMs).toISOString() });
          const slot = heads.get(record.memory_id);
          if (slot === undefined) throw new Error('the claimed record is gone');
          slot.visible = slot.record;
          return { tenant, record: { record: clone(slot.record), at: at(slot) } satisfies StoredRecord };
        });
      },
      renew: async (_tenant, held, leaseMs) => {
        await enter('renew');
        const moved = new Map<string, SeqNo>();
        for (const { record, at: position } of held) {
          const slot = heads.get(record.memory_id);
          if (slot === undefined || slot.seqNo !== position.seq_no) continue;
          put({ ...slot.record, lease_until: new Date(clock() + leaseMs).toISOString() });
          moved.set(record.memory_id, { seq_no: seqNo, primary_term: 1 });
        }
        return moved;
      },
      depth: async () => {
        const all = [...heads.values()].map((slot) => slot.record).filter((record) => (record.spaces_due ?? []).length > 0);
        const here = all.filter(isDueHere);
        const dead = here.filter(isDead);
        const of = (...codes: string[]): number => dead.filter((record) => codes.includes(record.embed_error ?? '')).length;
        const deadBy = {
          rejected: of('ERR_EMBEDDING_REJECTED'),
          unavailable: of('ERR_EMBEDDING_UNAVAILABLE'),
          store: of('ERR_STORE_REJECTED', 'ERR_STORE_UNAVAILABLE'),
          other: 0,
        };
        return { due: here.length - dead.length, dead: dead.length, deadBy, foreign: all.length - here.length };
      },
    },
  };

  const isDueHere = (record: MemoryRecord): boolean => (record.spaces_due ?? []).some((space) => QUEUE_SPACES.includes(space));
  const isDead = (record: MemoryRecord): boolean => (record.embed_tries ?? 0) >= 5;
  const isDue = (record: MemoryRecord): boolean =>
    isDueHere(record) && (record.lease_until === undefined || Date.parse(record.lease_until) <= clock() - (isDead(record) ? DAY_MS : 0));

  return index;
}

type Position = readonly [number, string];
const positionOf = (record: MemoryRecord): Position => [Date.parse(record.created_at), record.memory_id];

function compare(a: Position, b: Position): number {
  return a[0] - b[0] || (a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0);
}

/** Words in common as `lex`, the cosine of the first vector as the unnamed rest of the score; a record without one that shares a word is `due`. */
function hitOf(record: MemoryRecord, spec: SearchSpec): IndexHit {
  const tokens = new Set(`${record.lex_uni ?? ''} ${record.lex_bi ?? ''} ${record.lex_word ?? ''}`.split(' '));
  const byWording = wordings(spec).map((text) => {
    const terms = queryTerms(text);
    return 8 * [...terms.uni, ...terms.bi, ...terms.word].filter((term) => tokens.has(term)).length;
  });
  const lex = Math.max(...byWording);
  const lists = byWording.length < 2 ? [] : byWording.flatMap((value, i) => (value > 0 ? [[`lex_${i + 1}`, value] as const] : []));
  const [first] = spec.vectors;
  const stored = first === undefined ? undefined : record[first.field as `vec_${string}`];
  const cosine =
    stored === undefined || first === undefined ? undefined : stored.reduce((sum, x, i) => sum + x * (first.vector[i] ?? 0), 0);
  const vector = cosine === undefined || first === undefined ? 0 : (first.boost * (1 + cosine)) / 2;
  const fields = Object.fromEntries(HIT_FIELDS.flatMap((field) => (field in record ? [[field, record[field as keyof MemoryRecord]]] : [])));
  const due = lex > 0 && first !== undefined && stored === undefined ? first.boost / 2 : 0;
  return {
    record: fields as unknown as HitRecord,
    score: lex + Math.max(vector, due),
    named: { ...(lex > 0 ? { lex } : {}), ...Object.fromEntries(lists), ...(due > 0 ? { due } : {}) },
  };
}
