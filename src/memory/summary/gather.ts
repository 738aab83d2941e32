/** Reads what is to be summarised: the newest memories of one namespace and time, page by page, each through the guard's screen, as sentences. */
import { setImmediate } from 'node:timers/promises';
import type { MemoryRecord } from '../../domain/memory.ts';
import { INSTRUCTION_TIER } from '../../domain/trust.ts';
import type { Filter } from '../../domain/wire/common.ts';
import type { AccessRequest } from '../../gate/access-policy.ts';
import { sameWordsForm } from '../../text/clean.ts';
import { language } from '../../text/script.ts';
import { sentencesOf } from '../../text/sentences.ts';
import type { MemoryDeps } from '../deps.ts';
import { inTime, quotable, termsOf, type Sentence } from './sentence.ts';

export interface Gathered {
  /** In time order. */
  readonly sentences: readonly Sentence[];
  readonly memories: number;
  /** More fit than are read. */
  readonly truncated: boolean;
  /** A stage of the screen failed: what it could not judge is left out. */
  readonly degraded: boolean;
}

/** What one summary reads: about a second of work, given up to other calls page by page. */
export const GATHER_LIMITS = { memories: 5_000, sentences: 10_000, chars: 2_000_000 } as const;
const PAGE = 200;
/** Memories that say one sentence are all cited, up to here. */
const CITED = 4;
const DEFAULT_IMPORTANCE = 0.5;

/** Summaries are left out: they repeat what stands in the memories they were made from. Errors: ERR_STORE_*. */
export async function gatherSentences(
  deps: Pick<MemoryDeps, 'index' | 'guard'>,
  filter: Filter,
  request: AccessRequest,
  options: {
    readonly lang: 'zh' | 'en' | undefined;
    readonly signal: AbortSignal;
    readonly limits?: Readonly<Record<keyof typeof GATHER_LIMITS, number>>;
  },
): Promise<Gathered> {
  const { lang, signal, limits = GATHER_LIMITS } = options;
  const found = new Sentences(lang);
  let [memories, chars, degraded] = [0, 0, false];
  let after: readonly [number, string] | undefined;
  for (;;) {
    signal.throwIfAborted();
    const by = deps.guard.scope({ filter, limit: Math.min(PAGE, limits.memories - memories), after }, request);
    const page = await deps.guard.screenList(await deps.index.list(by), by, { raw: true });
    degraded ||= page.degraded;
    for (const { value: record, referenceOnly } of page.items) {
      if (record.kind === 'summary') continue;
      memories += 1;
      chars += record.content.length;
      found.add(record, referenceOnly);
    }
    after = page.next;
    if (after === undefined) return { sentences: found.inOrder(), memories, truncated: false, degraded };
    if (memories >= limits.memories || chars >= limits.chars || found.size >= limits.sentences)
      return { sentences: found.inOrder(), memories, truncated: true, degraded };
    await setImmediate();
  }
}

/** Each thing said once, with the memories that say it. */
class Sentences {
  readonly #byText = new Map<string, Sentence>();
  readonly #lang: 'zh' | 'en' | undefined;

  constructor(lang: 'zh' | 'en' | undefined) {
    this.#lang = lang;
  }

  get size(): number {
    return this.#byText.size;
  }

  add(record: MemoryRecord, referenceOnly: boolean): void {
    let place = 0;
    for (const sentence of sentencesOf(record.content))
      for (const text of quotable(sentence)) {
        place += 1;
        if (!this.#isWanted(text)) continue;
        // what a person said is never quoted from what somebody else repeated
        const key = `${String(referenceOnly)} ${sameWordsForm(text)}`;
        const known = this.#byText.get(key);
        this.#byText.set(key, known === undefined ? sentenceOf(record, text, place) : citing(known, record));
      }
  }

  inOrder(): readonly Sentence[] {
    return [...this.#byText.values()].sort(inTime);
  }

  #isWanted(text: string): boolean {
    if (this.#lang === undefined) return true;
    const written = language(text);
    return written === this.#lang || written === 'mixed';
  }
}

function sentenceOf(record: MemoryRecord, text: string, place: number): Sentence {
  return { text, memoryIds: [record.memory_id], atMs: Date.parse(record.event_at), place, worth: worthOf(record), terms: termsOf(text) };
}

function citing(known: Sentence, record: MemoryRecord): Sentence {
  const { memoryIds } = known;
  const cited = memoryIds.length >= CITED || memoryIds.includes(record.memory_id) ? memoryIds : [...memoryIds, record.memory_id];
  return { ...known, memoryIds: cited, worth: Math.max(known.worth, worthOf(record)) };
}

/** Important, pinned and stated things weigh more; what is in doubt weighs half. */
function worthOf(record: MemoryRecord): number {
  const importance = record.importance ?? DEFAULT_IMPORTANCE;
  const doubted = record.status === 'conflict' || (record.doubt ?? 0) > 0;
  const trusted = record.trust_tier >= INSTRUCTION_TIER;
  return (record.pinned === true ? 1 : 0.4 + 0.6 * importance) * (trusted ? 1 : 0.7) * (doubted ? 0.5 : 1);
}
