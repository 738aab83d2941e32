/** One call of one operation, the same for every front end: schema, scope, rate limit, handler, output schema, log and metrics. */
import type { AuditLog } from '../domain/audit.ts';
import type { Clock } from '../domain/clock.ts';
import { ERRORS, HindsightError, toHindsightError } from '../errors.ts';
import type { CallContext, MemoryGateway } from '../memory/gateway.ts';
import type { Ahead, Audit, AuditedCall } from './audit.ts';
import { cannotAsk, type Confirm } from './confirm.ts';
import type { AnyOperation } from './define.ts';
import { evenTime } from './even-time.ts';
import type { Instructions } from './instructions.ts';
import { textPoints, type Limiter, type LimitResult, type TurnLimiter } from './limits.ts';
import { parseInput } from './parse.ts';
import { isStream, untilEnd } from './until-end.ts';
import type { EventLog, OperationMetrics } from './watch.ts';

export interface InvokeCall extends CallContext {
  /** Told how the call stands with its rate limit, once it was counted. */
  readonly onLimit?: (result: LimitResult) => void;
  /** Told what a read had to do without, besides what its answer says. */
  readonly onDegraded?: (part: 'audit') => void;
  /** How the front end asks its user; a call without it cannot ask. */
  readonly confirm?: Confirm | undefined;
}

/** Answers the operation's output; every failure is a HindsightError. */
export type Invoke = (operation: AnyOperation, rawInput: unknown, call: InvokeCall) => Promise<Record<string, unknown>>;

export interface InvokeParts {
  readonly memory: MemoryGateway;
  readonly instructions: Instructions;
  /** What memory_audit reads. */
  readonly auditLog: AuditLog;
  /** Without oncePerTurn every search of a turn is answered. */
  readonly limiter: Limiter & Partial<TurnLimiter>;
  readonly clock: Clock;
  readonly logger: EventLog;
  readonly metrics: OperationMetrics;
  /** Gets a record of every call; none is kept without it. */
  readonly audit?: Audit | undefined;
  /** Calls that run at once, streamed answers until their end; one more is refused at once. Without a limit unless given. */
  readonly maxInFlight?: number;
}

/** What is known of a call while it runs. */
interface Progress {
  readonly startedAt: number;
  input?: Record<string, unknown>;
  readonly answers: string[];
  /** Its audit record, where that is on its way before the call is through. */
  ahead?: Ahead | undefined;
}

/**
 * Failures: ERR_AUDIT_UNAVAILABLE when a call that changes something cannot be recorded, ERR_BUSY beyond `maxInFlight`, ERR_REQUEST_INVALID (input, with pointers), ERR_SCOPE_MISSING, ERR_RATE_LIMITED, ERR_TURN_SEARCHED, whatever the gateway throws, and
 * ERR_INTERNAL for anything that is not ours, an output that breaks the operation's own schema among it.
 */
