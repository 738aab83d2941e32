/** The detectors of secrets and personal data over the held-out rows, in every form, and over hostile text. */
import { expect } from 'chai';
import { join } from 'node:path';
import { loadSecretFinder } from '../../../../src/guard/secrets/policy.ts';
import { heldOutSecrets } from '../../../support/secret-rows.ts';

const find = loadSecretFinder(join(import.meta.dirname, '..', '..', '..', '..', 'policies', 'guard'));
const kindsIn = (text: string): readonly string[] => find(text).map(({ kind }) => kind);
const left = (text: string): string => find(text).reduceRight((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), text);

describe('guard/secrets: detectors', () => {
  it('finds 97 of 100 held-out secrets and leaves 99 of 100 look-alikes as they are, whatever the values', () => {
    for (const seed of [1, 20_261_130, 777]) {
      const rows = heldOutSecrets(seed);
      const missed = rows.flatMap((row) => row.spans.filter(({ start, end }) => left(row.text).includes(row.text.slice(start, end))));
      const spans = rows.reduce((sum, row) => sum + row.spans.length, 0);
      const clean = rows.filter((row) => row.spans.length === 0);
      const altered = clean.filter((row) => find(row.text).length > 0);
      expect(spans).to.be.above(140);
      expect(clean).to.have.length.above(60);
      expect(missed.length, `seed ${seed}: ${JSON.stringify(missed)}`).to.be.at.most(spans * 0.03);
      expect(altered.length, `seed ${seed}: ${altered.map((row) => row.id).join(', ')}`).to.be.at.most(clean.length * 0.01);
    }
  });

  it('reports findings in order, without overlap, at offsets of the text as it was given', () => {
    const text = '手机 1３8\u200b0013 8000，邮箱 li.na＠example.org，密码：Tulip#2048';
    const found = find(text);
    expect(found.map(({ kind }) => kind)).to.deep.equal(['phone', 'email', 'password']);
    expect(found.map(({ start, end }) => text.slice(start, end))).to.deep.equal([
      '1３8\u200b0013 8000',
      'li.na＠example.org',
      'Tulip#2048',
    ]);
  });

  it('takes the password out of a connection string and leaves the host, which is worth remembering', () => {
    expect(left('DATABASE_URL=postgres://app:p@ss/w0rd@db.example:5432/orders')).to.equal(
      'DATABASE_URL=postgres://app:@db.example:5432/orders',
    );
  });

  it('lets placeholders, variables and sentences about passwords be', () => {
    for (const text of [
      'password: ${DB_PASSWORD}',
      'password=<your password>',
      'the password is required',
      'Passwords are rotated yearly.',
      '密码是必填项，错误三次锁定',
      'postgres://app:${PGPASSWORD}@db/app',
      'api_key = os.environ["KEY"]',
      '[masked:api_key] and [masked:phone ..46] were here, password: [masked:password]',
    ])
      expect(kindsIn(text), text).to.deep.equal([]);
  });

  it('finds what only a short word or a foreign digit gives away', () => {
    for (const [text, secret] of [
      ['开锁码是 4821#', '4821#'],
      ['保险柜码：9921', '9921'],
      ['锁屏码 3847', '3847'],
      ['通行码：tulip2048', 'tulip2048'],
      ['暗號 tulip2048', 'tulip2048'],
      ['密语：tulip2048', 'tulip2048'],
      ['contraseña: tulip2048', 'tulip2048'],
      ['psw: tulip2048', 'tulip2048'],
      ['CVV 917', '917'],
      ['رقم الهاتف ١٣٩١٢٣٤٥٦٧٨', '١٣٩١٢٣٤٥٦٧٨'],
      ['फ़ोन १३९१२३४५६७८', '१३९१२३४५६७८'],
      ['MTM5MTIzNDU2Nzg=', 'MTM5MTIzNDU2Nzg='],
    ] as const) {
      expect(left(text), text).to.equal(text.replace(secret, ''));
    }
  });

  it('reads JSON in a string, in a string, as JSON', () => {
    const value = 'Zk9!q551xR';
    let text = JSON.stringify({ password: value });
    for (let depth = 0; depth < 3; depth++) {
      text = JSON.stringify({ body: text });
      expect(find(text).map(({ start, end }) => text.slice(start, end))).to.deep.equal([value]);
    }
  });

  it('opens what is encoded twice, and no more than 64 KB of it', () => {
    const once = Buffer.from('token ghp_0123456789abcdefghijABCDEFGHIJ012345').toString('base64');
    expect(kindsIn(Buffer.from(`wrapped ${once}`).toString('base64'))).to.deep.equal(['api_key']);
    expect(find(Buffer.from('x'.repeat(200_000)).toString('base64'))).to.deep.equal([]);
  });

  it('takes time in proportion to the length of a hostile text', () => {
    const units = [
      '1 ',
      'sk-',
      'password is ',
      'a:11:a:a: ',
      '-----BEGIN PRIVATE KEY----- ',
      'a.a.',
      'eyJaaaaaaaaaaaaa.',
      '://a:b',
      '+1 303 ',
      '密码是',
      '１',
      'a\u200b',
      '%61',
    ];
    const cost = (unit: string, chars: number): number => {
      const text = unit.repeat(Math.ceil(chars / unit.length));
      const runs = [0, 1, 2].map(() => {
        const before = process.cpuUsage();
        find(text);
        const { user, system } = process.cpuUsage(before);
        return user + system;
      });
      return Math.min(...runs);
    };
    // an eighth of the length, so that a square would show as 64 times the time
    for (const unit of units) expect(cost(unit, 32_000), unit).to.be.below(30 * Math.max(cost(unit, 4_000), 1_500));
  });
});
