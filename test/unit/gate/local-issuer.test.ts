import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { decodeProtectedHeader } from 'jose';
import { loadConfig } from '../../../src/config.ts';
import { SCOPES } from '../../../src/domain/principal.ts';
import { HindsightError } from '../../../src/errors.ts';
import { openLocalIssuer, type LocalIssuer } from '../../../src/gate/local-issuer.ts';
import { createRevocations } from '../../../src/gate/revocations.ts';
import { createTokenVerifier } from '../../../src/gate/token-verifier.ts';
import { SHIPPED_ACCESS } from '../../support/principals.ts';

const DAY_MS = 86_400_000;

describe('local issuer', () => {
  let dataDir: string;
  let nowMs = 1_790_000_000_000;
  const clock = (): number => nowMs;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'issuer-'));
    nowMs = 1_790_000_000_000;
  });
  afterEach(() => {
    rmSync(dataDir, { recursive: true });
  });
  const config = (more = {}) => loadConfig({ HINDSIGHT_LOCAL: 'on', DATA_DIR: dataDir, ...more });
  const verifierOf = (issuer: LocalIssuer) =>
    createTokenVerifier({ issuers: [issuer.trusted], access: SHIPPED_ACCESS, revocations: createRevocations([]), clock });
  const fault = async (promise: Promise<unknown>): Promise<HindsightError> => {
    const answer: unknown = await promise.catch((error: unknown) => error);
    expect(answer).to.be.instanceOf(HindsightError);
    return answer as HindsightError;
  };

  it('mints the two local tokens, which its verifier believes', async () => {
    const issuer = await openLocalIssuer(config(), clock);
    const verifier = verifierOf(issuer);
    const agent = await verifier.verify(await issuer.mintAgentToken());
    expect(agent).to.deep.include({ tenant: 'local', sub: 'local', actor: 'agent', namespaces: ['**'], ownNamespace: 'user.local' });
    expect([...agent.scopes]).to.deep.equal(['memory:read', 'memory:write', 'memory:forget']);
    const user = await verifier.verify(await issuer.mintUserToken());
    expect(user).to.deep.include({ tenant: 'local', sub: 'local', actor: 'user', owner: agent.owner });
    expect([...user.scopes]).to.deep.equal([...SCOPES]);
    expect(user.expiresAt).to.equal(nowMs / 1_000 + 90 * 86_400);
    expect(decodeProtectedHeader(await issuer.mintUserToken())).to.deep.include({ alg: 'ES256', typ: 'at+jwt' });
  });

  it('mints any facts and carries every one of them', async () => {
    const issuer = await openLocalIssuer(config(), clock);
    const token = await issuer.mint({
      tenant: 'acme',
      sub: '王',
      scopes: ['memory:read'],
      actor: 'service',
      clientId: 'c',
      namespaces: ['team.*'],
      roles: ['r'],
      teams: ['x'],
      ttlSeconds: 60,
    });
    expect(await verifierOf(issuer).verify(token)).to.deep.include({
      tenant: 'acme',
      sub: '王',
      actor: 'service',
      clientId: 'c',
      namespaces: ['team.*'],
      roles: ['r'],
      teams: ['x'],
      expiresAt: nowMs / 1_000 + 60,
    });
  });

  it('keeps its key pair in DATA_DIR for the owner alone, so that tokens outlive a restart', async () => {
    const token = await (await openLocalIssuer(config(), clock)).mintUserToken();
    expect(statSync(join(dataDir, 'issuer.jwk')).mode & 0o777).to.equal(0o600);
    const again = await openLocalIssuer(config({ PORT: '9999' }), clock);
    expect((await verifierOf(again).verify(token)).sub).to.equal('local');
  });

  it('gives the verifier no private key', async () => {
    const issuer = await openLocalIssuer(config(), clock);
    const { d } = JSON.parse(readFileSync(join(dataDir, 'issuer.jwk'), 'utf8')) as { d: string };
    expect(JSON.stringify(issuer.trusted)).to.not.contain(d);
  });

  it('is not believed by another installation', async () => {
    const token = await (await openLocalIssuer(config(), clock)).mintUserToken();
    rmSync(join(dataDir, 'issuer.jwk'));
    expect((await fault(verifierOf(await openLocalIssuer(config(), clock)).verify(token))).code).to.equal('ERR_AUTH_INVALID');
  });

  it('ends its tokens after 90 days', async () => {
    const issuer = await openLocalIssuer(config(), clock);
    const token = await issuer.mintUserToken();
    nowMs += 90 * DAY_MS;
    expect((await verifierOf(issuer).verify(token)).sub).to.equal('local');
    nowMs += 6_000;
    expect((await fault(verifierOf(issuer).verify(token))).code).to.equal('ERR_AUTH_INVALID');
  });

  it('mints no token that the verifier would refuse', async () => {
    const issuer = await openLocalIssuer(config(), clock);
    const facts = { tenant: 't1', sub: 's', scopes: [], actor: 'agent' as const };
    for (const bad of [
      { tenant: 'ｔ' },
      { tenant: '' },
      { sub: '' },
      { sub: 'a\nb' },
      { namespaces: ['t*'] },
      { ttlSeconds: 0 },
      { ttlSeconds: 7_776_001 },
      { ttlSeconds: 1.5 },
    ])
      expect((await fault(issuer.mint({ ...facts, ...bad }))).code, JSON.stringify(bad)).to.equal('ERR_CONFIG_INVALID');
  });

  it('signs for its own tenant alone when another issuer is configured beside it', async () => {
    const remote = {
      JWKS_URL: 'https://id.example/keys',
      JWT_ISSUER: 'https://id.example',
      JWT_AUDIENCE: 'https://m.example',
      JWT_TENANTS: 'acme',
    };
    const issuer = await openLocalIssuer(config(remote), clock);
    expect((await fault(issuer.mint({ tenant: 'acme', sub: 's', scopes: [], actor: 'user' }))).message).to.contain('tenant');
    expect((await verifierOf(issuer).verify(await issuer.mintUserToken())).tenant).to.equal('local');
  });

  it('does not exist outside local mode, and refuses a damaged key', async () => {
    expect((await fault(openLocalIssuer({ dataDir, auth: { localIssuer: undefined } }, clock))).code).to.equal('ERR_CONFIG_UNSAFE');
    writeFileSync(join(dataDir, 'issuer.jwk'), '{"kty":"EC","d":"private-part"}', { mode: 0o600 });
    const error = await fault(openLocalIssuer(config(), clock));
    expect(error.message).to.contain('damaged');
    expect(error.message).to.not.contain('private-part');
  });
});
