import { expect } from 'chai';
import fc from 'fast-check';
import { codes } from '../../../src/text/codes.ts';

const CASES: [text: string, expected: string[]][] = [
  ['order A-8841 shipped', ['a-8841']],
  ['release v2.3.1.', ['v2.3.1']],
  ['the port is 5432, not 5433', ['5432', '5433']],
  ['订单号A8841已发货', ['a8841']],
  ['端口５４３２', ['5432']],
  ['write to Bob.Lee@Example.com', ['bob.lee@example.com']],
  ['see https://example.com/Docs.', ['https://example.com/docs']],
  ['http://host:9200/a?id=77', ['http://host:9200/a?id=77', '9200']],
  ['ping 10.0.0.1', ['10.0.0.1']],
  ['at 10.0.0.1:9200', ['10.0.0.1:9200', '10.0.0.1', '9200']],
  ['call +86 138-0013-8000', ['138-0013-8000', '8613800138000', '13800138000']],
  ['call (555) 123-4567', ['555', '123-4567', '5551234567']],
  ['手机号13800138000', ['13800138000']],
  ['it cost 1,234,567 yuan', ['1234567']],
  ['端口5432，543', ['5432', '543']],
  ['error ERR_CONN_RESET', ['err_conn_reset']],
  ['edit docker-compose.yml', ['docker-compose.yml']],
  ['issue #1234', ['1234']],
  ['a 5G phone', ['5g']],
  ['the 1st of 7', []],
  ['e.g. plain words, i.e. none', []],
  ['well-known state-of-the-art', []],
];

describe('codes', () => {
  for (const [text, expected] of CASES) {
    it(`finds ${expected.join(', ') || 'nothing'} in "${text}"`, () => {
      expect(codes(text)).to.deep.equal(expected);
    });
  }

  it('tells neighbouring numbers apart', () => {
    expect(codes('port 5432')).to.not.deep.equal(codes('port 5433'));
  });

  it('keeps at most 64 codes, each once', () => {
    const text = Array.from({ length: 300 }, (_, i) => `id-${i} id-${i}`).join(' ');
    expect(codes(text)).to.have.length(64);
  });

  it('cuts a code at 128 characters', () => {
    expect(codes(`A${'1'.repeat(500)}`)).to.deep.equal([`a${'1'.repeat(127)}`]);
  });

  it('never throws and stays within its bounds for any string', () => {
    const pieces = fc.constantFrom('1', 'a', '-', '.', '@', ':', '/', ' ', '(', ')', '+', ',', '号', '_', '?');
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces, { maxLength: 300 }).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(text, (input) => {
        const found = codes(input);
        expect(new Set(found).size).to.equal(found.length);
        expect(found.length).to.be.at.most(64);
        for (const code of found) expect(code).to.match(/^[^\s\p{Lu}]{2,128}$/u);
      }),
    );
  });
});
