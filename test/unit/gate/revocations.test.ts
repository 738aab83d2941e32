import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Principal } from '../../../src/domain/principal.ts';
import { HindsightError } from '../../../src/errors.ts';
import { createCredentialWatch } from '../../../src/gate/credential-watch.ts';
import { openRevocationsFile } from '../../../src/gate/revocations-file.ts';
import { createRevocations, type Revocations } from '../../../src/gate/revocations.ts';
import { principal } from '../../support/principals.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const { issuer } = principal();

describe('revocations', () => {
  let dir: string;
  let path: string;
  let nowMs: number;
  let faults: string[];
  const clock = (): number => nowMs;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'revoked-'));
    path = join(dir, 'revoked.yaml');
    nowMs = NOW;
    faults = [];
  });
  afterEach(() => {
    rmSync(dir, { recursive: true });
  });
  const write = (...rows: readonly string[]): void =>
    writeFileSync(path, `version: 1\nrevoked:${rows.length === 0 ? ' []' : rows.map((row) => `\n  - ${row}`).join('')}\n`);
  const open = async (required = false): Promise<Revocations> =>
    createRevocations([await openRevocationsFile({ path, required, clock, onFault: (fault) => faults.push(fault) })]);
  const who = (jti: string, more: { sub?: string; sid?: string; issuedAt?: number } = {}): Principal => ({
    ...principal({ sub: more.sub ?? 'ann' }),
    credential: { jti, sid: more.sid, issuedAt: more.issuedAt ?? NOW / 1_000 - 60 },
  });

  it('name a token, a subject or a session, each of one issuer', async () => {
    write(
      `{ issuer: '${issuer}', jti: one }`,
      `{ issuer: '${issuer}', sub: bob }`,
      `{ issuer: '${issuer}', sid: s9 }`,
      `{ issuer: 'https://other.test', sub: ann }`,
    );
    const list = await open();
    expect(await list.revoked(who('one'))).to.equal(true);
    expect(await list.revoked(who('two'))).to.equal(false);
    expect(await list.revoked(who('two', { sub: 'bob' }))).to.equal(true);
    expect(await list.revoked(who('two', { sid: 's9' }))).to.equal(true);
    expect(await list.revoked(who('s9', { sid: 'bob' }))).to.equal(false);
    expect(await list.revoked({ ...who('two'), issuer: 'https://other.test' })).to.equal(true);
    expect(await list.revoked(principal({ sub: 'bob' })), 'no token stands for it').to.equal(false);
  });

  it('end everything issued before a time and let it begin anew, until the line itself ends', async () => {
    write(`{ issuer: '${issuer}', sub: ann, issued_before: '2026-03-01T11:59:30Z', until: '2026-03-01T13:00:00+00:00' }`);
    const list = await open();
    expect(await list.revoked(who('x', { issuedAt: NOW / 1_000 - 31 }))).to.equal(true);
    expect(await list.revoked(who('x', { issuedAt: NOW / 1_000 - 30 }))).to.equal(false);
    nowMs += 3_600_000;
    expect(await list.revoked(who('x', { issuedAt: NOW / 1_000 - 31 }))).to.equal(false);
  });

  it('are read again within a second of a change, also where there was no file before', async () => {
    const list = await open();
    expect(await list.revoked(who('one'))).to.equal(false);
    write(`{ issuer: '${issuer}', jti: one }`);
    nowMs += 1_000;
    expect(await list.revoked(who('one'))).to.equal(true);
    write();
    nowMs += 1_000;
    expect(await list.revoked(who('one'))).to.equal(false);
    expect(faults).to.deep.equal([]);
  });

  it('stay as they were, with one alarm, when the file becomes damaged or goes away', async () => {
    write(`{ issuer: '${issuer}', jti: one }`);
    const list = await open();
    writeFileSync(path, 'version: 1\nrevoked:\n  - { jti: two }\n');
    for (let second = 0; second < 5; second += 1) {
      nowMs += 1_000;
      expect(await list.revoked(who('one'))).to.equal(true);
    }
    expect(faults).to.have.length(1);
    expect(faults[0]).to.contain('revoked.yaml /revoked/0/issuer');
    unlinkSync(path);
    nowMs += 1_000;
    expect(await list.revoked(who('one'))).to.equal(true);
    expect(faults).to.deep.equal([faults[0], 'the revocations file is missing']);
  });

  it('keep the service from starting when the file is damaged, or missing although it was named', async () => {
    const code = async (required: boolean): Promise<string> =>
      open(required).then(
        () => 'opened',
        (error: unknown) => (error as HindsightError).code,
      );
    expect(await code(true)).to.equal('ERR_CONFIG_INVALID');
    expect(await code(false)).to.equal('opened');
    for (const row of [
      '{ jti: one }',
      `{ issuer: '${issuer}' }`,
      `{ issuer: '${issuer}', jti: one, sub: ann }`,
      `{ issuer: '${issuer}', jti: one, tenant: acme }`,
      `{ issuer: '${issuer}', sub: ann, issued_before: soon }`,
    ]) {
      write(row);
      expect(await code(false), row).to.equal('ERR_CONFIG_INVALID');
    }
  });

  it('are asked of every source, and one that cannot tell refuses', async () => {
    const no = { find: async (marks: readonly unknown[]) => marks.map(() => undefined) };
    const yes = { find: async (marks: readonly unknown[]) => marks.map(() => Infinity) };
    const away = { find: () => Promise.reject(new HindsightError('ERR_AUTH_UNDECIDED')) };
    expect(await createRevocations([no, yes]).revoked(who('x'))).to.equal(true);
    expect(await createRevocations([no, no]).revoked(who('x'))).to.equal(false);
    const error: unknown = await createRevocations([no, away])
      .revoked(who('x'))
      .catch((thrown: unknown) => thrown);
    expect((error as HindsightError).code).to.equal('ERR_AUTH_UNDECIDED');
  });

  describe('the watch over open streams', () => {
    let revokedIds: Set<string>;
    let undecided: unknown[];
    let broken = false;
    const watchOf = () =>
      createCredentialWatch({
        clock,
        revocations: {
          revoked: async ({ credential }) => {
            if (broken) throw new Error('away');
            return revokedIds.has(credential?.jti ?? '');
          },
        },
        onUndecided: (error) => undecided.push(error),
      });
    beforeEach(() => {
      revokedIds = new Set();
      undecided = [];
      broken = false;
    });

    it('ends a stream when its token ends or is revoked, and leaves those that are done', async () => {
      const watch = watchOf();
      const ended: string[] = [];
      watch.hold({ ...who('short'), expiresAt: NOW / 1_000 + 10 }, () => ended.push('short'));
      watch.hold(who('revoked'), () => ended.push('revoked'));
      const release = watch.hold(who('revoked'), () => ended.push('done'));
      watch.hold(who('good'), () => ended.push('good'));
      watch.hold({ ...who('job'), expiresAt: 0 }, () => ended.push('job'));
      release();
      await watch.sweep();
      expect(ended).to.deep.equal([]);
      revokedIds.add('revoked');
      await watch.sweep();
      expect(ended).to.deep.equal(['revoked']);
      nowMs += 10_000;
      await watch.sweep();
      expect(ended).to.deep.equal(['revoked', 'short', 'revoked']);
      expect(watch.size).to.equal(4);
    });

    it('leaves streams open, and says so, while revocations cannot be read; an ended token ends them all the same', async () => {
      const watch = watchOf();
      const ended: string[] = [];
      watch.hold(who('x'), () => ended.push('x'));
      watch.hold({ ...who('y'), expiresAt: NOW / 1_000 }, () => ended.push('y'));
      broken = true;
      await watch.sweep();
      expect([ended, undecided.length]).to.deep.equal([['y'], 1]);
    });
  });
});
