/** Every environment variable in one table: schema, description, default; config parses by it, docs and --help print it. */
import { z } from 'zod';
import { formerSecrets } from './former-secrets.ts';
import { ASYMMETRIC_ALGORITHMS, DEFAULT_ALGORITHMS, DEFAULT_TOKEN_AGE_SECONDS, isIssuerName, TENANT_PATTERN } from './issuers.ts';
import { isSafeKeysUrl, plainUrl } from './hosts.ts';

interface VariableFacts {
  readonly description: string;
  /** Taken, as if set, where the variable is absent. */
  readonly default?: string;
  /** A default that depends on other values, in words. */
  readonly derived?: string;
  /** Never printed; may also come from the file named by `<NAME>_FILE`. */
  readonly secret?: true;
}

export interface ConfigVariable extends VariableFacts {
  readonly name: string;
}

const facts = z.registry<VariableFacts>();

const text = (max: number, must = `must be 1 to ${max} characters without control characters`) =>
  z.string().refine((v) => v.length <= max && !/\p{Cc}/u.test(v), must);
const url = (must: string, protocols?: readonly string[]) => z.string().refine((v) => plainUrl(v, protocols) !== undefined, must);
const httpUrl = () =>
  url('must be an http:// or https:// URL without user name or password, on no link-local host').transform((v) => v.replace(/\/+$/, ''));
const choice = <const T extends readonly [string, ...string[]]>(options: T) =>
  z.enum(options, { error: `must be ${options.slice(0, -1).join(', ')}${options.length > 1 ? ' or ' : ''}${options.at(-1)}` });
const flag = () =>
  z
    .enum(['on', 'off', 'true', 'false', '1', '0'], { error: 'must be on or off' })
    .transform((v) => v === 'on' || v === 'true' || v === '1');
