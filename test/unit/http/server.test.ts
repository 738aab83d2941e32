import { expect } from 'chai';
import { request as httpRequest } from 'node:http';
import { HindsightError } from '../../../src/errors.ts';
import type { MountedHandler, MountedRequest } from '../../../src/http/mount.ts';
import { ADMIN, READER, startServer, TOKEN, type TestServer } from './support/test-server.ts';

/** The value once it is there; the deadline is far above what it takes. */
async function eventually<T>(read: () => T | undefined): Promise<T> {
  const deadline = process.hrtime.bigint() + 5_000_000_000n;
  for (;;) {
    const value = read();
    if (value !== undefined) return value;
    if (process.hrtime.bigint() > deadline) throw new Error('it did not come');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('http/server', () => {
  let test: TestServer;
  const open: TestServer[] = [];
  const start = async (...given: Parameters<typeof startServer>): Promise<TestServer> => {
    test = await startServer(...given);
    open.push(test);
    return test;
  };
  afterEach(async () => {
    await Promise.all(open.splice(0).map(({ listening }) => listening.close()));
  });

  describe('health, metrics and descriptions', () => {
    it('says whether it lives and whether it is ready, to anybody and without detail', async () => {
      await start();
      expect((await test.request('GET', '/livez', { token: null })).json).to.deep.equal({ status: 'ok' });
      expect((await test.request('GET', '/readyz', { token: null })).json).to.deep.equal({ status: 'ok' });
      test.ready = false;
      const answer = await test.request('GET', '/readyz', { token: null });
      expect(answer.status).to.equal(503);
      expect(answer.json).to.deep.equal({ status: 'unavailable' });
      expect(answer.headers['retry-after']).to.equal('2');
      expect((await test.request('GET', '/livez', { token: null })).status).to.equal(200);
    });

    it('shows metrics to administrators alone', async () => {
      await start();
      expect((await test.request('GET', '/metrics', { token: null })).status).to.equal(401);
      expect((await test.request('GET', '/metrics')).json).to.include({ code: 'ERR_SCOPE_MISSING' });
      const answer = await test.request('GET', '/metrics', { token: ADMIN });
      expect(answer.status).to.equal(200);
      expect(answer.headers['content-type']).to.contain('text/plain');
      expect(answer.text).to.contain('up 1');
    });

    it('shows the OpenAPI document to readers', async () => {
      await start();
      expect((await test.request('GET', '/openapi.json', { token: null })).status).to.equal(401);
      expect((await test.request('GET', '/openapi.json', { token: READER })).json).to.include({ openapi: '3.1.0' });
    });

    it('publishes resource metadata for itself and each mount, when it is switched on', async () => {
      const mount: MountedHandler = { path: '/mcp', methods: ['POST'], summary: 'MCP', handle: async () => undefined };
      await start({ config: { prm: { authorizationServers: ['https://issuer.example'] } }, mounts: [mount] });
      const [own, mcp] = await Promise.all([
        test.request('GET', '/.well-known/oauth-protected-resource', { token: null }),
        test.request('GET', '/.well-known/oauth-protected-resource/mcp', { token: null }),
      ]);
      expect(own?.json).to.include({ resource: 'https://memory.example' });
      expect(mcp?.json).to.deep.equal({
        resource: 'https://memory.example/mcp',
        authorization_servers: ['https://issuer.example'],
        scopes_supported: ['memory:read'],
        bearer_methods_supported: ['header'],
        resource_name: 'hindsight-es',
      });
      const refused = await test.request('POST', '/mcp', { token: null });
      expect(refused.headers['www-authenticate']).to.contain('"https://memory.example/.well-known/oauth-protected-resource/mcp"');
      await start({ mounts: [mount] });
      expect((await test.request('GET', '/.well-known/oauth-protected-resource', { token: null })).status).to.equal(401);
    });
  });

  describe('mounted handlers', () => {
    const seen: MountedRequest[] = [];
    const mount: MountedHandler = {
      path: '/mcp',
      methods: ['GET', 'POST', 'DELETE'],
      summary: 'MCP',
      handle: async (request) => {
        seen.push(request);
        if ((request.body as { fail?: boolean } | undefined)?.fail === true)
          throw new HindsightError('ERR_SCOPE_MISSING', { params: { scope: 'memory:write' } });
        request.ctx.status = 202;
      },
      presentError: (error, body) => ({
        contentType: 'application/json',
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: (body as { id?: number } | undefined)?.id ?? null,
          error: { code: -32000, message: error.message },
        }),
      }),
    };
    beforeEach(() => seen.splice(0));

    it('run behind authentication with the parsed body', async () => {
      await start({ mounts: [mount] });
      expect((await test.request('POST', '/mcp', { token: null, body: '{}' })).status).to.equal(401);
      expect((await test.post('/mcp?x=1', { id: 7, jsonrpc: '2.0' })).status).to.equal(202);
      expect((await test.request('GET', '/mcp')).status).to.equal(202);
      expect(seen.map(({ body, principal }) => [body, principal.sub])).to.deep.equal([
        [{ id: 7, jsonrpc: '2.0' }, 'ann'],
        [undefined, 'ann'],
      ]);
    });

    it('take up to 8 MiB', async () => {
      await start({ mounts: [mount] });
      expect((await test.post('/mcp', { text: 'x'.repeat(5_000_000) })).status).to.equal(202);
      expect((await test.post('/mcp', { text: 'x'.repeat(8_388_608) })).status).to.equal(413);
      expect(seen).to.have.length(1);
    });

    it('answer errors in their own form, those from before them too', async () => {
      await start({ mounts: [mount] });
      const unauthorised = await test.request('POST', '/mcp', { token: null, body: '{"id":7}' });
      expect(unauthorised.status).to.equal(401);
      expect(unauthorised.json).to.deep.include({ id: null, jsonrpc: '2.0' });
      expect((await test.request('POST', '/mcp', { body: '{"id":7' })).json).to.deep.include({ jsonrpc: '2.0', id: null });
      const forbidden = await test.post('/mcp', { id: 7, fail: true });
      expect(forbidden.status).to.equal(403);
      expect(forbidden.json).to.deep.include({ id: 7 });
      expect(forbidden.headers['www-authenticate']).to.contain('error="insufficient_scope", scope="memory:write"');
      expect((await test.request('PUT', '/mcp')).json).to.deep.include({ jsonrpc: '2.0' });
    });

    it('are limited like everybody', async () => {
      await start({ mounts: [mount] });
      test.refusing = 'http';
      expect((await test.post('/mcp', { id: 1 })).status).to.equal(429);
      expect(seen).to.have.length(0);
    });
  });

  describe('its life', () => {
    it('aborts the call of a client that went away', async () => {
      await start();
      let aborted = false;
      let release = (): void => undefined;
      test.memory.intercept = ({ call }) =>
        new Promise((resolve) => {
          release = () => resolve({ hits: [], nothing_relevant: true, degraded: [], took_ms: 1 });
          call.signal.addEventListener('abort', () => {
            aborted = true;
            release();
          });
        });
      const { port } = test.listening;
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
      const req = httpRequest({ host: '127.0.0.1', port, method: 'POST', path: '/v1/memories/search', headers, agent: false });
      req.on('error', () => undefined);
      req.end('{"query":"q"}');
      await eventually(() => test.memory.calls[0]);
      expect(aborted).to.be.false;
      req.destroy();
      await eventually(() => aborted || undefined);
    });

    it('logs a call that ended because its client went away as that, and not as a fault of ours', async () => {
      await start();
      test.memory.intercept = ({ call }) =>
        new Promise((_resolve, reject) => call.signal.addEventListener('abort', () => reject(call.signal.reason as Error)));
      const { port } = test.listening;
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
      const req = httpRequest({ host: '127.0.0.1', port, method: 'POST', path: '/v1/memories/search', headers, agent: false });
      req.on('error', () => undefined);
      req.end('{"query":"q"}');
      await eventually(() => test.memory.calls[0]);
      req.destroy();
      const line = await eventually(() => test.logs.find(({ message }) => message === 'operation failed'));
      expect(line).to.include({ level: 'info', code: 'ERR_CALLER_GONE' });
    });

    it('does not abort a call that was answered', async () => {
      await start();
      await test.post('/v1/memories/search', { query: 'q' });
      await eventually(() => test.requests[0]);
      expect(test.memory.calls[0]?.call.signal.aborted).to.be.false;
    });

    it('says plainly that a port is in use', async () => {
      await start();
      const { port } = test.listening;
      const error = await test.server.listen(port, '127.0.0.1').then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).to.be.instanceOf(HindsightError);
      expect((error as HindsightError).message).to.equal(
        `Port ${port} is in use: stop the program that holds it or set PORT to another one`,
      );
    });

    it('finishes running calls before it closes, and takes no new ones', async () => {
      await start();
      let release = (): void => undefined;
      test.memory.intercept = () =>
        new Promise((resolve) => {
          release = () => resolve({ hits: [], nothing_relevant: true, degraded: [], took_ms: 1 });
        });
      const running = test.post('/v1/memories/search', { query: 'q' });
      await eventually(() => test.memory.calls[0]);
      const closed = test.listening.close();
      const refused = await test.request('GET', '/livez').then(
        () => 'answered',
        () => 'refused',
      );
      expect(refused).to.equal('refused');
      release();
      expect((await running).status).to.equal(200);
      await closed;
    });

    it('does not wait for connections that only stay open', async () => {
      await start();
      const { port } = test.listening;
      await new Promise<void>((resolve, reject) => {
        const req = httpRequest({ host: '127.0.0.1', port, path: '/livez', headers: { connection: 'keep-alive' } }, (res) =>
          res.resume().on('end', resolve),
        );
        req.on('error', reject).end();
      });
      const from = process.hrtime.bigint();
      await test.listening.close();
      expect(Number(process.hrtime.bigint() - from) / 1e6).to.be.below(5_000);
    });
  });
});
