/** The Elasticsearch client: the one place that makes it, and the one translation of its failures into ours. */
import { Client, errors, type ClientOptions } from '@elastic/elasticsearch';
import { HindsightError } from '../errors.ts';
import { watchedTransport, type OnElasticCall } from './watched-transport.ts';

/** The client as other folders name it; only elastic/ and stores/ call it. */
export type StoreClient = Client;

export interface StoreOptions {
  readonly url: string;
  readonly apiKey?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** SHA-256 of the cluster's CA certificate, hex. */
  readonly caFingerprint?: string | undefined;
  readonly requestTimeoutMs?: number | undefined;
  /** Told of every call when it is over. */
  readonly onCall?: OnElasticCall | undefined;
}

/** Of writes, scans and administration: what is given up here may have been done all the same. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Half of that for reads that a caller waits for; nothing depends on whether they were carried out. */
const ANSWER_TIMEOUT_MS = 5_000;
/** Transport options of calls that may be sent twice (after 100 and 200 ms: long enough for the first shard of an index being made): reads, and creations under a fixed id. */
export const RETRY = { maxRetries: 2, retryBackoff: (_min: number, _max: number, attempt: number): number => 0.1 * attempt } as const;

/**
 * RETRY for reads that a caller waits for: a frozen engine costs them 5 s, and a call that ran into its time is not sent again. The slowest
 * p99 of all cells of bench:latency is 1.0 s (two cores); five times that is left to a cold or crowded engine.
 */
export const ANSWER = { ...RETRY, requestTimeout: ANSWER_TIMEOUT_MS } as const;

/**
 * A client that never sniffs and retries nothing by itself: a compare-and-set whose answer was lost would come back as a conflict.
 * Reads and op_type=create pass RETRY. The product check stays on: it reads the `x-elastic-product` header of ordinary answers, which
 * the local core node sends too (8.19.9 and 9.0.8), and calls no `GET /`, which that node does not have.
 */
export function createClient(options: StoreOptions): Client {
  const auth = authOf(options);
  const settings: ClientOptions = {
    node: options.url,
    requestTimeout: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    maxRetries: 0,
    enableMetaHeader: false,
    Transport: watchedTransport(options.onCall),
    ...(auth === undefined ? {} : { auth }),
    ...(options.caFingerprint === undefined ? {} : { caFingerprint: options.caFingerprint, tls: { rejectUnauthorized: false } }),
  };
  return new Client(settings);
}

function authOf(options: StoreOptions): ClientOptions['auth'] | undefined {
  if (options.apiKey !== undefined) return { apiKey: options.apiKey };
  if (options.username !== undefined) return { username: options.username, password: options.password ?? '' };
  return undefined;
}

/** Version of the nodes, the lowest when they differ ("8.19.9"); the local core node has no `GET /` to ask. */
export async function engineVersion(client: Client): Promise<string> {
  const info = await storeCall(() => client.nodes.info({ metric: 'os', filter_path: 'nodes.*.version' }, RETRY));
  const versions = Object.values(info.nodes).map((node) => node.version);
  const [lowest] = versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  if (lowest === undefined) throw new HindsightError('ERR_STORE_UNAVAILABLE', { cause: new Error('no node told its version') });
  return lowest;
}

/** Runs a client call; what it throws is mapped by mapStoreError. */
export async function storeCall<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw mapStoreError(error);
  }
}

const AWAY_STATUSES = new Set([429, 502, 503, 504]);
const AWAY_TYPES = new Set([
  'no_shard_available_action_exception',
  'unavailable_shards_exception',
  'master_not_discovered_exception',
  'process_cluster_event_timeout_exception',
  'node_not_connected_exception',
  'node_disconnected_exception',
  'node_closed_exception',
  'receive_timeout_transport_exception',
  'es_rejected_execution_exception',
  'circuit_breaking_exception',
]);

/** Whether a status or exception type of a call or of one bulk item means "try again later". */
export function isAway(status: number | undefined, type: string | undefined): boolean {
  return (status !== undefined && AWAY_STATUSES.has(status)) || (type !== undefined && AWAY_TYPES.has(type));
}

/**
 * ERR_STORE_UNAVAILABLE for connection errors, time-outs, 429, 502-504 and missing shards; ERR_STORE_REJECTED for the rest; our own
 * errors pass. The cause is made anew: the client's error objects carry the request, and so memory content, which must not reach a log.
 */
export function mapStoreError(error: unknown): HindsightError {
  if (error instanceof HindsightError) return error;
  if (error instanceof errors.ResponseError) {
    const type = errorType(error);
    const code = isAway(error.statusCode, type) ? 'ERR_STORE_UNAVAILABLE' : 'ERR_STORE_REJECTED';
    return new HindsightError(code, {
      cause: new Error(`elasticsearch answered ${error.statusCode ?? 0} ${type ?? 'without a type'}: ${reasonOf(error)}`),
    });
  }
  if (error instanceof errors.ConnectionError || error instanceof errors.TimeoutError || error instanceof errors.NoLivingConnectionsError) {
    return new HindsightError('ERR_STORE_UNAVAILABLE', { cause: new Error(`${error.name}: ${error.message}`) });
  }
  if (error instanceof errors.ElasticsearchClientError) {
    return new HindsightError('ERR_STORE_REJECTED', { cause: new Error(`elasticsearch client: ${error.name}`) });
  }
  return new HindsightError('ERR_INTERNAL', { cause: error });
}

/** Exception type of an answer, e.g. 'version_conflict_engine_exception'; undefined when the error is no answer. */
export function errorType(error: unknown): string | undefined {
  if (!(error instanceof errors.ResponseError)) return undefined;
  const body: unknown = error.body;
  if (typeof body !== 'object' || body === null) return undefined;
  const fault = (body as { error?: { type?: unknown } }).error;
  return typeof fault?.type === 'string' ? fault.type : undefined;
}

/** Status of an answer; undefined when the error is no answer. */
export function errorStatus(error: unknown): number | undefined {
  return error instanceof errors.ResponseError ? error.statusCode : undefined;
}

/** True for the 404 of an index or alias that does not exist. */
export function isMissingIndex(error: unknown): boolean {
  return errorType(error) === 'index_not_found_exception';
}

/** Elasticsearch's own sentence with everything quoted taken out: quotes hold stored or searched text. */
function reasonOf(error: errors.ResponseError): string {
  const fault = (error.body as { error?: { root_cause?: { reason?: unknown }[]; reason?: unknown } } | undefined)?.error;
  const reason = fault?.root_cause?.[0]?.reason ?? fault?.reason;
  if (typeof reason !== 'string') return 'no reason given';
  return reason
    .replace(/Preview of field's value.*/s, '')
    .replace(/'[^']*'|"[^"]*"/g, '‹…›')
    .slice(0, 300);
}
