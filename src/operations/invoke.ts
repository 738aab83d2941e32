/** One call of one operation, the same for every front end: schema, scope, rate limit, handler, output schema, log and metrics. */
import type { Clock } from '../domain/clock.ts';
import { ERRORS, HindsightError, toHindsightError } from '../errors.ts';
import type { CallContext, MemoryGateway } from '../memory/gateway.ts';
import type { AnyOperation } from './define.ts';
import type { Instructions } from './instructions.ts';
import type { Limiter, LimitResult } from './limits.ts';
import { parseInput } from './parse.ts';
import type { EventLog, OperationMetrics } from './watch.ts';

export interface InvokeCall extends CallContext {
  /** Told how the call stands with its rate limit, once it was counted. */
  readonly onLimit?: (result: LimitResult) => void;
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
}

/**
 * Failures: ERR_REQUEST_INVALID (input, with pointers), ERR_SCOPE_MISSING, ERR_RATE_LIMITED, whatever the gateway throws, and
 * ERR_INTERNAL for anything that is not ours, an output that breaks the operation's own schema among it.
 */
export function createInvoke(parts: InvokeParts): Invoke {
  const { memory, instructions, limiter, clock, logger, metrics } = parts;

  async function run(operation: AnyOperation, rawInput: unknown, call: InvokeCall): Promise<Record<string, unknown>> {
    const input = parseInput(operation, rawInput);
    if (!call.principal.scopes.has(operation.scope)) throw new HindsightError('ERR_SCOPE_MISSING', { params: { scope: operation.scope } });
    const cost = operation.cost + (operation.extraCost?.(input) ?? 0);
    const limit = await limiter.consume(call.principal, operation.name, cost);
    call.onLimit?.(limit);
    const { onLimit: _onLimit, ...context } = call;
    const output: unknown = await operation.handle(input, { ...context, memory, instructions });
    return checkOutput(operation, output, call);
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
      const output = await run(operation, rawInput, call);
      logger.debug(done('OK'), 'operation done');
      return output;
    } catch (thrown) {
      const error = toHindsightError(thrown);
      const cause = error.cause === undefined ? {} : { err: error.cause };
      logger[ERRORS[error.code].level]({ ...done(error.code), ...cause }, 'operation failed');
      throw error;
    }
  };
}
