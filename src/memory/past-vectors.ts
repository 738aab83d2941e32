/** Vectors for the versions that a search as of a time brings: copies keep none, so theirs are made at the asking. Between index and fusion. */
import type { IndexHit, SearchPage, SearchSpec } from '../domain/ranking.ts';
import { mapUnscreened, type Unscreened } from '../domain/sealed.ts';
import { spacesOf } from '../providers/embedding/spaces-of.ts';
import { rankContext } from '../ranking/context.ts';
import { withSubject } from '../text/subject.ts';
import { head } from '../text/tokens.ts';
import type { MemoryDeps } from './deps.ts';

/** Texts of one search: 10 ms each with the local models. */
const MAX_TEXTS = 16;
/** What of a content its vector covers, as in the embed job. */
const CONTENT_TOKENS = 400;
const LIMIT_MS = 2_000;

/**
 * Replaces what stands in for a vector by the vector's own score, for the best 16 of the page; a hit that then has neither words nor a vector
 * is left out. While the model is away words alone speak, and `degraded` is true. Throws only the caller's own abort reason.
 */
export async function withPastVectors(
  deps: Pick<MemoryDeps, 'embedder' | 'onDegraded'>,
  page: Unscreened<SearchPage>,
  spec: SearchSpec,
  signal: AbortSignal,
): Promise<{ readonly page: Unscreened<SearchPage>; readonly degraded: boolean }> {
  const primary = rankContext(spec).similarity?.primary;
  const due: IndexHit[] = [];
  mapUnscreened(page, ({ hits }) => {
    const isServed = ({ record }: IndexHit): boolean =>
      primary !== undefined && spacesOf(deps.embedder, record).includes(primary.vector.space);
    due.push(...hits.filter((hit) => isDue(hit) && isServed(hit)).slice(0, MAX_TEXTS));
  });
  const made = new Map<IndexHit, number>();
  let degraded = false;
  if (primary !== undefined && due.length > 0) {
    const either = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
    try {
      const vectors = await deps.embedder.embed(primary.vector.space, due.map(textOf), 'passage', either);
      due.forEach((hit, i) => {
        const vector = vectors[i];
        if (vector !== undefined) made.set(hit, (primary.boost * (1 + cosine(vector, primary.vector.vector))) / 2);
      });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      deps.onDegraded?.('vector', error);
      degraded = true;
    }
  }
  const scored = (hit: IndexHit): readonly IndexHit[] => {
    const vector = made.get(hit);
    if (vector === undefined) return isDue(hit) && hit.named['lex'] === undefined ? [] : [hit];
    const { due: standIn = 0, ...named } = hit.named;
    return [{ ...hit, named, score: hit.score - standIn + vector }];
  };
  return { page: mapUnscreened(page, ({ hits, tookMs }) => ({ hits: hits.flatMap(scored), tookMs })), degraded };
}

const isDue = (hit: IndexHit): boolean => hit.named['due'] !== undefined;

function textOf({ record: { title, subject, content } }: IndexHit): string {
  const own = head(withSubject(subject, content), CONTENT_TOKENS);
  return title === undefined ? own : `${title}\n${own}`;
}

function cosine(a: readonly number[] | Float32Array, b: readonly number[] | Float32Array): number {
  let [dot, lengthA, lengthB] = [0, 0, 0];
  for (let i = 0; i < a.length; i += 1) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    dot += x * y;
    lengthA += x * x;
    lengthB += y * y;
  }
  return dot / (Math.sqrt(lengthA * lengthB) || 1);
}
