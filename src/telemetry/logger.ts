/** The log: pino to stderr, one JSON object a line, every field redacted; made once by the entry and passed down. */
import { pino, type Bindings, type DestinationStream, type Logger as PinoLogger } from 'pino';
import { redact } from './redact.ts';
import { currentTraceId } from './trace-context.ts';

const STDERR_FD = 2;

/** Fields first, a lowercase message second; the message is ours and holds no values. */
export interface Logger {
  trace(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  fatal(fields: object, message: string): void;
  /** A logger whose lines all carry these fields, `trace_id` for instance. */
  child(fields: object): Logger;
}

/**
 * Lines go to stderr, because stdout belongs to the command line and the stdio transport; they are written at once, so that
 * the last one before a crash is there. A line written within a call or a job's run carries its trace_id. Every field passes `redact`: tokens, keys and memory content never reach a line.
 */
export function createLogger(config: { readonly logLevel: string }, destination?: DestinationStream): Logger {
  const root = pino(
    {
      level: config.logLevel,
      base: null,
      mixin: () => {
        const traceId = currentTraceId();
        return traceId === undefined ? {} : { trace_id: traceId };
      },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redact(fields) as Record<string, unknown>,
      },
      // pino would describe an error given as `err` once more, after redact has
      serializers: { err: (value: unknown) => value },
    },
    destination ?? pino.destination({ dest: STDERR_FD, sync: true }),
  );
  return withRedactedChildren(root);
}

/** formatters.log does not see the fields of a child logger, so they are redacted when the child is made. */
function withRedactedChildren(logger: PinoLogger): Logger {
  const child = logger.child.bind(logger);
  return Object.assign(logger, { child: (fields: object) => withRedactedChildren(child(redact(fields) as Bindings)) });
}