export function createInvoke(parts: InvokeParts): Invoke {
  const { memory, instructions, auditLog, limiter, clock, logger, metrics, audit, maxInFlight = Infinity } = parts;
  let inFlight = 0;

  async function run(operation: AnyOperation, rawInput: unknown, call: InvokeCall, progress: Progress): Promise<Record<string, unknown>> {
    const input = parseInput(operation, rawInput);
    progress.input = input;
    audit?.admit(operation, input);
    if (!call.principal.scopes.has(operation.scope)) throw new HindsightError('ERR_SCOPE_MISSING', { params: { scope: operation.scope } });
    const cost = operation.cost + (operation.extraCost?.(input) ?? 0) + textPoints(input);
    const limit = await limiter.consume(call.principal, operation.name, cost);
    call.onLimit?.(limit);
    const { onLimit: _onLimit, onDegraded, confirm = cannotAsk, ...context } = call;
    const asked = besides(confirm, progress.answers);
    const turnId = operation.turnOf?.(input);
    const giveBack = turnId === undefined ? undefined : await limiter.oncePerTurn?.(call.principal, operation.name, turnId);
    const handling = operation.handle(input, {
      ...context,
      ...recordsAhead(operation, call, progress),
      memory,
      instructions,
      audit: auditLog,
      confirm: asked,
    });
    const handled = await handling.catch(async (error: unknown) => {
      await giveBack?.();
      throw error;
    });
    const output = checkOutput(operation, handled, call);
    if (audit === undefined) return output;
    await audit.done(audited(operation, call, progress), output);
    if (!audit.degraded) return output;
    onDegraded?.('audit');
    return Array.isArray(output['degraded']) ? { ...output, degraded: [...(output['degraded'] as unknown[]), 'audit'] } : output;
  }

  function audited(operation: AnyOperation, { principal, traceId }: InvokeCall, progress: Progress): AuditedCall {
    const { startedAt, input, answers, ahead } = progress;
    return { operation, principal, traceId, input, answers, ahead, tookMs: clock() - startedAt };
  }

  /** Lets the audit record of a call be stored beside what it tells of. */
  function recordsAhead(operation: AnyOperation, call: InvokeCall, progress: Progress): Pick<CallContext, 'aboutToStore'> {
    if (audit === undefined || operation.foretold === undefined) return {};
    return {
      aboutToStore: (results) => {
        const output = operation.foretold?.(results);
        if (output !== undefined) progress.ahead = audit.ahead(audited(operation, call, progress), output);
      },
    };
  }

  /** A call that runs takes one place, and one whose answer is a stream until that has ended. */
  async function placed(
    operation: AnyOperation,
    rawInput: unknown,
    call: InvokeCall,
    progress: Progress,
  ): Promise<Record<string, unknown>> {
    const leave = (): void => void (inFlight -= 1);
    let output;
    try {
      output = await run(operation, rawInput, call, progress);
    } catch (error) {
      leave();
      throw error;
    }
    const field = operation.http.find(({ stream }) => stream !== undefined)?.stream?.field;
    const stream = field === undefined ? undefined : output[field];
    if (field !== undefined && isStream(stream)) return { ...output, [field]: untilEnd(stream, leave) };
    leave();
    return output;
  }

  /** While its user thinks it over, a call is not in anybody's way. */
  function besides(confirm: Confirm, answers: string[]): Confirm {
    return {
      canAsk: confirm.canAsk,
      leg: confirm.leg,
      kept: (key) => confirm.kept(key),
      ask: async (...question) => {
        inFlight -= 1;
        const answer = await confirm.ask(...question).finally(() => (inFlight += 1));
        answers.push(answer);
        return answer;
      },
    };
  }

  function checkOutput(operation: AnyOperation, output: unknown, call: InvokeCall): Record<string, unknown> {
    const checked = operation.output.safeParse(output);
    if (checked.success) return checked.data;
    const faults = checked.error.issues.slice(0, 5).map((issue) => ({ path: issue.path.join('.'), code: issue.code }));
    logger.error({ trace_id: call.traceId, operation: operation.name, faults }, 'output breaks its own schema');
    throw new HindsightError('ERR_INTERNAL');
  }

  return async (operation, rawInput, call) => {
    const startedAt = clock();
    const progress: Progress = { startedAt, answers: [] };
    const done = (code: HindsightError['code'] | 'OK'): object => {
      const tookMs = clock() - startedAt;
      metrics.operationDone(operation.name, code, tookMs);
      return { trace_id: call.traceId, operation: operation.name, code, took_ms: tookMs };
    };
    try {
      // a longer queue would only let callers wait for answers that come after they gave up
      if (inFlight >= maxInFlight) throw new HindsightError('ERR_BUSY');
      audit?.admit(operation);
      inFlight += 1;
      const output = await placed(operation, rawInput, call, progress);
      logger.debug(done('OK'), 'operation done');
      if (progress.input !== undefined && operation.silent?.(progress.input, output) === true) await evenTime(startedAt, clock);
      return output;
    } catch (thrown) {
      const error = withAdvice(toHindsightError(thrown), operation, call);
      // overload must not make more work
      if (error.code !== 'ERR_BUSY') audit?.failed(audited(operation, call, progress), error);
      const cause = error.cause === undefined ? {} : { err: error.cause };
      logger[ERRORS[error.code].level]({ ...done(error.code), ...cause }, 'operation failed');
      if (NOT_FOUND.has(error.code)) await evenTime(startedAt, clock);
      throw error;
    }
  };
}

/** What is absent and what may not be seen are one answer, in time too. */
const NOT_FOUND: ReadonlySet<string> = new Set(['ERR_MEMORY_NOT_FOUND', 'ERR_RECALL_NOT_FOUND']);

/** A store that did not answer may have done what it was asked all the same: a caller who changes something is told how to go on. */
function withAdvice(error: HindsightError, operation: AnyOperation, call: InvokeCall): HindsightError {
  const away = error.code === 'ERR_STORE_UNAVAILABLE' || (error.code === 'ERR_AUDIT_UNAVAILABLE' && error.cause !== undefined);
  if (!away || operation.effect === 'read') return error;
  return new HindsightError(error.code, {
    params: { advice: adviceOf(operation, call) },
    ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
    cause: error.cause,
  });
}

function adviceOf({ effect, http }: AnyOperation, { idempotencyKey }: InvokeCall): string {
  if (idempotencyKey !== undefined) return 'the write may or may not have been stored: send it again with the same Idempotency-Key';
  if (effect === 'write' && http.some((binding) => binding.idempotencyKey === true))
    return 'the write may or may not have been stored: search for it before you send it again (over REST, an Idempotency-Key makes that safe)';
  return 'the change may or may not have been made: read the memory again before you repeat it';
}
