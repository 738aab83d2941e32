/** Chinese questions of one to four characters over 500 and 5,000 memories: words that at most five memories hold, and whether one of those comes. */
import { analyze } from '../../src/text/analyze.ts';
import { hasHan } from '../../src/text/script.ts';
import { markdownTable, share } from '../report/markdown.ts';
import { Corpus } from '../support/corpus.ts';
import type { CorpusRow } from '../support/dataset.ts';
import type { HttpClient } from '../support/http-client.ts';
import { sample } from '../support/random.ts';
import { askAll } from './ask.ts';

const SIZES = [500, 5_000] as const;
const LENGTHS = [1, 2, 3, 4] as const;
const QUESTIONS = 100;
/** Of a word that more memories hold some are always found. */
const MOST_HOLDERS = 5;
const HITS = 5;
const MADE_AT_ONCE = 500;
const TIME = '2026-01-01T00:00:00Z';

export interface ShortSlice {
  readonly namespace: string;
  readonly texts: readonly string[];
}

export interface ShortFigures {
  readonly records: number;
  readonly length: number;
  readonly questions: number;
  readonly hit_5: number;
}

/** The first distinct Chinese texts of a corpus, as many as each size wants; where it has too few, made-up ones besides. */
export function shortSlices(corpus: readonly CorpusRow[], seed: number): ShortSlice[] {
  const texts = new Set(corpus.map(({ text }) => text).filter(hasHan));
  const made = new Corpus({ seed, namespaces: 1, vectors: false });
  while (texts.size < Math.max(...SIZES)) for (const { content } of made.next(MADE_AT_ONCE)) if (hasHan(content)) texts.add(content);
  return SIZES.map((size) => ({ namespace: `short.n${size}`, texts: [...texts].slice(0, size) }));
}

/** Words of a length (dictionary words; of one: characters) that one to five of the texts hold, at most 100, drawn by the seed. */
export function shortQuestions(texts: readonly string[], length: number, seed: number): string[] {
  const words = new Set(texts.flatMap((text) => (length === 1 ? analyze(text).uni : analyze(text).word)));
  const fitting = [...words].filter((word) => hasHan(word) && [...word].length === length).sort();
  const rare = fitting.filter((word) => texts.filter((text) => text.includes(word)).length <= MOST_HOLDERS);
  return sample(rare, QUESTIONS, seed);
}

export const shortDocument = (namespace: string, place: number): string => `${namespace}-${place}`;

/** Asked as a user asks, with the floor; a hit is a memory that holds the question. */
export async function shortFigures(
  client: HttpClient,
  slices: readonly ShortSlice[],
  documents: ReadonlyMap<string, string>,
  seed: number,
): Promise<ShortFigures[]> {
  const figures: ShortFigures[] = [];
  for (const { namespace, texts } of slices) {
    const textOf = new Map(texts.map((text, i) => [shortDocument(namespace, i), text]));
    for (const length of LENGTHS) {
      const questions = shortQuestions(texts, length, seed);
      const asked = questions.map((query) => ({ query, namespace, asked_at: TIME }));
      const found = await askAll(client, `${length} characters in ${texts.length}`, asked, documents);
      const right = found.filter((answer, i) =>
        answer.documents.slice(0, HITS).some((id) => textOf.get(id)?.includes(questions[i] ?? '\n')),
      );
      figures.push({ records: texts.length, length, questions: questions.length, hit_5: right.length / questions.length });
    }
  }
  return figures;
}

export function shortMarkdown(figures: readonly ShortFigures[]): string {
  const sizes = [...new Set(figures.map(({ records }) => records))];
  const cell = (records: number, length: number): string => {
    const found = figures.find((one) => one.records === records && one.length === length);
    return found === undefined ? '–' : `${share(found.hit_5)} (${found.questions})`;
  };
  return markdownTable(
    ['Chinese questions, hit@5 (questions)', ...LENGTHS.map((length) => `${length} ${length === 1 ? 'character' : 'characters'}`)],
    sizes.map((records) => [`${records} memories`, ...LENGTHS.map((length) => cell(records, length))]),
  );
}
