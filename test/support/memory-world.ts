/** The memory gateway over the in-process index, with the real guard, policies and ranking, a clock to be moved and an embedder to be switched off. */
import { join } from 'node:path';
import type { FeedbackStore, KeptFeedback } from '../../src/domain/feedback.ts';
import type { IdempotencyClaim, IdempotencyStore, NamespaceRecord, NamespaceStore } from '../../src/domain/ports.ts';
import type { Principal } from '../../src/domain/principal.ts';
import type { Guard, GuardOptions } from '../../src/guard/guard.ts';
import { loadSecretFinder } from '../../src/guard/secrets/policy.ts';
import { admissionSchema, compileAdmission } from '../../src/memory/admission/policy.ts';
import { loadContextPolicy } from '../../src/memory/context/policy.ts';
import { createMemoryGateway } from '../../src/memory/create-gateway.ts';
import type { MemoryDeps } from '../../src/memory/deps.ts';
import type { CallContext, MemoryGateway } from '../../src/memory/gateway.ts';
import { loadRelationPolicy } from '../../src/memory/conflicts/relation-policy.ts';
import { layerPolicySchema } from '../../src/memory/layer-policy.ts';
import { processWorkingMemory } from '../../src/memory/working/in-process.ts';
import { workingPolicySchema } from '../../src/memory/working/policy.ts';
import { createRecallTrace } from '../../src/memory/recall/trace.ts';
import { createUuidV7 } from '../../src/memory/uuid.ts';
import { loadPolicy } from '../../src/policy.ts';
import {
  EmbeddingRejected,
  EmbeddingUnavailable,
  type EmbeddingProvider,
  type VectorSpace,
} from '../../src/providers/embedding/provider.ts';
import { processDirtyMarks } from '../../src/redis/dirty-marks.ts';
import { loadProfiles } from '../../src/ranking/profile.ts';
import { hasHan, hasLatinWord } from '../../src/text/script.ts';
import { createTestMemoryIndex, type TestMemoryIndex } from './memory-index.ts';
import { testTenantKeys } from './key-rings.ts';
import { createTestRecallStore } from './recall-store.ts';
import { principal } from './principals.ts';
import { createTestSlots, type TestSlots } from './slots.ts';
import { testGuard } from './records.ts';

const policies = join(import.meta.dirname, '..', '..', 'policies');
const DIMS = 64;

export interface TestEmbedder extends EmbeddingProvider {
  /** 'up', away, never answering, or refusing texts that hold this word. */
  state: 'up' | 'away' | 'silent' | { readonly refuses: string };
  readonly asked: { readonly space: string; readonly texts: readonly string[]; readonly kind: string }[];
}

/** A bag of words hashed into 64 dimensions: texts with common words are near each other. */
export function createTestEmbedder(): TestEmbedder {
  const space = (name: string): VectorSpace => ({
    name,
    field: `vec_${name}`,
    modelId: `test-${name}`,
    dims: DIMS,
    calibration: { offset: 0, scale: 1 },
    knnBoost: 100,
  });
  const embedder: TestEmbedder = {
    state: 'up',
    asked: [],
    profile: 'local',
    spaces: [space('zh'), space('en')],
    spacesForText: (text) => (hasLatinWord(text) ? ['zh', 'en'] : ['zh']),
    spacesForQuery: (text) => (hasHan(text) ? ['zh'] : ['en', 'zh']),
    embed: async (name, texts, kind, signal) => {
      embedder.asked.push({ space: name, texts, kind });
      if (embedder.state === 'away') throw new EmbeddingUnavailable('switched off');
      if (embedder.state === 'silent')
        return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
      const { refuses } = embedder.state === 'up' ? { refuses: undefined } : embedder.state;
      const guilty = refuses === undefined ? -1 : texts.findIndex((text) => text.includes(refuses));
      if (guilty !== -1) throw new EmbeddingRejected('the model refuses this text', guilty);
      return texts.map(vectorOf);
    },
    ready: async () => undefined,
    close: async () => undefined,
  };
  return embedder;
}

export function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(DIMS).fill(0.01);
  for (const token of text.toLowerCase().match(/\p{Script=Han}|\p{L}+/gu) ?? []) {
    let hash = 7;
    for (const char of token) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 9973;
    vector[hash % DIMS] = (vector[hash % DIMS] ?? 0) + 1;
  }
  const norm = Math.hypot(...vector);
  return vector.map((x) => x / norm);
}

export interface World {
  readonly memory: MemoryGateway;
  readonly deps: MemoryDeps;
  readonly index: TestMemoryIndex;
  readonly slots: TestSlots;
  readonly embedder: TestEmbedder;
  readonly guard: Guard;
  readonly nudged: string[];
  readonly accessed: string[];
  readonly time: { nowMs: number };
  /** A call by this principal; `ann` as a user unless said otherwise. */
  call(by?: Principal, more?: Partial<CallContext>): CallContext;
}

