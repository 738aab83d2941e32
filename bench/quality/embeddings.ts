/** The embeddings of a quality run: which profile the service uses, and for `openai` a server of the bench with a real model behind it. */
import { LocalEmbeddingProvider } from '../../src/providers/embedding/local.ts';
import { multilingualModelDir } from '../../test/contract/embedding-provider-models.ts';
import { EmbeddingServer, localBackend } from '../../test/support/embedding-server.ts';
import { UsageError } from '../support/options.ts';

export interface Embeddings {
  /** Variables of the service. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const PROFILES = ['local', 'local-multilingual', 'openai'];
const MODEL = 'multilingual-e5-small';

/** Throws a UsageError for a profile that there is not. */
export function checkEmbedding(profile: string): void {
  if (!PROFILES.includes(profile)) throw new UsageError(`--embedding must be one of ${PROFILES.join(', ')}`);
}

/** `openai` speaks HTTP to this process, which runs the multilingual model: what a user of vLLM or Ollama has, with a model that is known. */
export async function openEmbeddings(profile: string): Promise<Embeddings> {
  if (profile !== 'openai') return { env: { EMBEDDING_PROFILE: profile }, close: async () => undefined };
  const provider = new LocalEmbeddingProvider({ modelsDir: await multilingualModelDir(), profile: 'local-multilingual' });
  await provider.ready();
  const server = await EmbeddingServer.start(localBackend(provider));
  const env = {
    EMBEDDING_PROFILE: 'openai',
    EMBEDDING_BASE_URL: server.baseUrl,
    EMBEDDING_MODEL: MODEL,
    EMBEDDING_QUERY_PREFIX: 'query: ',
    EMBEDDING_PASSAGE_PREFIX: 'passage: ',
  };
  return {
    env,
    close: async () => {
      await server.stop();
      await provider.close();
    },
  };
}
