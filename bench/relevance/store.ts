/** Writes the small and the large namespaces of bench:relevance once and keeps them: embedding and 50,000 writes are what takes the time. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { placementOf } from '../../src/elastic/placement.ts';
import { LOCAL_ROUTING } from '../../src/providers/embedding/local-models.ts';
import { setItems, type CorpusRow } from '../support/dataset.ts';
import { embedded } from '../support/embedded.ts';
import type { BenchEngine } from '../support/engine.ts';
import { fingerprintOf } from '../support/fingerprint.ts';
import type { HttpClient } from '../support/http-client.ts';
import { batchBody, batches, inTurn, sendBatch } from '../support/import.ts';
import { progressOf } from '../support/progress.ts';
import { Random } from '../support/random.ts';
import { writeChanged } from './changed.ts';
import { CROWD_TIME, moved, type Crowd } from './crowd.ts';
import { shortDocument, type ShortSlice } from './short.ts';

export const TENANT = 'relevance';
/** Where the dev questions find their records alone, by set. */
export const smallOf = (set: string): string => `small.${set.replaceAll(/[._]/g, '-')}`;
export const LARGE = 'large.crowd';
const BASES = 'large.bases';
const BATCH = 250;

const stateSchema = z.object({ prefix: z.string(), content: z.string().optional(), documents: z.record(z.string(), z.string()) });
type State = z.output<typeof stateSchema>;
type Vectors = Readonly<Record<string, readonly number[]>>;
type Item = Readonly<Record<string, unknown>>;

export interface Slice {
  readonly set: string;
  readonly corpus: readonly CorpusRow[];
}

/** All that is written. */
export interface StoreContent {
  readonly slices: readonly Slice[];
  readonly short: readonly ShortSlice[];
  readonly crowd: Crowd;
  readonly records: number;
}

export class RelevanceStore {
  readonly #path: string;
  readonly #engine: BenchEngine;
  readonly #state: State;

  private constructor(path: string, engine: BenchEngine, state: State) {
    this.#path = path;
    this.#engine = engine;
    this.#state = state;
  }

  /** What an earlier run noted in the file, or nothing. */
  static open(path: string, engine: BenchEngine): RelevanceStore {
    const parsed = stateSchema.safeParse(readJson(path));
    return new RelevanceStore(
      path,
      engine,
      parsed.success ? parsed.data : { prefix: `benchr${fingerprintOf(path).slice(0, 8)}`, documents: {} },
    );
  }

  get prefix(): string {
    return this.#state.prefix;
  }

  get index(): string {
    return placementOf(this.prefix, TENANT).generation(1);
  }

  /** Document of each memory id, in small and large namespaces alike. */
  get documents(): ReadonlyMap<string, string> {
    return new Map(Object.entries(this.#state.documents));
  }

  /** Is this very content there? If not, what there is goes; call it before the service starts. */
  async holds(content: StoreContent): Promise<boolean> {
    const count = await this.#engine.countIfThere(this.index);
    if (this.#state.content === markOf(content) && (count ?? 0) >= content.records) return true;
    await this.#engine.dropIndices(`${placementOf(this.prefix, TENANT).memory}-*`);
    this.#state.documents = {};
    delete this.#state.content;
    return false;
  }

  /** Small namespaces and base texts first, embedded by the service; then the crowd with vectors taken from them. */
  async write(client: HttpClient, content: StoreContent): Promise<void> {
    const { slices, short, crowd, records } = content;
    const items = slices.flatMap(({ set, corpus }) => setItems(corpus).map(({ documentId, item }) => ({ documentId, item, set })));
    await this.#send(
      client,
      'small namespaces',
      items.map(({ item, set, documentId }) => ({ item: { ...item, namespace: smallOf(set) }, documentId })),
      1,
    );
    const plain = (content: string, namespace: string): Item => ({ content, namespace, occurred_at: CROWD_TIME, admission: 'keep' });
    await this.#send(
      client,
      'base texts',
      crowd.bases.map((text) => ({ item: plain(text, BASES) })),
      2,
    );
    await this.#send(
      client,
      'what is known',
      crowd.known.map(({ id, content }) => ({ item: plain(content, LARGE), documentId: id })),
      2,
    );
    for (const { namespace, texts } of short)
      await this.#send(
        client,
        `${texts.length} Chinese memories`,
        texts.map((text, i) => ({ item: plain(text, namespace), documentId: shortDocument(namespace, i) })),
        2,
      );
    for (const [id, document] of await writeChanged(client)) this.#state.documents[id] = document;
    await embedded(this.#engine, this.index, 'relevance');

    const byText = new Map<string, Vectors>();
    const byDocument = new Map<string, Vectors>();
    for await (const page of this.#engine.documents(this.index, { match_all: {} })) {
      for (const { _source: source } of page) {
        const vectors = Object.fromEntries(
          LOCAL_ROUTING.spacesForText(String(source['content'])).flatMap((space) => {
            const vector = source[`vec_${space}`];
            return Array.isArray(vector) ? [[space, vector as number[]]] : [];
          }),
        );
        if (source['namespace'] === BASES) byText.set(String(source['content']), vectors);
        const document = this.#state.documents[String(source['memory_id'])];
        if (document !== undefined) byDocument.set(document, vectors);
      }
    }
    await this.#send(
      client,
      'the same in the crowd',
      items.map(({ item, documentId }) => ({ item: { ...item, namespace: LARGE, vectors: byDocument.get(documentId) }, documentId })),
      1,
    );
    const random = new Random(records);
    const derived = [...crowd.derived()].map(({ content, base, noise }) => ({ content, noise, vectors: byText.get(base) ?? {} }));
    const told = progressOf('crowd', derived.length);
    let done = 0;
    await inTurn(batches(derived, BATCH), 2, async (batch) => {
      const body = batch.map(({ content, noise, vectors }) => ({
        ...plain(content, LARGE),
        vectors: Object.fromEntries(
          LOCAL_ROUTING.spacesForText(content).flatMap((space) => {
            const vector = vectors[space];
            return vector === undefined ? [] : [[space, moved(vector, noise, random)]];
          }),
        ),
      }));
      await sendBatch(client, batchBody(body), {}, () => undefined);
      done += batch.length;
      told(done);
    });
    this.#state.content = markOf(content);
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(this.#path, JSON.stringify(this.#state));
  }

  async #send(client: HttpClient, name: string, all: readonly { item: Item; documentId?: string }[], atOnce: number): Promise<void> {
    const told = progressOf(name, all.length);
    let done = 0;
    await inTurn(batches(all, BATCH), atOnce, async (batch) => {
      const ids = await sendBatch(client, batchBody(batch.map(({ item }) => item)), {}, () => undefined);
      for (const [i, id] of ids.entries()) {
        const document = batch[i]?.documentId;
        if (document !== undefined) this.#state.documents[id] = document;
      }
      done += batch.length;
      told(done);
    });
  }
}

const markOf = ({ slices, short, crowd: { bases, known }, records }: StoreContent): string =>
  fingerprintOf([slices.map(({ corpus }) => setItems(corpus)), short, bases, known, records]);

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined; // none yet, or cut short: write again
  }
}
