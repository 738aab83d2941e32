/** What operations and front ends tell the outside about a call; telemetry implements both, compose passes them in. */
import type { ErrorCode } from '../errors.ts';

/** The part of a pino logger that is used: fields first, a lowercase message second. */
export interface EventLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface OperationMetrics {
  /** One call of an operation came to its end, by whatever front end. */
  operationDone(operation: string, code: ErrorCode | 'OK', durationMs: number): void;
}
