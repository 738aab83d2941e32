/** Data that flows through ranking: the profile, the search specification, hits as the index returns and ranking orders them. */
import type { MemoryRecord, Status } from './memory.ts';
import type { Filter } from './wire/common.ts';

/** Boosts in engine units (parts of `_score`) and calibration: policies/ranking/<name>.yaml. */
export interface RankingProfile {
  readonly name: string;
  readonly version: number;
  readonly description: string;
  /** `hybrid`: calibrated sum of signals. Others name a seed formula applied in the service to the candidates. */
  readonly formula: string;
  /** Candidates the one query brings; the service cuts to top_k. */
  readonly candidates: number;
  /** Boosts inside the one query, in engine units. */
  readonly boosts: Readonly<Record<string, number>>;
  /** Weights of the calibrated sum, by signal name (ranking/signals). */
  readonly weights: Readonly<Record<string, number>>;
  /** Half-life of recency, days. */
  readonly halfLifeDays: number;
  /** lex / (lex + lexicalSaturation). */
  readonly lexicalSaturation: number;
  /** Calibrated score under which a hit is not relevant. */
  readonly floor: number;
  /** The same where scores lie elsewhere; absent: the floor holds for all. */
  readonly floors?: Floors;
  /** When a cross-encoder is asked, and how much it counts; absent: never. */
  readonly rerank?: RerankRule;
}

export interface Floors {
  /** Questions of three or more sentences. */
  readonly long: number;
  /** Records in Latin script under a Chinese question. */
  readonly latin: number;
  /** The reverse. */
  readonly han: number;
}

export interface RerankRule {
  /** It is asked where the first two scores are closer than this. */
  readonly margin: number;
  /** Of its relevance (0..1) in the calibrated sum. */
  readonly weight: number;
  /** Hits that it reads at most. */
  readonly candidates: number;
}

/** One ready query vector for one space. */
export interface QueryVector {
  readonly space: string;
  readonly field: string;
  readonly vector: readonly number[] | Float32Array;
  readonly boost: number;
  /** cosine to unit: clip((cos - offset) / scale). */
  readonly calibration: { readonly offset: number; readonly scale: number; readonly generic?: true };
}

/** What the one query is made of; everything is data, nothing is read from outside. */
export interface SearchSpec {
  readonly query: string;
  /** Another wording of the question: its words, codes, phrases, names and dates count as those of `query` do. */
  readonly also?: string;
  /** First = the unnamed knn clause; a second is named. Empty while the embedder is away. Of two wordings in one space the mean. */
  readonly vectors: readonly QueryVector[];
  readonly filter: Filter;
  readonly profile: RankingProfile;
  readonly topK: number;
  /** Origin of recency and time words, ms. */
  readonly askedAtMs: number;
  readonly taskId: string | undefined;
  readonly taskType: string | undefined;
  /** True when the namespaces searched hold passages: adds the named nested knn clause. */
  readonly passages: boolean;
  /** False: no record of the namespaces searched has a summary, so that there is nothing to ask of them. */
  readonly summaries?: boolean;
  /**
   * True: of a record with a vector in both spaces each is told by itself, as an explanation wants; costs the second space's search once more.
   * False: nobody wants one, and parts come without sentences.
   */
  readonly explain?: boolean;
  /** Of the candidates these alone, each scored as among all; for why-not. */
  readonly only?: readonly string[];
  /** What was held then, earlier versions among it; the scope says what of it may be seen now. */
  readonly asOf?: AsOf;
}

/** A time, ms, and the statuses in which a version counted then. */
export interface AsOf {
  readonly ms: number;
  readonly statuses: readonly Status[];
}

/** A record as a search brings it: everything screen and ranking read; vectors and lexical fields left out. */
export type HitRecord = Pick<
  MemoryRecord,
  | 'doc_type'
  | 'memory_id'
  | 'tenant'
  | 'namespace'
  | 'owner'
  | 'visibility'
  | 'layer'
  | 'kind'
  | 'subject'
  | 'topic'
  | 'task_id'
  | 'task_type'
  | 'session_id'
  | 'turn'
  | 'title'
  | 'content'
  | 'summary'
  | 'tags'
  | 'importance'
  | 'confidence'
  | 'access_level'
  | 'created_at'
  | 'occurred_at'
  | 'event_at'
  | 'expires_at'
  | 'trust_tier'
  | 'origin'
  | 'guard'
  | 'status'
  | 'version'
  | 'fingerprint'
  | 'valid_from'
  | 'valid_to'
  | 'supersedes'
  | 'superseded_by'
  | 'conflict_with'
  | 'doubt'
  | 'feedback'
>;

export interface IndexHit {
  readonly record: HitRecord;
  /** Elasticsearch `_score`. */
  readonly score: number;
  /** Scores of the named clauses (lex, spk, date, knn_<space>, passage). */
  readonly named: Readonly<Record<string, number>>;
  readonly passage?: string;
}

export interface SearchPage {
  readonly hits: readonly IndexHit[];
  /** Milliseconds Elasticsearch reports. */
  readonly tookMs: number;
}

/** One signal's part in a calibrated score. */
export interface SignalPart {
  readonly signal: string;
  readonly raw: number | null;
  readonly normalised: number;
  readonly weight: number;
  readonly contribution: number;
  readonly sentence: string;
}

export interface RankedHit {
  readonly record: HitRecord;
  /** 0..1, min(1, sum of contributions). */
  readonly score: number;
  readonly engineScore: number;
  readonly parts: readonly SignalPart[];
  /** True when no vector could judge it: what its words say is then enough to be relevant. */
  readonly byWords?: true;
  readonly passage?: string;
  /** Of a question with two wordings: the BM25 of its words in each, in engine units; null where it has none of them. */
  readonly wordings?: readonly (number | null)[];
  /** Places, from 1, before and after a cross-encoder read it. */
  readonly reranked?: { readonly from: number; readonly to: number };
}
