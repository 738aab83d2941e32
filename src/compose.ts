/** The composition root: builds every part from the configuration, wires them, and takes them down in reverse order. */
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createAfterwards } from './compose/afterwards.ts';
import { openAdmission } from './compose/admission.ts';
import { openAudit } from './compose/audit.ts';
import { openAuth } from './compose/auth.ts';
import { tellDegraded } from './compose/degraded.ts';
import { describeEmbedding, openEmbedding } from './compose/embedding.ts';
import { openJudge } from './compose/judge.ts';
import { connect, fetchArtifacts, startManaged } from './compose/engine.ts';
import { startJobs } from './compose/jobs.ts';
import { openTenantKeys } from './compose/keys.ts';
import { phase } from './compose/phase.ts';
import { guardRevision, watchPolicies } from './compose/policy-watch.ts';
import { createReadiness } from './compose/readiness.ts';
import { openRecalls } from './compose/recalls.ts';
import { openReranker } from './compose/rerank.ts';
import { openSharedState } from './compose/shared-state.ts';
import { Teardown } from './compose/teardown.ts';
import type { Config } from './config.ts';
import type { Clock } from './domain/clock.ts';
import type { Progress } from './elastic/local/artifacts.ts';
import { createMemoryIndex } from './elastic/memory-index.ts';
import { installSchema } from './elastic/schema.ts';
import { openKeys } from './gate/keys.ts';
import { anomalySchema } from './guard/anomaly/policy.ts';
import { hubness } from './guard/anomaly/hubness.ts';
import { anomalyStage } from './guard/anomaly/stage.ts';
import { createGuard } from './guard/guard.ts';
import { loadSecretFinder } from './guard/secrets/policy.ts';
import { secretStage } from './guard/secrets/stage.ts';
import { loadGuardPolicy } from './guard/text/policy.ts';
import { rescanStage, type HeldBack } from './guard/screening/rescan.ts';
import { nameJudge, withJudgedNames } from './guard/text/namespace-names.ts';
import { textJudge, textStage } from './guard/text/stage.ts';
import { trustPolicySchema } from './guard/policy.ts';
import { createHttpServer } from './http/server.ts';
import { createMcpMount } from './mcp/mount.ts';
import { loadContextPolicy } from './memory/context/policy.ts';
import { createMemoryGateway } from './memory/create-gateway.ts';
import { loadRelationPolicy } from './memory/conflicts/relation-policy.ts';
import { layerPolicySchema } from './memory/layer-policy.ts';
import { workingPolicySchema } from './memory/working/policy.ts';
import { createUuidV7 } from './memory/uuid.ts';
import { operations } from './operations/index.ts';
import { loadInstructions } from './operations/instructions-files.ts';
import { createInvoke } from './operations/invoke.ts';
import { loadPolicy } from './policy.ts';
import { loadProfiles } from './ranking/profile.ts';
import { createFeedbackStore } from './stores/feedback.ts';
import { createIdempotencyStore } from './stores/idempotency.ts';
import { createNamespaceStore } from './stores/namespaces.ts';
import { createSlotStore } from './stores/slots.ts';
import { createRecallStore } from './stores/recalls.ts';
import { createAccessStats } from './stores/stats.ts';
import type { Logger } from './telemetry/logger.ts';
import { createMetrics } from './telemetry/metrics.ts';

export interface ServiceParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onProgress: (progress: Progress) => void;
}

export interface Service {
  /** Base URL without a trailing slash. */
  readonly url: string;
  /** Tokens of the local tenant; undefined outside local mode. */
  readonly localTokens: { readonly user: string; readonly agent: string } | undefined;
  /** For people: which engine, which models. */
  readonly engine: string;
  readonly embedding: string;
  /** Stops accepting, lets running calls finish, flushes, stops the engine if it is ours. */
  close(): Promise<void>;
}

/** The managed engine closes its indices within 20 s or is killed. */
const MANAGED_STOP_MS = 22_000;
const root = join(fileURLToPath(new URL('.', import.meta.url)), '..');

/** Starts the whole service; on any failure what was started is taken down again and the one error is thrown. */
export async function composeService(config: Config, parts: ServiceParts): Promise<Service> {
  const teardown = new Teardown(parts.logger);
  try {
    return await build(config, parts, teardown);
  } catch (error) {
    await teardown.run();
    throw error;
  }
}

