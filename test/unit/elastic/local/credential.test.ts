/** The credential of the managed Elasticsearch in its data directory. */
import { expect } from 'chai';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { basicHeader, engineCredential } from '../../../../src/elastic/local/credential.ts';

describe('engineCredential', () => {
  let folder: string;
  const file = (): string => join(folder, 'engine-credential');

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hindsight-credential-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('makes 256 random bits once and gives the same ones from then on', async () => {
    const first = await engineCredential(folder);
    expect(Buffer.from(first.password, 'base64url')).to.have.length(32);
    expect(await engineCredential(folder)).to.deep.equal(first);
    expect(readFileSync(first.file, 'utf8')).to.equal(`${first.username}:${first.password}\n`);
  });

  it('closes the file to others, also one that was opened to them', async () => {
    await engineCredential(folder);
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
    chmodSync(file(), 0o644);
    await engineCredential(folder);
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
  });

  it('makes a new one for a file that was cut short', async () => {
    for (const content of ['', 'hindsight:', 'hindsight:short', 'other:'.padEnd(49, 'x')]) {
      writeFileSync(file(), content);
      const { password } = await engineCredential(folder);
      expect(password).to.match(/^[A-Za-z0-9_-]{43}$/);
      expect(readFileSync(file(), 'utf8')).to.equal(`hindsight:${password}\n`);
    }
  });

  it('spells the header as RFC 7617 does', () => {
    expect(basicHeader({ username: 'Aladdin', password: 'open sesame' })).to.equal('Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==');
  });
});
