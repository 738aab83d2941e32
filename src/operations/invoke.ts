/** One call of one operation, the same for every front end: schema, scope, rate limit, handler, output schema, log and metrics. */
import type { Clock } from '../domain/clock.ts';
import { ERRORS, HindsightError, toHindsightError } from '../errors.ts';
import type { CallContext, MemoryGateway } from '../memory/gateway.ts';
import { cannotAsk, type Confirm } from './confirm.ts';
import type { AnyOperation } from './define.ts';
import { evenTime } from './even-time.ts';
import type { Instructions } from './instructions.ts';
import type { Limiter, LimitResult } from './limits.ts';
import { parseInput } from './parse.ts';
import type { EventLog, OperationMetrics } from './watch.ts';

export interface InvokeCall extends CallContext {
  /** Told how the call stands with its rate limit, once it was counted. */
  readonly onLimit?: (result: LimitResult) => void;
  /** How the front end asks its user; a call without it cannot ask. */
  readonly confirm?: Confirm | undefined;
}

/** Answers the operation's output; every failure is a HindsightError. */
export type Invoke = (operation: AnyOperation, rawInput: unknown, call: InvokeCall) => Promise<Record<string, unknown>>;

export interface InvokeParts {
  readonly memory: MemoryGateway;
  readonly instructions: Instructions;
  readonly limiter: Limiter;
  readonly clock: Clock;
  readonly logger: EventLog;
  readonly metrics: OperationMetrics;
  /** Calls that run at once; one more is refused at once. Without a limit unless given. */
  readonly maxInFlight?: number;
}

/**
 * Failures: ERR_BUSY beyond `maxInFlight`, ERR_REQUEST_INVALID (input, with pointers), ERR_SCOPE_MISSING, ERR_RATE_LIMITED, whatever the gateway throws, and
 * ERR_INTERNAL for anything that is not ours, an output that breaks the operation's own schema among it.
 */
export function createInvoke(parts: InvokeParts): Invoke {
  const { memory, instructions, limiter, clock, logger, metrics, maxInFlight = Infinity } = parts;
  let inFlight = 0;

  async function run(operation: AnyOperation, rawInput: unknown, call: InvokeCall): Promise<Record<string, unknown>> {
    const input = parseInput(operation, rawInput);
    if (!call.principal.scopes.has(operation.scope)) throw new HindsightError('ERR_SCOPE_MISSING', { params: { scope: operation.scope } });
    const cost = operation.cost + (operation.extraCost?.(input) ?? 0);
    const limit = await limiter.consume(call.principal, operation.name, cost);
    call.onLimit?.(limit);
    const { onLimit: _onLimit, confirm = cannotAsk, ...context } = call;
    const output: unknown = await operation.handle(input, { ...context, memory, instructions, confirm: besides(confirm) });
    return checkOutput(operation, output, call);
  }

  /** While its user thinks it over, a call is not in anybody's way. */
  function besides(confirm: Confirm): Confirm {
    return {
      canAsk: confirm.canAsk,
      kept: (key) => confirm.kept(key),
      ask: async (...question) => {
        inFlight -= 1;
        return confirm.ask(...question).finally(() => (inFlight += 1));
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
    const done = (code: HindsightError['code'] | 'OK'): object => {
      const tookMs = clock() - startedAt;
      metrics.operationDone(operation.name, code, tookMs);
      return { trace_id: call.traceId, operation: operation.name, code, took_ms: tookMs };
    };
    try {
      // a longer queue would only let callers wait for answers that come after they gave up
      if (inFlight >= maxInFlight) throw new HindsightError('ERR_BUSY');
      inFlight += 1;
      const output = await run(operation, rawInput, call).finally(() => (inFlight -= 1));
      logger.debug(done('OK'), 'operation done');
      return output;
    } catch (thrown) {
      const error = withAdvice(toHindsightError(thrown), operation, call);
      const cause = error.cause === undefined ? {} : { err: error.cause };
      logger[ERRORS[error.code].level]({ ...done(error.code), ...cause }, 'operation failed');
      if (error.code === 'ERR_MEMORY_NOT_FOUND') await evenTime(startedAt, clock);
      throw error;
    }
  };
}

/** A store that did not answer may have done what it was asked all the same: a caller who changes something is told how to go on. */
function withAdvice(error: HindsightError, operation: AnyOperation, call: InvokeCall): HindsightError {
  if (error.code !== 'ERR_STORE_UNAVAILABLE' || operation.effect === 'read') return error;
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
