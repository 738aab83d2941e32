/** The metrics page: Prometheus counters and histograms with closed sets of labels; one registry a process, passed down by compose. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { QueueDepth } from '../domain/ports.ts';
import type { Verdict } from '../domain/trust.ts';
import type { ErrorCode } from '../errors.ts';

const SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
/** A label that takes more values than this is a mistake: further ones are counted as `other`. */
const MAX_LABEL_VALUES = 150;
const LABEL_VALUE = /^[A-Za-z0-9_:./{}-]{1,80}$/;
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'unknown']);

export type ElasticCall = 'search' | 'get' | 'write' | 'bulk' | 'refresh' | 'scan' | 'admin';
/** `aborted`: the caller went away first. An answered 404 or 409 is `ok`: absence and conflict are answers. */
export type ElasticOutcome = 'ok' | 'failed' | 'aborted';
export type Shortcut = 'limits_without_redis' | 'dirty_marks_without_redis' | 'session_without_redis';

export interface Metrics {
  readonly contentType: string;
  /** The Prometheus text exposition of everything. */
  readonly render: () => Promise<string>;
  /** `route` is the declared path, never what the client sent. */
  readonly requestDone: (method: string, route: string, status: number, durationMs: number) => void;
  readonly operationDone: (operation: string, code: ErrorCode | 'OK', durationMs: number) => void;
  readonly elasticDone: (call: ElasticCall, outcome: ElasticOutcome, durationMs: number) => void;
  readonly embedQueue: (depth: QueueDepth) => void;
  readonly embedFailed: (reason: 'unavailable' | 'rejected' | 'store') => void;
  /** Records without a vector in a space in use that have not been looked at yet. */
  readonly reembedUnchecked: (records: number) => void;
  /** A search had to do without a part, `vector` for instance. */
  readonly searchDegraded: (part: string) => void;
  readonly rateLimited: (bucket: 'principal' | 'tenant' | 'address') => void;
  /** A read left out a record that the present rules would not let in. */
  readonly readHeldBack: (verdict: Verdict) => void;
  /** Stored records that the present rules have still to judge. */
  readonly rescanUnchecked: (records: number) => void;
  /** A stored record that the present rules would not let in. */
  readonly rescanFound: (rule: string, action: 'quarantined' | 'reported') => void;
  /** Records judged by the nightly sample. */
  readonly rescanSampled: (records: number) => void;
  /** The language model judged a write, or should have. */
  readonly judged: (outcome: 'passed' | 'held' | 'failed' | 'rested' | 'limited') => void;
  /** Whether the guard's policies on disk are those that decide, other good ones that wait for a start, or such as a start would refuse. */
  readonly policies: (state: 'current' | 'waiting' | 'faulty') => void;
  /** A write was rejected because nobody decided on it in time. */
  readonly pendingExpired: () => void;
  /** Whether the audit log can be written. */
  readonly auditUp: (up: boolean) => void;
  /** A read was not recorded because too many records wait for the audit log. */
  readonly auditDropped: () => void;
  /** Recalls that the recall trace had to leave out. */
  readonly recallsDropped: (count: number) => void;
  /** An availability shortcut was taken: the answer is right, the guarantee is smaller. */
  readonly shortcutTaken: (name: Shortcut) => void;
}

