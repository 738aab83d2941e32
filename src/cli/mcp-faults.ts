/** What the stdio entry says when a message does not reach the service: what is wrong, and what to do. */
import type { Target } from './mcp-service.ts';

export class Fault extends Error {
  override readonly name = 'Fault';
  /** Code of the JSON-RPC error. */
  readonly rpcCode: number;

  constructor(message: string, rpcCode: number, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.rpcCode = rpcCode;
  }
}

const UNREACHED = -32_000;
const UNAUTHORIZED = -32_001;

export function unreachable(url: string, cause: unknown): Fault {
  return new Fault(
    `The service at ${url} cannot be reached: start it, or correct HINDSIGHT_URL; the next call tries again`,
    UNREACHED,
    cause,
  );
}

export function lost(cause?: unknown): Fault {
  return new Fault(
    'The connection to the service was lost before its answer came, so the call may have been carried out; the next call connects again',
    UNREACHED,
    cause,
  );
}

/** Something between here and the service answered in its place. */
export function wordless(status: number): Fault {
  return new Fault(`HTTP ${status} came back without a JSON-RPC message: is HINDSIGHT_URL the address of a hindsight-es?`, UNREACHED);
}

export function refusedToken({ url, token }: Target, advice: string): Fault {
  const what =
    token === undefined ? `needs a bearer token: ${advice}` : `rejected the token (wrong, expired or of another issuer): ${advice}`;
  return new Fault(`401: the service at ${url} ${what}`, UNAUTHORIZED);
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
