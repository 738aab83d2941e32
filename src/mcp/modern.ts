/** Revision 2026-07-28 at /mcp: no initialize, no session, every POST stands alone and is answered in one JSON body. */
import { PassThrough } from 'node:stream';
import { toHindsightError } from '../errors.ts';
import type { MountedRequest } from '../http/mount.ts';
import { openTrace, traceparentOf } from '../telemetry/trace.ts';
import { continueTrace } from '../telemetry/trace-context.ts';
import { CACHED, discovery, META, type ServerInfo } from './about.ts';
import { InputRequests } from './input-requests.ts';
import { presentRpcError, readMessage, type RpcId } from './json-rpc.ts';
import { checkRequest, RpcRefusal } from './modern-request.ts';
import { progressTokenOf, tellProgress, type Every, type Progress } from './progress.ts';
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

export function createModern(server: ModernServer, states: RequestStates, every: Every): (request: MountedRequest) => Promise<void> {
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
    const { id, method, params } = message;
    const outcome = async (meta: Json): Promise<Outcome> => {
      try {
        const complete = await result(method, params, meta, callerOf(request, meta));
        return { status: 200, body: { result: { resultType: 'complete', ...complete, _meta: { [`${META}serverInfo`]: server.info } } } };
      } catch (thrown) {
        return refusal(thrown);
      }
    };
    let meta: Json;
    try {
      meta = checkRequest(message, (name) => ctx.get(name));
    } catch (thrown) {
      const { status, body } = refusal(thrown);
      return send(request, status, id, body);
    }
    const token = method === 'tools/call' ? progressTokenOf(meta) : undefined;
    if (token === undefined) {
      const { status, body } = await outcome(meta);
      return send(request, status, id, body);
    }
    await sendWithProgress(request, id, outcome(meta), (tell) => tellProgress(every, token, params['name'], tell));
  };
}

interface Outcome {
  readonly status: number;
  readonly body: object;
}

/** A fault of the protocol as its JSON-RPC error; what HTTP has to say is thrown on. */
function refusal(thrown: unknown): Outcome {
  if (!(thrown instanceof RpcRefusal)) throw thrown;
  const { status, code, message, data } = thrown;
  return { status, body: { error: { code, message, ...(data === undefined ? {} : { data }) } } };
}

/** One JSON body as always, unless the call outlives its first sign of life: then a stream of events that ends with the answer. */
async function sendWithProgress(
  request: MountedRequest,
  id: RpcId,
  outcome: Promise<Outcome>,
  start: (tell: (progress: Progress) => void) => () => void,
): Promise<void> {
  const { ctx } = request;
  const stream = new PassThrough();
  const write = (message: object): void => void stream.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
  let begin: () => void = () => undefined;
  const begun = new Promise<undefined>((resolve) => {
    begin = () => resolve(undefined);
  });
  const stop = start((progress) => {
    begin();
    write({ method: 'notifications/progress', params: progress });
  });
  const finished = outcome.finally(stop);
  const early = await Promise.race([finished, begun]);
  if (early !== undefined) return send(request, early.status, id, early.body);
  stream.on('error', () => undefined);
  ctx.status = 200;
  ctx.set('Content-Type', 'text/event-stream');
  ctx.set('Cache-Control', 'no-store, no-transform');
  ctx.set('X-Accel-Buffering', 'no');
  ctx.body = stream;
  ctx.flushHeaders();
  void finished
    .then(
      ({ body }) => write({ id, ...body }),
      (thrown: unknown) => stream.write(`event: message\ndata: ${presentRpcError(toHindsightError(thrown), { id }).body}\n\n`),
    )
    .finally(() => stream.end());
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