/**
 * Own registry, with the process and event-loop metrics of prom-client in it. Labels hold routes, operations, codes and
 * the like; never a tenant, an id or anything a caller sent: what does not look like such a name is counted as `other`.
 */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'hindsight_http_request_duration_seconds',
    help: 'HTTP requests by route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: SECONDS,
    registers,
  });
  const operations = new Histogram({
    name: 'hindsight_operation_duration_seconds',
    help: 'Operations by outcome, whatever the front end',
    labelNames: ['operation', 'code'],
    buckets: SECONDS,
    registers,
  });
  const elastic = new Histogram({
    name: 'hindsight_elasticsearch_duration_seconds',
    help: 'Calls of Elasticsearch',
    labelNames: ['call', 'outcome'],
    buckets: SECONDS,
    registers,
  });
  const embedDepth = new Gauge({
    name: 'hindsight_embed_queue_records',
    help: 'Records that wait for vectors (due), that were given up (dead) and that are due in spaces of another model alone (foreign)',
    labelNames: ['state'],
    registers,
  });
  const deadLetters = new Gauge({
    name: 'hindsight_embed_dead_letters',
    help: 'Records given up by the embed job, tried again once a day, by what failed last',
    labelNames: ['reason'],
    registers,
  });
  const reembed = new Gauge({
    name: 'hindsight_reembed_unchecked_records',
    help: 'Records without a vector in a space in use that reembedding has still to look at; those that want one become due',
    registers,
  });
  const embedErrors = new Counter({
    name: 'hindsight_embed_errors_total',
    help: 'Failed embedding calls',
    labelNames: ['reason'],
    registers,
  });
  const degraded = new Counter({
    name: 'hindsight_degraded_searches_total',
    help: 'Searches that did without a part',
    labelNames: ['part'],
    registers,
  });
  const limited = new Counter({
    name: 'hindsight_rate_limited_total',
    help: 'Calls refused by a rate limit',
    labelNames: ['bucket'],
    registers,
  });
  const heldBack = new Counter({
    name: 'hindsight_guard_held_back_reads_total',
    help: 'Records left out of a read because the present rules would not let them in',
    labelNames: ['verdict'],
    registers,
  });
  const rescan = new Gauge({
    name: 'hindsight_guard_rescan_unchecked_records',
    help: 'Stored records that another policy revision let in and the present rules have still to judge',
    registers,
  });
  const rescanFindings = new Counter({
    name: 'hindsight_guard_rescan_findings_total',
    help: 'Stored records that the present rules would not let in, by rule: quarantined, or reported because a person confirmed them',
    labelNames: ['rule', 'action'],
    registers,
  });
  const sampled = new Counter({
    name: 'hindsight_guard_sampled_records_total',
    help: 'Records judged by the nightly sample',
    registers,
  });
  const judgements = new Counter({
    name: 'hindsight_guard_judged_total',
    help: 'Writes that the language model judged: passed, held back, failed (it pends), or rested (it pends unasked after failures in a row)',
    labelNames: ['outcome'],
    registers,
  });
  const policyState = new Gauge({
    name: 'hindsight_guard_policies',
    help: '1 for the state of the policies on disk: current (they decide), waiting (they hold from the next start), faulty (the last good ones decide)',
    labelNames: ['state'],
    registers,
  });
  const expired = new Counter({
    name: 'hindsight_guard_pending_expired_total',
    help: 'Writes that waited for a decision until their time was over',
    registers,
  });
  const auditLog = new Gauge({
    name: 'hindsight_audit_up',
    help: '1 while the audit log can be written; at 0 nothing is changed, and reads say that they are not recorded yet',
    registers,
  });
  const auditGaps = new Counter({
    name: 'hindsight_audit_dropped_records_total',
    help: 'Records of reads that were not taken because the queue was full; a gap record tells how many',
    registers,
  });
  const recallGaps = new Counter({
    name: 'hindsight_recall_trace_dropped_total',
    help: 'Searches and context blocks that the recall trace had to leave out because it could not be written',
    registers,
  });
  const shortcuts = new Counter({
    name: 'hindsight_shortcuts_total',
    help: 'Availability shortcuts taken',
    labelNames: ['name'],
    registers,
  });
  const route = closedSet();
  const operation = closedSet();
  const part = closedSet();
  const rule = closedSet();
  return {
    contentType: registry.contentType,
    render: () => registry.metrics(),
    requestDone(method, path, status, durationMs) {
      const known = Number.isInteger(status) && status >= 100 && status < 600 ? String(status) : 'other';
      requests.observe({ method: METHODS.has(method) ? method : 'other', route: route(path), status: known }, durationMs / 1_000);
    },
    operationDone(name, code, durationMs) {
      operations.observe({ operation: operation(name), code }, durationMs / 1_000);
    },
    elasticDone(call, outcome, durationMs) {
      elastic.observe({ call, outcome }, durationMs / 1_000);
    },
    embedQueue({ due, dead, deadBy, foreign }) {
      embedDepth.set({ state: 'due' }, due);
      embedDepth.set({ state: 'dead' }, dead);
      embedDepth.set({ state: 'foreign' }, foreign);
      for (const [reason, records] of Object.entries(deadBy)) deadLetters.set({ reason }, records);
    },
    reembedUnchecked(records) {
      reembed.set(records);
    },
    embedFailed(reason) {
      embedErrors.inc({ reason });
    },
    searchDegraded(name) {
      degraded.inc({ part: part(name) });
    },
    rateLimited(bucket) {
      limited.inc({ bucket });
    },
    readHeldBack(verdict) {
      heldBack.inc({ verdict });
    },
    rescanUnchecked(records) {
      rescan.set(records);
    },
    rescanFound(id, action) {
      rescanFindings.inc({ rule: rule(id), action });
    },
    rescanSampled(records) {
      sampled.inc(records);
    },
    judged(outcome) {
      judgements.inc({ outcome });
    },
    policies(state) {
      for (const one of ['current', 'waiting', 'faulty']) policyState.set({ state: one }, one === state ? 1 : 0);
    },
    pendingExpired() {
      expired.inc();
    },
    auditUp(up) {
      auditLog.set(up ? 1 : 0);
    },
    auditDropped() {
      auditGaps.inc();
    },
    recallsDropped(count) {
      recallGaps.inc(count);
    },
    shortcutTaken(name) {
      shortcuts.inc({ name });
    },
  };
}

/** Lets the first values through that look like names, and gives `other` for all the rest. */
function closedSet(): (value: string) => string {
  const seen = new Set<string>();
  return (value) => {
    if (seen.has(value)) return value;
    if (seen.size >= MAX_LABEL_VALUES || !LABEL_VALUE.test(value)) return 'other';
    seen.add(value);
    return value;
  };
}
