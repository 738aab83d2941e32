/** memory_context: the block for the prompt of one turn, by layer, within a token budget; everything in it has passed the guard's screen. */
import type { RankedHit } from '../../domain/ranking.ts';
import { tierName } from '../../domain/trust.ts';
import type { ContextAnswer, ContextInput, ContextItem, ContextLanguage } from '../../domain/wire/context.ts';
import type { ScreenedItem } from '../../guard/guard.ts';
import { hasHan } from '../../text/script.ts';
import { defined } from '../canonical.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { noteRecall } from '../recall/note.ts';
import { BLOCK_LAYERS, blockOf, entryTokens } from './block.ts';
import { choose, type WorthyEntry } from './choose.ts';
import { gather } from './gather.ts';
import { lineMaker, marksOf } from './line.ts';
import { filled, type BlockWords, type ContextRules } from './policy.ts';
import { promptTokens } from './tokens.ts';
import { lastTurns, turnItem, turnsOf, turnTokens } from './turns.ts';

interface MemoryEntry extends WorthyEntry {
  readonly hit: ScreenedItem<RankedHit>;
}

/** Failures: those of memory_search. A working memory that is away is told in `degraded`. */
export async function context(deps: MemoryDeps, input: ContextInput, call: CallContext): Promise<Omit<ContextAnswer, 'trace_id'>> {
  const startedMs = deps.clock();
  const { rules } = deps.context;
  const words = deps.context.words[languageOf(input)];
  const boundary = deps.guard.boundary();
  const screen = { lineOf: lineMaker(input.query, words, rules), boundary };
  const [found, session] = await Promise.all([
    gather(deps, input, call, rules.effort[input.effort ?? 'normal'], screen),
    turnsOf(deps, input, call, words, boundary),
  ]);
  const budget = input.token_budget ?? rules.default_token_budget;
  const entries = found.items.map((hit) => entryOf(hit, words, rules));
  // the turns' share is kept as far as they need it; what the memories leave of theirs is the turns' as well
  const kept = Math.min(turnTokens(session.entries, words), Math.floor(budget * rules.working_share));
  const chosen = choose(entries, budget - kept, words);
  const turns = lastTurns(session.entries, budget - promptTokens(blockOf(chosen, words)), words);
  const block = blockOf([...chosen, ...turns], words);
  noteShown(
    deps,
    call,
    { query: found.query, namespaces: input.namespaces },
    chosen.map(({ hit }) => hit.value),
  );
  return {
    context: block,
    items: [...inOrder(chosen).map(itemOf), ...turns.map(turnItem)],
    tokens: promptTokens(block),
    nothing_relevant: found.items.length === 0,
    degraded: [...new Set([...found.degraded, ...session.degraded])],
    took_ms: deps.clock() - startedMs,
  };
}

/** Access counts and recall trace, as memory_search keeps them. */
function noteShown(
  deps: MemoryDeps,
  call: CallContext,
  asked: { readonly query: string; readonly namespaces: readonly string[] | undefined },
  shown: readonly RankedHit[],
): void {
  if (call.principal.actor !== 'service')
    deps.stats.record(
      call.principal.tenant,
      shown.map(({ record }) => record.memory_id),
    );
  noteRecall(deps, call, { operation: 'memory_context', ...asked }, shown);
}

/** What was asked for, else that of the question. */
function languageOf({ lang, query }: ContextInput): ContextLanguage {
  return lang ?? (hasHan(query) ? 'zh' : 'en');
}

function entryOf(hit: ScreenedItem<RankedHit>, words: BlockWords, rules: ContextRules): MemoryEntry {
  const { record, score } = hit.value;
  const line = filled(words.item, { text: hit.line ?? '', marks: marksOf(record, { words, rules }) });
  return { layer: record.layer, line, referenceOnly: hit.referenceOnly, score, hit };
}

/** As they stand in the block. */
function inOrder(entries: readonly MemoryEntry[]): readonly MemoryEntry[] {
  return BLOCK_LAYERS.flatMap((layer) => entries.filter((entry) => entry.layer === layer));
}

function itemOf({ hit, line, layer, score, referenceOnly }: MemoryEntry): ContextItem {
  const { record } = hit.value;
  return {
    memory_id: record.memory_id,
    layer,
    tokens: entryTokens(line),
    score,
    trust: { tier: tierName(record.trust_tier) },
    reference_only: referenceOnly,
    at: record.occurred_at ?? record.created_at,
    version: record.version,
    ...defined({ kind: record.kind, confidence: record.confidence }),
  };
}
