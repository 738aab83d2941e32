/** Moves of slots that others began and have not ended: their former memories are marked before the slot moves on, which would forget them; memory/conflicts/plan calls it. */
import type { SlotStore } from '../../domain/ports.ts';
import type { HeldSlot } from '../../domain/slots.ts';
import type { CallContext } from '../gateway.ts';
import type { MetRef } from './entry.ts';
import type { Heads } from './heads.ts';

/** A slot as it was read, and the memory that it has moved on from. */
export interface Unfinished {
  readonly held: HeldSlot;
  readonly former: MetRef;
}

/** What has moved since it was read is left to whoever moved it: its former memory may have been brought back. Errors: ERR_STORE_*. */
export async function endUnfinished(
  slots: Pick<SlotStore, 'read'>,
  heads: Pick<Heads, 'supersede'>,
  call: CallContext,
  unfinished: readonly Unfinished[],
): Promise<void> {
  if (unfinished.length === 0) return;
  const now = await slots.read(
    call.principal.tenant,
    unfinished.map(({ held }) => held.id),
  );
  for (const { held, former } of unfinished)
    if (now.some(({ id, at }) => id === held.id && at.seq_no === held.at.seq_no && at.primary_term === held.at.primary_term))
      await heads.supersede(former, held.document.memory_id, call);
}
