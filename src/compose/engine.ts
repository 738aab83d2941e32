/** The Elasticsearch the service works on: the configured cluster, or the managed local node. */
import type { Config } from '../config.ts';
import { createClient, engineVersion, type StoreClient } from '../elastic/client.ts';
import { prepareArtifacts, prepareModels, type Progress } from '../elastic/local/artifacts.ts';
import { builtMultilingual } from '../elastic/local/multilingual-folder.ts';
import { startLocalNode } from '../elastic/local/node.ts';
import { HindsightError } from '../errors.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { phase } from './phase.ts';

export interface Engine {
  readonly client: StoreClient;
  /** For people: "Elasticsearch 8.19.9 (managed, Java 17.0.15)". */
  readonly description: string;
  close(): Promise<void>;
}

interface EngineParts {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly onProgress: (progress: Progress) => void;
}

/** Oldest release with everything the one query and the mappings use. */
const OLDEST = '8.16';
const MAX_REASON_CHARS = 160;

/**
 * Fetches what a local start needs into the cache, the engine and the models in one go; nothing where nothing local is used.
 * Resolves to where the models lie, undefined when the profile needs none. Errors: ERR_ENGINE_JAVA, _MAVEN, _DISK; ERR_MODEL_MISSING
 * for the one model that is made, not fetched.
 */
export async function fetchArtifacts(config: Config, onProgress: EngineParts['onProgress']): Promise<string | undefined> {
  const models = config.embedding.profile === 'local';
  const { cacheDir, engine } = config;
  // before the rest: nothing is downloaded for a start that cannot be
  const made = config.embedding.profile === 'local-multilingual' ? await builtMultilingual(cacheDir) : undefined;
  if (config.elasticsearch.url !== undefined) return models ? prepareModels({ cacheDir, onProgress }) : made;
  const fetched = await prepareArtifacts({ cacheDir, engine: engine.version, models, javaHome: engine.javaHome, onProgress });
  return models ? fetched.modelsDir : made;
}

/** Starts the managed node. Errors: ERR_ENGINE_*, ERR_ALREADY_RUNNING. */
export async function startManaged(config: Config, { logger, metrics, onProgress }: EngineParts): Promise<Engine> {
  const node = await phase(onProgress, 'engine', undefined, () =>
    startLocalNode({
      cacheDir: config.cacheDir,
      engine: config.engine.version,
      javaHome: config.engine.javaHome,
      dataDir: config.dataDir,
      heapMb: config.engine.heapMb,
      onProgress,
      log: (message, fields, level = 'info') => logger[level](fields, message),
    }),
  );
  const client = createClient({ url: node.url, ...node.credential, onCall: metrics.elasticDone });
  return {
    client,
    description: `Elasticsearch ${node.version} (managed, Java ${node.javaVersion})`,
    close: async () => {
      await client.close();
      await node.stop();
    },
  };
}

/** Connects to the cluster at `url`. Errors: ERR_ENGINE_UNREACHABLE, ERR_ENGINE_TOO_OLD. */
export async function connect(config: Config, url: string, { metrics, onProgress }: EngineParts): Promise<Engine> {
  const { apiKey, username, password, caFingerprint } = config.elasticsearch;
  const { origin } = new URL(url);
  const client = createClient({ url, apiKey, username, password, caFingerprint, onCall: metrics.elasticDone });
  try {
    const version = await phase(onProgress, 'engine', `connecting to Elasticsearch at ${origin}`, () => engineVersion(client));
    if (version.localeCompare(OLDEST, 'en', { numeric: true }) < 0)
      throw new HindsightError('ERR_ENGINE_TOO_OLD', { params: { found: version, url: origin } });
    return { client, description: `Elasticsearch ${version}`, close: () => client.close() };
  } catch (error) {
    await client.close();
    if (error instanceof HindsightError && error.code === 'ERR_ENGINE_TOO_OLD') throw error;
    const detail = `${reasonOf(error)}; check ELASTICSEARCH_URL and its credentials, or unset it to use the managed one`;
    throw new HindsightError('ERR_ENGINE_UNREACHABLE', { params: { url: origin, detail }, cause: error });
  }
}

/** The reason in a few words: connection refused, a time-out, an answer's status. */
function reasonOf(error: unknown): string {
  const cause = error instanceof HindsightError && error.cause instanceof Error ? error.cause.message : String(error);
  const stranger = /answered (\d+) without a type/.exec(cause);
  if (stranger !== null) return `what answers there is not Elasticsearch (status ${stranger[1]})`;
  return cause.replace(/^\w*Error: /, '').slice(0, MAX_REASON_CHARS);
}
