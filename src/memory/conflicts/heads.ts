/** Marks stored memories after the slot has moved: superseded, in doubt, told of a contradiction, united with a repeat; each a compare-and-set with its version kept. */
import { isoTime } from '../../domain/clock.ts';
import { DEFAULT_STATUSES, type MemoryRecord, type StoredRecord } from '../../domain/memory.ts';
import type { HeldSlot } from '../../domain/slots.ts';
import { defined } from '../canonical.ts';
import type { CallContext } from '../gateway.ts';
import { dueSpaces, writerOf } from '../record.ts';
import type { MemoryDeps } from '../deps.ts';
import type { TurnLinks } from '../turn-links.ts';
import { keepVersion, withoutVectors } from '../versions.ts';
import { livesLonger, saysMore } from './against.ts';
import { createAftermath, type Aftermath } from './aftermath.ts';
import type { MetRef } from './entry.ts';
import { createHeadChange, superseded } from './head-change.ts';
import { printOf, slotKey } from './keys.ts';
import { DOUBT } from './meet.ts';
import { movedTo } from './standings.ts';

/** What became of a memory that another one takes the place of. */
export interface Ending {
  /** It is no longer to be marked, by this call or an earlier one. */
  readonly ended: boolean;
  /** As it has ended; undefined where it stands, too. */
  readonly head?: MemoryRecord;
}

export interface Heads {
  /** `by` took its place, or has it (`reason`). `followed`: what follows has been seen to, or there is nothing. */
  supersede(head: MetRef, by: string, call: CallContext, reason?: string): Promise<Ending & { readonly followed: boolean }>;
  /** The same, with what follows left to whoever calls. */
  end(head: MetRef, by: string, call: CallContext): Promise<Ending>;
  /** It may no longer hold; `by` says otherwise. */
  doubt(head: MetRef, by: string, call: CallContext): Promise<void>;
  /** `by` contradicts it and is less trusted, or somebody else's. */
  contest(head: MetRef, by: string, call: CallContext): Promise<void>;
  /** It takes the new record in; undefined when it moved meanwhile. */
  unite(head: StoredRecord, record: MemoryRecord, call: CallContext): Promise<MemoryRecord | undefined>;
}

/** A head that ends in another's place lends its words on until the aftermath: they are outdated, and hidden from nobody. */
const LENDING: Pick<TurnLinks, 'detach' | 'settle'> = { detach: async () => [], settle: async () => undefined };

export function createHeads(deps: MemoryDeps, turns: TurnLinks, aftermath: Pick<Aftermath, 'see'> = createAftermath(deps, turns)): Heads {
  const change = createHeadChange(deps, turns);
  const lending = createHeadChange(deps, LENDING);
  const end = async (ref: MetRef, by: string, call: CallContext, reason?: string): Promise<Ending> => {
    const { ended, head } = await superseded(lending, ref, by, writerOf(call.principal), reason, ref.stored);
    return { ended, ...defined({ head }) };
  };

  return {
    end,

    async supersede(ref, by, call, reason) {
      const ending = await end(ref, by, call, reason);
      const { ended, head } = ending;
      // also of one that an earlier call marked: it may have got no further
      const followed = head === undefined || (await aftermath.see({ head, by: call }));
      return { ...ending, followed: ended && followed };
    },

    async doubt(ref, by, call) {
      await change(
        ref,
        writerOf(call.principal),
        (head) =>
          DEFAULT_STATUSES.includes(head.status)
            ? {
                status: 'conflict',
                doubt: DOUBT,
                conflict_with: linked(head, by),
                reason: 'possibly outdated: a newer memory says otherwise',
              }
            : undefined,
        ref.stored,
      );
    },

    async contest(ref, by, call) {
      await change(
        ref,
        writerOf(call.principal),
        (head) =>
          DEFAULT_STATUSES.includes(head.status) && !(head.conflict_with ?? []).includes(by)
            ? { conflict_with: linked(head, by) }
            : undefined,
        ref.stored,
      );
    },

    async unite({ record: head, at }, record, call) {
      const nowIso = isoTime(deps.clock());
      const next: MemoryRecord = {
        ...(saysMore(record, head) ? await withTextOf(record, head) : head),
        ...(livesLonger(record, head, deps.clock()) ? { expires_at: record.expires_at as string } : {}),
        version: head.version + 1,
        updated_at: nowIso,
        valid_from: nowIso,
        created_by: writerOf(call.principal),
      };
      const { expires_at: _end, ...forEver } = next;
      const lasting = head.expires_at !== undefined && record.expires_at === undefined ? (forEver as MemoryRecord) : next;
      const changesText = lasting.content !== head.content;
      const detached = changesText ? await turns.detach([head]) : [];
      await keepVersion(deps, head, nowIso);
      const replaced = (await deps.index.replace(deps.guard.unite(lasting, head, record), at)) === 'replaced';
      if (changesText) await turns.settle([replaced ? lasting : head], detached);
      return replaced ? lasting : undefined;
    },
  };

  /** The head with the words of the record, and all that is derived from them. */
  async function withTextOf(record: MemoryRecord, head: MemoryRecord): Promise<MemoryRecord> {
    const {
      lex_uni: _uni,
      lex_bi: _bi,
      lex_word: _word,
      lex_context: _context,
      lex_summary: _summary,
      codes: _codes,
      passages: _passages,
      ...kept
    } = withoutVectors(head);
    const { content, language, fingerprint, guard, lex_uni, lex_bi, lex_word, lex_summary, codes, passages } = record;
    const words = defined({ lex_uni, lex_bi, lex_word, codes, passages, lex_summary: head.lex_summary ?? lex_summary });
    const summary = head.summary ?? record.summary;
    const next = { ...kept, ...words, ...defined({ summary }), content, language, fingerprint, guard };
    return turns.withContext({ ...next, spaces_due: dueSpaces(deps, next) });
  }
}

/** Claims made for a record that another one stands for go to that one; what it does not claim is free. Safe to repeat. Errors: ERR_STORE_*. */
export async function handOver(
  deps: Pick<MemoryDeps, 'slots' | 'relations'>,
  claims: readonly HeldSlot[],
  survivor: MemoryRecord,
): Promise<void> {
  const { tenant, memory_id } = survivor;
  const moves = claims.flatMap((held) => {
    const { document } = held;
    if (document.slot_type === 'fingerprint')
      return [movedTo(held, { ...document, memory_id, fingerprint: printOf(survivor, deps.relations) })];
    return slotKey(survivor, deps.relations)?.id === held.id ? [movedTo(held, { ...document, memory_id })] : [];
  });
  await deps.slots.move(tenant, moves);
  const moved = new Set(moves.map(({ id }) => id));
  const idle = claims.filter(({ id }) => !moved.has(id));
  await deps.slots.release(
    tenant,
    idle.map(({ id, document }) => ({ id, memoryId: document.memory_id })),
  );
}

/** Contradicting memories named, newest last. */
const MAX_LINKS = 16;

function linked(head: MemoryRecord, by: string): readonly string[] {
  return [...new Set([...(head.conflict_with ?? []), by])].slice(-MAX_LINKS);
}
