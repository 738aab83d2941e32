/** HTTP+SSE of revision 2024-11-05, for clients that know nothing newer: a stream at /sse, messages at /messages; its sessions live in this process. */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../domain/clock.ts';
import { HindsightError } from '../errors.ts';
import type { MountedHandler, MountedRequest } from '../http/mount.ts';
import { presentRpcError, readMessage } from './json-rpc.ts';
import { authInfoOf, type CreateServer } from './server.ts';
import { SseSession } from './sse-session.ts';

export interface HttpSseOptions {
  readonly createServer: CreateServer;
  readonly clock: Clock;
  readonly maxPerTenant: number;
}

export interface HttpSse {
  readonly mounts: readonly MountedHandler[];
  readonly size: number;
  /** Keeps every stream from looking dead. */
  beat(): void;
  /** Ends the streams whose token has ended. */
  sweep(): Promise<void>;
  /** Ends all streams and takes no new ones. */
  close(): Promise<void>;
}

const MESSAGES_PATH = '/messages';

export function createHttpSse({ createServer, clock, maxPerTenant }: HttpSseOptions): HttpSse {
  const sessions = new Map<string, SseSession>();
  const perTenant = new Map<string, number>();
  let closed = false;

  const count = (tenant: string, change: 1 | -1): void => {
    const now = (perTenant.get(tenant) ?? 0) + change;
    if (now === 0) perTenant.delete(tenant);
    else perTenant.set(tenant, now);
  };

  /** ERR_BUSY when the tenant's places are taken, or the service is about to stop. */
  async function open({ ctx, principal }: MountedRequest): Promise<void> {
    if (ctx.method === 'HEAD') throw new HindsightError('ERR_METHOD_NOT_ALLOWED');
    if (closed || (perTenant.get(principal.tenant) ?? 0) >= maxPerTenant) throw new HindsightError('ERR_BUSY');
    const session = new SseSession(principal);
    const server = createServer();
    server.onclose = () => {
      sessions.delete(session.sessionId);
      count(principal.tenant, -1);
    };
    sessions.set(session.sessionId, session);
    count(principal.tenant, 1);
    await session.open(server, MESSAGES_PATH);
    ctx.status = 200;
    ctx.set('Content-Type', 'text/event-stream');
    ctx.set('Cache-Control', 'no-store, no-transform');
    // or nginx keeps events back
    ctx.set('X-Accel-Buffering', 'no');
    ctx.body = session.stream;
    ctx.flushHeaders();
  }

  /** The answer comes on the stream; here is only said that the message arrived. Every message is judged by the token it came with. */
  async function receive(request: MountedRequest): Promise<void> {
    const { ctx, principal, traceId, body } = request;
    const session = sessions.get(new URLSearchParams(ctx.querystring).get('sessionId') ?? '');
    // a stranger learns no more than one who guesses
    if (session?.belongsTo(principal) !== true) throw new HindsightError('ERR_SESSION_NOT_FOUND');
    readMessage(body);
    ctx.body = null;
    ctx.status = 202;
    session.onmessage?.(body as JSONRPCMessage, { authInfo: authInfoOf({ principal, traceId, signal: session.signal }) });
  }

  return {
    mounts: [
      {
        path: '/sse',
        methods: ['GET'],
        summary: 'Model Context Protocol, event stream of HTTP+SSE (2024-11-05)',
        presentError: presentRpcError,
        handle: open,
      },
      {
        path: MESSAGES_PATH,
        methods: ['POST'],
        summary: 'Model Context Protocol, messages of HTTP+SSE (2024-11-05)',
        presentError: presentRpcError,
        handle: receive,
      },
    ],
    get size() {
      return sessions.size;
    },
    beat: () => {
      for (const session of sessions.values()) session.beat();
    },
    sweep: async () => {
      const now = clock();
      for (const session of [...sessions.values()]) if (session.endsAt <= now) await session.close();
    },
    close: async () => {
      closed = true;
      await Promise.all([...sessions.values()].map((session) => session.close()));
    },
  };
}
