/** Makes the embedding provider that the configuration names; the composition root wraps it in the query cache. */
import { LocalEmbeddingProvider, type LocalEmbeddingOptions } from './local.ts';
import type { LocalProfile } from './local-models.ts';
import { OpenAiEmbeddingProvider, type OpenAiEmbeddingOptions } from './openai.ts';
import type { EmbeddingProvider } from './provider.ts';

export type EmbeddingOptions =
  (LocalEmbeddingOptions & { readonly profile: LocalProfile }) | (OpenAiEmbeddingOptions & { readonly profile: 'openai' });

/** Nothing is loaded or called before ready() or the first embed(). */
export function createEmbeddingProvider(options: EmbeddingOptions): EmbeddingProvider {
  return options.profile === 'openai' ? new OpenAiEmbeddingProvider(options) : new LocalEmbeddingProvider(options);
}
