/** Scenarios J5 to J9 of the threat model against the running service: outages, revoked tokens, open streams, ways to bring a token, two issuers. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'node:http';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { JWTPayload } from 'jose';
import { startJwksServer, testKey, type JwksServer, type TestKey } from '../support/jwks-server.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { startHashedService, type HashedService } from '../support/service.ts';

const ONE = 'https://one.example';
const TWO = 'https://two.example';
const AUDIENCE = 'https://memory.example';
const REVOKED = 'version: 1\nrevoked:';

describe('access by token (J5-J9)', function () {
  this.timeout(120_000);
  let dir: string;
  let revocations: string;
  let jwks: JwksServer;
  let redis: RedisServer;
  let store: Redis;
  let service: HashedService;
  let one: TestKey;
  let two: TestKey;
  let serial = 0;

  const token = (
    key: TestKey,
    claims: JWTPayload & Record<string, unknown> = {},
    header: Record<string, unknown> = {},
  ): Promise<string> => {
    const iat = Math.floor(Date.now() / 1_000);
    const scope = 'memory:read memory:write memory:forget memory:share';
    return key.sign(
      {
        iss: ONE,
        aud: AUDIENCE,
        sub: 'alice',
        tenant: 't1',
        actor: 'user',
        scope,
        iat,
        exp: iat + 600,
        jti: `j${(serial += 1)}`,
        ...claims,
      },
      header,
    );
  };
  const status = async (bearer: string): Promise<number> => (await service.call('GET', '/v1/memories', bearer)).status;
  const until = async (what: string, done: () => Promise<boolean> | boolean): Promise<void> => {
    const deadline = Date.now() + 15_000;
    while (!(await done())) {
      if (Date.now() > deadline) throw new Error(`not within 15 s: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  /** Opens a stream and tells when the server ends it. */
  const stream = async (path: string, bearer: string, headers: Record<string, string> = {}): Promise<{ ended(): boolean }> => {
    const response = await fetch(service.url + path, {
      headers: { authorization: `Bearer ${bearer}`, accept: 'text/event-stream', ...headers },
    });
    expect(response.status).to.equal(200);
    let ended = false;
    void response.text().then(
      () => (ended = true),
      () => (ended = true),
    );
    return { ended: () => ended };
  };

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'access-'));
    [one, two] = await Promise.all([testKey('ES256', 'one'), testKey('RS256', 'two')]);
    jwks = await startJwksServer([one.publicJwk]);
    redis = await startRedis();
    store = new Redis(redis.url);
    revocations = join(dir, 'revoked.yaml');
    writeFileSync(revocations, `${REVOKED} []\n`);
    writeFileSync(join(dir, 'two.json'), JSON.stringify({ keys: [two.publicJwk] }));
    writeFileSync(
      join(dir, 'issuers.yaml'),
      `version: 1
issuers:
  - { issuer: ${ONE}, audience: ${AUDIENCE}, jwks_url: '${jwks.url}', tenants: [t1] }
  - issuer: ${TWO}
    audience: ${AUDIENCE}
    keys_file: two.json
    algorithms: [RS256]
    require_typ: true
    max_token_age_seconds: 900
    clock_tolerance_seconds: 0
    claims: { tenant: org, roles: /realm_access/roles, sid: session }
    tenants: [t2, t3]
`,
    );
    jwks.serveWith((response) => response.writeHead(500).end());
    service = await startHashedService({
      JWT_ISSUERS_FILE: join(dir, 'issuers.yaml'),
      REVOCATIONS_FILE: revocations,
      REDIS_URL: redis.url,
      REVOCATIONS_REDIS: 'on',
    });
  });
  after(async () => {
    await service.close();
    store.disconnect();
    await redis.close();
    await jwks.close();
    rmSync(dir, { recursive: true });
  });

  it('J5 answers 503 with Retry-After while an issuer’s keys were never read, and the other issuer’s tokens as always', async () => {
    const { status: code, headers, body } = await service.call('GET', '/v1/memories', await token(one));
    expect([code, body.code]).to.deep.equal([503, 'ERR_AUTH_KEYS_UNAVAILABLE']);
    expect(Number(headers.get('retry-after'))).to.be.within(1, 5);
    expect(JSON.stringify(body)).not.to.match(/127\.0\.0\.1|status 500|jwks/);
    expect(await status(await token(two, { iss: TWO, tenant: undefined, org: 't2' }))).to.equal(200);
    jwks.serve([one.publicJwk]);
    await until('the keys are read', async () => (await status(await token(one))) === 200);
  });

  it('J9 believes each issuer for its own tenants alone, by its own keys, algorithms and claim names', async () => {
    const good = { iss: TWO, tenant: undefined, org: 't2' };
    expect(await status(await token(two, good))).to.equal(200);
    expect(await status(await token(two, { ...good, org: 't3' }))).to.equal(200);
    for (const [what, bearer] of [
      ['issuer 2 for a tenant of issuer 1', await token(two, { ...good, org: 't1' })],
      ['issuer 2 under the common name', await token(two, { ...good, org: undefined, tenant: 't2' })],
      ['issuer 1 for a tenant of issuer 2', await token(one, { tenant: 't2' })],
      ['the key of issuer 1 in the name of issuer 2', await token(one, good)],
      ['the key of issuer 2 in the name of issuer 1', await token(two)],
      ['no typ at+jwt', await token(two, good, { typ: 'JWT' })],
      ['too long a life', await token(two, { ...good, exp: Math.floor(Date.now() / 1_000) + 3_600 })],
      ['another audience', await token(two, { ...good, aud: 'https://other.example' })],
      ['a tenant of nobody', await token(one, { tenant: 'local' })],
    ] as const)
      expect(await status(bearer), what).to.equal(401);
  });

  it('J6 refuses a revoked token, subject or session at once, from the file and from Redis, with the text of any bad token', async () => {
    const plain = await service.call('GET', '/v1/memories', `${(await token(one)).slice(0, -8)}AAAAAAAA`);
    const same = async (bearer: string): Promise<void> => {
      const answer = await service.call('GET', '/v1/memories', bearer);
      const { trace_id: _a, instance: _b, ...body } = answer.body;
      const { trace_id: _c, instance: _d, ...expected } = plain.body;
      expect([answer.status, body]).to.deep.equal([401, expected]);
      expect(answer.headers.get('www-authenticate')).to.equal(plain.headers.get('www-authenticate'));
    };
    const [byId, bySession, bySubject, byStore, bystander] = await Promise.all([
      token(one, { jti: 'lost' }),
      token(two, { iss: TWO, tenant: undefined, org: 't2', session: 'laptop' }),
      token(one, { sub: 'mallory' }),
      token(one, { sub: 'trent' }),
      token(two, { iss: TWO, tenant: undefined, org: 't2', sub: 'mallory' }),
    ]);
    for (const bearer of [byId, bySession, bySubject, byStore, bystander]) expect(await status(bearer)).to.equal(200);
    writeFileSync(
      revocations,
      `${REVOKED}\n  - { issuer: ${ONE}, jti: lost }\n  - { issuer: ${TWO}, sid: laptop }\n  - { issuer: ${ONE}, sub: mallory }\n`,
    );
    await until('the file is read again', async () => (await status(byId)) === 401);
    for (const bearer of [byId, bySession, bySubject]) await same(bearer);
    const key = `${service.prefix}:revoked:sub:${createHash('sha256').update(`${ONE}|trent`).digest('hex')}`;
    await store.set(key, '*', 'EX', 600);
    await same(byStore);
    expect(await status(bystander)).to.equal(200);
    // everything before now ends, and the person can come back
    await store.set(key, String(Math.floor(Date.now() / 1_000) - 60), 'EX', 600);
    expect(await status(byStore)).to.equal(200);
    await store.set(key, 'what is this', 'EX', 600);
    await same(byStore);
    await store.del(key);
    expect(await status(byStore)).to.equal(200);
  });

  it('J6 closes open streams when their token ends or is revoked, and no others', async () => {
    const iat = Math.floor(Date.now() / 1_000);
    const short = await token(one, { sub: 'short', exp: iat + 2 });
    const lost = await token(one, { sub: 'lost', sid: 'phone' });
    const kept = await token(one, { sub: 'kept' });
    const hello = {
      ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
      params: { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo: { name: 'test', version: '1' } },
    };
    const begun = await service.call('POST', '/mcp', lost, hello, { accept: 'application/json, text/event-stream' });
    const session = begun.headers.get('mcp-session-id') ?? '';
    expect(session).not.to.equal('');
    const streams = {
      short: await stream('/sse', short),
      sse: await stream('/sse', lost),
      mcp: await stream('/mcp', lost, { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }),
      kept: await stream('/sse', kept),
    };
    expect([streams.sse.ended(), streams.mcp.ended()]).to.deep.equal([false, false]);
    await until('the stream of the ended token is closed', () => streams.short.ended());
    expect([streams.sse.ended(), streams.mcp.ended()]).to.deep.equal([false, false]);
    await store.set(`${service.prefix}:revoked:sid:${createHash('sha256').update(`${ONE}|phone`).digest('hex')}`, '*', 'EX', 600);
    await until('the streams of the revoked session are closed', () => streams.sse.ended() && streams.mcp.ended());
    expect(streams.kept.ended()).to.equal(false);
    expect((await service.call('POST', '/mcp', lost, hello, { accept: 'application/json, text/event-stream' })).status).to.equal(401);
  });

  it('J7 takes a token from one Authorization header alone, whatever the case of its scheme', async () => {
    const bearer = await token(one);
    const raw = (headers: Record<string, string | string[]>, path = '/v1/memories'): Promise<number> =>
      new Promise((resolve, reject) => {
        request(service.url + path, { headers }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        })
          .on('error', reject)
          .end();
      });
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer '])
      expect(await raw({ authorization: `${scheme} ${bearer}` }), scheme).to.equal(200);
    for (const value of [
      `Bearer\t${bearer}`,
      `Bearer ${bearer} ${bearer}`,
      `Bearer ${bearer},`,
      `Token ${bearer}`,
      bearer,
      'Bearer',
      `Bearer  x ${bearer}`,
    ])
      expect(await raw({ authorization: value }), value.replace(bearer, 'T')).to.equal(401);
    expect(await raw({ authorization: [`Bearer ${bearer}`, `Bearer ${bearer}`] })).to.be.oneOf([400, 401]);
    for (const path of [`/v1/memories?access_token=${bearer}`, `/v1/memories?token=${bearer}`, `/sse?access_token=${bearer}`])
      expect(await raw({}, path)).to.equal(401);
    expect(await raw({ cookie: `token=${bearer}`, 'x-access-token': bearer })).to.equal(401);
  });

  it('J6 fails closed: while Redis cannot tell, no token is believed', async () => {
    const bearer = await token(one);
    expect(await status(bearer)).to.equal(200);
    await redis.kill();
    const { status: code, headers, body } = await service.call('GET', '/v1/memories', bearer);
    expect([code, body.code]).to.deep.equal([503, 'ERR_AUTH_UNDECIDED']);
    expect(Number(headers.get('retry-after'))).to.be.at.least(1);
    expect((await service.call('GET', '/livez', '')).status).to.equal(200);
    await redis.start();
    await until('Redis is asked again', async () => (await status(bearer)) === 200);
  });
});
