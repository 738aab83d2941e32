/** What a request of revision 2026-07-28 must look like: headers that say the same as its body, and what the client told in _meta. */
import { META, MODERN_VERSION } from './about.ts';
import type { RpcMessage } from './json-rpc.ts';

/** Codes that the revision adds to those of JSON-RPC (MCP 2026-07-28, schema). */
export const HEADER_MISMATCH = -32020;
export const UNSUPPORTED_VERSION = -32022;

type RpcRequest = Extract<RpcMessage, { readonly kind: 'request' }>;
type Json = Readonly<Record<string, unknown>>;
/** One header of the request; '' when it is absent. */
type Header = (name: string) => string;

/** A fault of the protocol itself, with the HTTP status that the revision gives it; its message never repeats what was sent. */
export class RpcRefusal extends Error {
  readonly status: number;
  readonly code: number;
  readonly data: Json | undefined;

  constructor(status: number, code: number, message: string, data?: Json) {
    super(message);
    this.status = status;
    this.code = code;
    this.data = data;
  }
}

/**
 * Whether a body is for this revision: its _meta names a version, or, in a body without one, the header names a version that no older
 * revision has (they are dates, so later ones are greater). `initialize` without a version in _meta is always an older client's.
 */
export function isModern(body: unknown, header: Header): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false;
  const { method, params } = body as { readonly method?: unknown; readonly params?: unknown };
  if (metaOf(params)?.[`${META}protocolVersion`] !== undefined) return true;
  return header('mcp-protocol-version') >= MODERN_VERSION && method !== 'initialize';
}

/** The request's _meta, once version and headers agree with the body; throws RpcRefusal (400) otherwise (MCP 2026-07-28, transports). */
export function checkRequest({ method, params }: RpcRequest, header: Header): Json {
  const version = header('mcp-protocol-version');
  if (version === '') throw mismatch('MCP-Protocol-Version is missing');
  const meta = metaOf(params) ?? {};
  const requested = meta[`${META}protocolVersion`];
  if (typeof requested !== 'string') throw missing('protocolVersion');
  const capabilities = meta[`${META}clientCapabilities`];
  if (typeof capabilities !== 'object' || capabilities === null || Array.isArray(capabilities)) throw missing('clientCapabilities');
  if (version !== requested) throw mismatch('MCP-Protocol-Version differs from the body');
  if (requested !== MODERN_VERSION)
    throw new RpcRefusal(400, UNSUPPORTED_VERSION, 'Unsupported protocol version', {
      supported: [MODERN_VERSION],
      requested: requested.slice(0, 64),
    });
  if (header('mcp-method') !== method) throw mismatch('Mcp-Method differs from the body');
  const name = nameOf(method, params);
  if (name !== undefined && decodeHeader(header('mcp-name')) !== name) throw mismatch('Mcp-Name differs from the body');
  return meta;
}

/** What Mcp-Name has to repeat. */
function nameOf(method: string, params: Json): unknown {
  if (method === 'tools/call' || method === 'prompts/get') return params['name'];
  return method === 'resources/read' ? params['uri'] : undefined;
}

/** Values that a header cannot hold come as base64 of their UTF-8. */
function decodeHeader(value: string): string {
  const encoded = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value)?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('utf8');
}

function metaOf(params: unknown): Json | undefined {
  const meta = (params as { readonly _meta?: unknown } | null | undefined)?._meta;
  return typeof meta === 'object' && meta !== null ? (meta as Json) : undefined;
}

function mismatch(what: string): RpcRefusal {
  return new RpcRefusal(400, HEADER_MISMATCH, `Header mismatch: ${what}`);
}

function missing(field: string): RpcRefusal {
  return new RpcRefusal(400, -32602, `Invalid params: _meta needs ${META}${field}`);
}
