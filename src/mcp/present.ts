/** Outcome of an operation -> result of a tool call. */
import type { HindsightError } from '../errors.ts';

/** CallToolResult of the protocol, as far as this service uses it. */
export interface ToolResult {
  [key: string]: unknown;
  content: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: true;
}

/** The answer twice: structured, and the same JSON as text for clients that show models nothing else. Verdicts such as blocked are answers. */
export function presentOutput(output: Record<string, unknown>): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(output) }], structuredContent: output };
}

/**
 * A failure that the model can read and act upon (MCP SEP-1303): public text of the error table with its code, JSON pointers, and when to
 * try again, under the names of the problem document. A missing scope and a rate limit are such results too: some clients end their whole
 * connection on an HTTP 403 or 429.
 */
export function presentFailure(error: HindsightError, traceId: string): ToolResult {
  const problem = {
    code: error.code,
    detail: error.message,
    ...(error.faults.length === 0 ? {} : { errors: error.faults.map(({ pointer, message }) => ({ pointer, message })) }),
    ...(error.retryAfterSeconds === undefined ? {} : { retry_after_seconds: error.retryAfterSeconds }),
    trace_id: traceId,
  };
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(problem) }] };
}
