/** What search and context say to questions that a namespace answers, and to strangers' questions: of its own set, of another one, in the other language. */
import { hasHan } from '../../src/text/script.ts';
import { markdownTable, share } from '../report/markdown.ts';
import type { HttpClient } from '../support/http-client.ts';
import { inTurn } from '../support/import.ts';
import { progressOf } from '../support/progress.ts';
import { askAll, type Found, type Question } from './ask.ts';

const AT_ONCE = 2;

const STRANGERS = ['same set', 'another set', 'another language'] as const;
type Stranger = (typeof STRANGERS)[number];

export interface Verdicts {
  readonly set: string;
  /** Of the questions whose answer a search without a floor finds, the share that comes back empty. */
  readonly lost: { readonly search: number; readonly context: number };
  /** Of the strangers' questions, how many, and the share that comes back empty. */
  readonly empty: readonly { readonly of: Stranger; readonly questions: number; readonly search: number; readonly context: number }[];
}

/** One set's namespace: what it answers, with what was found of it, and the strangers' questions in the namespace. */
export interface VerdictInput {
  readonly set: string;
  readonly answerable: readonly Question[];
  readonly found: readonly boolean[];
  readonly own: readonly Question[];
  readonly others: readonly Question[];
}

export async function verdictsOf(client: HttpClient, documents: ReadonlyMap<string, string>, input: VerdictInput): Promise<Verdicts> {
  const { set, answerable, found, own, others } = input;
  const asked = answerable.filter((_, i) => found[i] === true);
  const han = asked.some(({ query }) => hasHan(query));
  const strangers: Readonly<Record<Stranger, readonly Question[]>> = {
    'same set': own,
    'another set': others.filter(({ query }) => hasHan(query) === han),
    'another language': others.filter(({ query }) => hasHan(query) !== han),
  };
  const emptyShares = async (name: string, questions: readonly Question[]): Promise<{ search: number; context: number }> => {
    const search = await askAll(client, `${set}: ${name}`, questions, documents);
    const context = await contexts(client, `${set}: context, ${name}`, questions);
    const shareOf = (verdicts: readonly Pick<Found, 'nothingRelevant'>[]): number =>
      verdicts.filter(({ nothingRelevant }) => nothingRelevant).length / Math.max(1, questions.length);
    return { search: shareOf(search), context: shareOf(context) };
  };
  const lost = await emptyShares('answerable', asked);
  const empty: Verdicts['empty'][number][] = [];
  for (const of of STRANGERS) {
    const questions = strangers[of];
    if (questions.length > 0) empty.push({ of, questions: questions.length, ...(await emptyShares(of, questions)) });
  }
  return { set, lost, empty };
}

async function contexts(client: HttpClient, name: string, questions: readonly Question[]): Promise<{ nothingRelevant: boolean }[]> {
  const verdicts: { nothingRelevant: boolean }[] = [];
  const told = progressOf(name, questions.length);
  let done = 0;
  await inTurn(questions, AT_ONCE, async ({ query, namespace, asked_at }, i) => {
    const body = JSON.stringify({ query, namespaces: [namespace], asked_at });
    const answer = await client.json<{ context: string; degraded: string[] }>({ method: 'POST', path: '/v1/context', body });
    if (answer.degraded.length > 0) throw new Error(`a context was degraded: ${answer.degraded.join(', ')}`);
    verdicts[i] = { nothingRelevant: answer.context === '' };
    told((done += 1));
  });
  return verdicts;
}

export function verdictsMarkdown(all: readonly Verdicts[]): string {
  const rows = all.flatMap(({ set, lost, empty }) => [
    [set, 'answers lost', '', share(lost.search), share(lost.context)],
    ...empty.map(({ of, questions, search, context }) => [set, `strangers: ${of}`, String(questions), share(search), share(context)]),
  ]);
  return markdownTable(['comes back empty', 'questions', 'number', 'search', 'context'], rows);
}
