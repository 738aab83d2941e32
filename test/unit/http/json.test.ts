import { expect } from 'chai';
import fc from 'fast-check';
import { HindsightError } from '../../../src/errors.ts';
import { JSON_MAX_DEPTH, parseJson } from '../../../src/http/json.ts';

const KNOWN = new Set(['content', 'filter', 'tags', 'items', 'metadata', 'top_k']);

function fault(text: string): { pointer: string; message: string } {
  try {
    parseJson(text, KNOWN);
  } catch (error) {
    if (error instanceof HindsightError && error.code === 'ERR_REQUEST_JSON' && error.faults[0] !== undefined) return error.faults[0];
    throw error;
  }
  throw new Error('it was taken');
}

describe('http/json', () => {
  it('reads every JSON value as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        fc.pre(!/"(__proto__|constructor|prototype)"/.test(text));
        expect(parseJson(text, KNOWN)).to.deep.equal(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  it('counts the places of an array over runs of numbers, whatever their length', () => {
    const numbers = fc.array(fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(-0.25)), {
      maxLength: 3_000,
    });
    fc.assert(
      fc.property(numbers, (values) => {
        const text = `{"items":[${[...values, '{"a":1,"a":2}'].join(',')}]}`;
        expect(fault(text)).to.deep.equal({ pointer: `/items/${values.length}`, message: 'names a key twice' });
      }),
      { numRuns: 50 },
    );
    for (const token of ['1e400', '9'.repeat(400)]) expect(fault(`{"items":[1,2,${token},3]}`).pointer).to.equal('/items/2');
    expect(fault(`{"items":[${'1,'.repeat(500_000)}1e400]}`).pointer).to.equal('/items/500000');
  });

  it('refuses whatever JSON.parse refuses', () => {
    const grain = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '"a"',
      '1',
      '-',
      'e',
      '.',
      'true',
      'null',
      ' ',
      '\n',
      '\\u0041',
      '中',
    );
    fc.assert(
      fc.property(fc.array(grain, { maxLength: 12 }), (grains) => {
        const text = grains.join('');
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(() => parseJson(text, KNOWN)).to.throw(HindsightError);
          return;
        }
        try {
          expect(parseJson(text, KNOWN)).to.deep.equal(expected);
        } catch (error) {
          // the scanner may refuse more, never less: only twice-named keys can come about with these grains
          expect((error as HindsightError).faults[0]?.message).to.equal('names a key twice');
        }
      }),
      { numRuns: 3_000 },
    );
  });

  const refused: [string, string, string, string][] = [
    ['an empty text', '', '', 'is empty'],
    ['spaces only', ' \n ', '', 'is empty'],
    ['a byte order mark', '\ufeff{}', '', 'begins with a byte order mark'],
    ['NaN', '{"top_k":NaN}', '', 'has a syntax error'],
    ['Infinity', '{"top_k":Infinity}', '', 'has a syntax error'],
    ['single quotes', "{'content':1}", '', 'has a syntax error'],
    ['a trailing comma', '{"content":1,}', '', 'has a syntax error'],
    ['a comment', '{"content":1} // x', '', 'has a syntax error'],
    ['two values', '{} {}', '', 'has a syntax error'],
    ['an open string', '{"content":"abc', '', 'has a syntax error'],
    ['a number out of range', '{"top_k":1e400}', '/top_k', 'is a number out of range'],
    ['an integer of 400 digits', `{"top_k":${'9'.repeat(400)}}`, '/top_k', 'is a number out of range'],
    ['a negative number out of range', '{"items":[0,-1e999]}', '/items/1', 'is a number out of range'],
    ['a key twice', '{"content":1,"content":2}', '', 'names a key twice'],
    ['a key twice in two spellings', '{"content":1,"c\\u006fntent":2}', '', 'names a key twice'],
    ['a key twice further in', '{"filter":{"tags":1,"tags":2}}', '/filter', 'names a key twice'],
    ['a key twice in an item', '{"items":[{},{"content":1,"content":2}]}', '/items/1', 'names a key twice'],
    ['a key twice under the caller’s own key', '{"metadata":{"mine":{"a":1,"a":2}}}', '/metadata', 'names a key twice'],
    ['__proto__', '{"metadata":{"__proto__":{"x":1}}}', '/metadata', 'has a reserved key'],
    ['__proto__ in another spelling', '{"\\u005f_proto__":1}', '', 'has a reserved key'],
    ['constructor', '{"constructor":{"prototype":{}}}', '', 'has a reserved key'],
  ];
  for (const [what, text, pointer, message] of refused) {
    it(`refuses ${what}`, () => {
      expect(fault(text)).to.deep.equal({ pointer, message });
    });
  }

  it('takes what looks like a fault inside a string', () => {
    const text = JSON.stringify({ content: '{"a":1,"a":2} 1e400 [[[ \\" __proto__' });
    expect(parseJson(text, KNOWN)).to.deep.equal(JSON.parse(text));
  });

  it('takes the same key in two objects', () => {
    expect(parseJson('[{"content":1},{"content":2}]', KNOWN)).to.deep.equal([{ content: 1 }, { content: 2 }]);
  });

  it('counts depth to the limit and no further', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(parseJson(nested(JSON_MAX_DEPTH), KNOWN)).to.be.an('array');
    expect(fault(nested(JSON_MAX_DEPTH + 1)).message).to.contain('deeper than 64');
    expect(fault('{"content":'.repeat(50_000)).message).to.contain('deeper than 64');
  });

  it('takes time in proportion to the length', () => {
    const timeOf = (keys: number): number => {
      const text = `{${Array.from({ length: keys }, (_, i) => `"k${i}":"\\\\${i}"`).join()}}`;
      const from = process.hrtime.bigint();
      parseJson(text, KNOWN);
      return Number(process.hrtime.bigint() - from) / 1e6;
    };
    timeOf(20_000);
    // a quadratic scan would need about 100 times as long, not 10 times
    expect(timeOf(200_000)).to.be.below(60 * Math.max(timeOf(20_000), 5));
  });
});