async function build(config: Config, parts: ServiceParts, teardown: Teardown): Promise<Service> {
  const { clock, logger, onProgress } = parts;
  const policiesDir = config.policiesDir ?? join(root, 'policies');
  const trust = loadPolicy(join(policiesDir, 'trust.yaml'), trustPolicySchema);
  const layers = loadPolicy(join(policiesDir, 'layers.yaml'), layerPolicySchema);
  const relations = loadRelationPolicy(policiesDir);
  const workingLimits = loadPolicy(join(policiesDir, 'working.yaml'), workingPolicySchema);
  const context = loadContextPolicy(policiesDir);
  const profiles = loadProfiles(join(policiesDir, 'ranking'));
  const instructions = loadInstructions(policiesDir);
  const keys = await openKeys(config);
  const auth = await openAuth(config, { policiesDir, clock, logger });
  const metrics = createMetrics();

  const { url: clusterUrl, indexPrefix: prefix, replicas, vectorIndex } = config.elasticsearch;
  // before the models: a wrong URL is told at once, not after a download
  const cluster = clusterUrl === undefined ? undefined : await teardown.track('engine', connect(config, clusterUrl, { ...parts, metrics }));
  const modelsDir = await fetchArtifacts(config, onProgress);
  const [engine, embedder] = await bothStarted(
    cluster === undefined
      ? teardown.track('engine', startManaged(config, { ...parts, metrics }), MANAGED_STOP_MS)
      : Promise.resolve(cluster),
    teardown.track(
      'embedder',
      phase(onProgress, 'models', `loading ${config.embedding.profile} embeddings`, () => openEmbedding(config, modelsDir, logger)),
    ),
  );
  const { client } = engine;
  const schema = await phase(onProgress, 'schema', 'checking indices and mappings', () =>
    installSchema(client, { prefix, spaces: embedder.spaces, replicas, vectorIndex, clock }),
  );
  const tenantKeys = await openTenantKeys(client, prefix, keys, clock);
  const shared = await openSharedState(config, { policiesDir, workingLimits, clock, logger, metrics });
  teardown.add('redis', () => shared.close());
  const verifier = auth.verifier(shared.revocations);
  teardown.add('token watch', () => verifier.close());

  const index = createMemoryIndex({ client, schema, clock });
  const policyRevision = guardRevision(policiesDir);
  const findSecrets = loadSecretFinder(join(policiesDir, 'guard'));
  const anomalies = loadPolicy(join(policiesDir, 'guard', 'anomaly.yaml'), anomalySchema);
  const textPolicy = loadGuardPolicy(join(policiesDir, 'guard'));
  const judge = textJudge(textPolicy);
  const review = openJudge(config, { policiesDir, verdicts: textPolicy.verdicts, clock, logger, metrics });
  teardown.add('language model', () => review.close());
  const reranker = openReranker(config, { clock, logger });
  if (reranker !== undefined) teardown.add('cross-encoder', () => reranker.close());
  const admission = openAdmission({ policiesDir, model: review.model, clock, logger });
  const policyWatch = watchPolicies(policiesDir, policyRevision, { logger, metrics });
  teardown.add('policy watch', () => policyWatch.close());
  const onHeldBack = ({ memoryId, verdict, ruleIds, first }: HeldBack): void => {
    metrics.readHeldBack(verdict);
    if (first)
      logger.warn({ memory_id: memoryId, verdict, rule_ids: ruleIds }, 'a memory of an older policy revision is held back from reads');
  };
  const guard = createGuard({
    trust,
    policyRevision,
    clock,
    admitsAtOnce: review.admitsAtOnce,
    admissionStages: [secretStage(findSecrets), textStage(judge), anomalyStage(anomalies, clock), ...review.stages],
    hubness: hubness(anomalies, clock),
    screenStages: [rescanStage({ judge, policyRevision, onHeldBack })],
    onFault: (stage, err) => logger.error({ stage, err }, 'guard stage failed; it decides for the safe side'),
  });
  const slots = createSlotStore({ client, schema, clock });
  const stats = createAccessStats({ client, schema, clock, onError: (err) => logger.warn({ err }, 'access counts could not be flushed') });
  teardown.add('access counts', () => stats.close());
  const recallStore = createRecallStore({ client, schema, clock });
  const recalls = openRecalls({ store: recallStore, keys: tenantKeys.tenantKeys, logger, metrics, on: config.recallTrace });
  teardown.add('recall trace', () => recalls.close());
  const version = packageVersion();
  const audit = await openAudit({ client, prefix, keys, clock, logger, metrics, policyRevision, version, findSecrets, on: config.audit });
  teardown.add('audit', () => audit.close()); // after all who have something to tell
  const told = { clock, audit: audit.hook, logger, metrics };
  const jobs = startJobs({
    client,
    prefix,
    index,
    guard,
    textJudge: judge,
    dirty: shared.dirty,
    embedder,
    slots,
    relations,
    recalls: recallStore,
    ...told,
  });
  teardown.add('jobs', () => jobs.stop());
  const afterwards = createAfterwards();
  teardown.add('what follows writes', () => afterwards.close());
  const memory = createMemoryGateway({
    index,
    guard,
    findSecrets,
    namespaces: withJudgedNames(createNamespaceStore({ client, prefix, clock }), nameJudge(textPolicy)),
    idempotency: createIdempotencyStore({ client, prefix, clock }),
    stats,
    feedback: createFeedbackStore({ client, schema, clock }),
    dirty: shared.dirty,
    recalls,
    languageModel: review.model,
    reranker,
    working: shared.working,
    workingLimits,
    embedder,
    profiles,
    layers,
    context,
    admission,
    relations,
    slots,
    keys: {
      cursor: keys.deriveKey('cursor'),
      plan: keys.deriveKey('plan'),
      idempotency: keys.deriveKey('idempotency'),
      transfer: keys.deriveKey('transfer'),
    },
    ...tenantKeys,
    clock,
    newId: createUuidV7(clock),
    defaultTtlDays: config.memoryTtlDays,
    defaultTopK: config.topKDefault,
    about: {
      url: config.publicUrl,
      version,
      startedAtMs: clock(),
      engine: engine.description,
      embedding: describeEmbedding(config, embedder),
      redis: () => shared.redis(),
    },
    nudge: (tenant, waited) => jobs.nudge(tenant, waited),
    sleep: abortableSleep,
    afterwards: (work) => afterwards.run(work),
    onDegraded: tellDegraded(logger, metrics),
  });

  const invoke = createInvoke({
    memory,
    instructions,
    auditLog: audit.log,
    audit: audit.hook,
    limiter: shared.limiter,
    clock,
    logger,
    metrics,
    maxInFlight: config.maxCallsInFlight,
  });
  const mcp = createMcpMount({
    operations,
    invoke,
    sessionKey: keys.deriveKey('mcp-session'),
    clock,
    logger,
    version,
    tools: config.mcp.tools,
    toolPrefix: config.mcp.toolPrefix,
    sse: config.mcp.sse,
    ...(shared.usedStates === undefined ? {} : { usedStates: shared.usedStates }),
  });
  const server = createHttpServer({
    operations,
    invoke,
    verifier,
    limiter: shared.limiter,
    config: {
      hosts: config.allowedHosts,
      origins: config.corsOrigins,
      publicUrl: config.publicUrl,
      prm: config.auth.publishMetadata ? { authorizationServers: config.auth.issuers.map((i) => i.issuer) } : undefined,
      version,
    },
    readiness: createReadiness({ client, prefix, clock }),
    metrics,
    audit: audit.hook,
    logger,
    clock,
    mounts: mcp.mounts,
  });
  const listening = await server.listen(config.port, config.host);
  teardown.add('http', () => listening.close());
  teardown.add('mcp sessions', () => mcp.close()); // first of all: an open stream would hold the server
  const url = config.publicUrl;
  logger.info({ url, engine: engine.description }, 'service is up');
  return {
    url,
    localTokens: auth.localTokens,
    engine: engine.description,
    embedding: describeEmbedding(config, embedder),
    close: () => teardown.run(),
  };
}

/** Both results, or the first fault: only once the other part is up too, so that it can be taken down again. */
async function bothStarted<A, B>(a: Promise<A>, b: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([a, b]);
  return Promise.all([a, b]);
}

function packageVersion(): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

function abortableSleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
