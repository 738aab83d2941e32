/** Embeds a batch of records space by space; a text that the model cannot take costs its own record a try and nobody else. */
import { setTimeout as delay } from 'node:timers/promises';
import type { StoredRecord } from '../domain/memory.ts';
import { EmbeddingRejected, EmbeddingUnavailable } from '../providers/embedding/provider.ts';
import { groupsOf, type EmbedCall } from './embed-call.ts';

export interface EmbedWork {
  readonly stored: StoredRecord;
  /** Spaces that are due and that this process can fill. */
  readonly spaces: readonly string[];
  /** The record's own text, then its passages. */
  readonly texts: readonly string[];
}

/** What came of one record. */
export interface Embedded {
  /** Vectors by space, in the order of the texts. */
  readonly vectors: Map<string, readonly Float32Array[]>;
  /** The last failure that this record's text is to blame for. */
  failed: EmbeddingRejected | EmbeddingUnavailable | undefined;
}

/** Every model has a vector for it: an endpoint that gives none is at fault itself. */
const PROBE = 'ready';

export interface BatchOptions {
  readonly signal: AbortSignal;
  /** False when no further record is to be begun. */
  readonly goOn: () => boolean;
  /** Rest before an endpoint that failed a probe is asked once more, ms. */
  readonly probePauseMs: number;
}

interface Batch<W> extends BatchOptions {
  readonly call: EmbedCall;
  readonly results: ReadonlyMap<W, Embedded>;
}

/**
 * `results` has every record, with the spaces that are done. An outage ends the work early and is returned; `goOn` ends it between two
 * calls and the signal within one, both without blame. Anything else that the provider throws is thrown.
 */
export async function embedAll<W extends EmbedWork>(
  call: EmbedCall,
  works: readonly W[],
  options: BatchOptions,
): Promise<{ readonly results: ReadonlyMap<W, Embedded>; readonly outage: EmbeddingUnavailable | undefined }> {
  const results = new Map(works.map((work): [W, Embedded] => [work, { vectors: new Map(), failed: undefined }]));
  const { signal, goOn } = options;
  const batch: Batch<W> = { ...options, call, results, goOn: () => !signal.aborted && goOn() };
  const spaces = [...new Set(works.flatMap((work) => work.spaces))];
  try {
    for (const space of spaces) {
      for (const group of groupsOf(works.filter((work) => work.spaces.includes(space)))) {
        if (batch.goOn()) await embedGroup(batch, space, group);
      }
    }
  } catch (error) {
    if (signal.aborted) return { results, outage: undefined };
    if (error instanceof EmbeddingUnavailable) return { results, outage: error };
    throw error;
  }
  return { results, outage: undefined };
}

async function embedGroup<W extends EmbedWork>(batch: Batch<W>, space: string, group: readonly W[], repeated = false): Promise<void> {
  try {
    const vectors = await batch.call(
      space,
      group.flatMap((work) => work.texts),
    );
    let from = 0;
    for (const work of group) {
      batch.results.get(work)?.vectors.set(space, vectors.slice(from, from + work.texts.length));
      from += work.texts.length;
    }
  } catch (error) {
    if (!(error instanceof EmbeddingRejected || error instanceof EmbeddingUnavailable)) throw error;
    const [only, ...more] = group;
    // A refusal of many names a text, an outage of many may be the work of one: only a record that fails alone is to blame.
    const asked = more.length === 0 || error instanceof EmbeddingUnavailable ? await probe(batch, space) : 'up';
    if (more.length > 0) {
      for (const work of group) if (batch.goOn()) await embedGroup(batch, space, [work]);
      return;
    }
    // It came back just now: the outage may have been nobody's fault, unless this text brings it about again.
    if (asked === 'back' && !repeated) return embedGroup(batch, space, group, true);
    const result = only === undefined ? undefined : batch.results.get(only);
    if (result !== undefined) result.failed = error;
  }
}

/**
 * Tells a text that the endpoint cannot take (it answers 5xx, hangs or refuses) from an endpoint that takes none. Asked twice: a local
 * worker that hung on the text is given up and is not there again for half a second; then the answer is `back`.
 * @throws EmbeddingUnavailable in the second case, also when the endpoint refuses.
 */
async function probe(batch: Pick<Batch<EmbedWork>, 'call' | 'signal' | 'probePauseMs'>, space: string): Promise<'up' | 'back'> {
  const ask = (): Promise<unknown> =>
    batch.call(space, [PROBE]).catch((error: unknown) => {
      if (error instanceof EmbeddingRejected) throw new EmbeddingUnavailable('the embedding model refuses any text', error);
      throw error;
    });
  try {
    await ask();
    return 'up';
  } catch (error) {
    if (!(error instanceof EmbeddingUnavailable)) throw error;
  }
  await delay(batch.probePauseMs, undefined, { signal: batch.signal });
  await ask();
  return 'back';
}
