/** Query vectors within a time box: a search never waits longer for the model than the box allows, it goes on without vectors. */
import type { QueryVector } from '../domain/ranking.ts';
import { lastSentenceOf } from '../text/long-question.ts';
import type { MemoryDeps } from './deps.ts';

export interface VectorRequest {
  readonly query: string;
  /** Another wording of the question. */
  readonly also?: string | undefined;
  /** Spaces to search; the question's own or others. */
  readonly spaceNames: readonly string[];
  /** Share of the last sentence in the vector of a long question; 0 without it. */
  readonly lastSentence?: number | undefined;
}

/** A local query vector takes 3-5 ms (retrieval.md); a remote one that takes longer than this is as good as down. */
const EMBED_LIMIT_MS = 2_000;

/**
 * Spaces that the wordings of a question call for, the one of the unnamed clause first: that which also stands in for the others' (the en
 * space's questions look in zh besides, never the other way round).
 */
export function spacesFor({ embedder }: Pick<MemoryDeps, 'embedder'>, texts: readonly string[]): readonly string[] {
  const lists = texts.map((text) => embedder.spacesForQuery(text));
  const own = lists.flatMap((list) => list.slice(0, 1));
  const widest = lists.find((list) => own.every((space) => list.includes(space))) ?? [];
  return [...new Set([...widest, ...own])];
}

/**
 * One vector for each space, in order: of two wordings that a space is for, their mean. Undefined when the model is away, refuses a text or
 * takes too long (the caller then says `degraded: ["vector"]`). Throws only the caller's own abort reason.
 */
export async function queryVectors(
  deps: Pick<MemoryDeps, 'embedder' | 'onDegraded'>,
  { query, also, spaceNames, lastSentence = 0 }: VectorRequest,
  signal: AbortSignal,
  limitMs = EMBED_LIMIT_MS,
): Promise<readonly QueryVector[] | undefined> {
  signal.throwIfAborted();
  let either: AbortSignal | undefined;
  // timers and joined signals cost more than what is at hand
  const embed: Embed = async (space, text) => {
    const kept = deps.embedder.kept?.(space, text);
    if (kept !== undefined) return kept;
    either ??= AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
    const [vector] = await deps.embedder.embed(space, [text], 'query', either);
    if (vector === undefined) throw new Error(`no vector from space ${space}`);
    return vector;
  };
  const texts = also === undefined ? [query] : [query, also];
  const make = (name: string): Promise<QueryVector> => {
    const own = texts.filter((text) => deps.embedder.spacesForQuery(text)[0] === name);
    return spaceVector(deps, { texts: own.length > 0 ? own : texts, name, cross: own.length === 0, lastSentence }, embed);
  };
  try {
    const made = Promise.all(spaceNames.map(make));
    return await (either === undefined ? made : Promise.race([made, aborted(either)]));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    deps.onDegraded?.('vector', error);
    return undefined;
  }
}

type Embed = (space: string, text: string) => Promise<Float32Array>;

interface SpaceRequest {
  readonly texts: readonly string[];
  readonly name: string;
  /** The question's own space is another one. */
  readonly cross: boolean;
  readonly lastSentence: number;
}

async function spaceVector(
  deps: Pick<MemoryDeps, 'embedder'>,
  { texts, name, cross, lastSentence }: SpaceRequest,
  embed: Embed,
): Promise<QueryVector> {
  const space = deps.embedder.spaces.find((s) => s.name === name);
  if (space === undefined) throw new Error(`no vector space ${name}`);
  const [first, second] = await Promise.all(texts.map((text) => textVector({ text, name, lastSentence }, embed)));
  if (first === undefined) throw new Error(`no text for space ${name}`);
  const calibration = cross ? (space.crossCalibration ?? space.calibration) : space.calibration;
  const vector = second === undefined ? first : mix(first, second, 1 / 2);
  return { space: name, field: space.field, vector, boost: space.knnBoost, calibration };
}

async function textVector(
  { text, name, lastSentence }: { readonly text: string; readonly name: string; readonly lastSentence: number },
  embed: Embed,
): Promise<Float32Array> {
  const last = lastSentence > 0 ? lastSentenceOf(text) : undefined;
  const parts = last === undefined ? [text] : [text, last];
  const [whole, end] = await Promise.all(parts.map((part) => embed(name, part)));
  if (whole === undefined) throw new Error(`no vector from space ${name}`);
  return end === undefined ? whole : mix(whole, end, lastSentence);
}

/** `(1 - share) a + share b`; its length does not matter to the cosine. */
const mix = (a: Float32Array, b: Float32Array, share: number): Float32Array => a.map((x, i) => (1 - share) * x + share * (b[i] ?? 0));

/** Rejects when the signal fires: a provider that does not heed it must not hold the search. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
