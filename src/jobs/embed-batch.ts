/** Embeds a batch of records space by space; a text that the model cannot take costs its own record a try and nobody else. */
import type { StoredRecord } from '../domain/memory.ts';
import { EmbeddingRejected, EmbeddingUnavailable, type EmbeddingProvider } from '../providers/embedding/provider.ts';

export interface EmbedWork {
  readonly stored: StoredRecord;
  /** Spaces that are due. */
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

/** Texts of one call: bounds memory and the time until a stop is heeded. */
const TEXTS_PER_CALL = 64;
/** Every model has a vector for it: an endpoint that gives none is at fault itself. */
const PROBE = 'ready';

/**
 * `results` has every record, with the spaces that are done. An outage ends the work early and is returned; so does the signal, between
 * calls. Anything else that the provider throws is thrown.
 */
export async function embedAll<W extends EmbedWork>(
  embedder: Pick<EmbeddingProvider, 'embed'>,
  works: readonly W[],
  signal: AbortSignal,
): Promise<{ readonly results: ReadonlyMap<W, Embedded>; readonly outage: EmbeddingUnavailable | undefined }> {
  const results = new Map(works.map((work): [W, Embedded] => [work, { vectors: new Map(), failed: undefined }]));
  const spaces = [...new Set(works.flatMap((work) => work.spaces))];
  try {
    for (const space of spaces) {
      for (const group of groups(works.filter((work) => work.spaces.includes(space)))) {
        if (signal.aborted) return { results, outage: undefined };
        await embedGroup(embedder, space, group, results, signal);
      }
    }
  } catch (error) {
    if (error instanceof EmbeddingUnavailable) return { results, outage: error };
    throw error;
  }
  return { results, outage: undefined };
}

async function embedGroup<W extends EmbedWork>(
  embedder: Pick<EmbeddingProvider, 'embed'>,
  space: string,
  group: readonly W[],
  results: ReadonlyMap<W, Embedded>,
  signal: AbortSignal,
): Promise<void> {
  try {
    const vectors = await embedder.embed(
      space,
      group.flatMap((work) => work.texts),
      'passage',
    );
    let from = 0;
    for (const work of group) {
      results.get(work)?.vectors.set(space, vectors.slice(from, from + work.texts.length));
      from += work.texts.length;
    }
  } catch (error) {
    if (!(error instanceof EmbeddingRejected || error instanceof EmbeddingUnavailable)) throw error;
    const [only, ...more] = group;
    // A refusal of many names a text, an outage of many may be the work of one: only a record that fails alone is to blame.
    if (more.length === 0 || error instanceof EmbeddingUnavailable) await probe(embedder, space);
    if (more.length > 0) {
      for (const work of group) {
        if (signal.aborted) return;
        await embedGroup(embedder, space, [work], results, signal);
      }
      return;
    }
    const result = only === undefined ? undefined : results.get(only);
    if (result !== undefined) result.failed = error;
  }
}

/**
 * Tells a text that the endpoint cannot take (it answers 5xx, hangs or refuses) from an endpoint that takes none.
 * @throws EmbeddingUnavailable in the second case, also when the endpoint refuses.
 */
async function probe(embedder: Pick<EmbeddingProvider, 'embed'>, space: string): Promise<void> {
  try {
    await embedder.embed(space, [PROBE], 'passage');
  } catch (error) {
    if (error instanceof EmbeddingRejected) throw new EmbeddingUnavailable('the embedding model refuses any text', error);
    throw error;
  }
}

/** Whole records, as many as fit into one call; at least one. */
function* groups<W extends EmbedWork>(works: readonly W[]): Generator<readonly W[]> {
  let group: W[] = [];
  let texts = 0;
  for (const work of works) {
    if (group.length > 0 && texts + work.texts.length > TEXTS_PER_CALL) {
      yield group;
      group = [];
      texts = 0;
    }
    group.push(work);
    texts += work.texts.length;
  }
  if (group.length > 0) yield group;
}
