/** The SDK's low-level Server over the tools: one for each connection, 15 to 70 us to make, because everything in it is made beforehand. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import { ElicitResultSchema, ErrorCode, type ServerNotification, type ServerRequest } from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { toHindsightError } from '../errors.ts';
import type { Confirm } from '../operations/confirm.ts';
import type { Invoke } from '../operations/invoke.ts';
import type { EventLog } from '../operations/watch.ts';
import { INSTRUCTIONS, SERVER_CAPABILITIES, serverInfo } from './about.ts';
import { confirmationForm, confirmationOf, showsForms } from './confirmation.ts';
import { presentFailure, presentOutput, type ToolResult } from './present.ts';
import { progressTokenOf, tellProgress, type Every } from './progress.ts';
import { INVALID_PARAMS, type PromptSet } from './prompts.ts';
import { runTool, type Caller } from './run-tool.ts';
import type { ToolSet } from './tools.ts';

export interface ServerParts {
  readonly tools: ToolSet;
  readonly prompts: PromptSet;
  readonly invoke: Invoke;
  readonly logger: EventLog;
  readonly version: string;
  readonly every: Every;
}

export type CreateServer = () => Server;

/** How long a user may think it over. */
const PATIENCE_MS = 120_000;

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

export function createServerFactory(parts: ServerParts): CreateServer {
  // a Server without one builds its own, which takes 2.7 ms instead of 0.5 ms
  const jsonSchemaValidator = new AjvJsonSchemaValidator();
  const info = serverInfo(parts.version);
  const options = { capabilities: SERVER_CAPABILITIES, instructions: INSTRUCTIONS, jsonSchemaValidator };

  return () => {
    const server = new Server(info, options);
    // not setRequestHandler: it answers a malformed call with the schema library's own text, and parses each result a second time
    server.fallbackRequestHandler = async ({ method, params = {} }, extra) => {
      const caller = callerOf(extra);
      if (method === 'tools/list') return { tools: parts.tools.list(caller.principal.scopes) };
      if (method === 'tools/call') {
        const stop = tellProgress(parts.every, progressTokenOf(extra._meta), params['name'], (progress) => {
          // a client that is gone needs none
          extra.sendNotification({ method: 'notifications/progress', params: { ...progress } }).catch(() => undefined);
        });
        return callTool(parts, params, { ...caller, confirm: confirmIn(server, extra) }, extra.signal).finally(stop);
      }
      if (method === 'prompts/list') return { prompts: parts.prompts.list(caller.principal.scopes) };
      if (method === 'prompts/get') return getPrompt(parts, params, caller);
      throw rpcError(ErrorCode.MethodNotFound, 'Method not found');
    };
    // the SDK's own text may repeat what the client sent
    server.onerror = () => parts.logger.debug({}, 'mcp message without effect');
    return server;
  };
}

/** How a Caller reaches the server through the SDK's transport. */
export function authInfoOf(caller: Caller): AuthInfo {
  return { token: '', clientId: caller.principal.clientId ?? '', scopes: [...caller.principal.scopes], extra: { caller } };
}

function callerOf(extra: Extra): Caller {
  const caller = extra.authInfo?.extra?.['caller'] as Caller | undefined;
  if (caller === undefined) throw rpcError(ErrorCode.InternalError, 'Internal error');
  return caller;
}

async function callTool(
  parts: ServerParts,
  params: Readonly<Record<string, unknown>>,
  caller: Caller,
  ended: AbortSignal,
): Promise<ToolResult> {
  const { name, arguments: args = {} } = params;
  const tool = typeof name === 'string' ? parts.tools.find(name) : undefined;
  if (tool === undefined) throw rpcError(ErrorCode.InvalidParams, 'Unknown tool');
  try {
    const signal = AbortSignal.any([caller.signal, ended]);
    return presentOutput(await runTool(parts.invoke, tool, args, { ...caller, signal }));
  } catch (thrown) {
    return presentFailure(toHindsightError(thrown), caller.traceId);
  }
}

/** By elicitation in the session; a connection that stands for one request knows no capabilities, and nobody could answer on it. */
function confirmIn(server: Server, extra: Extra): Confirm {
  return {
    canAsk: showsForms(server.getClientCapabilities()),
    leg: 'session',
    // the call waits for its answer here
    kept: () => undefined,
    ask: async (_key, message) => {
      const question = { method: 'elicitation/create' as const, params: confirmationForm(message) };
      try {
        return confirmationOf(await extra.sendRequest(question, ElicitResultSchema, { timeout: PATIENCE_MS }));
      } catch {
        // no answer in time, an error of the client, or a client that is gone: none of them is a yes
        return 'unanswered';
      }
    },
  };
}

async function getPrompt(parts: ServerParts, params: Readonly<Record<string, unknown>>, caller: Caller): Promise<Record<string, unknown>> {
  try {
    const prompt = await parts.prompts.get(params, caller);
    if (prompt !== undefined) return prompt;
  } catch (thrown) {
    const error = toHindsightError(thrown);
    throw rpcError(error.status === 400 ? INVALID_PARAMS : ErrorCode.InternalError, error.message);
  }
  throw rpcError(INVALID_PARAMS, 'Unknown prompt');
}

/** The SDK's McpError would put its own prefix into the message. */
function rpcError(code: number, message: string): Error {
  return Object.assign(new Error(message), { code });
}
