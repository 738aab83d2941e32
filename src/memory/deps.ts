/** What the memory service is made of: ports, the guard, policies and clocks; compose.ts fills it, tests fill it with their own. */
import type { Clock } from '../domain/clock.ts';
import type { LanguageModel } from '../domain/language-model.ts';
import type { Reranker } from '../domain/reranker.ts';
import type {
  AccessStats,
  DirtyMarks,
  IdempotencyStore,
  MemoryIndex,
  NamespaceStore,
  SlotStore,
  TenantKeys,
  WorkingMemory,
} from '../domain/ports.ts';
import type { FeedbackStore } from '../domain/feedback.ts';
import type { RecallTrace } from '../domain/recall.ts';
import type { RankingProfile } from '../domain/ranking.ts';
import type { WorkingLimits } from '../domain/working.ts';
import type { Guard } from '../guard/guard.ts';
import type { FindSecrets } from '../guard/secrets/detect.ts';
import type { EmbeddingProvider } from '../providers/embedding/provider.ts';
import type { RelationPolicy } from './conflicts/relation-policy.ts';
import type { ContextPolicy } from './context/policy.ts';
import type { AdmissionParts } from './admission/parts.ts';
import type { LayerPolicy } from './layer-policy.ts';

export interface MemoryDeps {
  readonly index: MemoryIndex;
  readonly guard: Guard;
  readonly namespaces: NamespaceStore;
  readonly idempotency: IdempotencyStore;
  readonly stats: AccessStats;
  readonly dirty: DirtyMarks;
  readonly recalls: RecallTrace;
  readonly feedback: FeedbackStore;
  readonly embedder: Pick<EmbeddingProvider, 'spaces' | 'spacesForText' | 'spacesForQuery' | 'embed' | 'kept'>;
  /** By name; `assistant` is the default one. */
  readonly profiles: ReadonlyMap<string, RankingProfile>;
  readonly layers: LayerPolicy;
  /** Which texts are worth keeping. */
  readonly admission: AdmissionParts;
  readonly working: WorkingMemory;
  readonly workingLimits: WorkingLimits;
  /** How memory_context chooses, and its words. */
  readonly context: ContextPolicy;
  /** What duplicates and conflicts are told by. */
  readonly relations: RelationPolicy;
  /** Who says a text and holds a slot. */
  readonly slots: SlotStore;
  /** HMAC keys, each for one purpose. */
  readonly keys: {
    readonly cursor: Uint8Array;
    readonly plan: Uint8Array;
    readonly idempotency: Uint8Array;
    readonly transfer: Uint8Array;
  };
  /** Finds what is masked before anything else sees a text. */
  readonly findSecrets: FindSecrets;
  /** Seals what is kept of masked values, and opens it for reveal. */
  readonly tenantKeys: TenantKeys;
  /** Ends the keys of a tenant, here at once and in other processes within a minute. */
  deleteTenantKeys(tenant: string): Promise<{ readonly deleted: number; readonly purged: boolean }>;
  /** With one it decides between hits that are close. */
  readonly reranker?: Reranker | undefined;
  /** With one summaries are in its words. */
  readonly languageModel?: LanguageModel | undefined;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Life of a memory that names none; 0 = for ever. */
  readonly defaultTtlDays: number;
  /** What the service tells about itself. */
  readonly about: {
    readonly url: string;
    readonly version: string;
    readonly startedAtMs: number;
    readonly engine: string;
    readonly embedding: string;
    redis(): 'off' | 'ok' | 'away';
  };
  /** How many hits a search brings that does not say. */
  readonly defaultTopK: number;
  /** Tells the embed job that a tenant has due records; `waited`: somebody's answer waits for their vectors. */
  nudge(tenant: string, waited?: boolean): void;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Has work done that no answer waits for, which never throws; the signal fires when the process stops. Without it answers wait. */
  afterwards?: ((work: (signal: AbortSignal) => Promise<void>) => void) | undefined;
  /** Told when a call had to do without a part: log and metrics. */
  onDegraded?(part: string, error: unknown): void;
}
