/** The session's part of the block: its last turns, as many as fit behind one another, with what they cost. */
import type { ContextInput, ContextItem } from '../../domain/wire/context.ts';
import { tierName } from '../../domain/trust.ts';
import { filled as fillIn, type BlockWords } from './policy.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { shownTurns, type ShownTurn } from '../working/turns.ts';
import { entryTokens, frameTokens, type BlockEntry } from './block.ts';

export interface TurnEntry extends BlockEntry {
  readonly turn: ShownTurn;
}

export interface SessionTurns {
  /** Oldest first. */
  readonly entries: readonly TurnEntry[];
  readonly degraded: readonly string[];
}

/**
 * The turns that may go into a prompt; none without a session. Working memory that is away costs the answer these and nothing else. A
 * session stands in the one namespace that the call names, or in the caller's own. @throws ERR_NAMESPACE_FORBIDDEN.
 */
export async function turnsOf(
  deps: MemoryDeps,
  { session_id: sessionId, namespaces = [] }: ContextInput,
  call: CallContext,
  words: BlockWords,
  boundary: string,
): Promise<SessionTurns> {
  if (sessionId === undefined) return { entries: [], degraded: [] };
  const [namespace] = namespaces.length === 1 ? namespaces : [];
  const options = { boundary, prompt: true, lineOf: ({ content }: { readonly content: string }): string => content };
  const { turns, degraded } = await shownTurns(deps, call, { session_id: sessionId, namespace }, options);
  const entries = turns
    // what waits for its person is not put into a prompt
    .filter(({ value, line }) => value.status === 'active' && line !== undefined && line !== '')
    .map((turn): TurnEntry => {
      const line = fillIn(words.turn, { speaker: words.speakers[turn.role], text: turn.line ?? '' });
      return { layer: 'working', line, referenceOnly: turn.referenceOnly, turn };
    });
  return { entries, degraded };
}

/** Tokens of all of them, with their heading. */
export function turnTokens(entries: readonly TurnEntry[], words: BlockWords): number {
  return frameTokens(entries, words) + entries.reduce((sum, { line }) => sum + entryTokens(line), 0);
}

/** The newest ones that fit, without a gap: a conversation with holes says other things than were said. */
export function lastTurns(entries: readonly TurnEntry[], budget: number, words: BlockWords): readonly TurnEntry[] {
  for (let from = 0; from < entries.length; from += 1) {
    const kept = entries.slice(from);
    if (turnTokens(kept, words) <= budget) return kept;
  }
  return [];
}

export function turnItem({ line, referenceOnly, turn: { value } }: TurnEntry): ContextItem {
  return {
    memory_id: null,
    layer: 'working',
    tokens: entryTokens(line),
    score: null,
    trust: { tier: tierName(value.trust_tier) },
    reference_only: referenceOnly,
    at: value.created_at,
  };
}
