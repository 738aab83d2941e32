import { expect } from 'chai';
import { KEYS_AWAY, startServer, TOKEN, type TestServer } from './support/test-server.ts';

const PRM = { authorizationServers: ['https://issuer.example'] };

describe('http/authenticate', () => {
  let test: TestServer;
  beforeEach(async () => {
    test = await startServer({ config: { prm: PRM } });
  });
  afterEach(() => test.listening.close());

  it('says what is missing when no token was sent, without calling it an error', async () => {
    const answer = await test.request('GET', '/v1/memories', { token: null });
    expect(answer.status).to.equal(401);
    expect(answer.json).to.include({ code: 'ERR_AUTH_MISSING' });
    expect(answer.headers['www-authenticate']).to.equal(
      'Bearer realm="hindsight-es", scope="memory:read", resource_metadata="https://memory.example/.well-known/oauth-protected-resource"',
    );
  });

  it('calls a rejected token invalid', async () => {
    const answer = await test.request('GET', '/v1/memories', { token: 'nobody.knows' });
    expect(answer.status).to.equal(401);
    expect(answer.json).to.include({ code: 'ERR_AUTH_INVALID', detail: 'The token was rejected' });
    expect(answer.headers['www-authenticate']).to.contain('error="invalid_token"').and.to.contain('resource_metadata="https://');
  });

  it('names no metadata when none is published', async () => {
    const plain = await startServer();
    const answer = await plain.request('GET', '/v1/memories', { token: null });
    await plain.listening.close();
    expect(answer.headers['www-authenticate']).to.equal('Bearer realm="hindsight-es", scope="memory:read"');
  });

  it('answers 503 with Retry-After when the issuer’s keys are away, not 401', async () => {
    const answer = await test.request('GET', '/v1/memories', { token: KEYS_AWAY });
    expect(answer.status).to.equal(503);
    expect(answer.headers['retry-after']).to.equal('1');
    expect(answer.headers).to.not.have.property('www-authenticate');
    expect(test.logs.at(-1)).to.include({ level: 'warn', message: 'request refused', code: 'ERR_AUTH_KEYS_UNAVAILABLE' });
  });

  it('takes the scheme in any case', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer  '])
      expect(
        (await test.request('GET', '/v1/memories', { token: null, headers: { authorization: `${scheme} ${TOKEN}` } })).status,
      ).to.equal(200);
  });

  it('refuses every other form of the header', async () => {
    const forms = [
      '',
      'Bearer',
      'Bearer ',
      TOKEN,
      `Basic ${TOKEN}`,
      `Bearer ${TOKEN} x`,
      `Bearer ${TOKEN},`,
      `Bearer "${TOKEN}"`,
      `Bearer\t${TOKEN}`,
    ];
    for (const authorization of forms) {
      const answer = await test.request('GET', '/v1/memories', { token: null, headers: { authorization } });
      expect(answer.status, authorization).to.equal(401);
      expect(answer.json).to.include({ code: 'ERR_AUTH_INVALID' });
    }
  });

  it('refuses two Authorization headers, in either order', async () => {
    for (const authorization of [
      [`Bearer ${TOKEN}`, 'Bearer nobody.knows'],
      ['Bearer nobody.knows', `Bearer ${TOKEN}`],
      [`Bearer ${TOKEN}`, `Bearer ${TOKEN}`],
    ]) {
      const answer = await test.request('GET', '/v1/memories', { token: null, headers: { authorization } });
      expect(answer.status).to.equal(401);
    }
    expect(test.memory.calls).to.deep.equal([]);
  });

  it('reads no token from the query string, a cookie or another header', async () => {
    const headers = { cookie: `access_token=${TOKEN}`, 'x-api-key': TOKEN, 'proxy-authorization': `Bearer ${TOKEN}` };
    const answer = await test.request('GET', `/v1/memories?access_token=${TOKEN}`, { token: null, headers });
    expect(answer.json).to.include({ status: 401, code: 'ERR_AUTH_MISSING' });
    const both = await test.request('GET', `/v1/memories?access_token=${TOKEN}`);
    expect(both.status).to.equal(400);
    expect(JSON.stringify(test.logs)).to.not.contain(TOKEN);
  });

  it('decides before a body is read', async () => {
    const head = 'POST /v1/memories HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n';
    // the declared body never comes; an answer shows that nobody waited for it
    expect(await test.raw(`${head}Content-Length: 8000000\r\n\r\n{`)).to.match(/^HTTP\/1\.1 401 /);
    expect(await test.raw(`${head}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`)).to.match(/^HTTP\/1\.1 401 /);
  });

  it('counts the address of the connection before a token is looked at, whatever headers claim', async () => {
    test.refusing = 'address';
    const headers = { 'x-forwarded-for': '10.9.8.7', forwarded: 'for=10.9.8.7' };
    const answer = await test.request('GET', '/v1/memories', { token: KEYS_AWAY, headers });
    expect(answer.json).to.include({ status: 429, code: 'ERR_RATE_LIMITED' });
    expect(test.addresses).to.deep.equal(['127.0.0.1']);
    expect((await test.request('GET', '/livez', { token: null })).status).to.equal(200);
  });

  it('does not count a caller without a token against anybody’s limit', async () => {
    await test.request('GET', '/v1/memories', { token: null });
    expect(test.consumed).to.deep.equal([]);
  });
});
