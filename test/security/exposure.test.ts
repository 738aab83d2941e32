/** M4-M6, M10, X4-X6 (guard.md) on the running service: what a foreign page, a twisted request and a passer-by get to see. */
import { request } from 'node:http';
import { expect } from 'chai';
import { startHashedService, type HashedService } from '../support/service.ts';
import { modern, modernHeaders } from '../unit/mcp/support/modern-request.ts';

const SCOPES = ['memory:read', 'memory:write', 'memory:forget'];
const FOREIGN = [
  'https://evil.example',
  'null',
  'http://localhost.evil.example',
  'http://127.0.0.1.evil.example',
  'http://[::1].evil.example',
];

interface Raw {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

describe('exposure (M, X)', function () {
  this.timeout(120_000);
  let service: HashedService;
  let user: string;
  let agent: string;

  before(async () => {
    service = await startHashedService({ RATE_LIMIT_PROFILE: 'bench', MCP_TOOLS: 'all' });
    user = await service.mint();
    agent = await service.mint({ actor: 'agent', scopes: SCOPES });
    await service.call('POST', '/v1/memories', user, { content: '<script>alert(1)</script><img src=x onerror=alert(2)>', tags: ['<b>'] });
  });
  after(() => service.close());

  /** Sent as written: no client of ours tidies the path or the headers up. */
  const raw = (method: string, path: string, headers: Record<string, string>, body?: string): Promise<Raw> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(service.url);
      const call = request({ hostname, port, method, path, headers, setHost: headers['host'] === undefined }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      });
      call.on('error', reject);
      call.end(body);
    });
  const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

  it('M4: a foreign Host or Origin is refused on every route before anything else', async () => {
    const { port } = new URL(service.url);
    for (const path of ['/v1/memories', '/mcp', '/livez', '/metrics']) {
      for (const host of ['evil.example', `rebound.example:${port}`])
        expect((await raw('GET', path, { ...bearer(user), host })).status, `${path} ${host}`).to.equal(403);
      for (const origin of FOREIGN)
        for (const auth of [{}, bearer(user)])
          expect((await raw('GET', path, { ...auth, origin })).status, `${path} ${origin}`).to.equal(403);
    }
    expect((await raw('GET', '/v1/memories', bearer(user))).status, 'no Origin').to.equal(200);
  });

  it('M5: no answer lets a foreign page read it, and no form of a page writes', async () => {
    for (const origin of FOREIGN)
      for (const [method, path] of [
        ['OPTIONS', '/v1/memories'],
        ['OPTIONS', '/mcp'],
        ['GET', '/v1/memories'],
      ] as const) {
        const { headers } = await raw(method, path, { origin, 'access-control-request-method': 'POST' });
        expect(
          [headers['access-control-allow-origin'], headers['access-control-allow-credentials']],
          `${method} ${path} ${origin}`,
        ).to.deep.equal([undefined, undefined]);
      }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      for (const path of ['/v1/memories', '/mcp', '/v1/memories/forget']) {
        const { status } = await raw('POST', path, { ...bearer(user), 'content-type': type }, '{"content":"from a form"}');
        expect(status, `${path} ${type}`).to.equal(415);
      }
    }
  });

  it('M6: a call whose headers name another tool or method than its body is refused and does nothing', async () => {
    const body = modern('tools/call', { name: 'memory_write', arguments: { content: 'Behind another name.' } });
    const good = { ...bearer(agent), ...json, ...modernHeaders(body) };
    const twisted: readonly Record<string, string>[] = [
      { ...good, 'mcp-name': 'memory_search' },
      { ...good, 'mcp-method': 'tools/list' },
      { ...good, 'mcp-protocol-version': '2025-11-25' },
    ];
    for (const headers of twisted) {
      const { status } = await raw('POST', '/mcp', headers, JSON.stringify(body));
      expect(status, JSON.stringify([headers['mcp-name'], headers['mcp-method']])).to.equal(400);
    }
    const { body: found } = await service.call('POST', '/v1/memories/search', agent, { query: 'Behind another name.' });
    expect(JSON.stringify(found)).not.to.include('Behind another name');
    expect((await raw('POST', '/mcp', good, JSON.stringify(body))).status).to.equal(200);
  });

  it('M10: destructive tools say so, and an agent’s token neither confirms nor administers, whatever its scopes say', async () => {
    const list = await service.call('POST', '/mcp', agent, { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }, json);
    const tools = new Map<string, { annotations: { destructiveHint?: boolean; readOnlyHint?: boolean } }>(
      list.body.result.tools.map((tool: { name: string }) => [tool.name, tool]),
    );
    expect(tools.get('memory_forget')?.annotations.destructiveHint).to.equal(true);
    expect(tools.get('memory_search')?.annotations.readOnlyHint).to.equal(true);
    for (const name of tools.keys()) expect(name).not.to.match(/confirm|release|quarantine|reveal|keys/);
    const greedy = await service.mint({ actor: 'agent', scopes: [...SCOPES, 'memory:confirm', 'memory:admin'] });
    for (const [method, path, body] of [
      ['GET', '/v1/confirmations', undefined],
      ['POST', '/v1/confirmations/0197a1b2-c3d4-7000-8000-000000000001/approve', { content_hash: 'A'.repeat(43) }],
      ['POST', '/v1/quarantine/0197a1b2-c3d4-7000-8000-000000000001/approve', { content_hash: 'A'.repeat(43) }],
    ] as const)
      expect((await service.call(method, path, greedy, body)).status, path).to.equal(403);
    const away = await raw('POST', '/mcp', json, '{}');
    expect([away.status, away.headers['www-authenticate']]).to.satisfy(
      ([status, how]: [number, string]) => status === 401 && /^Bearer/.test(how),
    );
  });

  it('X4: what memories hold is never served as a page: JSON, nosniff, no framing, no cookies', async () => {
    const answers = [
      await raw('GET', '/v1/memories', { ...bearer(user), accept: 'text/html' }),
      await raw('GET', '/v1/memories/<script>alert(1)</script>', bearer(user)),
      await raw('GET', '/<script>alert(1)</script>', {}),
    ];
    for (const { headers, text } of answers) {
      expect(headers['content-type']).to.match(/^application\/(problem\+)?json/);
      expect(headers['x-content-type-options']).to.equal('nosniff');
      expect(String(headers['content-security-policy']))
        .to.match(/default-src 'none'/)
        .and.to.match(/frame-ancestors 'none'/);
      expect(headers['set-cookie']).to.equal(undefined);
      JSON.parse(text);
    }
  });

  it('X5: health tells a passer-by nothing, and metrics, the API document and errors give no inside away', async () => {
    for (const path of ['/livez', '/readyz']) {
      const { status, text } = await raw('GET', path, {});
      expect([path, status]).to.deep.equal([path, 200]);
      expect(text).not.to.match(/elastic|redis|\d+\.\d+|127\.0|index/i);
    }
    for (const path of ['/metrics', '/openapi.json']) expect((await raw('GET', path, {})).status, path).to.equal(401);
    expect((await raw('GET', '/metrics', bearer(agent))).status).to.equal(403);
    const { text } = await raw('POST', '/v1/memories/search', { ...bearer(user), ...json }, '{"query": {"match_all": {}}}');
    expect(text).not.to.match(/\bat .*\.(ts|js)\b|stack|_exception|node_modules/);
  });

  it('X6: twisted paths and methods reach no route and pass no check', async () => {
    const paths = [
      '/v1//memories',
      '//v1/memories',
      '/v1/memories/',
      '/v1/./memories',
      '/v1/x/../memories',
      '/v1/%2e%2e/v1/memories',
      '/v1%2Fmemories',
      '/V1/memories',
      '/v1/memories;x=1',
      '/v1/memories%00',
      '/livez/../v1/memories',
    ];
    for (const path of paths) {
      for (const headers of [{}, bearer(user)]) {
        const { status, text } = await raw('GET', path, headers);
        expect(status, path).to.be.oneOf([400, 401, 404]);
        expect(text, path).not.to.include('script');
      }
    }
    for (const method of ['TRACE', 'PUT', 'PROPFIND', 'LINK'])
      expect((await raw(method, '/v1/memories', bearer(user))).status, method).to.be.oneOf([400, 404, 405, 501]);
    for (const name of ['x-http-method-override', 'x-method-override', 'x-http-method']) {
      const { status } = await raw('POST', '/v1/memories/search', { ...bearer(user), ...json, [name]: 'DELETE' }, '{"query":"x"}');
      expect(status, name).to.equal(200);
    }
    const smuggled = await raw(
      'POST',
      '/v1/memories',
      { ...bearer(user), ...json, 'transfer-encoding': 'chunked, identity' },
      '0\r\n\r\n',
    ).catch(() => ({ status: 400 }));
    expect(smuggled.status).to.be.oneOf([400, 411, 415, 501]);
  });
});
