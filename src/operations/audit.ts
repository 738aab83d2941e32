/** Every call's line in the audit log: invoke tells of each call here, the HTTP front end of what it refused before one. */
import type { AuditFacts, AuditOutcome, AuditTrail } from '../domain/audit.ts';
import { SERVICE_TENANT } from '../domain/audit.ts';
import type { Principal } from '../domain/principal.ts';
import { HindsightError } from '../errors.ts';
import { plain } from '../telemetry/audit/record.ts';
import { callFacts, textHashes, type CallFacts, type Hashing } from './audit-facts.ts';
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
  readonly ahead?: Ahead | undefined;
}

/** A call's record that is stored beside what it tells of. */
export interface Ahead {
  /** Its place in the tenant's chain. */
  readonly seq: number;
  readonly memoryIds: readonly string[];
  /** What it says of the call, to be held against what came of it. */
  readonly says: string;
  /** Rejects with ERR_AUDIT_UNAVAILABLE; done() tells. */
  readonly stored: Promise<void>;
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
  /**
   * Begins the record of a call that is about to store something and, if the store takes it, answers `output`; undefined for one that does
   * not wait for its record. Whatever else comes of the call, done() or failed() writes a second record, whose `detail.corrects` names the
   * first. ERR_AUDIT_UNAVAILABLE while there cannot be one.
   */
  ahead(call: AuditedCall, output: Readonly<Record<string, unknown>>): Ahead | undefined;
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
  readonly hashing: Hashing;
}

/** Refusals that are written one by one in a minute, of callers nobody knows, and by the limits of one tenant; a flood of them is only counted. */
const FLOOD_A_MINUTE = 600;
const DENIED: ReadonlySet<number> = new Set([401, 403, 429]);

/** What changes something, and what takes everything out, is not answered before its record is stored. */
function waits(operation: AnyOperation, input: Readonly<Record<string, unknown>> | undefined): boolean {
  if (input !== undefined && operation.transient?.(input) === true) return false;
  return operation.effect !== 'read' || operation.scope === 'memory:admin' || operation.scope === 'memory:reveal';
}

export function createAudit({ trail, hashing }: AuditParts): Audit {
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

  const factsOf = (call: AuditedCall, found: CallFacts): AuditFacts => {
    const { operation, principal, input } = call;
    return {
      ...found,
      ...textHashes(input, principal.tenant, hashing),
      ...who(principal),
      record_type: 'operation',
      operation: operation.name,
      scope: operation.scope,
      trace_id: plain(call.traceId),
      took_ms: call.tookMs,
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
    ahead(call, output) {
      if (!waits(call.operation, call.input)) return undefined;
      if (!trail.up) throw new HindsightError('ERR_AUDIT_UNAVAILABLE');
      const found = foundIn(call, output);
      // how long it takes is not known yet
      const facts = { ...allowed(factsOf(call, found)), took_ms: undefined, detail: { ...found.detail, ahead: true } };
      const { seq, stored } = trail.begin(facts);
      stored.catch(() => undefined);
      return { seq, stored, memoryIds: found.memory_ids ?? [], says: JSON.stringify(found) };
    },
    async done(call, output) {
      const found = foundIn(call, output);
      const { ahead } = call;
      if (ahead !== undefined && JSON.stringify(found) === ahead.says) return ahead.stored;
      const waiting = waits(call.operation, call.input);
      const stored = trail.append(correcting(allowed(factsOf(call, found)), ahead), waiting);
      if (waiting) await stored;
    },
    failed(call, error) {
      told.add(error);
      const facts = (): AuditFacts => ({ ...factsOf(call, foundIn(call, undefined)), ...outcomeOf(error) });
      // that its record could not be stored makes it no less true
      const ahead = error.code === 'ERR_AUDIT_UNAVAILABLE' ? undefined : call.ahead;
      if (ahead !== undefined) trail.append(correcting(facts(), ahead), true).catch(() => undefined);
      else if (isWorthALine(error, call.principal)) append(facts());
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

/** What the input, the output and the people asked say of a call. */
function foundIn({ input, answers = [] }: AuditedCall, output: Readonly<Record<string, unknown>> | undefined): CallFacts {
  const found = callFacts(input, output);
  return answers.length === 0 ? found : { ...found, detail: { ...found.detail, answers } };
}

const allowed = (facts: AuditFacts): AuditFacts => ({ ...facts, verdict: facts.verdict ?? ['allow'], outcome: 'ok' });

/** Names the memories of the first record too: whoever looks one of them up finds both. */
function correcting(facts: AuditFacts, ahead: Ahead | undefined): AuditFacts {
  if (ahead === undefined) return facts;
  const ids = [...new Set([...(facts.memory_ids ?? []), ...ahead.memoryIds])];
  return { ...facts, ...(ids.length === 0 ? {} : { memory_ids: ids }), detail: { ...facts.detail, corrects: ahead.seq } };
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
