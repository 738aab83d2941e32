/** Benign recall loss: the same sets written and asked with the guard's rules and without them, question by question. */
import { bootstrapMean, type Estimate } from '../support/bootstrap.ts';
import { documentsOf, namespaceOf, setItems, type RetrievalSet } from '../support/dataset.ts';
import type { HttpClient } from '../support/http-client.ts';
import { batchBody, batches, inTurn } from '../support/import.ts';
import { progressOf } from '../support/progress.ts';

const BATCH = 100;
const AT_ONCE = 4;
/** What a client that says nothing gets. */
const TOP_K = 5;

export interface SetAnswers {
  readonly set: string;
  readonly written: number;
  /** Items that did not become active memory, by outcome. */
  readonly heldBack: Readonly<Record<string, number>>;
  /** Share of the relevant documents among the first five hits, question by question. */
  readonly recall: readonly number[];
  /** 1 where a relevant document is among them. */
  readonly hit: readonly number[];
}

/**
 * Writes a set as an agent does for its person and asks all its questions. Namespaces are the set's own. The reader is a service of the same
 * person, whose searches leave no access counts: they would make one question's answer hang on the ones before it.
 */
export async function writeAndAsk(
  set: RetrievalSet,
  writer: HttpClient,
  reader: HttpClient,
  settled: () => Promise<void>,
): Promise<SetAnswers> {
  const place = (namespace: string): string => `${set.name.replaceAll('.', '-')}.${namespace}`;
  const items = setItems(set.corpus).map(({ documentId, item }) => ({
    documentId,
    item: { ...item, namespace: place(String(item['namespace'])) },
  }));
  const documents = new Map<string, string>();
  const heldBack: Record<string, number> = {};
  const told = progressOf(`${set.name}: import`, items.length);
  let written = 0;
  await inTurn(batches(items, BATCH), 1, async (batch) => {
    const { results } = await writer.json<{ results: { memory_id: string | null; outcome: string }[] }>({
      method: 'POST',
      path: '/v1/memories',
      body: batchBody(batch.map(({ item }) => item)),
    });
    for (const [i, { memory_id: id, outcome }] of results.entries()) {
      if (outcome !== 'stored') heldBack[outcome] = (heldBack[outcome] ?? 0) + 1;
      if (id !== null) documents.set(id, batch[i]?.documentId ?? '');
    }
    written += batch.length;
    told(written);
  });
  await settled();
  const recall: number[] = [];
  const hit: number[] = [];
  const asked = progressOf(`${set.name}: questions`, set.queries.length);
  let done = 0;
  await inTurn(set.queries, AT_ONCE, async (query, q) => {
    const body = JSON.stringify({ query: query.query, namespaces: [place(namespaceOf(query))], asked_at: query.asked_at, top_k: TOP_K });
    const answer = await reader.json<{ hits: { memory_id: string }[]; degraded: string[] }>({
      method: 'POST',
      path: '/v1/memories/search',
      body,
    });
    if (answer.degraded.length > 0) throw new Error(`a search was degraded: ${answer.degraded.join(', ')}`);
    const found = documentsOf(
      answer.hits.map(({ memory_id }) => memory_id),
      documents,
    );
    const relevant = new Set(query.relevant);
    const among = found.filter((id) => relevant.has(id)).length;
    recall[q] = among / relevant.size;
    hit[q] = among > 0 ? 1 : 0;
    done += 1;
    asked(done);
  });
  return { set: set.name, written: items.length, heldBack, recall, hit };
}

export interface LossFigures {
  readonly set: string;
  readonly written: number;
  readonly questions: number;
  readonly held_back: Readonly<Record<string, number>>;
  readonly recall_5_on: number;
  readonly recall_5_off: number;
  /** Off minus on, in points of 100, with the bootstrap interval of the paired difference. */
  readonly recall_loss_points: Estimate;
  readonly hit_loss_points: Estimate;
}

export function lossFigures(on: SetAnswers, off: SetAnswers): LossFigures {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const loss = (with_: readonly number[], without: readonly number[]): Estimate =>
    bootstrapMean(without.map((value, i) => 100 * (value - (with_[i] ?? Number.NaN))));
  return {
    set: on.set,
    written: on.written,
    questions: on.recall.length,
    held_back: on.heldBack,
    recall_5_on: mean(on.recall),
    recall_5_off: mean(off.recall),
    recall_loss_points: loss(on.recall, off.recall),
    hit_loss_points: loss(on.hit, off.hit),
  };
}

/** All questions of all sets together. */
export function overallLoss(on: readonly SetAnswers[], off: readonly SetAnswers[]): LossFigures {
  const joined = (sets: readonly SetAnswers[]): SetAnswers => ({
    set: 'all',
    written: sets.reduce((sum, { written }) => sum + written, 0),
    heldBack: sets.reduce<Record<string, number>>((all, { heldBack }) => {
      for (const [outcome, n] of Object.entries(heldBack)) all[outcome] = (all[outcome] ?? 0) + n;
      return all;
    }, {}),
    recall: sets.flatMap(({ recall }) => recall),
    hit: sets.flatMap(({ hit }) => hit),
  });
  return lossFigures(joined(on), joined(off));
}
