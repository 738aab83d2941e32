/** What every peer is given: the documents and questions of one set, and the one model that embeds them. Pure but for reading the set. */
import { hasHan } from '../../src/text/script.ts';
import { BOOTSTRAP } from '../support/bootstrap.ts';
import { LEFT_OUT, namespaceOf, type CorpusRow, type QueryRow, type RetrievalSet } from '../support/dataset.ts';
import { fingerprintOf } from '../support/fingerprint.ts';
import { sample } from '../support/random.ts';
import { LOCAL_MODELS } from '../../src/providers/embedding/local-models.ts';

/** Depth of every ranking: recall@5, nDCG@10 and MRR look no further. */
export const DEPTH = 10;

export interface PeerDocument {
  readonly id: string;
  readonly namespace: string;
  /** What a peer stores: the speaker before the words, where the set knows one; ours gets it as `subject`. */
  readonly text: string;
}

export interface PeerJob {
  readonly set: string;
  readonly language: 'zh' | 'en';
  /** The embedder's name for the space all texts of the set lie in. */
  readonly model: string;
  readonly dims: number;
  readonly documents: readonly PeerDocument[];
  readonly queries: readonly QueryRow[];
  /** A question of nobody's, asked before any is timed. */
  readonly warmUp: string;
  /** The rows the documents were made of. */
  readonly corpus: readonly CorpusRow[];
  /** Of documents and questions. */
  readonly fingerprint: string;
}

export interface JobSize {
  /** Documents at most: whole namespaces, drawn by a fixed seed; one namespace is always taken. */
  readonly documents: number;
  /** Questions at most, drawn by a fixed seed. */
  readonly questions: number;
}

/** One set, or a sample of it, as a job. A set that holds Chinese goes to the Chinese model, which knows English too; any other to the English one. */
export function jobOf(set: RetrievalSet, size: JobSize): PeerJob {
  const namespaces = drawnNamespaces(set.corpus, size.documents);
  const corpus = set.corpus.filter((row) => namespaces.has(row.namespace));
  const asked = set.queries.filter((query) => namespaces.has(query.namespace) && !LEFT_OUT.has(query.category));
  const queries = sample(asked, size.questions, BOOTSTRAP.seed);
  const documents = corpus.map((row) => ({ id: row.id, namespace: namespaceOf(row), text: spoken(row) }));
  const language = corpus.some((row) => hasHan(row.text)) || queries.some((query) => hasHan(query.query)) ? 'zh' : 'en';
  const space = LOCAL_MODELS.find((model) => model.space.name === language)?.space;
  if (space === undefined) throw new Error(`there is no local model for ${language}`);
  return {
    set: set.name,
    language,
    model: space.name,
    dims: space.dims,
    documents,
    queries,
    warmUp: language === 'zh' ? '今天天气怎么样？' : 'What is the weather like today?',
    corpus,
    fingerprint: fingerprintOf([documents, queries, space.modelId, DEPTH]),
  };
}

/** Whole namespaces in a seeded order until the next one would not fit. */
function drawnNamespaces(corpus: readonly CorpusRow[], most: number): ReadonlySet<string> {
  const sizes = new Map<string, number>();
  for (const { namespace } of corpus) sizes.set(namespace, (sizes.get(namespace) ?? 0) + 1);
  const taken = new Set<string>();
  let total = 0;
  const order = [...sizes].sort(([a], [b]) => (fingerprintOf([BOOTSTRAP.seed, a]) < fingerprintOf([BOOTSTRAP.seed, b]) ? -1 : 1));
  for (const [namespace, count] of order) {
    if (taken.size > 0 && total + count > most) continue;
    taken.add(namespace);
    total += count;
  }
  return taken;
}

/** Chats whose text already names its speakers have a made-up one ("user+assistant"). */
function spoken({ speaker, text }: CorpusRow): string {
  return speaker === undefined || speaker.includes('+') ? text : `${speaker}: ${text}`;
}
