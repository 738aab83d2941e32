/** Scenario J5 of the threat model: key rotation, outages and a key server that misbehaves. */
import { expect } from 'chai';
import type { JWTPayload } from 'jose';
import type { HindsightError } from '../../src/errors.ts';
import { createTokenVerifier, type TokenVerifier } from '../../src/gate/token-verifier.ts';
import { startJwksServer, testKey, type JwksServer, type TestKey } from '../support/jwks-server.ts';

const ISSUER = 'https://id.example';
const AUDIENCE = 'https://memory.example/mcp';

describe('issuer keys (J5)', () => {
  let old: TestKey;
  let fresh: TestKey;
  let stranger: TestKey;
  let server: JwksServer;
  let nowMs: number;
  let serial = 0;

  const verifier = (url = server.url): TokenVerifier =>
    createTokenVerifier({
      issuers: [{ issuer: ISSUER, audience: AUDIENCE, algorithms: ['ES256'], jwks: url, requireTyp: false, maxTokenAgeSeconds: 86_400 }],
      clock: () => nowMs,
    });
  /** Every token is a new one, so that the cache of good tokens never answers. */
  const token = (key: TestKey, header: Record<string, unknown> = {}): Promise<string> => {
    const now = Math.floor(nowMs / 1_000);
    const claims: JWTPayload = { iss: ISSUER, aud: AUDIENCE, sub: 'a', tenant: 't1', iat: now, exp: now + 600, jti: String((serial += 1)) };
    return key.sign(claims, header);
  };
  const codeOf = async (by: TokenVerifier, bearer: string): Promise<string> =>
    by.verify(bearer).then(
      () => 'accepted',
      (error: unknown) => (error as HindsightError).code,
    );

  before(async () => {
    [old, fresh, stranger] = await Promise.all([testKey('ES256', 'old'), testKey('ES256', 'fresh'), testKey('ES256', 'stranger')]);
  });
  beforeEach(async () => {
    nowMs = 1_790_000_000_000;
    server = await startJwksServer([old.publicJwk]);
  });
  afterEach(() => server.close());

  it('keys are fetched once for any number of tokens', async () => {
    const by = verifier();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => token(old)));
    expect(await Promise.all(tokens.map((t) => codeOf(by, t)))).to.deep.equal(Array(20).fill('accepted'));
    expect(server.hits()).to.equal(1);
  });

  it('a rotated-in key is accepted once the cooldown of five seconds is over', async () => {
    const by = verifier();
    expect(await codeOf(by, await token(old))).to.equal('accepted');
    server.serve([old.publicJwk, fresh.publicJwk]);
    nowMs += 4_999;
    expect(await codeOf(by, await token(fresh))).to.equal('ERR_AUTH_INVALID');
    nowMs += 1;
    expect(await codeOf(by, await token(fresh))).to.equal('accepted');
    expect(server.hits()).to.equal(2);
  });

  it('a withdrawn key is refused ten minutes after the last fetch at the latest', async () => {
    const by = verifier();
    expect(await codeOf(by, await token(old))).to.equal('accepted');
    server.serve([fresh.publicJwk]);
    nowMs += 600_000;
    expect(await codeOf(by, await token(old))).to.equal('ERR_AUTH_INVALID');
    expect(await codeOf(by, await token(fresh))).to.equal('accepted');
  });

  it('a busy service drops a withdrawn key after five minutes, without making a request wait', async () => {
    const by = verifier();
    expect(await codeOf(by, await token(old))).to.equal('accepted');
    server.serve([fresh.publicJwk]);
    nowMs += 300_000;
    expect(await codeOf(by, await token(old))).to.equal('accepted');
    expect(await codeOf(by, await token(fresh))).to.equal('accepted'); // joins the fetch under way
    expect(await codeOf(by, await token(old))).to.equal('ERR_AUTH_INVALID');
    expect(server.hits()).to.equal(2);
  });

  it('a flood of unknown key ids causes one fetch in five seconds', async () => {
    const by = verifier();
    await codeOf(by, await token(old));
    for (let second = 0; second < 20; second += 1) {
      const flood = await Promise.all(Array.from({ length: 10 }, (_, i) => token(stranger, { kid: `s${second}-${i}` })));
      expect(new Set(await Promise.all(flood.map((t) => codeOf(by, t))))).to.deep.equal(new Set(['ERR_AUTH_INVALID']));
      nowMs += 1_000;
    }
    expect(server.hits()).to.be.within(4, 5);
    expect(await codeOf(by, await token(old))).to.equal('accepted');
  });

  it('with the key server down and no keys yet, every token is answered 503 and the server is asked once a second', async () => {
    const by = verifier();
    server.serveWith((response) => response.writeHead(500).end());
    const flood = await Promise.all(Array.from({ length: 10 }, () => token(old)));
    expect(new Set(await Promise.all(flood.map((t) => codeOf(by, t))))).to.deep.equal(new Set(['ERR_AUTH_KEYS_UNAVAILABLE']));
    expect(await codeOf(by, await token(old))).to.equal('ERR_AUTH_KEYS_UNAVAILABLE');
    expect(server.hits()).to.equal(1);
    server.serve([old.publicJwk]);
    nowMs += 1_000;
    expect(await codeOf(by, await token(old))).to.equal('accepted');
  });

  it('with the key server down, known keys serve on for ten minutes and unknown ones are answered 503', async () => {
    const by = verifier();
    expect(await codeOf(by, await token(old))).to.equal('accepted');
    server.serveWith((response) => response.destroy());
    nowMs += 400_000;
    expect(await codeOf(by, await token(old))).to.equal('accepted');
    nowMs += 10_000;
    expect(await codeOf(by, await token(fresh))).to.equal('ERR_AUTH_KEYS_UNAVAILABLE');
    expect(await codeOf(by, await token(old))).to.equal('accepted');
    nowMs += 200_000;
    expect(await codeOf(by, await token(old))).to.equal('ERR_AUTH_KEYS_UNAVAILABLE');
  });

  it('an unreachable key server is 503, not 401', async () => {
    const url = server.url;
    await server.close();
    expect(await codeOf(verifier(url), await token(old))).to.equal('ERR_AUTH_KEYS_UNAVAILABLE');
    server = await startJwksServer();
  });

  it('a redirect is not followed, wherever it leads', async () => {
    const elsewhere = await startJwksServer([stranger.publicJwk]);
    try {
      for (const status of [301, 302, 307, 308]) {
        server.serveWith((response) => response.writeHead(status, { location: elsewhere.url }).end());
        expect(await codeOf(verifier(), await token(stranger))).to.equal('ERR_AUTH_KEYS_UNAVAILABLE');
      }
      expect(elsewhere.hits()).to.equal(0);
    } finally {
      await elsewhere.close();
    }
  });

  it('a key set of 5 MB is not read to its end', async () => {
    let sent = 0;
    server.serveWith((response) => {
      response.write(`{"keys":[${JSON.stringify(old.publicJwk)}],"pad":"`);
      const push = (): void => {
        while (sent < 5_000_000 && !response.destroyed) {
          sent += 65_536;
          if (!response.write('x'.repeat(65_536))) {
            response.once('drain', push);
            return;
          }
        }
        if (!response.destroyed) response.end('"}');
      };
      push();
    });
    expect(await codeOf(verifier(), await token(old))).to.equal('ERR_AUTH_KEYS_UNAVAILABLE');
  });

  it('an answer that is no key set is 503', async () => {
    for (const body of [
      '',
      'not json',
      '[]',
      '{}',
      '{"keys":{}}',
      '{"keys":["x"]}',
      `{"keys":${JSON.stringify(Array(101).fill(old.publicJwk))}}`,
    ]) {
      server.serveWith((response) => response.end(body));
      expect(await codeOf(verifier(), await token(old)), body.slice(0, 20)).to.equal('ERR_AUTH_KEYS_UNAVAILABLE');
    }
  });

  it('keys of other kinds in the set do no harm', async () => {
    server.serve([{ kty: 'oct', k: 'c2VjcmV0', kid: 'old', alg: 'HS256' }, { kty: 'XYZ', kid: 'old' }, old.publicJwk]);
    expect(await codeOf(verifier(), await token(old))).to.equal('accepted');
  });

  it('a token’s own jku causes no request', async () => {
    const elsewhere = await startJwksServer([stranger.publicJwk]);
    try {
      expect(await codeOf(verifier(), await token(stranger, { jku: elsewhere.url, x5u: elsewhere.url }))).to.equal('ERR_AUTH_INVALID');
      expect(elsewhere.hits()).to.equal(0);
    } finally {
      await elsewhere.close();
    }
  });
});
