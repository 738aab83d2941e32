/** Any request to any route and tool: the operations' own examples, bent in one or two places, and bytes that are no request at all. */
import fc from 'fast-check';
import type { AnyOperation } from '../../src/operations/define.ts';

export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

type Json = Readonly<Record<string, unknown>>;

const HOSTILE: readonly unknown[] = [
  ...['', ' ', '\0', '\ud800', '\ufeff', '\uffff', '\u202e\u200b', 'a\r\nb: c', '*', '../..', '%00', '{{7*7}}', '[object Object]', 'null'],
  ...[
    'a'.repeat(129),
    'a'.repeat(4_001),
    '中'.repeat(32_001),
    '👨‍👩‍👧‍👦',
    '9'.repeat(400),
    '0000-00-00',
    '9999-12-31T23:59:60Z',
    '-1',
    '1e400',
    'NaN',
  ],
  ...[
    null,
    true,
    false,
    0,
    -1,
    -0,
    0.5,
    1e-320,
    1e15,
    2 ** 53,
    1.797e308,
    [],
    {},
    [[[[]]]],
    [null],
    ['a', 'a'],
    { a: { b: { c: { d: 1 } } } },
  ],
  ...[
    { toString: 'x' },
    { length: -1 },
    { then: 1 },
    { $ne: 1 },
    { 'a.b': 1 },
    { script: 'x' },
    Array<string>(600).fill('t'),
    Array<number>(5_000).fill(0.1),
  ],
];
const PATH_PARTS = [
  '',
  '.',
  '..',
  '%2e%2e',
  '%2f',
  '%',
  '%ff',
  '%00',
  '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
  'user.fuzz',
  'a'.repeat(3_000),
  '中',
  ';',
  '*',
];
const RAW = [
  ...[
    '',
    ' ',
    '{',
    '[',
    '"',
    'null',
    '0',
    '[]',
    '{}',
    '{"a":1,"a":2}',
    '{"__proto__":{}}',
    '{"content":"\\ud800"}',
    '1e400',
    '\ufeff{}',
    '{"query":NaN}',
  ],
  ...['['.repeat(5_000), '{"a":'.repeat(5_000), `{"query":"${'\\u0041'.repeat(9_000)}"}`, '{"query":"a"}x', "{'query':'a'}"],
];
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  'content-type': ['text/plain', 'application/json; charset=utf-16', 'application/json; a=b', 'application/x-www-form-urlencoded', '*/*'],
  'content-encoding': ['gzip', 'br', 'identity', 'x'],
  'if-match': ['*', '"1"', 'W/"1"', '"x"', '"1", "2"', '1', '"99999999999999999999"'],
  'if-none-match': ['*', '"1"', '"'],
  'idempotency-key': ['a', '"a"', ' ', 'k'.repeat(300), '\u00e9'],
  'mcp-session-id': ['x', 'a.b', '..', 'A'.repeat(500)],
  'mcp-protocol-version': ['2026-07-28', '2025-11-25', '1999-01-01', 'x'],
  'last-event-id': ['0', 'x'],
  traceparent: ['00-0-0-0', 'x', `00-${'f'.repeat(32)}-${'f'.repeat(16)}-01`],
  'x-request-id': ['a b', 'x'.repeat(200)],
  accept: ['application/json', 'text/event-stream', 'application/json, text/event-stream', '*/*', 'x'],
};
const MCP_ACCEPT = { accept: 'application/json, text/event-stream' };

const hostile: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...HOSTILE) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);
const headers = fc
  .subarray(Object.keys(HEADERS), { maxLength: 2 })
  .chain((names) => fc.tuple(...names.map((name) => fc.constantFrom(...(HEADERS[name] ?? [])).map((value) => [name, value] as const))))
  .map((pairs): Record<string, string> => Object.fromEntries(pairs));

