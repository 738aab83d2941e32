/** The configuration: environment and command line to one frozen value, or one sentence with all faults; read once at start-up. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheDirOf } from './config/cache-dir.ts';
import { formerSecrets } from './config/former-secrets.ts';
import { isLoopbackHost } from './config/hosts.ts';
import {
  DEFAULT_CLOCK_TOLERANCE_SECONDS,
  DEFAULT_KEYS_AGE_SECONDS,
  issuerConflicts,
  issuersFileSchema,
  keysFileSchema,
  type RemoteIssuer,
} from './config/issuers.ts';
import { environmentSchema, CONFIG_VARIABLES, VARIABLE_NAMES, type Environment, type VariableName } from './config/variables.ts';
import { HindsightError } from './errors.ts';
import { checkPolicy, deepFreeze, type DeepReadonly } from './policy.ts';

export { assertNodeVersion } from './config/node-version.ts';
export { CONFIG_VARIABLES } from './config/variables.ts';

export const LOCAL_ISSUER = 'urn:hindsight-es:local-issuer';
export const LOCAL_AUDIENCE = 'urn:hindsight-es:local';
export const LOCAL_TENANT = 'local';

const SHIPPED_POLICIES = join(fileURLToPath(new URL('..', import.meta.url)), 'policies');
const MAX_SECRET_FILE_BYTES = 16_384;
const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '[::1]'] as const;

type Overrides = Readonly<Partial<Record<VariableName, string>>>;

/** Everything that can be configured; see CONFIG_VARIABLES for what each value means. */
export type Config = DeepReadonly<ReturnType<typeof assemble>>;

