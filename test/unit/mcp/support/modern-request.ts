/** Requests of revision 2026-07-28 as a client would make them. */
export const VERSION = '2026-07-28';

/** Entries of `meta` that are undefined take the usual ones away. */
export function modern(method: string, params: object = {}, meta: object = {}): Record<string, unknown> {
  const usual = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  };
  return { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { ...usual, ...meta } } };
}

/** The headers that repeat the body. */
export function modernHeaders(body: Record<string, unknown>): Record<string, string> {
  const { name, _meta } = body['params'] as { name?: string; _meta: Record<string, string | undefined> };
  return {
    'mcp-protocol-version': _meta['io.modelcontextprotocol/protocolVersion'] ?? '',
    'mcp-method': String(body['method']),
    ...(name !== undefined && /^[\x21-\x7e]+$/.test(name) ? { 'mcp-name': name } : {}),
  };
}
