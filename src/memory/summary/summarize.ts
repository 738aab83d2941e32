/** memory_summarize: the sentences that carry most of what a namespace holds of a time, quoted or put by a language model, each with what it rests on; stored only when asked. */
import { DEFAULT_STATUSES, type MemoryRecord, type StoredRecord } from '../../domain/memory.ts';
import { mapUnscreened, type Scoped, type Unscreened } from '../../domain/sealed.ts';
import type { SummarizeAnswer, SummarizeInput } from '../../domain/wire/summary.ts';
import type { WriteAnswer, WriteInput } from '../../domain/wire/write.ts';
import { HindsightError } from '../../errors.ts';
import type { AccessRequest } from '../../gate/access-policy.ts';
import { hasHan } from '../../text/script.ts';
import { defined } from '../canonical.ts';
import type { MemoryDeps } from '../deps.ts';
import type { CallContext } from '../gateway.ts';
import { masked } from '../masking.ts';
import { draftOf } from '../record.ts';
import { makeVisible } from '../visible.ts';
import { writeSummary, type WrittenSentence } from './abstract.ts';
import { chooseSentences } from './choose.ts';
import { gatherSentences } from './gather.ts';
import { meaningOf } from './meaning.ts';
import { quoteSentences, screened, type Quote, type ShownSentence } from './quote.ts';
import { rankSentences, type RankedSentence } from './rank.ts';
import { termsOf } from './sentence.ts';
import { summaryItem } from './store.ts';

type Bare<T> = Omit<T, 'trace_id'>;
export type StoreSummary = (item: WriteInput, call: CallContext) => Promise<Bare<WriteAnswer>>;

const DEFAULT_SENTENCES = 7;
const DEFAULT_CHARS = 2_000;
/** Memories whose vectors are fetched to compare the best sentences by: about 1 MB. */
const COMPARED = 60;
/** Notes a model gets: a memory has at most 32 parents, and all of these are. */
const NOTES = 24;
const NOTES_CHARS = 8_000;
const MAX_PARENTS = 32;

/**
 * Errors: ERR_NAMESPACE_FORBIDDEN (to read, and with `store` to write), ERR_SCOPE_MISSING without memory:read, ERR_STORE_*; with `store`
 * those of a write.
 */
export async function summarize(
  deps: MemoryDeps,
  store: StoreSummary,
  given: SummarizeInput,
  call: CallContext,
): Promise<Bare<SummarizeAnswer>> {
  const { principal } = call;
  if (!principal.scopes.has('memory:read')) throw new HindsightError('ERR_SCOPE_MISSING', { params: { scope: 'memory:read' } });
  const input = masked(deps, principal.tenant, given).value;
  const namespace = input.namespace ?? principal.ownNamespace;
  const nowMs = deps.clock();
  const request: AccessRequest = { principal, action: 'read', reach: [namespace], statuses: DEFAULT_STATUSES, nowMs };
  if (input.store === true) deps.guard.scope({}, { principal, action: 'write', reach: [namespace], nowMs });
  const filter = defined({ created: input.created, occurred: input.occurred });
  deps.guard.scope({}, request); // refused before anything is waited for
  await makeVisible(deps, principal.tenant);
  const gathered = await gatherSentences(deps, filter, request, { lang: input.lang, signal: call.signal });
  const ranked = rankSentences(gathered.sentences, input.query === undefined ? undefined : termsOf(input.query));
  const source = await sourceOf(deps, ranked, request);
  const budget = { sentences: input.sentences ?? DEFAULT_SENTENCES, chars: input.max_chars ?? DEFAULT_CHARS };
  const quotes = await quoteSentences(deps, source.choose(budget), source.found, source.by);
  const degraded = gathered.degraded ? ['guard'] : [];
  const written = quotes.length === 0 ? undefined : await abstractive(deps, input, call, { namespace, request, source, budget }, degraded);
  const result = written ?? extractive(quotes, source);
  const answer: Bare<SummarizeAnswer> = {
    summary: result.shown.map(({ text, memory_ids: ids }) => `${text} [${ids.join(', ')}]`).join('\n'),
    sentences: [...result.shown],
    method: result.method,
    memories: gathered.memories,
    truncated: gathered.truncated,
    degraded,
  };
  if (input.store !== true) return answer;
  const item = result.shown.length === 0 ? undefined : summaryItem({ namespace, ...result }, call, nowMs);
  return { ...answer, results: item === undefined ? [] : (await store(item, { ...call, idempotencyKey: undefined })).results };
}

/** The memories that the best sentences are quoted from, read anew with their vectors. */
interface Source {
  readonly by: Scoped<unknown>;
  readonly found: Unscreened<readonly StoredRecord[]>;
  readonly records: ReadonlyMap<string, MemoryRecord>;
  choose(budget: { readonly sentences: number; readonly chars: number }): readonly RankedSentence[];
}