/** An example with one or two of its values replaced, taken away or joined by a stranger. */
function bent(example: Json): fc.Arbitrary<Json> {
  const names = [...Object.keys(example), 'filter', 'namespace', 'turn_id', 'stranger'];
  const change = fc.tuple(fc.constantFrom(...names), fc.boolean(), hostile);
  return fc.array(change, { maxLength: 2 }).map((changes) => {
    const input: Record<string, unknown> = { ...example };
    for (const [name, drop, value] of changes)
      if (drop) Reflect.deleteProperty(input, name);
      else input[name] = value;
    return input;
  });
}

function inputOf(operation: AnyOperation): fc.Arbitrary<Json> {
  return fc.constantFrom(...(operation.examples as readonly Json[])).chain(bent);
}

const part = fc.oneof(
  fc.constantFrom(...PATH_PARTS),
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => encodeURIComponent(text.toWellFormed())),
);

function overRest(operation: AnyOperation): fc.Arbitrary<FuzzRequest> {
  return fc
    .record({
      binding: fc.constantFrom(...operation.http),
      input: inputOf(operation),
      part,
      headers,
      raw: fc.option(fc.constantFrom(...RAW), { freq: 4 }),
    })
    .map(({ binding, input, part: segment, headers: more, raw }) => {
      const path = binding.path.replace(/:(\w+)/g, (_, name: string) =>
        typeof input[name] === 'string' ? encodeURIComponent(input[name].toWellFormed()).slice(0, 2_000) : segment,
      );
      const taking = binding.method !== 'GET' && binding.method !== 'DELETE';
      const rest = Object.entries(input).filter(([name]) => !binding.path.includes(`:${name}`));
      if (taking)
        return {
          method: binding.method,
          path,
          headers: { 'content-type': 'application/json', ...more },
          body: raw ?? JSON.stringify(Object.fromEntries(rest)),
        };
      const query = rest.map(
        ([name, value]) =>
          `${name}=${encodeURIComponent((typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed()).slice(0, 500)}`,
      );
      return { method: binding.method, path: `${path}${query.length === 0 ? '' : `?${query.join('&')}`}`, headers: more, body: undefined };
    });
}

function overMcp(operation: AnyOperation): fc.Arbitrary<FuzzRequest> {
  return fc
    .record({
      input: fc.oneof({ weight: 5, arbitrary: inputOf(operation) }, { weight: 1, arbitrary: hostile }),
      id: fc.oneof(fc.nat(), hostile),
      method: fc.oneof(
        { weight: 5, arbitrary: fc.constant('tools/call') },
        { weight: 1, arbitrary: fc.constantFrom('tools/list', 'prompts/get', 'initialize', 'ping', 'x', '') },
      ),
      headers,
      raw: fc.option(fc.constantFrom(...RAW), { freq: 12 }),
      plain: fc.boolean(),
    })
    .map(({ input, id, method, headers: more, raw, plain }) => ({
      method: 'POST',
      path: '/mcp',
      headers: { 'content-type': 'application/json', ...MCP_ACCEPT, ...(plain ? {} : more) },
      body: raw ?? JSON.stringify({ jsonrpc: '2.0', id, method, params: { name: operation.name, arguments: input } }),
    }));
}

const elsewhere: fc.Arbitrary<FuzzRequest> = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'),
  path: fc.oneof(
    // /sse is a stream without end
    fc.constantFrom(
      '/',
      '/livez',
      '/readyz',
      '/metrics',
      '/openapi.json',
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/mcp',
      '/messages',
      '/messages?sessionId=x',
      '/mcp',
    ),
    fc.array(part, { maxLength: 4 }).map((parts) => `/v1/${parts.join('/')}`),
  ),
  headers,
  body: fc.constant(undefined),
});

export function fuzzRequests(operations: readonly AnyOperation[]): fc.Arbitrary<FuzzRequest> {
  const operation = fc.constantFrom(...operations);
  return fc.oneof(
    { weight: 6, arbitrary: operation.chain(overRest) },
    { weight: 4, arbitrary: operation.chain(overMcp) },
    { weight: 1, arbitrary: elsewhere },
  );
}
