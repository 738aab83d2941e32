/** The imported sets of a quality run, kept between runs: embedding them is what takes the time, so a set is written again only when its rows or the write path changed. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { placementOf } from '../../src/elastic/placement.ts';
import { setItems, type RetrievalSet } from '../support/dataset.ts';
import type { BenchEngine } from '../support/engine.ts';
import { fingerprintOf, sourceFingerprint } from '../support/fingerprint.ts';
import type { HttpClient } from '../support/http-client.ts';
import { batchBody, batches, inTurn, sendBatch } from '../support/import.ts';
import { progress, progressOf } from '../support/progress.ts';

/** Whatever decides what a written record looks like in the index. */
const WRITE_PATH = ['mappings/memory.json', 'src/text', 'src/memory', 'src/jobs', 'src/providers/embedding', 'src/elastic/mappings.ts'];
const BATCH = 250;

const stateSchema = z.object({
  prefix: z.string(),
  sets: z.record(z.string(), z.object({ fingerprint: z.string(), documents: z.record(z.string(), z.string()) })),
});
type State = z.output<typeof stateSchema>;

/** One tenant a set: sets never meet in an index, so a figure does not hang on which others were asked for. */
export const tenantOf = (set: string): string => set.replaceAll('.', '-');

export class StoredSets {
  readonly #path: string;
  readonly #engine: BenchEngine;
  readonly #state: State;

  private constructor(path: string, engine: BenchEngine, state: State) {
    this.#path = path;
    this.#engine = engine;
    this.#state = state;
  }

  /** Reads what earlier runs noted in the file; a missing or foreign file means that nothing is stored. */
  static open(path: string, engine: BenchEngine): StoredSets {
    const parsed = stateSchema.safeParse(readJson(path));
    const fresh = { prefix: `benchq${Math.random().toString(36).slice(2, 8)}`, sets: {} };
    return new StoredSets(path, engine, parsed.success ? parsed.data : fresh);
  }

  /** Index prefix of all runs with this file. */
  get prefix(): string {
    return this.#state.prefix;
  }

  /** Memory index of a set. */
  index(set: string): string {
    return placementOf(this.prefix, tenantOf(set)).generation(1);
  }

  /**
   * Which sets have to be written; their old indices are removed, so call it before the service starts. `trust`: also keep sets that an
   * older write path wrote.
   */
  async stale(sets: readonly RetrievalSet[], trust: boolean): Promise<RetrievalSet[]> {
    const stale: RetrievalSet[] = [];
    for (const set of sets) {
      const stored = this.#state.sets[set.name];
      const wanted = fingerprint(set);
      const fits =
        stored !== undefined && (trust ? stored.fingerprint.split('-')[0] === wanted.split('-')[0] : stored.fingerprint === wanted);
      if (fits && (await this.#engine.countIfThere(this.index(set.name))) === Object.keys(stored.documents).length) {
        progress(`${set.name}: stored by an earlier run`);
        continue;
      }
      await this.#engine.dropIndices(`${placementOf(this.prefix, tenantOf(set.name)).memory}-*`);
      delete this.#state.sets[set.name];
      stale.push(set);
    }
    this.#save();
    return stale;
  }

  /** Writes a set through the service. One call at a time: the turns of a session follow each other. */
  async write(set: RetrievalSet, client: HttpClient): Promise<void> {
    const items = setItems(set.corpus);
    const documents: Record<string, string> = {};
    let done = 0;
    const told = progressOf(`${set.name}: import`, items.length);
    await inTurn(batches(items, BATCH), 1, async (batch) => {
      const held = (index: number): void =>
        progress(`${set.name}: the guard holds back ${batch[index]?.documentId ?? ''}; no search finds it`);
      const ids = await sendBatch(client, batchBody(batch.map(({ item }) => item)), {}, held);
      for (const [i, id] of ids.entries()) documents[id] = batch[i]?.documentId ?? '';
      done += batch.length;
      told(done);
    });
    this.#state.sets[set.name] = { fingerprint: fingerprint(set), documents };
    this.#save();
  }

  /** Document of each memory id of a set. */
  documents(set: string): ReadonlyMap<string, string> {
    return new Map(Object.entries(this.#state.sets[set]?.documents ?? {}));
  }

  #save(): void {
    mkdirSync(dirname(this.#path), { recursive: true });
    const draft = `${this.#path}.${process.pid}`;
    writeFileSync(draft, JSON.stringify(this.#state));
    renameSync(draft, this.#path);
  }
}

/** Of what is sent to the service, and of what it makes of it. */
function fingerprint(set: RetrievalSet): string {
  return `${fingerprintOf(setItems(set.corpus))}-${sourceFingerprint(WRITE_PATH)}`;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined; // none yet, or cut short: write again
  }
}