async function sourceOf(deps: MemoryDeps, ranked: readonly RankedSentence[], request: AccessRequest): Promise<Source> {
  const best = [...ranked].sort((a, b) => b.score - a.score).slice(0, COMPARED);
  const by = deps.guard.scope({ memoryIds: [...new Set(best.flatMap(({ memoryIds }) => memoryIds))] }, request);
  const found = await deps.index.get(by);
  const records = new Map(deps.guard.permitted(found, by).map(({ record }) => [record.memory_id, record]));
  const near = meaningOf(records, deps.embedder.spaces);
  return { by, found, records, choose: (budget) => chooseSentences(best, budget, near) };
}

interface Result {
  readonly method: SummarizeAnswer['method'];
  readonly shown: readonly ShownSentence[];
  readonly sentences: readonly WrittenSentence[];
  readonly parents: readonly MemoryRecord[];
  readonly referenceOnly: boolean;
}

function extractive(quotes: readonly Quote[], source: Source): Result {
  const shown = quotes.map((quote) => quote.shown);
  const sentences = quotes.map((quote) => quote.sentence);
  const parents = parentsOf(sentences, source);
  return { method: 'extractive', shown, sentences, parents, referenceOnly: shown.some((sentence) => sentence.reference_only) };
}

/** What each sentence is quoted from comes first: a memory that only says the same too may be left out. */
function parentsOf(sentences: readonly { readonly memoryIds: readonly string[] }[], { records }: Source): readonly MemoryRecord[] {
  const quoted = sentences.flatMap(({ memoryIds }) => memoryIds.slice(0, 1));
  const ids = new Set([...quoted, ...sentences.flatMap(({ memoryIds }) => memoryIds)]);
  return [...ids].flatMap((id) => records.get(id) ?? []).slice(0, MAX_PARENTS);
}

/** Undefined without a model, and whenever its answer does not do: then the quotes stand. */
async function abstractive(
  deps: MemoryDeps,
  input: SummarizeInput,
  call: CallContext,
  {
    namespace,
    request,
    source,
    budget,
  }: { namespace: string; request: AccessRequest; source: Source; budget: { sentences: number; chars: number } },
  degraded: string[],
): Promise<Result | undefined> {
  const model = deps.languageModel;
  if (model === undefined) return undefined;
  const notes = (await quoteSentences(deps, source.choose({ sentences: NOTES, chars: NOTES_CHARS }), source.found, source.by)).map((q) => ({
    ...q.sentence,
    // cited alone: all that it was given are parents
    memoryIds: q.sentence.memoryIds.slice(0, 1),
  }));
  const lang = input.lang ?? (notes.filter(({ text }) => hasHan(text)).length * 2 > notes.length ? 'zh' : 'en');
  const parents = parentsOf(notes, source);
  try {
    const written = await writeSummary(model, notes, { ...budget, lang, query: input.query }, call.signal);
    const shown = written === undefined ? undefined : await letIn(deps, call, written, { namespace, request, parents, source });
    if (written !== undefined && shown !== undefined)
      return { method: 'abstractive', shown, sentences: written, parents, referenceOnly: true };
  } catch (error) {
    call.signal.throwIfAborted();
    deps.onDegraded?.('llm', error);
  }
  degraded.push('llm');
  return undefined;
}

/** The model's text as the guard would store it, sentence by sentence through the screen; undefined when a rule speaks against it. */
async function letIn(
  deps: MemoryDeps,
  call: CallContext,
  written: readonly WrittenSentence[],
  { namespace, request, parents, source }: { namespace: string; request: AccessRequest; parents: readonly MemoryRecord[]; source: Source },
): Promise<readonly ShownSentence[] | undefined> {
  const { principal } = call;
  const content = written.map(({ text }) => text).join('\n');
  const draft = draftOf(
    { content, kind: 'summary', layer: 'episodic', visibility: 'private' },
    { memoryId: deps.newId(), namespace, generation: 0, principal, nowMs: request.nowMs },
    deps,
  );
  const { record } = await deps.guard.admit(draft, { principal, source: { type: 'agent' }, parents });
  // a model that was told something passes it on: what speaks to an assistant is left to the quotes, which say who said it
  if (record?.status !== 'active' || record.guard.rule_ids.length > 0) return undefined;
  const boundary = deps.guard.boundary();
  const shown: ShownSentence[] = [];
  for (const sentence of written) {
    const [memoryId = record.memory_id] = sentence.memoryIds;
    const alone = mapUnscreened(source.found, () => [{ ...record, content: sentence.text, memory_id: memoryId }]);
    const one = await screened(deps, alone, source.by, sentence, boundary);
    if (one === undefined) return undefined;
    shown.push(one);
  }
  return shown;
}
