/** Makes the embedding provider that the configuration names; the composition root wraps it in the query cache. */
import { LocalEmbeddingProvider, type LocalEmbeddingOptions } from './local.ts';
import { OpenAiEmbeddingProvider, type OpenAiEmbeddingOptions } from './openai.ts';
import type { EmbeddingProvider } from './provider.ts';

export type EmbeddingOptions =
  (LocalEmbeddingOptions & { readonly profile: 'local' }) | (OpenAiEmbeddingOptions & { readonly profile: 'openai' });

/** Nothing is loaded or called before ready() or the first embed(). */
export function createEmbeddingProvider(options: EmbeddingOptions): EmbeddingProvider {
  return options.profile === 'local' ? new LocalEmbeddingProvider(options) : new OpenAiEmbeddingProvider(options);
}
