/** Embeds a batch of records space by space; one refused text costs its own record a try and nobody else. */
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
  /** The last refusal. */
  rejected: EmbeddingRejected | undefined;
}

/** Texts of one call: bounds memory and the time until a stop is heeded. */
const TEXTS_PER_CALL = 64;

/**
 * `results` has every record, with the spaces that are done. An outage ends the work early and is returned; so does the signal, between
 * calls. Anything else that the provider throws is thrown.
 */
export async function embedAll<W extends EmbedWork>(
  embedder: Pick<EmbeddingProvider, 'embed'>,
  works: readonly W[],
  signal: AbortSignal,
): Promise<{ readonly results: ReadonlyMap<W, Embedded>; readonly outage: EmbeddingUnavailable | undefined }> {
  const results = new Map(works.map((work): [W, Embedded] => [work, { vectors: new Map(), rejected: undefined }]));
  const spaces = [...new Set(works.flatMap((work) => work.spaces))];
  try {
    for (const space of spaces) {
      for (const group of groups(works.filter((work) => work.spaces.includes(space)))) {
        if (signal.aborted) return { results, outage: undefined };
        await embedGroup(embedder, space, group, results);
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
    if (!(error instanceof EmbeddingRejected)) throw error;
    const [only, ...more] = group;
    if (more.length > 0) {
      for (const work of group) await embedGroup(embedder, space, [work], results);
      return;
    }
    const result = only === undefined ? undefined : results.get(only);
    if (result !== undefined) result.rejected = error;
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
