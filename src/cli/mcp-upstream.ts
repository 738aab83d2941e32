/** One JSON-RPC message from stdio to the running service's /mcp and what comes back, whichever revision the client speaks. */
import { readEvents } from './event-stream.ts';
import type { Target } from './mcp-service.ts';

export type Json = Readonly<Record<string, unknown>>;

/** What a client of the revisions with `initialize` has agreed upon. */
export interface Session {
  /** Undefined where the service keeps none, because the client cannot be asked anything. */
  readonly id: string | undefined;
  readonly version: string;
}

export interface Exchange {
  readonly status: number;
  readonly sessionId: string | undefined;
  /** The answer, and before it whatever the service sends on the way. */
  readonly messages: AsyncIterable<Json>;
}

const META = 'io.modelcontextprotocol/';
/** What a header can hold as it is. */
const PLAIN = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

/** The revision that a message names for itself (2026-07-28 and later); undefined for one that relies on `initialize`. */
export function ownVersion(message: Json): string | undefined {
  const meta = (message['params'] as Json | undefined)?.['_meta'] as Json | undefined;
  const version = meta?.[`${META}protocolVersion`];
  return typeof version === 'string' && message['method'] !== 'initialize' ? version : undefined;
}

/** Rejects with the fetch error when the service cannot be reached; HTTP errors are answers. */
export async function post(target: Target, message: Json, session: Session | undefined, signal: AbortSignal): Promise<Exchange> {
  const response = await fetch(`${target.url}/mcp`, {
    method: 'POST',
    headers: {
      ...headersOf(target, session),
      ...modernHeaders(message),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(message),
    signal,
  });
  return exchangeOf(response);
}

/** The stream on which the service speaks first. */
export async function listen(target: Target, session: Session, signal: AbortSignal): Promise<Exchange> {
  const response = await fetch(`${target.url}/mcp`, {
    headers: { ...headersOf(target, session), accept: 'text/event-stream' },
    signal,
  });
  return exchangeOf(response);
}

function headersOf({ token }: Target, session: Session | undefined): Record<string, string> {
  return {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(session?.id === undefined ? {} : { 'mcp-session-id': session.id }),
    ...(session === undefined ? {} : { 'mcp-protocol-version': session.version }),
  };
}

/** Over HTTP, headers repeat what the body says (MCP 2026-07-28, transports); stdio has none. */
function modernHeaders(message: Json): Record<string, string> {
  const version = ownVersion(message);
  if (version === undefined) return {};
  const method = String(message['method']);
  const params = message['params'] as Json;
  const name = method === 'resources/read' ? params['uri'] : params['name'];
  const named = typeof name === 'string' && ['tools/call', 'prompts/get', 'resources/read'].includes(method);
  return {
    'mcp-protocol-version': headerValue(version),
    'mcp-method': headerValue(method),
    ...(named ? { 'mcp-name': headerValue(name) } : {}),
  };
}

function headerValue(value: string): string {
  return PLAIN.test(value) ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}

function exchangeOf(response: Response): Exchange {
  return { status: response.status, sessionId: response.headers.get('mcp-session-id') ?? undefined, messages: messagesOf(response) };
}

async function* messagesOf(response: Response): AsyncGenerator<Json> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream') && response.body !== null) {
    for await (const event of readEvents(response.body)) {
      const message = toMessage(event);
      if (message !== undefined) yield message;
    }
    return;
  }
  const message = toMessage(await response.text());
  if (message !== undefined) yield message;
}

/** Something in between may answer with a page of its own: only JSON-RPC goes on to the client. */
function toMessage(text: string): Json | undefined {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === 'object' && message !== null && 'jsonrpc' in message ? message : undefined;
  } catch {
    return undefined;
  }
}