/**
 * Reads the environment; `overrides` (the command line) wins over it. An empty string counts as absent. Throws
 * ERR_CONFIG_INVALID naming every variable that is wrong and what it must be, or, where all values are well-formed,
 * ERR_CONFIG_UNSAFE naming what keeps the service from starting. No value of any variable is repeated.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>> = process.env, overrides: Overrides = {}): Config {
  const faults: string[] = [];
  const raw = readRaw({ ...env, ...overrides }, faults);
  for (const name of Object.keys(overrides)) if (!(name in environmentSchema.shape)) faults.push(`${name} is not a known variable`);
  const values: Partial<Environment> = {};
  for (const name of VARIABLE_NAMES) {
    if (raw[name] === undefined) continue;
    const parsed = environmentSchema.shape[name].safeParse(raw[name]);
    if (parsed.success) Object.assign(values, { [name]: parsed.data });
    else faults.push(`${name} ${parsed.error.issues[0]?.message ?? 'is not valid'}`);
  }
  const issuers = remoteIssuers(values, faults);
  faults.push(...combinationFaults(raw));
  const unsafe = unsafeFaults(raw, values, issuers);
  if (faults.length > 0) throw new HindsightError('ERR_CONFIG_INVALID', { params: { detail: [...faults, ...unsafe].join('; ') } });
  if (unsafe.length > 0) throw new HindsightError('ERR_CONFIG_UNSAFE', { params: { detail: unsafe.join('; ') } });
  // Every variable with a default has been parsed; the others are optional in assemble().
  return deepFreeze(assemble(values as Settled, issuers, { ...env }));
}

type Defaulted =
  | 'HINDSIGHT_LOCAL'
  | 'HOST'
  | 'PORT'
  | 'LOG_LEVEL'
  | 'ELASTICSEARCH_INDEX_PREFIX'
  | 'ELASTICSEARCH_VECTOR_INDEX'
  | 'ENGINE_VERSION'
  | 'ENGINE_HEAP_MB'
  | 'EMBEDDING_PROFILE'
  | 'RERANK_TIMEOUT_MS'
  | 'JWT_ALGORITHMS'
  | 'JWT_MAX_AGE_SECONDS'
  | 'REQUIRE_TYP'
  | 'REVOCATIONS_REDIS'
  | 'AUDIT'
  | 'RECALL_TRACE'
  | 'MAX_CALLS_IN_FLIGHT'
  | 'TOP_K_DEFAULT'
  | 'MEMORY_TTL_DAYS'
  | 'MCP_TOOLS'
  | 'MCP_SSE'
  | 'RATE_LIMIT_PROFILE';
type Settled = Pick<Environment, Defaulted> & Partial<Environment>;

function assemble(v: Settled, issuers: readonly RemoteIssuer[], env: Readonly<Record<string, string | undefined>>) {
  const local = v.HINDSIGHT_LOCAL;
  const urlHost = v.HOST.includes(':') && !v.HOST.startsWith('[') ? `[${v.HOST}]` : v.HOST;
  const publicUrl = v.PUBLIC_URL ?? `http://${urlHost}:${v.PORT}`;
  const home = env['HOME'] ?? homedir();
  const dataDir = resolve(v.DATA_DIR ?? join(home, '.hindsight-es'));
  return {
    local,
    host: v.HOST,
    port: v.PORT,
    publicUrl,
    allowedHosts: v.ALLOWED_HOSTS ?? [...new Set([...LOOPBACK_HOSTS, new URL(publicUrl).host])],
    corsOrigins: v.CORS_ORIGINS ?? [],
    dataDir,
    cacheDir: cacheDirOf({ ...env, HINDSIGHT_CACHE_DIR: v.HINDSIGHT_CACHE_DIR }),
    /** undefined = the folder that ships with the service. */
    policiesDir: v.POLICIES_DIR === undefined ? undefined : resolve(v.POLICIES_DIR),
    logLevel: v.LOG_LEVEL,
    elasticsearch: {
      /** undefined = the managed local Elasticsearch. */
      url: v.ELASTICSEARCH_URL,
      apiKey: v.ELASTICSEARCH_API_KEY,
      username: v.ELASTICSEARCH_USERNAME,
      password: v.ELASTICSEARCH_PASSWORD,
      caFingerprint: v.ELASTICSEARCH_CA_FINGERPRINT,
      indexPrefix: v.ELASTICSEARCH_INDEX_PREFIX,
      replicas: v.ELASTICSEARCH_REPLICAS ?? (v.ELASTICSEARCH_URL === undefined ? 0 : 1),
      vectorIndex: v.ELASTICSEARCH_VECTOR_INDEX,
    },
    engine: { version: v.ENGINE_VERSION, heapMb: v.ENGINE_HEAP_MB, javaHome: v.JAVA_HOME },
    redisUrl: v.REDIS_URL,
    embedding: {
      profile: v.EMBEDDING_PROFILE,
      baseUrl: v.EMBEDDING_BASE_URL,
      model: v.EMBEDDING_MODEL,
      apiKey: v.EMBEDDING_API_KEY,
      dims: v.EMBEDDING_DIMS,
      queryPrefix: v.EMBEDDING_QUERY_PREFIX ?? '',
      passagePrefix: v.EMBEDDING_PASSAGE_PREFIX ?? '',
    },
    /** undefined = no language model. */
    llm:
      v.LLM_MODEL === undefined || v.LLM_BASE_URL === undefined
        ? undefined
        : { baseUrl: v.LLM_BASE_URL, model: v.LLM_MODEL, apiKey: v.LLM_API_KEY },
    /** undefined = no cross-encoder. */
    rerank:
      v.RERANK_URL === undefined
        ? undefined
        : { url: v.RERANK_URL, model: v.RERANK_MODEL, apiKey: v.RERANK_API_KEY, timeoutMs: v.RERANK_TIMEOUT_MS },
    auth: {
      issuers,
      /** The issuer in DATA_DIR; only in local mode. */
      localIssuer: local
        ? {
            issuer: LOCAL_ISSUER,
            audience: v.JWT_AUDIENCE ?? LOCAL_AUDIENCE,
            // Alone it may sign for any tenant; beside others for its own only.
            tenants: issuers.length === 0 ? undefined : [LOCAL_TENANT],
          }
        : undefined,
      revocations: {
        file: resolve(v.REVOCATIONS_FILE ?? join(dataDir, 'revoked.yaml')),
        /** A file that was named must be there. */
        fileRequired: v.REVOCATIONS_FILE !== undefined,
        inRedis: v.REVOCATIONS_REDIS,
      },
      publishMetadata: v.MCP_PRM ?? !local,
    },
    /** undefined = made in DATA_DIR (local mode). */
    serviceSecret: v.SERVICE_SECRET,
    /** For the audit log alone; a secret may itself hold blanks. */
    serviceSecretsPrevious: formerSecrets(v.SERVICE_SECRET_PREVIOUS ?? '') ?? [],
    masterKeyBase64: v.MASTER_KEY?.toString('base64'),
    /** Set while MASTER_KEY is being changed. */
    masterKeyPreviousBase64: v.MASTER_KEY_PREVIOUS?.toString('base64'),
    audit: v.AUDIT,
    recallTrace: v.RECALL_TRACE,
    maxCallsInFlight: v.MAX_CALLS_IN_FLIGHT,
    topKDefault: v.TOP_K_DEFAULT,
    memoryTtlDays: v.MEMORY_TTL_DAYS,
    mcp: { tools: v.MCP_TOOLS, toolPrefix: v.MCP_TOOL_PREFIX ?? '', sse: v.MCP_SSE },
    rateLimitProfile: v.RATE_LIMIT_PROFILE,
  };
}

