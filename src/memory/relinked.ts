/** A record whose tier changes, as a turn of its session: what it may borrow of the turn before it depends on that; decisions of people call it. */
import type { MemoryRecord } from '../domain/memory.ts';
import { defined } from './canonical.ts';
import type { MemoryDeps } from './deps.ts';
import { dueSpaces } from './record.ts';
import type { TurnLinks } from './turn-links.ts';
import { withoutVectors } from './versions.ts';

/** Its words and vector again, as a turn of this tier: it keeps what the turn before it may lend to that, and no more. */
export async function relinked(deps: MemoryDeps, turns: TurnLinks, head: MemoryRecord, tier: number): Promise<MemoryRecord> {
  const { prev_turn_id, lex_context } = await turns.withContext({ ...head, trust_tier: tier });
  const { prev_turn_id: _before, lex_context: _words, ...own } = withoutVectors(head);
  return { ...own, ...defined({ prev_turn_id, lex_context }), spaces_due: dueSpaces(deps, head) };
}
