import { expect } from 'chai';
import { startServer, type TestServer } from './support/test-server.ts';

describe('http/origin-check', () => {
  let test: TestServer;
  beforeEach(async () => {
    test = await startServer({ config: { prm: { authorizationServers: ['https://issuer.example'] } } });
  });
  afterEach(() => test.listening.close());

  const get = (headers: Record<string, string | string[]>) => test.request('GET', '/v1/memories', { headers });

  it('refuses a Host that is not ours (DNS rebinding)', async () => {
    const hosts = [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'localhost.',
      'localhost:x',
      '[::2]:80',
      'a@localhost',
      '0.0.0.0',
    ];
    for (const host of hosts) {
      const answer = await get({ host });
      expect(answer.status, host).to.equal(403);
      expect(answer.json).to.include({ code: 'ERR_ORIGIN_FORBIDDEN' });
    }
    expect(test.memory.calls).to.deep.equal([]);
  });

  it('answers under every name of ours, whatever the port', async () => {
    for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1:3000', '[::1]:3000'])
      expect((await get({ host })).status, host).to.equal(200);
  });

  it('keeps to the port where the configuration names one', async () => {
    const fixed = await startServer({ config: { hosts: ['memory.example:8443'] } });
    const statusOf = async (host: string) => (await fixed.request('GET', '/livez', { headers: { host } })).status;
    expect([await statusOf('memory.example:8443'), await statusOf('memory.example'), await statusOf('memory.example:1')]).to.deep.equal([
      200, 403, 403,
    ]);
    await fixed.listening.close();
  });

  it('refuses a request with two hosts', async () => {
    expect(await test.raw('GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n')).to.match(
      /^HTTP\/1\.1 40[03] /,
    );
    expect(await test.raw('GET /livez HTTP/1.0\r\n\r\n')).to.match(/^HTTP\/1\.1 403 /);
  });

  it('refuses foreign origins, null among them, and reflects none', async () => {
    const origins = [
      'https://evil.example',
      'null',
      'http://localhost.evil.example',
      'https://page.example.evil',
      'https://page.example:444',
      'http://page.example',
    ];
    for (const origin of origins) {
      const answer = await get({ origin });
      expect(answer.status, origin).to.equal(403);
      expect(answer.headers).to.not.have.property('access-control-allow-origin');
    }
    const preflight = await test.request('OPTIONS', '/v1/memories', { token: null, headers: { origin: 'https://evil.example' } });
    expect(preflight.status).to.equal(403);
  });

  it('answers an allowed page by name, without credentials', async () => {
    const { status, headers } = await get({ origin: 'https://page.example' });
    expect(status).to.equal(200);
    expect(headers).to.include({ 'access-control-allow-origin': 'https://page.example', vary: 'Origin' });
    expect(headers['access-control-expose-headers']).to.contain('ETag').and.contain('Mcp-Session-Id').and.contain('WWW-Authenticate');
    expect(headers).to.not.have.property('access-control-allow-credentials');
  });

  it('answers a page of this very host', async () => {
    const host = `127.0.0.1:${test.listening.port}`;
    expect((await get({ host, origin: `http://${host}` })).status).to.equal(200);
    expect((await get({ host, origin: 'http://127.0.0.1:1' })).status).to.equal(403);
  });

  it('answers its own pages under every loopback name, and no page of another port or scheme', async () => {
    const { port } = test.listening;
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`])
      for (const name of ['localhost', '127.0.0.1', '[::1]']) {
        const origin = `http://${name}:${port}`;
        const answer = await get({ host, origin });
        expect([answer.status, answer.headers['access-control-allow-origin']], `${origin} at ${host}`).to.deep.equal([200, origin]);
      }
    for (const origin of [
      `http://localhost:${port + 1}`,
      'http://localhost',
      `https://localhost:${port}`,
      `http://localhost.evil.example:${port}`,
    ])
      expect((await get({ host: `127.0.0.1:${port}`, origin })).status, origin).to.equal(403);
  });

  it('answers a preflight with the methods of the path alone', async () => {
    const headers = { origin: 'https://page.example', 'access-control-request-method': 'PUT', 'access-control-request-headers': 'x-evil' };
    const answer = await test.request('OPTIONS', '/v1/memories/search', { token: null, headers });
    expect(answer.status).to.equal(204);
    expect(answer.headers['access-control-allow-methods']).to.equal('POST, OPTIONS');
    expect(answer.headers['access-control-allow-headers']).to.contain('authorization').and.not.contain('x-evil');
  });

  it('lets any page read the resource metadata and nothing else', async () => {
    const headers = { origin: 'https://anywhere.example' };
    const answer = await test.request('GET', '/.well-known/oauth-protected-resource', { token: null, headers });
    expect(answer.status).to.equal(200);
    expect(answer.headers['access-control-allow-origin']).to.equal('*');
    expect((await test.request('GET', '/livez', { token: null, headers })).status).to.equal(403);
  });

  it('refuses a form post of a foreign page before anything is read', async () => {
    const headers = { origin: 'https://evil.example', 'content-type': 'text/plain' };
    expect((await test.request('POST', '/v1/memories', { body: '{"content":"a"}', headers })).status).to.equal(403);
    expect(test.memory.calls).to.deep.equal([]);
  });
});