type Raw = Partial<Record<VariableName, string>>;

/** Known variables with defaults filled in and `_FILE` secrets read. */
function readRaw(env: Readonly<Record<string, string | undefined>>, faults: string[]): Raw {
  const raw: Raw = {};
  for (const { name, default: byDefault, secret } of CONFIG_VARIABLES) {
    const key = name as VariableName;
    let value = env[name] === '' ? undefined : env[name];
    const path = secret ? env[`${name}_FILE`] : undefined;
    if (path !== undefined && path !== '') {
      if (value !== undefined) faults.push(`${name} and ${name}_FILE must not both be set`);
      value ??= readSecretFile(path);
      if (value === undefined) faults.push(`${name}_FILE must name a readable, non-empty file of at most ${MAX_SECRET_FILE_BYTES} bytes`);
    }
    value ??= byDefault;
    if (value !== undefined) raw[key] = value;
  }
  return raw;
}

function readSecretFile(path: string): string | undefined {
  try {
    if (statSync(path).size > MAX_SECRET_FILE_BYTES) return undefined;
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '') || undefined;
  } catch {
    return undefined; // the fault names the variable; the path may be telling
  }
}

function remoteIssuers(v: Partial<Environment>, faults: string[]): readonly RemoteIssuer[] {
  const named = v.JWT_ISSUERS_FILE !== undefined;
  const file = v.JWT_ISSUERS_FILE ?? join(v.POLICIES_DIR ?? SHIPPED_POLICIES, 'issuers.yaml');
  if (named || existsSync(file)) {
    const what = named ? 'JWT_ISSUERS_FILE' : 'issuers.yaml in POLICIES_DIR';
    const { value, fault } = checkPolicy(file, issuersFileSchema);
    if (fault !== undefined) faults.push(`${what} must ${named ? 'name' : 'be'} a valid issuers file: ${fault}`);
    const rows = (value?.issuers ?? []).map((row) => withKeys(row, file, faults));
    if (named && fault === undefined && rows.length === 0) faults.push('JWT_ISSUERS_FILE must name a file with at least one issuer');
    if (named || rows.length > 0) {
      for (const name of ['JWKS_URL', 'JWT_ISSUER', 'JWT_TENANTS'] as const)
        if (v[name] !== undefined) faults.push(`${name} must not be set together with ${named ? what : `issuers in ${what}`}`);
      // REQUIRE_TYP=on holds for every issuer, whatever the file says
      return rows.map((row) => ({ ...row, requireTyp: row.requireTyp || (v.REQUIRE_TYP ?? false) }));
    }
  }
  if (v.JWKS_URL === undefined || v.JWT_ISSUER === undefined || v.JWT_AUDIENCE === undefined) return [];
  return [
    {
      issuer: v.JWT_ISSUER,
      audience: v.JWT_AUDIENCE,
      keys: { url: v.JWKS_URL },
      keysMaxAgeSeconds: DEFAULT_KEYS_AGE_SECONDS,
      algorithms: (v.JWT_ALGORITHMS ?? []) as RemoteIssuer['algorithms'],
      requireTyp: v.REQUIRE_TYP ?? false,
      maxTokenAgeSeconds: v.JWT_MAX_AGE_SECONDS ?? 0,
      clockToleranceSeconds: DEFAULT_CLOCK_TOLERANCE_SECONDS,
      claims: {},
      tenants: v.JWT_TENANTS,
    },
  ];
}

