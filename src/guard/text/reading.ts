/** What stands where in one reading of a text: concepts, sentences and quotations, each looked for once and only when a rule asks; rules.ts decides by it. */

import type { Places, StartIndex } from './start-index.ts';

/** A place in the text, UTF-16 offsets, end exclusive. */
export type Span = readonly [start: number, end: number];

const QUOTED = /“[^”\n]{2,300}”|"[^"\n]{2,300}"|(?<![\p{L}\p{N}])'[^'\n]{2,300}'(?![\p{L}\p{N}])|「[^」\n]{2,300}」|`[^`\n]{2,300}`/gu;
/** More quotations than this are taken at their word. */
const MAX_QUOTES = 64;
/** Above what a window can hold: harmless matches in front must not use the places up. */
const MAX_SPANS = 4_096;
const HAN = /\p{Script=Han}/u;
const LATIN = /[a-z]/;
const BEYOND_ASCII = /[^\x00-\x7f]/;
const SENTENCE_END = /[。！？!?；;\n]|\.(?=\s|$)/g;

/** Letters of further scripts, or marks on Latin ones. */
const OTHER_LETTER = /[^\P{L}a-z\p{Script=Han}]/u;
/** Little words of the further languages whose patterns are in Latin letters; no sentence of theirs goes without. */
const OTHER_WORDS =
  /\b(?:aus|alles?|allen?|anweisungen|auf|das|dein[a-z]?|den|der|die|du|ein[a-z]?|gib|ich|ist|jetzt|keine?|mir|nicht|ohne|sofort|und|von|zeig|zu|avec|ce|ces|consignes|de|des|donn[a-z]{1,24}|est|et|instructions syst|la|le|les|mes|moi|mot|ne|nouvelles|pas|pour|que|sans|ses|si|sur|tes|toi|ton|toujours|tout[a-z]{0,24}|tu|un|une|vos|votre|vous|al|con|del|el|en|es|esta|instrucciones|las|lo|los|mi|no|para|por|que|sin|su|sus|todas?|todos?|tus?|una|usted|y|che|di|gli|il|istruzioni|le|mostra|nuove|per|quelle|senza|sono|tua|tuo|tutte|tutti|parola)\b/;

export type Language = 'en' | 'zh' | 'xx' | 'any';

/** Whether patterns of a language can find anything in a text: those of the other languages are passed over in plain English and Chinese. */
const MAY_SPEAK: Readonly<Record<Language, (text: string) => boolean>> = {
  any: () => true,
  zh: (text) => HAN.test(text),
  en: (text) => LATIN.test(text),
  xx: (text) => (BEYOND_ASCII.test(text) && ((HAN.test(text) && LATIN.test(text)) || OTHER_LETTER.test(text))) || OTHER_WORDS.test(text),
};

/** The patterns of one concept in one language. */
export interface Concept {
  readonly language: Language;
  /** Sticky where the index knows its beginnings, else global. */
  readonly pattern: RegExp;
  /** Its number in the index. */
  readonly number: number;
}

export interface CompiledConcepts {
  readonly concepts: readonly (readonly Concept[])[];
  readonly starts: StartIndex;
}

const NOWHERE: readonly Span[] = [];

/** One reading while its rules are tried. */
export class Reading {
  readonly text: string;
  readonly #concepts: readonly (readonly Concept[])[];
  readonly #places: Places;
  readonly #languages: Partial<Record<Language, boolean>> = {};
  readonly #spans: (readonly Span[] | undefined)[];
  readonly #quotesCount: boolean;
  #ends: readonly number[] | undefined;
  #quotes: readonly Span[] | undefined;

  constructor(text: string, { concepts, starts }: CompiledConcepts, quotesCount: boolean) {
    this.text = text;
    this.#concepts = concepts;
    this.#places = starts.placesIn(text);
    this.#spans = new Array<readonly Span[] | undefined>(concepts.length);
    this.#quotesCount = quotesCount;
  }

  /** Where the concept stands, in the order of the text, overlapping places as one. */
  spans(concept: number): readonly Span[] {
    const known = this.#spans[concept];
    if (known !== undefined) return known;
    let found = NOWHERE;
    for (const { language, pattern, number } of this.#concepts[concept] ?? []) {
      if (!this.#mayMatch(pattern, number) || !this.#speaks(language)) continue;
      const here = pattern.global ? spansOf(this.text, pattern, MAX_SPANS) : spansAt(this.text, pattern, this.#places, number);
      found = found.length === 0 ? here : here.length === 0 ? found : [...found, ...here];
    }
    if (found.length > 1) found = disjoint([...found]);
    this.#spans[concept] = found;
    return found;
  }

  #speaks(language: Language): boolean {
    return (this.#languages[language] ??= MAY_SPEAK[language](this.text));
  }

  #mayMatch(pattern: RegExp, number: number): boolean {
    return pattern.global || this.#places.count(number) > 0;
  }

  /** False only when the concept stands nowhere, told without trying its patterns. */
  mayHave(concept: number): boolean {
    for (const { pattern, number } of this.#concepts[concept] ?? []) if (this.#mayMatch(pattern, number)) return true;
    return false;
  }

  has(concept: number): boolean {
    return this.spans(concept).length > 0;
  }

  /** Ends of sentences, ascending; the last one is the end of the text. */
  get ends(): readonly number[] {
    return (this.#ends ??= sentencesOf(this.text));
  }

  get quotes(): readonly Span[] {
    return (this.#quotes ??= this.#quotesCount ? spansOf(this.text, QUOTED, MAX_QUOTES) : NOWHERE);
  }
}

function spansOf(text: string, pattern: RegExp, limit: number): readonly Span[] {
  pattern.lastIndex = 0;
  let match = pattern.exec(text);
  if (match === null) return NOWHERE;
  const spans: Span[] = [];
  for (; match !== null && spans.length < limit; match = pattern.exec(text)) {
    spans.push([match.index, match.index + match[0].length]);
    if (match[0].length === 0) pattern.lastIndex++;
  }
  return spans;
}

/** The same for a sticky pattern whose matches begin at none but its places. */
function spansAt(text: string, pattern: RegExp, places: Places, number: number): readonly Span[] {
  const count = places.count(number);
  if (count === 0) return NOWHERE;
  const spans: Span[] = [];
  let end = 0;
  for (let i = 0; i < count && spans.length < MAX_SPANS; i += 1) {
    const at = places.at(number, i);
    if (at < end) continue;
    pattern.lastIndex = at;
    if (!pattern.test(text)) continue;
    end = pattern.lastIndex;
    spans.push([at, end]);
  }
  return spans;
}

/** In the order of the text, overlapping ones as one. */
function disjoint(spans: Span[]): readonly Span[] {
  const merged: Span[] = [];
  for (const [start, end] of spans.sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last !== undefined && start < last[1]) merged[merged.length - 1] = [last[0], Math.max(last[1], end)];
    else merged.push([start, end]);
  }
  return merged;
}

function sentencesOf(text: string): readonly number[] {
  const ends: number[] = [];
  for (const match of text.matchAll(SENTENCE_END)) ends.push(match.index + 1);
  ends.push(text.length + 1);
  return ends;
}
