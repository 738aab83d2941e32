/** The embedding provider of the configured profile, behind the query cache. */
import type { Config } from '../config.ts';
import { HindsightError } from '../errors.ts';
import { CachedEmbeddingProvider } from '../providers/embedding/cached.ts';
import { createEmbeddingProvider, type EmbeddingOptions } from '../providers/embedding/create.ts';
import { EmbeddingRejected, type EmbeddingProvider } from '../providers/embedding/provider.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Query vectors kept; one is 2 to 6 KB. */
const CACHED_QUERIES = 2_000;

/**
 * Ready to use, or known by its configured dimension while its endpoint is away (searches are then lexical and say so).
 * ERR_CONFIG_INVALID when the endpoint is away and no dimension is configured, because the mapping cannot be made without one,
 * and when it refuses the model or answers with another dimension.
 */
export async function openEmbedding(config: Config, modelsDir: string | undefined, logger: Logger): Promise<EmbeddingProvider> {
  const provider = new CachedEmbeddingProvider(createEmbeddingProvider(optionsOf(config, modelsDir)), CACHED_QUERIES);
  try {
    await provider.ready();
  } catch (error) {
    if (config.embedding.profile !== 'openai') throw error;
    if (error instanceof EmbeddingRejected) {
      await provider.close();
      const detail = `the embedding endpoint answers, but not as configured: ${error.detail}; check EMBEDDING_MODEL and EMBEDDING_DIMS`;
      throw new HindsightError('ERR_CONFIG_INVALID', { params: { detail }, cause: error });
    }
    if (config.embedding.dims === undefined) {
      await provider.close();
      const detail = 'the embedding endpoint cannot be used yet, and without it the dimension is unknown: start it, or set EMBEDDING_DIMS';
      throw new HindsightError('ERR_CONFIG_INVALID', { params: { detail }, cause: error });
    }
    logger.warn({ err: error }, 'embedding endpoint is away; searches are lexical until it answers');
  }
  return provider;
}

export function describeEmbedding(config: Config, provider: EmbeddingProvider): string {
  return `${config.embedding.profile} embeddings: ${provider.spaces.map((s) => `${s.modelId} (${s.dims})`).join(', ')}`;
}

function optionsOf(config: Config, modelsDir: string | undefined): EmbeddingOptions {
  const { profile, baseUrl, model, apiKey, dims, queryPrefix, passagePrefix } = config.embedding;
  if (profile !== 'openai') {
    if (modelsDir === undefined) throw new HindsightError('ERR_INTERNAL', { cause: new Error('local profile without models') });
    return { profile, modelsDir };
  }
  if (baseUrl === undefined || model === undefined)
    throw new HindsightError('ERR_CONFIG_INVALID', { params: { detail: 'EMBEDDING_BASE_URL and EMBEDDING_MODEL must be set' } });
  return {
    profile: 'openai',
    baseUrl,
    model,
    prefix: { query: queryPrefix, passage: passagePrefix },
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(dims === undefined ? {} : { dims }),
  };
}