/** A row whose keys file is read from the folder of the issuers file, and must hold public keys. */
function withKeys(row: DeepReadonly<RemoteIssuer>, issuersFile: string, faults: string[]): RemoteIssuer {
  if ('url' in row.keys) return row;
  const file = resolve(dirname(issuersFile), row.keys.file);
  const { fault } = checkPolicy(file, keysFileSchema);
  if (fault !== undefined) faults.push(`keys_file must name a key set (RFC 7517): ${fault}`);
  return { ...row, keys: { file } };
}

/** Variables that need or exclude each other. */
function combinationFaults(raw: Raw): string[] {
  const faults: string[] = [];
  const has = (name: VariableName): boolean => raw[name] !== undefined;
  const oneOf = (a: VariableName, b: VariableName): void => {
    if (has(a) !== has(b)) faults.push(`${a} and ${b} must be set together`);
  };
  oneOf('ELASTICSEARCH_USERNAME', 'ELASTICSEARCH_PASSWORD');
  oneOf('JWKS_URL', 'JWT_ISSUER');
  oneOf('LLM_BASE_URL', 'LLM_MODEL');
  if (has('LLM_API_KEY') && !has('LLM_MODEL')) faults.push('LLM_API_KEY must not be set without LLM_MODEL');
  for (const name of ['RERANK_MODEL', 'RERANK_API_KEY'] as const)
    if (has(name) && !has('RERANK_URL')) faults.push(`${name} must not be set without RERANK_URL`);
  if (has('ELASTICSEARCH_API_KEY') && has('ELASTICSEARCH_USERNAME'))
    faults.push('ELASTICSEARCH_API_KEY must not be set together with ELASTICSEARCH_USERNAME');
  for (const name of ['EMBEDDING_BASE_URL', 'EMBEDDING_MODEL'] as const)
    if (raw.EMBEDDING_PROFILE === 'openai' && !has(name)) faults.push(`${name} must be set with EMBEDDING_PROFILE=openai`);
  return faults;
}

/** Reasons not to start although every value is well-formed. */
function unsafeFaults(raw: Raw, v: Partial<Environment>, issuers: readonly RemoteIssuer[]): string[] {
  const faults: string[] = [];
  const local = v.HINDSIGHT_LOCAL ?? false;
  const loopback = isLoopbackHost(raw.HOST ?? '');
  if (local && !loopback) faults.push('HOST must be a loopback address in local mode, because anyone with a local token is believed');
  if (!local) {
    const missing = (['JWKS_URL', 'JWT_ISSUER', 'JWT_AUDIENCE'] as const).filter((name) => raw[name] === undefined);
    if (raw.JWT_ISSUERS_FILE === undefined && issuers.length === 0 && missing.length > 0)
      faults.push(`${missing.join(', ')} must be set (or issuers in issuers.yaml); to try the service out use serve --local`);
    for (const name of ['SERVICE_SECRET', 'MASTER_KEY'] as const)
      if (raw[name] === undefined) faults.push(`${name} (or ${name}_FILE) must be set; openssl rand -base64 32 makes one`);
    if (v.RATE_LIMIT_PROFILE === 'bench') faults.push('RATE_LIMIT_PROFILE=bench is for local mode only');
    if (!loopback && raw.PUBLIC_URL === undefined && raw.ALLOWED_HOSTS === undefined)
      faults.push('PUBLIC_URL or ALLOWED_HOSTS must be set when HOST is not a loopback address');
  }
  if (v.REVOCATIONS_REDIS === true && raw.REDIS_URL === undefined) faults.push('REDIS_URL must be set with REVOCATIONS_REDIS=on');
  if (local && raw.JWKS_URL !== undefined && raw.JWT_AUDIENCE === undefined) faults.push('JWT_AUDIENCE must be set with JWKS_URL');
  const own = local && issuers.length > 0 ? [{ issuer: LOCAL_ISSUER, tenants: [LOCAL_TENANT] }] : [];
  return [...faults, ...issuerConflicts([...issuers, ...own])];
}
