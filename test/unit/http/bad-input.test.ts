import { expect } from 'chai';
import fc from 'fast-check';
import { gzipSync } from 'node:zlib';
import { BODY_LIMIT_BYTES, LARGE_BODY_LIMIT_BYTES } from '../../../src/http/body.ts';
import { MEMORY_ID } from './support/memory-double.ts';
import { startServer, type RequestOptions, type TestAnswer, type TestServer } from './support/test-server.ts';

const ONE = `/v1/memories/${MEMORY_ID}`;

/** guard.md N1 and N2. */
const BAD_NAMESPACES: unknown[] = [
  ...['*', 't2*', '?', 't1,t2', 't1 OR t2', '_all', '-t1', '<t2-{now/d}>', '.kibana', '../t2', 't1/../t2', 't1%2F..%2Ft2', 't1\u0000'],
  ...[
    't1 ',
    't1.',
    't1/',
    '',
    'a'.repeat(300),
    'T2',
    'ｔ２',
    'т2',
    't2\u0301',
    't\u200b2',
    'caf\u00e9',
    'cafe\u0301',
    'ıt',
    'İt',
    'a.b.c.d.e.f.g',
  ],
  null,
  ['t1', 't2'],
  { t1: true },
  7,
];

describe('http: bad input', () => {
  let test: TestServer;
  beforeEach(async () => {
    test = await startServer();
  });
  afterEach(() => test.listening.close());

  /** Every refusal: the status, a problem with a pointer, no stack, and nothing reached memory. */
  function expectRefused(answer: TestAnswer, status: number, code: string, pointer?: string): void {
    expect(answer.json, answer.text).to.include({ status, code });
    expect(answer.status).to.equal(status);
    expect(answer.headers['content-type']).to.equal('application/problem+json');
    expect(answer.text).to.not.match(/\bat .*\.(ts|js)\b|node_modules/);
    if (pointer !== undefined) expect(answer.json).to.have.nested.property('errors[0].pointer', pointer);
    expect(test.memory.calls).to.deep.equal([]);
  }

  const write = (body: string | Buffer, options: RequestOptions = {}): Promise<TestAnswer> =>
    test.request('POST', '/v1/memories', { ...options, body });

  describe('namespaces (N1, N2)', () => {
    it('are refused in a body', async () => {
      for (const namespace of BAD_NAMESPACES)
        expectRefused(await test.post('/v1/memories', { content: 'x', namespace }), 400, 'ERR_REQUEST_INVALID', '/namespace');
    });

    it('are refused in a list of a body', async () => {
      for (const namespace of BAD_NAMESPACES) {
        const answer = await test.post('/v1/memories/search', { query: 'q', namespaces: ['user.ann', namespace] });
        expectRefused(answer, 400, 'ERR_REQUEST_INVALID', '/namespaces/1');
      }
    });

    it('are refused in a query string', async () => {
      // a comma separates two names there
      for (const namespace of BAD_NAMESPACES.filter((value): value is string => typeof value === 'string' && value !== 't1,t2')) {
        const answer = await test.request('GET', `/v1/memories?namespaces=${encodeURIComponent(namespace)}`);
        expectRefused(answer, 400, 'ERR_REQUEST_INVALID', '/namespaces/0');
      }
    });

    it('are refused in a path', async () => {
      for (const namespace of BAD_NAMESPACES.filter((value): value is string => typeof value === 'string' && value !== ''))
        expectRefused(await test.request('GET', `/v1/memories/${encodeURIComponent(namespace)}`), 400, 'ERR_REQUEST_INVALID', '/memory_id');
    });

    it('given twice where one is meant are refused', async () => {
      expectRefused(await write('{"content":"x","namespace":"t1","namespace":"t2"}'), 400, 'ERR_REQUEST_JSON', '');
      expectRefused(await test.request('GET', '/v1/memories?namespace=t1&namespace=t2'), 400, 'ERR_REQUEST_INVALID', '');
      expectRefused(await test.request('GET', '/v1/memories?limit=1&limit=2'), 400, 'ERR_REQUEST_INVALID', '/limit');
    });
  });

  const texts: [string, string, string, string][] = [
    ['a NUL', '{"content":"a\\u0000b"}', 'ERR_REQUEST_INVALID', '/content'],
    ['a lone high surrogate', '{"content":"a\\ud800"}', 'ERR_REQUEST_INVALID', '/content'],
    ['a lone low surrogate', '{"content":"\\udc00a"}', 'ERR_REQUEST_INVALID', '/content'],
    ['a lone surrogate in a tag', '{"content":"a","tags":["ok","\\ud800"]}', 'ERR_REQUEST_INVALID', '/tags/1'],
    ['a lone surrogate in metadata', '{"content":"a","metadata":{"k":"\\ud800"}}', 'ERR_REQUEST_INVALID', '/metadata'],
    ['metadata keys that reach a prototype', '{"content":"a","metadata":{"__proto__":{"polluted":1}}}', 'ERR_REQUEST_JSON', '/metadata'],
    ['dotted metadata keys', '{"content":"a","metadata":{"a.b":1}}', 'ERR_REQUEST_INVALID', '/metadata'],
    ['metadata of four levels', '{"content":"a","metadata":{"a":{"b":{"c":{"d":1}}}}}', 'ERR_REQUEST_INVALID', '/metadata'],
    ['an importance of NaN', '{"content":"a","importance":NaN}', 'ERR_REQUEST_JSON', ''],
    ['an importance of 1e400', '{"content":"a","importance":1e400}', 'ERR_REQUEST_JSON', '/importance'],
    ['an importance of 2', '{"content":"a","importance":2}', 'ERR_REQUEST_INVALID', '/importance'],
    ['an unknown field', '{"content":"a","trust_tier":5}', 'ERR_REQUEST_INVALID', ''],
    ['a tenant in the body', '{"content":"a","tenant":"t2"}', 'ERR_REQUEST_INVALID', ''],
    ['an empty content', '{"content":""}', 'ERR_REQUEST_INVALID', '/content'],
    ['a content of 32,001 characters', JSON.stringify({ content: 'x'.repeat(32_001) }), 'ERR_REQUEST_INVALID', '/content'],
    ['50,000 levels', `{"metadata":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_001)}`, 'ERR_REQUEST_JSON', '/metadata'],
    ['50,000 open brackets', '['.repeat(50_000), 'ERR_REQUEST_JSON', '/0'],
    ['no JSON', 'content=a', 'ERR_REQUEST_JSON', ''],
    ['half a JSON', '{"content":', 'ERR_REQUEST_JSON', ''],
    ['a byte order mark', '\ufeff{"content":"a"}', 'ERR_REQUEST_JSON', ''],
    ['an array', '[{"content":"a"}]', 'ERR_REQUEST_INVALID', ''],
    ['a number', '7', 'ERR_REQUEST_INVALID', ''],
    ['a million keys', `{${Array.from({ length: 400_000 }, (_, i) => `"k${i}":1`).join()}}`, 'ERR_REQUEST_TOO_COMPLEX', ''],
    ['a million tags', JSON.stringify({ content: 'a', tags: new Array(1_000_000).fill('t') }), 'ERR_REQUEST_TOO_COMPLEX', '/tags'],
  ];
  for (const [what, body, code, pointer] of texts)
    it(`refuses ${what}`, async () => {
      expectRefused(await write(body), code === 'ERR_REQUEST_TOO_COMPLEX' ? 413 : 400, code, pointer);
      expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
    });

  const searches: [string, object, string][] = [
    ['a size of -1', { query: 'q', top_k: -1 }, '/top_k'],
    ['a size of a million', { query: 'q', top_k: 1e6 }, '/top_k'],
    ['from', { query: 'q', from: 1e9 }, ''],
    ['a sort by script', { query: 'q', sort: '_script' }, ''],
    ['runtime mappings', { query: 'q', runtime_mappings: {} }, ''],
    ['a terms lookup', { query: 'q', filter: { tags: { index: 'other', id: '1', path: 'x' } } }, '/filter/tags'],
    ['a wildcard object', { query: 'q', filter: { tags: [{ wildcard: '*' }] } }, '/filter/tags/0'],
    ['an operator in metadata', { query: 'q', filter: { metadata: { a: { $ne: 1 } } } }, '/filter/metadata'],
    ['weights of 1e308', { query: 'q', weights: { lexical: 1e308 } }, '/weights'],
    ['weights as text', { query: 'q', weights: { lexical: 'doc[0]' } }, '/weights'],
    ['a query of 4,001 characters', { query: 'x'.repeat(4_001) }, '/query'],
    ['a time that is none', { query: 'q', asked_at: 'now-1d' }, '/asked_at'],
    ['an absurd year', { query: 'q', filter: { created: { gte: '+275760-09-13T00:00:00Z' } } }, '/filter/created/gte'],
  ];
  for (const [what, body, pointer] of searches)
    it(`refuses a search with ${what}`, async () => {
      expectRefused(await test.post('/v1/memories/search', body), 400, 'ERR_REQUEST_INVALID', pointer);
    });

  describe('bodies', () => {
    const bodyOf = (bytes: number): string => `{"query":"${'x'.repeat(bytes - 12)}"}`;

    for (const chunked of [false, true]) {
      const how = chunked ? 'without a length' : 'with a length';

      it(`of one byte over the limit are refused, ${how}`, async () => {
        for (const [path, limit] of [
          ['/v1/memories/search', BODY_LIMIT_BYTES],
          ['/v1/memories', LARGE_BODY_LIMIT_BYTES],
        ] as const) {
          const answer = await test.request('POST', path, { body: bodyOf(limit + 1), chunked });
          expectRefused(answer, 413, 'ERR_REQUEST_TOO_LARGE');
          expect(answer.json['detail']).to.equal(`The body is larger than ${limit} bytes`);
        }
      });

      it(`of exactly the limit are read, ${how}`, async () => {
        const answer = await test.request('POST', '/v1/memories/search', { body: bodyOf(BODY_LIMIT_BYTES), chunked });
        expectRefused(answer, 400, 'ERR_REQUEST_INVALID', '/query');
      });
    }

    it('declared far beyond the limit are refused before they are sent', async () => {
      const head = `POST /v1/memories HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer good.token\r\nContent-Type: application/json\r\n`;
      const answer = await test.raw(`${head}Content-Length: 99999999999\r\n\r\n{`);
      expect(answer)
        .to.match(/^HTTP\/1\.1 413 /)
        .and.to.contain('Connection: close');
    });

    it('that are not UTF-8 are refused', async () => {
      for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe4, 0xb8]]) {
        const body = Buffer.concat([Buffer.from('{"content":"'), Buffer.from(bytes), Buffer.from('"}')]);
        expectRefused(await write(body), 400, 'ERR_REQUEST_JSON', '');
      }
    });

    it('in a content coding or another charset or media type are refused', async () => {
      const body = '{"content":"a"}';
      for (const headers of [
        { 'content-encoding': 'gzip' },
        { 'content-encoding': 'br' },
        { 'content-type': 'application/json; charset=utf-16' },
        { 'content-type': 'application/json; charset=gb18030' },
        { 'content-type': 'application/json; boundary=x' },
        { 'content-type': 'text/plain' },
        { 'content-type': 'application/x-www-form-urlencoded' },
        { 'content-type': 'application/jsonp' },
        { 'content-type': '' },
      ])
        expectRefused(await write(body, { headers }), 415, 'ERR_REQUEST_MEDIA_TYPE');
      expectRefused(await write(gzipSync(body), { headers: { 'content-encoding': 'gzip' } }), 415, 'ERR_REQUEST_MEDIA_TYPE');
    });

    it('in another transfer coding than chunked are refused, and the connection is closed', async () => {
      const head =
        'POST /v1/memories HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer good.token\r\nContent-Type: application/json\r\n';
      for (const coding of ['gzip, chunked', 'deflate, chunked', 'identity, chunked', 'x-own, chunked']) {
        const answer = await test.raw(`${head}Transfer-Encoding: ${coding}\r\n\r\nf\r\n{"content":"a"}\r\n0\r\n\r\n`);
        expect(answer, coding).to.match(/^HTTP\/1\.1 (?:501 Not Implemented|400 Bad Request)\r\n/);
        expect(answer, coding).to.match(/\r\nConnection: close\r\n/i);
      }
      expect(test.memory.calls).to.deep.equal([]);
      expect(await test.raw(`${head}Connection: close\r\nTransfer-Encoding: Chunked\r\n\r\nf\r\n{"content":"a"}\r\n0\r\n\r\n`)).to.match(
        /^HTTP\/1\.1 200 /,
      );
    });

    it('of the usual spellings of JSON are read', async () => {
      for (const type of ['application/json', 'Application/JSON; Charset=UTF-8', 'application/json;charset="utf-8"', 'application/json;'])
        expect((await write('{"content":"a"}', { headers: { 'content-type': type } })).status, type).to.equal(200);
    });

    it('that are missing are refused', async () => {
      expectRefused(await test.request('POST', '/v1/memories'), 400, 'ERR_REQUEST_JSON', '');
      expectRefused(await write(''), 400, 'ERR_REQUEST_JSON', '');
    });

    it('are not taken by GET and DELETE', async () => {
      for (const method of ['GET', 'DELETE'])
        expectRefused(await test.request(method, ONE, { body: '{}' }), 400, 'ERR_REQUEST_INVALID', '');
    });

    it('with both a length and a transfer coding never reach a route', async () => {
      const head =
        'POST /v1/memories HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer good.token\r\nContent-Type: application/json\r\n';
      const answer = await test.raw(
        `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
      );
      expect(answer)
        .to.match(/^HTTP\/1\.1 400 Bad Request/)
        .and.to.not.match(/HTTP\/1\.1 200/);
      expect(test.memory.calls).to.deep.equal([]);
    });
  });

  it('refuses an Idempotency-Key that is empty, long, not ASCII or sent twice', async () => {
    for (const key of ['', 'a'.repeat(129), 'a b', 'caf\u00e9', ['a', 'b']])
      expectRefused(await write('{"content":"a"}', { headers: { 'idempotency-key': key } }), 400, 'ERR_REQUEST_INVALID', '');
  });

  it('refuses requests that Node’s parser refuses with a bare problem, under the headers of every answer', async () => {
    expect(await test.raw('NONSENSE\r\n\r\n')).to.match(
      /^x-content-type-options: nosniff\r$[^]*^cache-control: no-store\r$[^]*^content-security-policy: default-src 'none';/im,
    );
    expect(await test.raw('NONSENSE\r\n\r\n')).to.match(/^HTTP\/1\.1 400 Bad Request\r\n[^]*application\/problem\+json/);
    expect(await test.raw(`GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)).to.match(/^HTTP\/1\.1 431 /);
  });

  it('answers no random body with a 5xx', async function () {
    this.timeout(60_000);
    const word = fc.constantFrom(
      'content',
      'items',
      'query',
      'filter',
      'metadata',
      'memory_id',
      'top_k',
      'tags',
      'kind',
      'weights',
      'source',
      'version',
    );
    const value = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue(),
        fc.string({ unit: 'binary' }),
        fc.array(tie('node'), { maxLength: 4 }),
        tie('object'),
      ),
      object: fc.dictionary(fc.oneof(word, fc.string()), tie('node'), { maxKeys: 5 }),
    }));
    const route = fc.constantFrom(
      ['POST', '/v1/memories'],
      ['POST', '/v1/memories/search'],
      ['POST', '/v1/memories/forget'],
      ['PATCH', ONE],
    );
    await fc.assert(
      fc.asyncProperty(route, fc.oneof(value.object, value.node), async ([method = '', path = ''], body) => {
        const answer = await test.request(method, path, { body: JSON.stringify(body) });
        expect(answer.status, answer.text).to.be.below(500);
        if (answer.status !== 200) expect(answer.headers['content-type']).to.equal('application/problem+json');
      }),
      { numRuns: 400 },
    );
  });

  it('answers no random path or query with a 5xx', async function () {
    this.timeout(60_000);
    const segment = fc.oneof(fc.constantFrom('v1', 'memories', 'search', 'history', MEMORY_ID, '..', '%00', '%ff', ''), fc.webPath());
    const method = fc.constantFrom('GET', 'DELETE', 'HEAD', 'OPTIONS', 'PUT');
    await fc.assert(
      fc.asyncProperty(method, fc.array(segment, { maxLength: 4 }), fc.webQueryParameters(), async (verb, segments, query) => {
        const answer = await test.request(verb, `/${segments.join('/')}?${query}`);
        expect(answer.status, answer.text).to.be.below(500);
      }),
      { numRuns: 300 },
    );
  });
});
