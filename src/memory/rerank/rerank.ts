/** A cross-encoder's second opinion on a search's best hits, between relevance and the cut to top_k; off without RERANK_URL. */
import type { RankedHit, RankingProfile, SignalPart } from '../../domain/ranking.ts';
import { unwrapped } from '../../guard/envelope.ts';
import type { ScreenedItem } from '../../guard/guard.ts';
import type { MemoryDeps } from '../deps.ts';

/** Cross-encoders read 512 tokens of question and text together; of a longer memory the passage that matched is sent. */
const MAX_DOCUMENT_UNITS = 2_000;
/** Scores are shown on this grid. */
const DIGITS = 3;
/** Where the guard has taken a hit's place from it, no model's opinion of its words brings it back. */
const HELD_DOWN: ReadonlySet<string> = new Set(['hubness', 'origin_share']);
const CONTESTED: ReadonlySet<string> = new Set(['consensus']);

export interface Reranked {
  /** Best first. */
  readonly items: readonly ScreenedItem<RankedHit>[];
  /** `rerank` where it was wanted and did not come. */
  readonly degraded: readonly string[];
}

/** What was asked (masked), by which profile, and whose call it is. */
export interface RerankRule {
  readonly query: string;
  readonly profile: Pick<RankingProfile, 'rerank'>;
  readonly signal: AbortSignal;
}

/**
 * The screened hits in the order of first score + weight x relevance. Asked only where the first two scores are closer than the profile's
 * margin: a clear winner needs no second opinion. What it reads has passed mask and screen, without the envelope. Whatever goes wrong the
 * first order stands. Source: Nogueira and Cho 2019 (re-ranking by a cross-encoder); the sum with the first score keeps dates, codes and
 * trust, which a cross-encoder does not see.
 */
export async function reranked(
  { reranker, onDegraded }: Pick<MemoryDeps, 'reranker' | 'onDegraded'>,
  items: readonly ScreenedItem<RankedHit>[],
  { query, profile: { rerank: rule }, signal }: RerankRule,
): Promise<Reranked> {
  if (reranker === undefined || rule === undefined || !isClose(items, rule.margin)) return { items, degraded: [] };
  const asked = items.slice(0, rule.candidates);
  try {
    const raw = await reranker.rerank({ query, documents: asked.map(({ value }) => documentOf(value)), signal });
    return { items: [...reordered(asked, raw, rule.weight), ...items.slice(asked.length)], degraded: [] };
  } catch (error) {
    signal.throwIfAborted();
    onDegraded?.('rerank', error);
    return { items, degraded: ['rerank'] };
  }
}

function isClose([first, second]: readonly ScreenedItem<RankedHit>[], margin: number): boolean {
  return first !== undefined && second !== undefined && totalOf(first.value) - totalOf(second.value) < margin;
}

/** The unclipped sum: of two hits that are shown as 1, one can be far ahead, as by a code. */
function totalOf({ score, parts }: RankedHit): number {
  if (score < 1) return score;
  return Math.max(
    1,
    parts.reduce((sum, { contribution }) => sum + contribution, 0),
  );
}

function documentOf({ record: { title, content }, passage }: RankedHit): string {
  const text = unwrapped(passage ?? content);
  return (title === undefined ? text : `${unwrapped(title)}\n${text}`).slice(0, MAX_DOCUMENT_UNITS);
}

function reordered(asked: readonly ScreenedItem<RankedHit>[], raw: readonly number[], weight: number): readonly ScreenedItem<RankedHit>[] {
  const hits = asked.map(({ value }) => value);
  const counted = countedOf(hits, normalised(raw));
  const rated = asked.map((item, from) => {
    const part = partOf(raw[from] ?? 0, counted[from] ?? 0, weight);
    return { item, from, part, total: totalOf(item.value) + part.contribution };
  });
  return rated
    .sort((a, b) => b.total - a.total || a.from - b.from)
    .map(({ item, from, part, total }, to) => {
      const moved = { from: from + 1, to: to + 1 };
      const value: RankedHit = { ...item.value, score: Math.min(1, total), parts: [...item.value.parts, part], reranked: moved };
      return { ...item, value };
    });
}

/** Endpoints give shares of 1 or, with raw scores, logits: one number outside of 0..1 tells which. */
function normalised(raw: readonly number[]): readonly number[] {
  return raw.every((score) => score >= 0 && score <= 1) ? raw : raw.map((score) => 1 / (1 + Math.exp(-score)));
}

/**
 * Relevance as far as it counts. Memories that contradict each other rise together, by the best of them: which of them comes first is for
 * trust and origins to say (guard.md, Read), and a text can be written to please a cross-encoder.
 */
function countedOf(hits: readonly RankedHit[], relevance: readonly number[]): readonly number[] {
  const own = hits.map((hit, i) => (hasPart(hit, HELD_DOWN) ? 0 : (relevance[i] ?? 0)));
  const contested = hits.flatMap((hit, i) => (hasPart(hit, CONTESTED) ? [i] : []));
  const held = contested.some((i) => hits[i] !== undefined && hasPart(hits[i], HELD_DOWN));
  const best = held ? 0 : Math.max(0, ...contested.map((i) => own[i] ?? 0));
  return own.map((score, i) => (contested.includes(i) ? best : score));
}

function hasPart({ parts }: RankedHit, signals: ReadonlySet<string>): boolean {
  return parts.some(({ signal }) => signals.has(signal));
}

function partOf(raw: number, counted: number, weight: number): SignalPart {
  const contribution = Number((counted * weight).toFixed(DIGITS));
  const sentence = `A cross-encoder that read it with the question gives it ${Number(raw.toPrecision(3))}`;
  return { signal: 'rerank', raw, normalised: counted, weight, contribution, sentence };
}
