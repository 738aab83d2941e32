/** The memory gateway with everything real behind it: Elasticsearch, the local models in their thread, stores, embed job and worker. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openTenantKeys } from '../../src/compose/keys.ts';
import { systemClock } from '../../src/domain/clock.ts';
import type { EmbedQueue } from '../../src/domain/ports.ts';
import type { Principal } from '../../src/domain/principal.ts';
import type { Guard } from '../../src/guard/guard.ts';
import { createMeetNearest } from '../../src/memory/conflicts/meet-nearest.ts';
import { createEmbedJob } from '../../src/jobs/embed.ts';
import { createWorker, type Worker } from '../../src/jobs/worker.ts';
import { loadSecretFinder } from '../../src/guard/secrets/policy.ts';
import { loadContextPolicy } from '../../src/memory/context/policy.ts';
import { createTurnLinks } from '../../src/memory/turn-links.ts';
import { createMemoryGateway } from '../../src/memory/create-gateway.ts';
import type { MemoryDeps } from '../../src/memory/deps.ts';
import type { CallContext, MemoryGateway } from '../../src/memory/gateway.ts';
import { loadRelationPolicy } from '../../src/memory/conflicts/relation-policy.ts';
import { layerPolicySchema } from '../../src/memory/layer-policy.ts';
import { admissionSchema, compileAdmission } from '../../src/memory/admission/policy.ts';
import { processWorkingMemory } from '../../src/memory/working/in-process.ts';
import { workingPolicySchema } from '../../src/memory/working/policy.ts';
import { createRecallTrace } from '../../src/memory/recall/trace.ts';
import { createUuidV7 } from '../../src/memory/uuid.ts';
import { loadPolicy } from '../../src/policy.ts';
import { LocalEmbeddingProvider } from '../../src/providers/embedding/local.ts';
import { EmbeddingUnavailable, type EmbeddingProvider } from '../../src/providers/embedding/provider.ts';
import { loadProfiles } from '../../src/ranking/profile.ts';
import { processDirtyMarks } from '../../src/redis/dirty-marks.ts';
import { createEmbedQueue } from '../../src/stores/embed-queue.ts';
import { createFeedbackStore } from '../../src/stores/feedback.ts';
import { createIdempotencyStore } from '../../src/stores/idempotency.ts';
import { createNamespaceStore } from '../../src/stores/namespaces.ts';
import { createRecallStore } from '../../src/stores/recalls.ts';
import { createSlotStore } from '../../src/stores/slots.ts';
import { createAccessStats } from '../../src/stores/stats.ts';
import { testModelsDir } from '../contract/embedding-provider-models.ts';
import { principal } from './principals.ts';
import { testGuard } from './records.ts';
import { openStore, type TestStore } from './store.ts';

const policies = join(import.meta.dirname, '..', '..', 'policies');

export interface MemoryService {
  readonly memory: MemoryGateway;
  readonly store: TestStore;
  readonly guard: Guard;
  readonly queue: EmbedQueue;
  /** True: the model cannot be reached. */
  readonly model: { away: boolean; readonly texts: string[] };
  newWorker(by: string, onError?: (error: unknown) => void): Worker;
  call(by?: Principal, more?: Partial<CallContext>): CallContext;
  close(): Promise<void>;
}

export const sleep = (ms: number, signal: AbortSignal): Promise<void> => pause(ms, undefined, { signal });