const integer = (min: number, max: number) => {
  const must = `must be an integer from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, must)
    .transform(Number)
    .refine((n) => n >= min && n <= max, must);
};
const list = (isItem: (item: string) => boolean, must: string) =>
  z
    .string()
    .transform((v) =>
      v
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    )
    .refine((items) => items.length > 0 && items.length <= 1_000 && items.every(isItem), must);

const masterKey = () =>
  z
    .string()
    .transform(decodeKey)
    .refine((key) => key.length === 32 && new Set(key).size >= 10, 'must be 32 random bytes as 64 hexadecimal digits or in base64');

const isOrigin = (v: string): boolean => plainUrl(v)?.origin === v;
const isHostPort = (v: string): boolean => /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i.test(v);
const algorithms: readonly string[] = ASYMMETRIC_ALGORITHMS;

/** The one schema. Values are strings, as the environment gives them; an empty string counts as absent. */
export const environmentSchema = z.object({
  HINDSIGHT_LOCAL: flag().register(facts, {
    description: 'Local mode, asked for by name (`serve --local` sets it): own token issuer and own keys in DATA_DIR, loopback only.',
    default: 'off',
  }),
  HOST: text(253).register(facts, { description: 'Address to listen on.', default: '127.0.0.1' }),
  PORT: integer(1, 65_535).register(facts, { description: 'Port to listen on.', default: '8420' }),
  PUBLIC_URL: httpUrl().register(facts, {
    description: 'The URL under which clients reach the service: OAuth resource metadata and allowed host names are made from it.',
    derived: 'http://HOST:PORT',
  }),
  ALLOWED_HOSTS: list(isHostPort, 'must be a comma-separated list of host or host:port').register(facts, {
    description: 'Host header values that are answered (guards against DNS rebinding).',
    derived: 'the loopback names and the host of PUBLIC_URL',
  }),
  CORS_ORIGINS: list(isOrigin, 'must be a comma-separated list of origins like https://app.example.com (no path, no *)').register(facts, {
    description: 'Browser origins that may call the service, besides its own.',
    derived: 'none',
  }),
  DATA_DIR: text(1_000).register(facts, { description: 'Where the service keeps its own files.', derived: '~/.hindsight-es' }),
  HINDSIGHT_CACHE_DIR: text(1_000).register(facts, {
    description: 'Where the managed Elasticsearch and the local models are kept once fetched.',
    derived: '$XDG_CACHE_HOME/hindsight-es, else ~/.cache/hindsight-es',
  }),
  POLICIES_DIR: text(1_000).register(facts, {
    description: 'Folder with the policy files.',
    derived: 'the policies that ship with the service',
  }),
  LOG_LEVEL: choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).register(facts, {
    description: 'Least level of log lines, which go to stderr.',
    default: 'info',
  }),

  ELASTICSEARCH_URL: httpUrl().register(facts, {
    description: 'An Elasticsearch 8.16+ or 9.x of your own; without it a local one is started and managed.',
    derived: 'none: the managed local Elasticsearch',
  }),
  ELASTICSEARCH_API_KEY: text(1_000).register(facts, { description: 'API key (the encoded form).', secret: true }),
  ELASTICSEARCH_USERNAME: text(256).register(facts, { description: 'User name, together with ELASTICSEARCH_PASSWORD.' }),
  ELASTICSEARCH_PASSWORD: text(1_000).register(facts, { description: 'Password of ELASTICSEARCH_USERNAME.', secret: true }),
  ELASTICSEARCH_CA_FINGERPRINT: z
    .string()
    .transform((v) => v.replaceAll(':', '').toLowerCase())
    .refine((v) => /^[0-9a-f]{64}$/.test(v), 'must be a SHA-256 fingerprint: 64 hexadecimal digits, colons allowed')
    .register(facts, { description: 'SHA-256 fingerprint of the certificate authority that signed the cluster’s certificate.' }),
  ELASTICSEARCH_INDEX_PREFIX: z
    .string()
    .regex(/^[a-z][a-z0-9]{0,31}$/, 'must be 1 to 32 characters of [a-z0-9], the first a letter')
    .register(facts, { description: 'Beginning of every index name.', default: 'hs' }),
  ELASTICSEARCH_REPLICAS: integer(0, 9).register(facts, {
    description: 'Replica shards of each index.',
    derived: '0 with the managed Elasticsearch, else 1',
  }),
  ELASTICSEARCH_VECTOR_INDEX: choice(['int8_hnsw', 'bbq_hnsw', 'flat']).register(facts, {
    description: 'How new indices keep their vectors (existing ones keep theirs); npm run bench:latency compares.',
    default: 'int8_hnsw',
  }),
  ENGINE_VERSION: choice(['8.19.9', '9.0.8']).register(facts, {
    description: 'Release of the managed Elasticsearch; 9.0.8 needs a JDK 21 or newer.',
    default: '8.19.9',
  }),
  ENGINE_HEAP_MB: integer(256, 31_000).register(facts, { description: 'Java heap of the managed Elasticsearch, in MB.', default: '1024' }),
  JAVA_HOME: text(1_000).register(facts, {
    description: 'JDK for the managed Elasticsearch.',
    derived: 'the best one found on the machine',
  }),
  REDIS_URL: z
    .string()
    .refine((v) => URL.canParse(v) && /^rediss?:$/.test(new URL(v).protocol), 'must be a redis:// or rediss:// URL')
    .register(facts, {
      description: 'Redis, needed when several replicas of the service run; it never holds the only copy of anything.',
      derived: 'none: in-process',
      secret: true, // the URL carries the password
    }),

  EMBEDDING_PROFILE: choice(['local', 'local-multilingual', 'openai']).register(facts, {
    description:
      'Who makes the vectors: local = two ONNX models (Chinese, English) in a worker thread; local-multilingual = one for a hundred languages (npm run model:multilingual makes it); openai = any OpenAI-compatible endpoint.',
    default: 'local',
  }),
  EMBEDDING_BASE_URL: httpUrl().register(facts, {
    description: 'Base URL of the embedding endpoint, usually ending in /v1 (profile openai).',
  }),
  EMBEDDING_MODEL: text(256).register(facts, { description: 'Model name at the embedding endpoint (profile openai).' }),
  EMBEDDING_API_KEY: text(1_000).register(facts, { description: 'Key of the embedding endpoint.', secret: true }),
  EMBEDDING_DIMS: integer(1, 4_096).register(facts, {
    description: 'Vector dimension to ask the endpoint for (profile openai).',
    derived: 'what the endpoint answers with',
  }),
  EMBEDDING_QUERY_PREFIX: text(1_000).register(facts, {
    description: 'Put before every query text, for models trained with one (profile openai).',
  }),
  EMBEDDING_PASSAGE_PREFIX: text(1_000).register(facts, {
    description: 'Put before every stored text, for models trained with one (profile openai).',
  }),

  LLM_BASE_URL: httpUrl().register(facts, {
    description: 'Base URL of an OpenAI-compatible chat endpoint, usually ending in /v1 (OpenAI, Ollama, vLLM, ...).',
    derived: 'none: no feature needs one',
  }),
  LLM_MODEL: text(256).register(facts, {
    description:
      'Model name at the chat endpoint: it judges, after the rules, what is written, and can only hold it back (policies/judge.yaml).',
    derived: 'none: no language model is called',
  }),
  LLM_API_KEY: text(1_000).register(facts, { description: 'Key of the chat endpoint.', secret: true }),

  RERANK_URL: httpUrl().register(facts, {
    description:
      'A /rerank endpoint (Cohere, Jina, vLLM, text-embeddings-inference, ...): a cross-encoder that decides between hits whose scores are close.',
    derived: 'none: the first ranking stands',
  }),
  RERANK_MODEL: text(256).register(facts, {
    description: 'Model name at the rerank endpoint.',
    derived: 'none, for servers of one model',
  }),
  RERANK_API_KEY: text(1_000).register(facts, { description: 'Key of the rerank endpoint.', secret: true }),
  RERANK_TIMEOUT_MS: integer(10, 10_000).register(facts, {
    description: 'Longest wait for the cross-encoder, in ms; after it the first ranking stands, and the answer says so.',
    default: '300',
  }),

  JWKS_URL: z
    .string()
    .refine(isSafeKeysUrl, 'must be an https:// URL (http:// only on a loopback host), without user name or password')
    .register(facts, {
      description: 'Where the token issuer publishes its keys; needed, with JWT_ISSUER and JWT_AUDIENCE, outside local mode.',
    }),
  JWT_ISSUER: z
    .string()
    .refine(isIssuerName, 'must be 1 to 512 visible ASCII characters without "|"')
    .register(facts, { description: 'The iss claim of its tokens, exactly.' }),
  JWT_AUDIENCE: text(512).register(facts, {
    description: 'The aud claim that names this service, usually its URL.',
    derived: 'urn:hindsight-es:local in local mode, so that local tokens outlive a change of PORT',
  }),
  JWT_ALGORITHMS: list((v) => algorithms.includes(v), `must be a comma-separated list out of ${ASYMMETRIC_ALGORITHMS.join(', ')}`).register(
    facts,
    {
      description: 'Signature algorithms that are accepted.',
      default: DEFAULT_ALGORITHMS.join(','),
    },
  ),
  JWT_MAX_AGE_SECONDS: integer(60, 31_536_000).register(facts, {
    description: 'Longest life of a token, from iat.',
    default: String(DEFAULT_TOKEN_AGE_SECONDS),
  }),
  JWT_TENANTS: list((v) => TENANT_PATTERN.test(v), 'must be a comma-separated list of tenant names').register(facts, {
    description: 'Tenants the issuer may sign for.',
    derived: 'any, where it is the only issuer',
  }),
  JWT_ISSUERS_FILE: text(1_000).register(facts, {
    description: 'YAML file with several issuers, instead of JWKS_URL, JWT_ISSUER and JWT_AUDIENCE.',
    derived: 'issuers.yaml in POLICIES_DIR, where that names any',
  }),
  REQUIRE_TYP: flag().register(facts, { description: 'Accept only tokens with typ at+jwt (RFC 9068).', default: 'off' }),
  REVOCATIONS_FILE: text(1_000).register(facts, {
    description: 'YAML file with tokens, subjects and sessions that are refused before their time; read again when it changes.',
    derived: 'revoked.yaml in DATA_DIR, where there is one',
  }),
  REVOCATIONS_REDIS: flag().register(facts, {
    description: 'Look for revocations in Redis too, on every call; while Redis is away every call is then answered 503.',
    default: 'off',
  }),
  SERVICE_SECRET: text(1_000)
    .refine((v) => v.length >= 32 && new Set(v).size >= 10, 'must be at least 32 characters, not a repeated few')
    .register(facts, {
      description: 'Signs cursors, plans and sessions; needed outside local mode.',
      derived: 'made in DATA_DIR in local mode',
      secret: true,
    }),
  SERVICE_SECRET_PREVIOUS: text(10_000)
    .refine((v) => formerSecrets(v) !== undefined, 'must be former secrets of at least 32 characters each, separated by blanks')
    .register(facts, {
      description:
        'Former SERVICE_SECRETs, separated by blanks: audit verify checks with them what was signed before the change. Nothing else takes them.',
      derived: 'none',
      secret: true,
    }),
  MASTER_KEY: masterKey().register(facts, {
    description:
      'Wraps the keys that seal personal data (and credentials on request) at rest; needed outside local mode. Losing it loses what is sealed.',
    derived: 'made in DATA_DIR in local mode',
    secret: true,
  }),
  MASTER_KEY_PREVIOUS: masterKey().register(facts, {
    description: 'The MASTER_KEY in force until now, while it is being changed (hindsight-es keys rotate-master).',
    derived: 'none',
    secret: true,
  }),

  AUDIT: flag().register(facts, {
    description: 'Keep a record of every call (README, Audit); while it cannot be written, nothing is changed.',
    default: 'on',
  }),
  RECALL_TRACE: flag().register(facts, {
    description: 'Keep for 30 days what each search and context block returned and why, the query sealed (README, Recall trace).',
    default: 'on',
  }),
  MAX_CALLS_IN_FLIGHT: integer(1, 100_000).register(facts, {
    description:
      'Operations that run at once in this process; one more is answered 503 with Retry-After at once. The default is about a second of ' +
      'work on two cores: whoever stood further back in a queue would have given up by his turn.',
    default: '256',
  }),
  TOP_K_DEFAULT: integer(1, 20).register(facts, { description: 'Hits of a search that names no top_k.', default: '5' }),
  MEMORY_TTL_DAYS: integer(0, 36_500).register(facts, {
    description: 'Days until a memory written without ttl_seconds expires; 0 = never.',
    default: '0',
  }),
  MCP_TOOLS: choice(['default', 'all']).register(facts, { description: 'Which tools the MCP server lists.', default: 'default' }),
  MCP_TOOL_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,32}$/, 'must be 1 to 32 characters of [A-Za-z0-9_.-]')
    .register(facts, { description: 'Stands before every tool name.', derived: 'empty' }),
  MCP_SSE: flag().register(facts, {
    description:
      'Serve MCP over HTTP+SSE too (/sse and /messages), for clients that know nothing newer; needs one replica or sticky sessions.',
    default: 'on',
  }),
  MCP_PRM: flag().register(facts, {
    description: 'Publish OAuth protected resource metadata (RFC 9728). Some clients then ignore a configured token and start OAuth.',
    derived: 'off in local mode, else on',
  }),
  RATE_LIMIT_PROFILE: choice(['default', 'bench']).register(facts, {
    description: 'Which rate limits hold: bench = practically unlimited, for measuring, local mode only.',
    default: 'default',
  }),
});

export type Environment = z.output<typeof environmentSchema>;
export type VariableName = keyof Environment;
export const VARIABLE_NAMES = Object.keys(environmentSchema.shape) as readonly VariableName[];

/** Names, descriptions and defaults, in the order of the schema: what README and --help print. */
export const CONFIG_VARIABLES: readonly ConfigVariable[] = VARIABLE_NAMES.map((name) => {
  const known = facts.get(environmentSchema.shape[name]);
  if (known === undefined) throw new TypeError(`${name} has no description`);
  return Object.freeze({ name, ...known });
});

/** Bytes of a key in hexadecimal or base64; empty when it is neither. */
function decodeKey(value: string): Buffer {
  if (/^[0-9a-fA-F]{64}$/.test(value)) return Buffer.from(value, 'hex');
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(value)) return Buffer.from(value, 'base64');
  return Buffer.alloc(0);
}
