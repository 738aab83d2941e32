/** memory_context: the block for the prompt of one turn, by layer, within a token budget; everything in it has passed the guard's screen. */
import type { RankedHit } from '../../domain/ranking.ts';
import { TIER, tierName } from '../../domain/trust.ts';
import type { ContextAnswer, ContextInput, ContextItem, ContextLanguage } from '../../domain/wire/context.ts';
import { lineOfScreened } from '../../guard/enclose.ts';
import type { ScreenedItem } from '../../guard/guard.ts';
import { hasHan } from '../../text/script.ts';
import { askedIn } from '../asked.ts';
import { defined } from '../canonical.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { noteRecall } from '../recall/note.ts';
import { predecessorsOf } from '../was.ts';
import { noteReturned } from '../working/notes.ts';
import { BLOCK_LAYERS, blockOf, entryTokens } from './block.ts';
import { choose, type WorthyEntry } from './choose.ts';
import { gather, type Gathered } from './gather.ts';
import { lineMaker, marksOf, type Marks } from './line.ts';
import { filled, type ContextRules } from './policy.ts';
import { promptTokens } from './tokens.ts';
import { lastTurns, turnItem, turnsOf, turnTokens } from './turns.ts';

interface Past {
  readonly was: ReadonlyMap<string, NonNullable<Marks['was']>>;
  readonly degraded: readonly string[];
}

const NO_PAST: Past = { was: new Map(), degraded: [] };

interface MemoryEntry extends WorthyEntry {
  readonly hit: ScreenedItem<RankedHit>;
}

/** Failures: those of memory_search. A working memory that is away is told in `degraded`. */
export async function context(deps: MemoryDeps, input: ContextInput, call: CallContext): Promise<Omit<ContextAnswer, 'trace_id'>> {
  const startedMs = deps.clock();
  const { rules } = deps.context;
  const { query, also } = askedIn(input);
  const texts = also === undefined ? [query] : [query, also];
  const words = deps.context.words[input.lang ?? languageOf(texts)];
  const effort = rules.effort[input.effort ?? 'normal'];
  const boundary = deps.guard.boundary();
  const screen = { lineOf: lineMaker(texts.join('\n'), words, rules), boundary };
  const [found, session] = await Promise.all([
    gather(deps, input, call, { effort, shareOfBest: rules.share_of_best, inject: rules.inject }, screen),
    turnsOf(deps, input, call, words, boundary),
  ]);
  const budget = input.token_budget ?? rules.default_token_budget;
  const past = effort.was ? await pastOf(deps, found, boundary, rules) : NO_PAST;
  const entries = found.items.map((hit) =>
    entryOf(hit, { words, rules, reader: call.principal.owner, was: past.was.get(hit.value.record.memory_id) }),
  );
  // the turns' share is kept as far as they need it; what the memories leave of theirs is the turns' as well
  const kept = Math.min(turnTokens(session.entries, words), Math.floor(budget * rules.working_share));
  const chosen = choose(entries, budget - kept, words);
  const turns = lastTurns(session.entries, budget - promptTokens(blockOf(chosen, words)), words);
  const block = blockOf([...chosen, ...turns], words);
  // so that they are known when they are written back
  void noteReturned(deps, call, input.session_id, [...chosen.map(({ hit }) => hit.value.record.content), block]);
  noteShown(
    deps,
    call,
    { query: found.asked, namespaces: input.namespaces },
    chosen.map(({ hit }) => hit.value),
  );
  return {
    context: block,
    items: [...inOrder(chosen).map(itemOf), ...turns.map(turnItem)],
    tokens: promptTokens(block),
    nothing_relevant: found.items.length === 0,
    degraded: [...new Set([...found.degraded, ...past.degraded, ...session.degraded])],
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

/** What the memories said before, by id, where it is short; one that cannot be looked up is no reason not to answer. */
async function pastOf(
  deps: MemoryDeps,
  { items, request }: Gathered,
  boundary: string,
  { max_was_tokens: most }: ContextRules,
): Promise<Past> {
  const records = items.map(({ value }) => value.record);
  try {
    const found = await predecessorsOf(deps, request, records, { floor: TIER.external, boundary });
    const lines = [...found].map(([id, { content, until }]) => [id, { text: lineOfScreened(content, boundary), until }] as const);
    return { was: new Map(lines.filter(([, { text }]) => promptTokens(text) <= most)), degraded: [] };
  } catch (error) {
    deps.onDegraded?.('was', error);
    return { was: new Map(), degraded: ['was'] };
  }
}

/** That of the question; of a question in both, that of its first wording. */
const languageOf = ([first = '']: readonly string[]): ContextLanguage => (hasHan(first) ? 'zh' : 'en');

function entryOf(hit: ScreenedItem<RankedHit>, marks: Marks): MemoryEntry {
  const { record, score } = hit.value;
  const line = filled(marks.words.item, { text: hit.line ?? '', marks: marksOf(record, marks) });
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
    trust: { tier: tierName(hit.trust.tier) },
    reference_only: referenceOnly,
    at: record.occurred_at ?? record.created_at,
    version: record.version,
    ...defined({ kind: record.kind, confidence: record.confidence }),
  };
}
