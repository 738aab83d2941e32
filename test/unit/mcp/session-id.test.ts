import { expect } from 'chai';
import fc from 'fast-check';
import { createLocalRevocations } from '../../../src/mcp/revocations.ts';
import { createSessionIds, type SessionClient } from '../../../src/mcp/session-id.ts';
import { principal } from '../../support/principals.ts';

const HOUR_MS = 3_600_000;
const CLIENT: SessionClient = { protocolVersion: '2025-11-25', elicitation: { form: true, url: false }, name: '代码助手', version: '1' };

describe('mcp/session-id', () => {
  let now = 1_000_000;
  const ids = createSessionIds({ key: Buffer.alloc(32, 1), clock: () => now, ttlMs: HOUR_MS });
  beforeEach(() => {
    now = 1_000_000;
  });

  it('tells again what the client said, to its owner’s same actor and client under any token', () => {
    const id = ids.mint(principal({ actor: 'agent', clientId: 'desk' }), CLIENT);
    expect(id).to.match(/^[\x21-\x7e]+$/);
    const refreshed = { ...principal({ clientId: 'desk', actor: 'agent', scopes: ['memory:read'] }), expiresAt: 5 };
    expect(ids.open(id, refreshed)).to.deep.include({ ...CLIENT, expiresAt: now + HOUR_MS });
  });

  it('is nobody else’s: another person, tenant, issuer, actor, client or key', () => {
    const id = ids.mint(principal(), CLIENT);
    expect(ids.open(id, principal({ sub: 'bob' }))).to.equal(undefined);
    expect(ids.open(id, principal({ tenant: 'other' }))).to.equal(undefined);
    expect(ids.open(id, principal({ actor: 'agent' }))).to.equal(undefined);
    expect(ids.open(id, principal({ clientId: 'desk' }))).to.equal(undefined);
    expect(ids.open(id, { ...principal(), owner: 'f'.repeat(32) })).to.equal(undefined);
    const other = createSessionIds({ key: Buffer.alloc(32, 2), clock: () => now, ttlMs: HOUR_MS });
    expect(other.open(id, principal())).to.equal(undefined);
  });

  it('ends, and is not valid before its time', () => {
    const id = ids.mint(principal(), CLIENT);
    now += HOUR_MS - 1;
    expect(ids.open(id, principal())).to.not.equal(undefined);
    now += 1;
    expect(ids.open(id, principal())).to.equal(undefined);
    now = 1_000_000 - 120_000;
    expect(ids.open(id, principal())).to.equal(undefined);
  });

  it('is never the same twice and names neither tenant nor person', () => {
    const [a = '', b = ''] = [ids.mint(principal(), CLIENT), ids.mint(principal(), CLIENT)];
    expect(a).to.not.equal(b);
    expect(Buffer.from(a.split('.')[0] ?? '', 'base64url').toString()).to.not.match(/acme|ann/);
  });

  it('stays short whatever the client calls itself', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 5_000 }), fc.string({ unit: 'binary', maxLength: 5_000 }), (name, version) => {
        const id = ids.mint(principal(), { ...CLIENT, name, version });
        expect(id.length).to.be.below(1_024);
        expect(ids.open(id, principal())).to.not.equal(undefined);
      }),
      {
        examples: [
          ['\u0000'.repeat(64), '"'.repeat(64)],
          ['\ud800'.repeat(64), '\udfff'.repeat(64)],
        ],
      },
    );
  });

  it('takes no other spelling than its own', () => {
    const id = ids.mint(principal(), CLIENT);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ ';
    fc.assert(
      fc.property(fc.nat(id.length - 1), fc.constantFrom(...alphabet), (at, char) => {
        const changed = id.slice(0, at) + char + id.slice(at + 1);
        fc.pre(changed !== id);
        expect(ids.open(changed, principal())).to.equal(undefined);
      }),
      { numRuns: 500 },
    );
    for (const other of [`${id}=`, `${id}.`, `.${id}`, `${id}.${id}`, id.slice(0, -1), '', '.', 'a.b', '1', 'x'.repeat(100_000)])
      expect(ids.open(other, principal()), other.slice(0, 40)).to.equal(undefined);
  });
});

describe('mcp/revocations', () => {
  it('holds an id until it would have ended by itself', async () => {
    let now = 0;
    const revocations = createLocalRevocations(() => now);
    await revocations.add('a', 10);
    expect(await revocations.has('a')).to.equal(true);
    expect(await revocations.has('b')).to.equal(false);
    now = 11;
    await revocations.add('b', 20);
    expect(await revocations.has('a')).to.equal(false);
  });

  it('lets the oldest go at its cap', async () => {
    const revocations = createLocalRevocations(() => 0, 2);
    for (const nonce of ['a', 'b', 'c']) await revocations.add(nonce, 10);
    expect(await Promise.all(['a', 'b', 'c'].map((nonce) => revocations.has(nonce)))).to.deep.equal([false, true, true]);
  });
});