/** Starts with one worker running. */
export async function openMemoryService(): Promise<MemoryService> {
  const provider = new LocalEmbeddingProvider({ modelsDir: await testModelsDir() });
  await provider.ready();
  const model = { away: false, texts: [] as string[] };
  const embedder: Pick<EmbeddingProvider, 'spaces' | 'spacesForText' | 'spacesForQuery' | 'embed'> = {
    spaces: provider.spaces,
    spacesForText: (text) => provider.spacesForText(text),
    spacesForQuery: (text) => provider.spacesForQuery(text),
    embed: async (space, texts, kind, signal) => {
      if (model.away) throw new EmbeddingUnavailable('switched off by the test');
      if (kind === 'passage') model.texts.push(...texts.map((text) => `${space}: ${text}`));
      return provider.embed(space, texts, kind, signal);
    },
  };
  const store = await openStore(provider.spaces, systemClock);
  const { client, prefix, schema, index } = store;
  const guard = testGuard({ clock: systemClock });
  const queue = createEmbedQueue({ client, prefix, clock: systemClock, spaces: () => provider.spaces.map((space) => space.name) });
  const dirty = processDirtyMarks();
  const slots = createSlotStore({ client, schema, clock: systemClock });
  const relations = loadRelationPolicy(policies);
  const links = createTurnLinks({ index, guard, dirty, embedder, clock: systemClock });
  const meetNearest = createMeetNearest({ index, guard, dirty, embedder, clock: systemClock, slots, relations }, links);
  const workers: Worker[] = [];
  const newWorker = (by: string, onError?: (error: unknown) => void): Worker => {
    const job = createEmbedJob({ index, queue, guard, embedder, dirty, clock: systemClock, by, meetNearest });
    const worker = createWorker({
      job,
      clock: systemClock,
      sleep,
      pollMs: 500,
      ...(onError === undefined ? {} : { onError: (_job, error) => onError(error) }),
    });
    workers.push(worker);
    worker.start();
    return worker;
  };
  const stats = createAccessStats({ client, schema, clock: systemClock });
  const keys = await openTenantKeys(
    client,
    prefix,
    { deriveKey: () => Buffer.alloc(32, 5), previousSeal: undefined, previousAnchors: [] },
    systemClock,
  );
  const recalls = createRecallTrace({
    store: createRecallStore({ client, schema, clock: systemClock }),
    keys: keys.tenantKeys,
    on: true,
    after: () => () => undefined, // whoever reads it has it written first
    onState: () => undefined,
    onDropped: () => undefined,
  });
  const workingLimits = loadPolicy(join(policies, 'working.yaml'), workingPolicySchema);
  const deps: MemoryDeps = {
    index,
    guard,
    findSecrets: loadSecretFinder(join(policies, 'guard')),
    namespaces: createNamespaceStore({ client, prefix, clock: systemClock }),
    idempotency: createIdempotencyStore({ client, prefix, clock: systemClock }),
    stats,
    dirty,
    recalls,
    feedback: createFeedbackStore({ client, schema, clock: systemClock }),
    embedder,
    profiles: loadProfiles(join(policies, 'ranking')),
    context: loadContextPolicy(policies),
    layers: loadPolicy(join(policies, 'layers.yaml'), layerPolicySchema),
    admission: { policy: compileAdmission(loadPolicy(join(policies, 'admission.yaml'), admissionSchema)) },
    working: processWorkingMemory({ clock: systemClock, limits: workingLimits }),
    workingLimits,
    relations,
    slots,
    keys: { cursor: Buffer.alloc(32, 1), plan: Buffer.alloc(32, 2), idempotency: Buffer.alloc(32, 3), transfer: Buffer.alloc(32, 4) },
    ...keys,
    clock: systemClock,
    newId: createUuidV7(systemClock),
    defaultTtlDays: 0,
    defaultTopK: 5,
    about: { url: 'http://test', version: '1.2.3', startedAtMs: 0, engine: 'test engine', embedding: 'test models', redis: () => 'off' },
    nudge: (tenant) => workers[0]?.nudge(tenant),
    sleep,
  };
  newWorker('worker-1');
  return {
    memory: createMemoryGateway(deps),
    store,
    guard,
    queue,
    model,
    newWorker,
    call: (by = principal(), more = {}) => ({
      principal: by,
      traceId: 'trace',
      signal: new AbortController().signal,
      idempotencyKey: undefined,
      route: 'test',
      ...more,
    }),
    close: async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      await stats.close();
      await provider.close();
      await store.close();
    },
  };
}

/** Polls until the check holds; fails with its last answer after `limitMs`. */
export async function eventually<T>(look: () => Promise<T>, holds: (value: T) => boolean, limitMs = 20_000): Promise<T> {
  const untilMs = systemClock() + limitMs;
  for (;;) {
    const value = await look();
    if (holds(value)) return value;
    if (systemClock() > untilMs) throw new Error(`did not come true: ${JSON.stringify(value)}`);
    await pause(50);
  }
}
