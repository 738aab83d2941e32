/** Scenario J5 of the threat model: key rotation, outages and a key server that misbehaves. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { JWTPayload } from 'jose';
import type { HindsightError } from '../../src/errors.ts';
import { createRevocations } from '../../src/gate/revocations.ts';
import { createTokenVerifier, type TokenVerifier, type TrustedIssuer } from '../../src/gate/token-verifier.ts';
import { startJwksServer, testKey, type JwksServer, type TestKey } from '../support/jwks-server.ts';
import { SHIPPED_ACCESS } from '../support/principals.ts';

const ISSUER = 'https://id.example';
const AUDIENCE = 'https://memory.example/mcp';

describe('issuer keys (J5)', () => {
  let old: TestKey;
  let fresh: TestKey;
  let stranger: TestKey;
  let server: JwksServer;
  let nowMs: number;
  let serial = 0;

  const verifier = (jwks: TrustedIssuer['jwks'] = server.url, keysMaxAgeSeconds?: number): TokenVerifier =>
    createTokenVerifier({
      issuers: [
        {
          ...{ issuer: ISSUER, audience: AUDIENCE, algorithms: ['ES256'], jwks, requireTyp: false },
          ...{ maxTokenAgeSeconds: 86_400, keysMaxAgeSeconds },
        },
      ],
      clock: () => nowMs,
      access: SHIPPED_ACCESS,
      revocations: createRevocations([]),
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

  it('with the key server down and no keys yet, every token is answered 503 and the server is asked once in five seconds', async () => {
    const by = verifier();
    server.serveWith((response) => response.writeHead(500).end());
    const flood = await Promise.all(Array.from({ length: 10 }, () => token(old)));
    expect(new Set(await Promise.all(flood.map((t) => codeOf(by, t))))).to.deep.equal(new Set(['ERR_AUTH_KEYS_UNAVAILABLE']));
    expect(await codeOf(by, await token(old))).to.equal('ERR_AUTH_KEYS_UNAVAILABLE');
    expect(server.hits()).to.equal(1);
    server.serve([old.publicJwk]);
    nowMs += 4_999;
    expect(await codeOf(by, await token(old))).to.equal('ERR_AUTH_KEYS_UNAVAILABLE');
    nowMs += 1;
    expect(await codeOf(by, await token(old))).to.equal('accepted');
    expect(server.hits()).to.equal(2);
  });

  it('says after how many seconds the keys are asked for again', async () => {
    const by = verifier();
    server.serveWith((response) => response.writeHead(500).end());
    const waits: (number | undefined)[] = [];
    for (const step of [0, 2_000, 2_500]) {
      nowMs += step;
      waits.push((await by.verify(await token(old)).catch((error: unknown) => (error as HindsightError).retryAfterSeconds)) as number);
    }
    expect(waits).to.deep.equal([5, 3, 1]);
  });

  it('a flood of unknown key ids at a key server that is down causes one fetch in five seconds too', async () => {
    const by = verifier();
    server.serveWith((response) => response.writeHead(500).end());
    for (let second = 0; second < 20; second += 1) {
      const flood = await Promise.all(Array.from({ length: 10 }, (_, i) => token(stranger, { kid: `s${second}-${i}` })));
      expect(new Set(await Promise.all(flood.map((t) => codeOf(by, t))))).to.deep.equal(new Set(['ERR_AUTH_KEYS_UNAVAILABLE']));
      nowMs += 1_000;
    }
    expect(server.hits()).to.equal(4);
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

  it('keys in a file are read again like those of a server: a new one is known after five seconds, a withdrawn one refused after its life', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'keys-'));
    try {
      const file = join(dir, 'keys.json');
      const write = (...keys: TestKey[]): void => writeFileSync(file, JSON.stringify({ keys: keys.map((key) => key.publicJwk) }));
      write(old);
      const by = verifier({ file }, 60);
      expect(await codeOf(by, await token(old))).to.equal('accepted');
      write(fresh);
      nowMs += 4_999;
      expect(await codeOf(by, await token(fresh))).to.equal('ERR_AUTH_INVALID');
      nowMs += 1;
      expect(await codeOf(by, await token(fresh))).to.equal('accepted');
      expect(await codeOf(by, await token(old))).to.equal('ERR_AUTH_INVALID');
      writeFileSync(file, 'not json');
      nowMs += 59_999;
      expect(await codeOf(by, await token(fresh))).to.equal('accepted');
      nowMs += 5_001;
      expect(await codeOf(by, await token(fresh))).to.equal('ERR_AUTH_KEYS_UNAVAILABLE');
    } finally {
      rmSync(dir, { recursive: true });
    }
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