export function createWorld(options: { readonly guard?: Partial<GuardOptions>; readonly deps?: Partial<MemoryDeps> } = {}): World {
  const time = { nowMs: Date.parse('2026-03-01T12:00:00.000Z') };
  const clock = (): number => time.nowMs;
  const index = createTestMemoryIndex(clock);
  const slots = createTestSlots(clock);
  const embedder = createTestEmbedder();
  const guard = testGuard({ clock, ...options.guard });
  const nudged: string[] = [];
  const accessed: string[] = [];
  const workingLimits = loadPolicy(join(policies, 'working.yaml'), workingPolicySchema);
  const keys = testTenantKeys(clock);
  const deps: MemoryDeps = {
    index,
    guard,
    namespaces: namespaceStore(),
    idempotency: idempotencyStore(),
    stats: { record: (_tenant, ids) => void accessed.push(...ids) },
    dirty: processDirtyMarks(),
    feedback: feedbackStore(),
    recalls: createRecallTrace({
      store: createTestRecallStore(clock),
      keys: keys.tenantKeys,
      on: true,
      after: () => () => undefined, // whoever reads it has it written first
      onState: () => undefined,
      onDropped: () => undefined,
    }),
    embedder,
    profiles: loadProfiles(join(policies, 'ranking')),
    context: loadContextPolicy(policies),
    layers: loadPolicy(join(policies, 'layers.yaml'), layerPolicySchema),
    admission: { policy: compileAdmission(loadPolicy(join(policies, 'admission.yaml'), admissionSchema)) },
    working: processWorkingMemory({ clock, limits: workingLimits }),
    workingLimits,
    relations: loadRelationPolicy(policies),
    slots,
    keys: { cursor: Buffer.alloc(32, 1), plan: Buffer.alloc(32, 2), idempotency: Buffer.alloc(32, 3), transfer: Buffer.alloc(32, 4) },
    findSecrets: loadSecretFinder(join(policies, 'guard')),
    ...keys,
    clock,
    newId: createUuidV7(clock),
    defaultTtlDays: 0,
    defaultTopK: 5,
    about: { url: 'http://test', version: '1.2.3', startedAtMs: 0, engine: 'test engine', embedding: 'test models', redis: () => 'off' },
    nudge: (tenant) => void nudged.push(tenant),
    sleep: async (ms) => void (time.nowMs += ms),
    ...options.deps,
  };
  return {
    memory: createMemoryGateway(deps),
    deps,
    index,
    slots,
    embedder,
    guard,
    nudged,
    accessed,
    time,
    call: (by = principal(), more = {}) => ({
      principal: by,
      traceId: 'trace',
      signal: new AbortController().signal,
      idempotencyKey: undefined,
      route: 'test',
      ...more,
    }),
  };
}

function feedbackStore(): FeedbackStore {
  const kept = new Map<string, KeptFeedback>();
  return {
    update: async (tenant, memoryId, change) => {
      const key = `${tenant}|${memoryId}`;
      const next = change(kept.get(key));
      if (next !== undefined) kept.set(key, next);
      return kept.get(key);
    },
  };
}

function namespaceStore(): NamespaceStore {
  const records = new Map<string, NamespaceRecord>();
  const store: NamespaceStore = {
    ensure: async (tenant, namespace, owner) => {
      const key = `${tenant}|${namespace}`;
      const record = records.get(key) ?? {
        tenant,
        namespace,
        generation: 1,
        owner,
        scenario: 'assistant',
        collect: namespace.endsWith('.silent') ? ('off' as const) : ('on' as const),
        created_at: '2026-03-01T12:00:00.000Z',
      };
      records.set(key, record);
      return record;
    },
    get: async (tenant, namespace) => records.get(`${tenant}|${namespace}`),
    setCollect: async (tenant, namespace, owner, collect) => {
      const record = { ...(await store.ensure(tenant, namespace, owner)), collect };
      records.set(`${tenant}|${namespace}`, record);
      return record;
    },
  };
  return store;
}

function idempotencyStore(): IdempotencyStore {
  const claims = new Map<string, { payload: string; memoryIds: readonly string[]; answer?: unknown }>();
  return {
    claim: async (key, payload, memoryIds): Promise<IdempotencyClaim> => {
      const known = claims.get(key);
      if (known === undefined) {
        claims.set(key, { payload, memoryIds });
        return { state: 'new', memoryIds };
      }
      return known.payload === payload ? { state: 'repeat', memoryIds: known.memoryIds, answer: known.answer } : { state: 'mismatch' };
    },
    finish: async (key, answer) => {
      const known = claims.get(key);
      if (known !== undefined) known.answer = answer;
    },
    release: async () => undefined,
    withdraw: async (key) => void claims.delete(key),
    sweep: async () => 0,
  };
}
