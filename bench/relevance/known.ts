/** Codes, numbers, names and quoted phrases among many memories that look alike: how often the one memory that holds them is among the first three. */
import { markdownTable, share } from '../report/markdown.ts';
import type { Found, Question } from './ask.ts';
import { CROWD_TIME, KINDS, type Known } from './crowd.ts';
import type { Kind, Language } from './patterns.ts';
import { LARGE } from './store.ts';

const HITS = 3;

type Ask = (name: string, questions: readonly Question[], more?: Readonly<Record<string, unknown>>) => Promise<Found[]>;

export interface KnownFigures {
  readonly kind: Kind;
  readonly language: Language;
  readonly questions: number;
  readonly hit_3: number;
  /** The same with a weight of 0 for what has to be found to the letter. */
  readonly without_exact: number;
  /** Questions whose answer came back as nothing relevant. */
  readonly under_floor: number;
}

export async function knownFigures(ask: Ask, known: readonly Known[]): Promise<KnownFigures[]> {
  const questions = known.map(({ question }) => ({ query: question, namespace: LARGE, asked_at: CROWD_TIME }));
  const found = await ask('what is known', questions);
  const before = await ask('what is known, without exact', questions, { weights: { exact: 0 } });
  return KINDS.flatMap((kind) =>
    (['zh', 'en'] as const).flatMap((language): KnownFigures[] => {
      const own = known.flatMap((one, i) => (one.kind === kind && one.language === language ? [i] : []));
      if (own.length === 0) return [];
      const hit = (answers: readonly Found[]): number =>
        own.filter((i) => answers[i]?.documents.slice(0, HITS).includes(known[i]?.id ?? '')).length / own.length;
      const underFloor = own.filter((i) => found[i]?.nothingRelevant === true).length;
      return [{ kind, language, questions: own.length, hit_3: hit(found), without_exact: hit(before), under_floor: underFloor }];
    }),
  );
}

export function knownMarkdown(figures: readonly KnownFigures[], records: number): string {
  return markdownTable(
    [`known among ${records}, hit@3`, 'language', 'questions', 'assistant', 'without exact', 'held to be irrelevant'],
    figures.map(({ kind, language, questions, hit_3: hit, without_exact: without, under_floor: under }) => [
      kind,
      language,
      String(questions),
      share(hit),
      share(without),
      String(under),
    ]),
  );
}
