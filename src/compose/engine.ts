/** The Elasticsearch the service works on: the configured cluster, or the managed local node with the models fetched in the same go. */
import type { Config } from '../config.ts';
import { createClient, engineVersion, type StoreClient } from '../elastic/client.ts';
import { prepareArtifacts, type Progress } from '../elastic/local/artifacts.ts';
import { startLocalNode } from '../elastic/local/node.ts';
import { HindsightError } from '../errors.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface Engine {
  readonly client: StoreClient;
  /** For people: "Elasticsearch 8.19.9 (managed, Java 17.0.15)". */
  readonly description: string;
  /** Where the local models lie; undefined when the profile needs none. */
  readonly modelsDir: string | undefined;
  close(): Promise<void>;
}

interface EngineParts {
  readonly logger: Logger;
  readonly onProgress: (progress: Progress) => void;
}

/** Errors: ERR_ENGINE_*, ERR_ALREADY_RUNNING, ERR_ENGINE_UNREACHABLE. */
export async function openEngine(config: Config, parts: EngineParts): Promise<Engine> {
  const models = config.embedding.profile === 'local';
  const managed = config.elasticsearch.url === undefined;
  const artifacts = {
    cacheDir: config.cacheDir,
    engine: config.engine.version,
    javaHome: config.engine.javaHome,
    onProgress: parts.onProgress,
  };
  const { modelsDir } = managed || models ? await prepareArtifacts({ ...artifacts, models }) : { modelsDir: undefined };
  if (config.elasticsearch.url !== undefined) return external(config, config.elasticsearch.url, modelsDir);
  const node = await startLocalNode({
    ...artifacts,
    dataDir: config.dataDir,
    heapMb: config.engine.heapMb,
    log: (message, fields) => parts.logger.info(fields, message),
  });
  const client = createClient({ url: node.url });
  return {
    client,
    description: `Elasticsearch ${node.version} (managed, Java ${node.javaVersion})`,
    modelsDir,
    close: async () => {
      await client.close();
      await node.stop();
    },
  };
}

async function external(config: Config, url: string, modelsDir: string | undefined): Promise<Engine> {
  const { apiKey, username, password, caFingerprint } = config.elasticsearch;
  const client = createClient({ url, apiKey, username, password, caFingerprint });
  try {
    const version = await engineVersion(client);
    return { client, description: `Elasticsearch ${version}`, modelsDir, close: () => client.close() };
  } catch (error) {
    await client.close();
    throw new HindsightError('ERR_ENGINE_UNREACHABLE', {
      params: {
        url: new URL(url).origin,
        detail: `${causeOf(error)}; check ELASTICSEARCH_URL and its credentials, or unset it to use the managed one`,
      },
      cause: error,
    });
  }
}

/** The reason in a few words: connection refused, a time-out, an answer's status. */
function causeOf(error: unknown): string {
  const cause = error instanceof HindsightError && error.cause instanceof Error ? error.cause.message : String(error);
  return cause.slice(0, 160);
}
