/** Streamable HTTP of the revisions 2025-11-25 and older at one path: with a session for clients that can be asked, without one for all others. */
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { isInitializeRequest, LATEST_PROTOCOL_VERSION, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import { HindsightError } from '../errors.ts';
import type { MountedHandler, MountedRequest } from '../http/mount.ts';
import { whenClosed } from '../http/when-closed.ts';
import { invalid } from '../operations/parse.ts';
import { progressTokenOf } from './progress.ts';
import { presentRpcError, readMessage, type RpcMessage } from './json-rpc.ts';
import type { Revocations } from './revocations.ts';
import type { Caller } from './run-tool.ts';
import { authInfoOf, type CreateServer } from './server.ts';
import type { OpenedSession, SessionClient, SessionIds } from './session-id.ts';
import type { SessionTable } from './session-table.ts';
import type { Session } from './session.ts';
import { reply, webRequest } from './web-exchange.ts';

export interface StreamableHttpParts {
  readonly createServer: CreateServer;
  readonly ids: SessionIds;
  readonly revocations: Revocations;
  readonly sessions: SessionTable;
}

export function createStreamableHttp(parts: StreamableHttpParts): MountedHandler {
  const { createServer, ids, revocations, sessions } = parts;

  /**
   * A Server for this one request, in JSON mode: nothing outlives it. The request's signal ends its handler, so that this always settles;
   * the transport must stay open until then, for closing it would leave the answer pending.
   */
  async function answerAlone(request: MountedRequest): Promise<void> {
    const server = createServer();
    const streams = progressTokenOf(metaOf(request.body)) !== undefined;
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !streams });
    if (streams) {
      // the answer goes on after this returns; a client that wants progress takes it as events
      whenClosed(request.ctx.res, () => void server.close());
      await server.connect(transport);
      const options = { parsedBody: request.body, authInfo: authInfoOf(request) };
      return reply(request.ctx, await transport.handleRequest(webRequest(request.ctx), options), request.body);
    }
    try {
      await server.connect(transport);
      const options = { parsedBody: request.body, authInfo: authInfoOf(request) };
      await reply(request.ctx, await transport.handleRequest(webRequest(request.ctx), options), request.body);
    } finally {
      await server.close();
    }
  }

  async function answerInSession(request: MountedRequest, session: Session, message: RpcMessage): Promise<void> {
    const { ctx, body } = request;
    if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
      session.cancel(message.params['requestId']);
      accepted(request);
      return;
    }
    const running = message.kind === 'request' ? session.begin(message.id) : undefined;
    if (message.kind === 'request' && running === undefined) return answerAlone(request);
    hold(request, session);
    // not the request's own signal: a response that was piped from a stream calls itself finished after a connection reset
    whenClosed(ctx.res, () => running?.abort());
    const caller: Caller = { principal: request.principal, traceId: request.traceId, signal: running?.signal ?? request.signal };
    const response = await session.transport.handleRequest(webRequest(ctx), { parsedBody: body, authInfo: authInfoOf(caller) });
    if (!response.ok && message.kind === 'request') session.forgetRunning(message.id);
    await reply(ctx, response, body);
  }

  /** A stale session id does not matter here: the client begins anew. */
  async function initialize(request: MountedRequest): Promise<void> {
    const { body, principal } = request;
    if (!isInitializeRequest(body))
      throw invalid([{ pointer: '/params', message: 'must hold protocolVersion, capabilities and clientInfo' }]);
    const client = clientOf(body.params);
    const id = client === undefined ? undefined : ids.mint(principal, client);
    const session = id === undefined ? undefined : await sessions.acquire(principal.tenant, id);
    // without a free place the client works as one that cannot be asked
    if (id === undefined || session === undefined) return answerAlone(request);
    hold(request, session);
    const response = await session.transport.handleRequest(webRequest(request.ctx), { parsedBody: body, authInfo: authInfoOf(request) });
    if (!response.ok) await sessions.close(principal.tenant, id);
    await reply(request.ctx, response, body);
  }

  /** ERR_SESSION_NOT_FOUND for an id that is not ours, ended or another person's: the client has to begin anew. */
  async function openedSession(request: MountedRequest, id: string): Promise<OpenedSession> {
    const opened = ids.open(id, request.principal);
    if (opened === undefined || (await revocations.has(opened.nonce))) throw new HindsightError('ERR_SESSION_NOT_FOUND');
    return opened;
  }

  async function post(request: MountedRequest): Promise<void> {
    const message = readMessage(request.body);
    if (message.kind === 'request' && message.method === 'initialize') return initialize(request);
    const id = request.ctx.get('mcp-session-id');
    if (id === '') {
      // some clients never send their session id; a notification without a session has nobody to tell
      if (message.kind === 'request') return answerAlone(request);
      return accepted(request);
    }
    const session = await sessions.acquire(request.principal.tenant, id, await openedSession(request, id));
    if (session !== undefined) return answerInSession(request, session, message);
    if (message.kind === 'request') return answerAlone(request);
    return accepted(request);
  }

  /** The stream on which a server speaks first; only a session has one. */
  async function get(request: MountedRequest): Promise<void> {
    const { ctx, principal } = request;
    const id = ctx.get('mcp-session-id');
    if (id === '' || ctx.method === 'HEAD') throw new HindsightError('ERR_METHOD_NOT_ALLOWED');
    const session = await sessions.acquire(principal.tenant, id, await openedSession(request, id));
    if (session === undefined) throw new HindsightError('ERR_BUSY');
    hold(request, session);
    const response = await session.transport.handleRequest(webRequest(ctx));
    if (response.ok) session.streamEndsAt = principal.expiresAt === 0 ? Infinity : principal.expiresAt * 1_000;
    await reply(ctx, response, undefined);
  }

  async function end(request: MountedRequest): Promise<void> {
    const id = request.ctx.get('mcp-session-id');
    if (id === '') throw invalid([{ pointer: '', message: 'names no session: send Mcp-Session-Id' }]);
    const opened = await openedSession(request, id);
    await revocations.add(opened.nonce, opened.expiresAt);
    await sessions.close(request.principal.tenant, id);
    request.ctx.status = 204;
  }

  return {
    path: '/mcp',
    methods: ['GET', 'POST', 'DELETE'],
    summary: 'Model Context Protocol, Streamable HTTP',
    presentError: presentRpcError,
    handle: async (request) => {
      const { method } = request.ctx;
      if (method === 'POST') return post(request);
      return method === 'DELETE' ? end(request) : get(request);
    },
  };
}

