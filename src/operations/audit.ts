/** Every call's line in the audit log: invoke tells of each call here, the HTTP front end of what it refused before one. */
import type { AuditFacts, AuditOutcome, AuditTrail } from '../domain/audit.ts';
import { SERVICE_TENANT } from '../domain/audit.ts';
import type { Principal } from '../domain/principal.ts';
import { HindsightError } from '../errors.ts';
import { plain } from '../telemetry/audit/record.ts';
import { callFacts } from './audit-facts.ts';
import type { AnyOperation } from './define.ts';

/** A call as the audit log knows it. */
export interface AuditedCall {
  readonly operation: AnyOperation;
  readonly principal: Principal;
  readonly traceId: string;
  /** The input, once it fits its schema. */
  readonly input?: Readonly<Record<string, unknown>> | undefined;
  readonly tookMs: number;
  /** What users answered who were asked during the call. */
  readonly answers?: readonly string[];
}

/** A request that was refused before it reached an operation. */
export interface Refusal {
  readonly error: HindsightError;
  readonly principal: Principal | undefined;
  readonly traceId: string;
  readonly method: string;
  /** As declared, or `unknown`: never what the client sent. */
  readonly route: string;
}

export interface Audit {
  /** Reads go on without it, and say so. */
  readonly degraded: boolean;
  /** ERR_AUDIT_UNAVAILABLE for a call that waits for its record, while there cannot be one; without its input, for an operation whose every call waits. */
  admit(operation: AnyOperation, input?: Readonly<Record<string, unknown>>): void;
  /** Resolves when the call may be answered; ERR_AUDIT_UNAVAILABLE when its record cannot be stored. */
  done(call: AuditedCall, output: Readonly<Record<string, unknown>>): Promise<void>;
  failed(call: AuditedCall, error: HindsightError): void;
  refused(refusal: Refusal): void;
  /** What a background job decided about memories. */
  job(operation: string, facts: Pick<AuditFacts, 'tenant' | 'memory_ids' | 'verdict' | 'rule_ids' | 'detail'>): void;
  /** To be called every minute: tells how many refusals were only counted, and has the heads signed. */
  minute(): void;
}

export interface AuditParts {
  readonly trail: AuditTrail;
  /** Makes the keyed hashes; 32 bytes. */
  readonly key: Uint8Array;
}

/** Refusals that are written one by one in a minute, of callers nobody knows, and by the limits of one tenant; a flood of them is only counted. */
const FLOOD_A_MINUTE = 600;
const DENIED: ReadonlySet<number> = new Set([401, 403, 429]);

/** What changes something, and what takes everything out, is not answered before its record is stored. */
function waits(operation: AnyOperation, input: Readonly<Record<string, unknown>> | undefined): boolean {
  if (input !== undefined && operation.transient?.(input) === true) return false;
  return operation.effect !== 'read' || operation.scope === 'memory:admin' || operation.scope === 'memory:reveal';
}

export function createAudit({ trail, key }: AuditParts): Audit {
  /** Written already: some front ends make an operation's refusal one of the request. */
  const told = new WeakSet<HindsightError>();
  const append = (facts: AuditFacts): void => void trail.append(facts, false);

  const flood = floodGate((tenant, count) => {
    const reason = tenant === SERVICE_TENANT ? 'unknown callers' : 'ERR_RATE_LIMITED';
    append({ record_type: 'gap', tenant, count, reason, outcome: 'denied' });
  });
  /** Whoever is stopped by a limit, or known to nobody, must not fill the log. */
  const isWorthALine = (error: HindsightError, principal: Principal | undefined): boolean => {
    if (principal === undefined) return flood.count(SERVICE_TENANT);
    return error.code !== 'ERR_RATE_LIMITED' || flood.count(principal.tenant);
  };

  const factsOf = (call: AuditedCall, output: Readonly<Record<string, unknown>> | undefined): AuditFacts => {
    const { operation, principal, input, answers = [] } = call;
    const facts = callFacts(input, output, principal.tenant, key);
    return {
      ...facts,
      ...who(principal),
      record_type: 'operation',
      operation: operation.name,
      scope: operation.scope,
      trace_id: plain(call.traceId),
      took_ms: call.tookMs,
      ...(answers.length === 0 ? {} : { detail: { ...facts.detail, answers } }),
    };
  };

  return {
    get degraded() {
      return !trail.up;
    },
    admit(operation, input) {
      // before its input is read, a call may yet turn out to be one that does not wait
      if (input === undefined && operation.transient !== undefined) return;
      if (!trail.up && waits(operation, input)) throw new HindsightError('ERR_AUDIT_UNAVAILABLE');
    },
    async done(call, output) {
      const facts = factsOf(call, output);
      const waiting = waits(call.operation, call.input);
      const stored = trail.append({ ...facts, verdict: facts.verdict ?? ['allow'], outcome: 'ok' }, waiting);
      if (waiting) await stored;
    },
    failed(call, error) {
      told.add(error);
      if (isWorthALine(error, call.principal)) append({ ...factsOf(call, undefined), ...outcomeOf(error) });
    },
    refused({ error, principal, traceId, method, route }) {
      if (told.has(error) || !DENIED.has(error.status) || !isWorthALine(error, principal)) return;
      append({
        ...(principal === undefined ? { tenant: SERVICE_TENANT } : who(principal)),
        ...outcomeOf(error),
        record_type: 'refusal',
        trace_id: plain(traceId),
        detail: { method: plain(method), route: plain(route) },
      });
    },
    job(operation, facts) {
      append({ ...facts, record_type: 'job', operation, actor: 'service', outcome: 'ok', count: facts.memory_ids?.length });
    },
    minute() {
      flood.tell();
      trail.anchor();
    },
  };
}

function who(principal: Principal): Pick<AuditFacts, 'tenant' | 'actor' | 'owner' | 'client_id'> {
  const { tenant, actor, owner, clientId } = principal;
  return { tenant, actor, owner, client_id: clientId === undefined ? undefined : plain(clientId) };
}

function outcomeOf(error: HindsightError): {
  readonly outcome: AuditOutcome;
  readonly reason: string;
  readonly verdict?: readonly string[];
} {
  if (error.code === 'ERR_CONFIRMATION_NEEDED') return { outcome: 'asked', reason: error.code };
  return DENIED.has(error.status)
    ? { outcome: 'denied', reason: error.code, verdict: ['deny'] }
    : { outcome: 'failed', reason: error.code };
}

/** `count`: true for the first so many of a tenant between two calls of `tell`, which tells how many more there were. */
function floodGate(tell: (tenant: string, count: number) => void): { count(tenant: string): boolean; tell(): void } {
  const seen = new Map<string, number>();
  return {
    count: (tenant) => {
      const count = (seen.get(tenant) ?? 0) + 1;
      seen.set(tenant, count);
      return count <= FLOOD_A_MINUTE;
    },
    tell: () => {
      for (const [tenant, count] of seen) if (count > FLOOD_A_MINUTE) tell(tenant, count - FLOOD_A_MINUTE);
      seen.clear();
    },
  };
}
