import { hkdfSync } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync, chmodSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { HindsightError } from '../../../src/errors.ts';
import { KEY_LABELS, openKeys, type KeyLabel } from '../../../src/gate/keys.ts';
import { readOrCreateSecret } from '../../../src/gate/keys-file.ts';

const SECRET = 'q7Yx0nB3vW9zL5kT2mJ8hR4dF6sA1cEu';
const KEY = Buffer.from(Array.from({ length: 32 }, (_, i) => i)).toString('base64');

async function faultOf(promise: Promise<unknown>): Promise<HindsightError> {
  const answer: unknown = await promise.catch((error: unknown) => error);
  expect(answer).to.be.instanceOf(HindsightError);
  return answer as HindsightError;
}

describe('keys', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'keys-'));
  });
  afterEach(() => {
    rmSync(dataDir, { recursive: true });
  });
  const local = () => ({ dataDir, local: true, serviceSecret: undefined, masterKeyBase64: undefined, masterKeyPreviousBase64: undefined });
  const given = () => ({ dataDir, local: false, serviceSecret: SECRET, masterKeyBase64: KEY, masterKeyPreviousBase64: undefined });
  const labels = Object.keys(KEY_LABELS) as KeyLabel[];

  it('derives a 32-byte key for each label, all different, and the same at every start', async () => {
    const [a, b] = [await openKeys(given()), await openKeys(given())];
    const all = labels.map((label) => a.deriveKey(label));
    expect(new Set(all.map((k) => k.toString('hex'))).size).to.equal(labels.length);
    expect(new Set(all.map((k) => k.length))).to.deep.equal(new Set([32]));
    expect(b.deriveKey('cursor')).to.deep.equal(a.deriveKey('cursor'));
    expect(readdirSync(dataDir)).to.deep.equal([]);
  });

  it('keeps the two roots apart', async () => {
    const first = await openKeys(given());
    const second = await openKeys({ ...given(), serviceSecret: SECRET.toLowerCase() });
    expect(second.deriveKey('seal')).to.deep.equal(first.deriveKey('seal'));
    expect(second.deriveKey('cursor')).to.not.deep.equal(first.deriveKey('cursor'));
  });

  it('gives the audit log the anchor keys of former service secrets, for checks alone', async () => {
    const former = SECRET.toLowerCase();
    const old = await openKeys({ ...given(), serviceSecret: former });
    const now = await openKeys({ ...given(), serviceSecretsPrevious: [former] });
    expect(now.previousAnchors).to.deep.equal([old.deriveKey('audit-anchor')]);
    for (const label of labels) expect(now.deriveKey(label)).to.deep.equal((await openKeys(given())).deriveKey(label));
    expect(old.previousAnchors).to.deep.equal([]);
  });

  it('derives as RFC 5869 says, so that sealed data can be opened by other tools', async () => {
    const expected = Buffer.from(hkdfSync('sha256', Buffer.from(KEY, 'base64'), 'hindsight-es/keys/v1', 'seal', 32));
    expect((await openKeys(given())).deriveKey('seal')).to.deep.equal(expected);
  });

  it('makes both roots in local mode, readable by the owner alone, and finds them again', async () => {
    const first = await openKeys(local());
    expect(readdirSync(dataDir).sort()).to.deep.equal(['master.key', 'service.secret']);
    for (const name of readdirSync(dataDir)) expect(statSync(join(dataDir, name)).mode & 0o777).to.equal(0o600);
    const second = await openKeys(local());
    for (const label of labels) expect(second.deriveKey(label)).to.deep.equal(first.deriveKey(label));
  });

  it('makes nothing outside local mode', async () => {
    expect((await faultOf(openKeys({ ...local(), local: false }))).code).to.equal('ERR_CONFIG_UNSAFE');
    expect(readdirSync(dataDir)).to.deep.equal([]);
  });

  it('gives twenty simultaneous starts the same secret and leaves no drafts', async () => {
    const path = join(dataDir, 'deep', 'secret');
    let made = 0;
    const texts = await Promise.all(Array.from({ length: 20 }, () => readOrCreateSecret(path, () => `secret-${(made += 1)}`)));
    expect(new Set(texts).size).to.equal(1);
    expect(made).to.be.greaterThan(1);
    expect(readFileSync(path, 'utf8')).to.equal(texts[0]);
    expect(readdirSync(join(dataDir, 'deep'))).to.deep.equal(['secret']);
  });

  it('refuses a file that others may read or write, and says how to mend it', async () => {
    await openKeys(local());
    const path = join(dataDir, 'master.key');
    for (const mode of [0o640, 0o604, 0o620, 0o644]) {
      chmodSync(path, mode);
      const error = await faultOf(openKeys(local()));
      expect(error.code).to.equal('ERR_CONFIG_UNSAFE');
      expect(error.message).to.contain(`chmod 600 ${path}`);
    }
    chmodSync(path, 0o600);
    await openKeys(local());
  });

  it('refuses a damaged file instead of replacing it', async () => {
    const path = join(dataDir, 'master.key');
    for (const text of ['', 'AAAA', 'x'.repeat(70_000)]) {
      writeFileSync(path, text, { mode: 0o600 });
      const error = await faultOf(openKeys(local()));
      expect(error.code).to.equal('ERR_CONFIG_UNSAFE');
      expect(error.message).to.contain('damaged').and.to.not.contain('AAAA');
      expect(readFileSync(path, 'utf8')).to.equal(text);
    }
  });

  it('takes away the draft when making the secret fails', async () => {
    const failing = readOrCreateSecret(join(dataDir, 'x'), () => Promise.reject(new Error('no entropy')));
    expect(String(await failing.catch((error: unknown) => error))).to.contain('no entropy');
    expect(readdirSync(dataDir)).to.deep.equal([]);
  });
});
