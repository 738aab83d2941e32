/** Revision 2026-07-28 at /mcp: no initialize, no session, every POST stands alone and is answered in one JSON body. */
import { toHindsightError } from '../errors.ts';
import type { MountedRequest } from '../http/mount.ts';
import { openTrace, traceparentOf } from '../telemetry/trace.ts';
import { continueTrace } from '../telemetry/trace-context.ts';
import { CACHED, discovery, META, type ServerInfo } from './about.ts';
import { InputRequests } from './input-requests.ts';
import { readMessage, type RpcId } from './json-rpc.ts';
import { checkRequest, RpcRefusal } from './modern-request.ts';
import type { RequestStates } from './request-state.ts';
import type { Caller } from './run-tool.ts';

type Json = Readonly<Record<string, unknown>>;

/** What stands behind the leg. Failures: RpcRefusal, and HindsightError where HTTP itself has to say it. */
export interface ModernServer {
  readonly info: ServerInfo;
  readonly instructions: string;
  listTools(caller: Caller): readonly object[];
  /** A CallToolResult; may ask the client through `inputs`. */
  callTool(params: Json, caller: Caller, inputs: InputRequests, meta: Json): Promise<Json>;
  listPrompts?(caller: Caller): readonly object[];
  /** A GetPromptResult. */
  readonly getPrompt?: (params: Json, caller: Caller, inputs: InputRequests) => Promise<Json>;
}

export function createModern(server: ModernServer, states: RequestStates): (request: MountedRequest) => Promise<void> {
  async function result(method: string, params: Json, meta: Json, caller: Caller): Promise<Json> {
    switch (method) {
      case 'server/discover':
        return discovery(server.info, server.instructions);
      case 'tools/list':
        return { ...CACHED, tools: server.listTools(caller) };
      case 'tools/call':
        return asking(method, params, meta, caller, (inputs) => server.callTool(params, caller, inputs, meta));
      case 'prompts/list':
        if (server.listPrompts !== undefined) return { ...CACHED, prompts: server.listPrompts(caller) };
        break;
      case 'prompts/get': {
        const { getPrompt } = server;
        if (getPrompt !== undefined) return asking(method, params, meta, caller, (inputs) => getPrompt(params, caller, inputs));
        break;
      }
      default:
    }
    throw new RpcRefusal(404, -32601, 'Method not found');
  }

  /** What a call asks on its way is its result: the client makes the same call again with the answers. */
  async function asking(
    method: string,
    params: Json,
    meta: Json,
    { principal }: Caller,
    run: (inputs: InputRequests) => Promise<Json>,
  ): Promise<Json> {
    const binding = { principal, method, name: params['name'], arguments: params['arguments'] };
    const inputs = await InputRequests.of(states, binding, params, meta[`${META}clientCapabilities`]);
    try {
      return await run(inputs);
    } catch (thrown) {
      const required = toHindsightError(thrown).code === 'ERR_CONFIRMATION_NEEDED' ? inputs.result() : undefined;
      if (required === undefined) throw thrown;
      return required;
    }
  }

  return async (request) => {
    const { ctx } = request;
    const message = readMessage(request.body);
    if (message.kind !== 'request') {
      // closing the connection cancels a call, and the server asks nothing: there is no notification or answer to act upon
      ctx.body = null;
      ctx.status = 202;
      return;
    }
    try {
      const meta = checkRequest(message, (name) => ctx.get(name));
      const complete = await result(message.method, message.params, meta, callerOf(request, meta));
      const answer = { resultType: 'complete', ...complete, _meta: { [`${META}serverInfo`]: server.info } };
      send(request, 200, message.id, { result: answer });
    } catch (thrown) {
      if (!(thrown instanceof RpcRefusal)) throw thrown;
      const { status, code, message: text, data } = thrown;
      send(request, status, message.id, { error: { code, message: text, ...(data === undefined ? {} : { data }) } });
    }
  };
}

function send({ ctx }: MountedRequest, status: number, id: RpcId, outcome: object): void {
  ctx.status = status;
  ctx.body = JSON.stringify({ jsonrpc: '2.0', id, ...outcome });
  ctx.type = 'application/json';
}

/** The trace goes on from the message when it names one (SEP-414): the header may be a proxy's. Log lines and answer follow. */
function callerOf({ ctx, principal, traceId, signal }: MountedRequest, meta: Json): Caller {
  if (typeof meta['traceparent'] !== 'string') return { principal, traceId, signal };
  const opened = openTrace(meta['traceparent']);
  // one that is not valid is left out, so that the request keeps the trace it has
  if (!meta['traceparent'].includes(opened.traceId)) return { principal, traceId, signal };
  ctx.state.traceId = opened.traceId;
  continueTrace(opened);
  ctx.set('traceparent', traceparentOf(opened));
  return { principal, traceId: opened.traceId, signal };
}
