/** One tool call -> one invoke(), the same for every leg of MCP; how a failure is told is the leg's own. */
import type { Principal } from '../domain/principal.ts';
import type { Confirm } from '../operations/confirm.ts';
import type { Invoke } from '../operations/invoke.ts';
import { invalid } from '../operations/parse.ts';
import type { Tool } from './tools.ts';

/** Who sent a message, under which trace; travels with the message, for a connection may carry several callers' tokens over time. */
export interface Caller {
  readonly principal: Principal;
  readonly traceId: string;
  /** Aborted when the client goes away or cancels. */
  readonly signal: AbortSignal;
  /** Set by the leg that can ask the user. */
  readonly confirm?: Confirm;
}

/** The operation's output. Failures are those of invoke(), and ERR_REQUEST_INVALID for an argument that the tool does not list. */
export async function runTool(invoke: Invoke, tool: Tool, args: unknown, caller: Caller): Promise<Record<string, unknown>> {
  const { principal, traceId, signal, confirm } = caller;
  const call = { principal, traceId, signal, confirm, idempotencyKey: undefined, route: tool.operation.name };
  return invoke(tool.operation, declaredOnly(tool, args), call);
}

/** The tool's fields are a subset of the operation's: what is not listed is not taken either. */
function declaredOnly(tool: Tool, args: unknown): unknown {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return args;
  if (Object.keys(args).every((field) => tool.fields.has(field))) return args;
  throw invalid([{ pointer: '', message: `takes no other fields than ${[...tool.fields].join(', ')}` }]);
}