function metaOf(body: unknown): unknown {
  return (body as { readonly params?: { readonly _meta?: unknown } } | undefined)?.params?._meta;
}

function accepted({ ctx }: MountedRequest): void {
  ctx.body = null;
  ctx.status = 202;
}

/** The session counts as used until this answer is out. */
function hold({ ctx }: MountedRequest, session: Session): void {
  session.open += 1;
  whenClosed(ctx.res, () => {
    session.open -= 1;
  });
}

/** What a session has to remember; undefined for a client that cannot be asked anything and so needs none. */
function clientOf(params: {
  readonly protocolVersion: string;
  readonly capabilities: { readonly elicitation?: { readonly form?: unknown; readonly url?: unknown } | undefined };
  readonly clientInfo: { readonly name: string; readonly version: string };
}): SessionClient | undefined {
  const { elicitation } = params.capabilities;
  if (elicitation === undefined) return undefined;
  const url = elicitation.url !== undefined;
  return {
    // the SDK answers an unknown revision with its latest
    protocolVersion: SUPPORTED_PROTOCOL_VERSIONS.includes(params.protocolVersion) ? params.protocolVersion : LATEST_PROTOCOL_VERSION,
    // an empty object means forms (MCP 2025-11-25, elicitation)
    elicitation: { form: elicitation.form !== undefined || !url, url },
    name: params.clientInfo.name,
    version: params.clientInfo.version,
  };
}
