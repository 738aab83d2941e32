/** The client's transport with a watch on it: every call carries the trace it belongs to, and its duration and outcome are told. */
import { errors, SniffingTransport } from '@elastic/elasticsearch';
import type { ElasticCall, ElasticOutcome } from '../telemetry/metrics.ts';
import { currentOrigin, traceHeaders } from '../telemetry/trace-context.ts';

export type OnElasticCall = (call: ElasticCall, outcome: ElasticOutcome, durationMs: number) => void;

type Params = Parameters<SniffingTransport['request']>[0];
type Options = Parameters<SniffingTransport['request']>[1];

const SERVICE = 'hindsight-es';
/** Spans of OpenTelemetry, which nobody here collects: their attributes are made for every call all the same. */
const WITHOUT_SPAN = { enabled: false } as const;

/**
 * A transport class for the client. `traceparent` becomes `trace.id` in Elasticsearch's own logs and tasks. `x-opaque-id` says which
 * route or job asks, the same for each of its calls: Elasticsearch tells deprecation warnings apart by it, so one of each call's own
 * would flood its log (REST API conventions, "X-Opaque-Id HTTP header"). A duration, in ms, includes the tries after the first.
 */
export function watchedTransport(onCall: OnElasticCall | undefined): typeof SniffingTransport {
  return class WatchedTransport extends SniffingTransport {
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the overloads differ in their result alone, which passes through
    override async request(params: Params, options: Options = {}): Promise<any> {
      const origin = currentOrigin();
      const opaqueId = origin === undefined ? SERVICE : `${SERVICE} ${origin}`;
      const traced = { opaqueId, openTelemetry: WITHOUT_SPAN, ...options, headers: { ...traceHeaders(), ...options.headers } };
      const startedAt = performance.now();
      try {
        const result = await super.request(params, traced);
        onCall?.(callOf(params), 'ok', performance.now() - startedAt);
        return result;
      } catch (error) {
        onCall?.(callOf(params), outcomeOf(error), performance.now() - startedAt);
        throw error;
      }
    }
  };
}

const CALLS: Readonly<Record<string, ElasticCall>> = {
  search: 'search',
  msearch: 'search',
  count: 'search',
  get: 'get',
  mget: 'get',
  exists: 'get',
  index: 'write',
  create: 'write',
  update: 'write',
  delete: 'write',
  bulk: 'bulk',
  'indices.refresh': 'refresh',
  open_point_in_time: 'scan',
  close_point_in_time: 'scan',
};

/** The kind of a call by the client's name of its endpoint; a search in a point in time is a step of a scan. Other endpoints are `admin`. */
function callOf({ meta, body }: Params): ElasticCall {
  const call = CALLS[meta?.name ?? ''] ?? 'admin';
  return call === 'search' && typeof body === 'object' && body !== null && 'pit' in body ? 'scan' : call;
}

function outcomeOf(error: unknown): ElasticOutcome {
  if (error instanceof errors.RequestAbortedError) return 'aborted';
  return error instanceof errors.ResponseError && (error.statusCode === 404 || error.statusCode === 409) ? 'ok' : 'failed';
}
