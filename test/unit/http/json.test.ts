import { expect } from 'chai';
import fc from 'fast-check';
import { HindsightError, type ErrorCode } from '../../../src/errors.ts';
import { JSON_MAX_DEPTH, JSON_MAX_LIST, JSON_MAX_NAMES, parseJson, type JsonBudget } from '../../../src/http/json.ts';
import { rejection } from '../../support/rejection.ts';

const KNOWN = new Set(['content', 'filter', 'tags', 'items', 'metadata', 'top_k']);

const BUDGET: JsonBudget = { entries: 400_000, differentNames: 400_000, numbers: 1_000_000 };
const parse = (text: string, budget: Partial<JsonBudget> = {}): Promise<unknown> => parseJson(text, KNOWN, { ...BUDGET, ...budget });

async function fault(
  text: string,
  code: ErrorCode = 'ERR_REQUEST_JSON',
  budget: Partial<JsonBudget> = {},
): Promise<{ pointer: string; message: string }> {
  try {
    await parse(text, budget);
  } catch (error) {
    if (error instanceof HindsightError && error.code === code && error.faults[0] !== undefined) return error.faults[0];
    throw error;
  }
  throw new Error('it was taken');
}

describe('http/json', () => {
  it('reads every JSON value as JSON.parse does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 6 }), async (text) => {
        fc.pre(!/"(__proto__|constructor|prototype)"/.test(text));
        expect(await parse(text)).to.deep.equal(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  it('counts the places of an array over runs of numbers, whatever their length', async () => {
    const numbers = fc.array(fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(-0.25)), {
      maxLength: 3_000,
    });
    await fc.assert(
      fc.asyncProperty(numbers, async (values) => {
        const text = `{"items":[${[...values, '{"a":1,"a":2}'].join(',')}]}`;
        expect(await fault(text)).to.deep.equal({ pointer: `/items/${values.length}`, message: 'names a key twice' });
      }),
      { numRuns: 50 },
    );
    for (const token of ['1e400', '9'.repeat(400)]) expect((await fault(`{"items":[1,2,${token},3]}`)).pointer).to.equal('/items/2');
    expect((await fault(`{"items":[${'1,'.repeat(4_000)}1e400]}`)).pointer).to.equal('/items/4000');
  });

  it('refuses whatever JSON.parse refuses', async () => {
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
    await fc.assert(
      fc.asyncProperty(fc.array(grain, { maxLength: 12 }), async (grains) => {
        const text = grains.join('');
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect((await rejection(parse(text))).code).to.equal('ERR_REQUEST_JSON');
          return;
        }
        try {
          expect(await parse(text)).to.deep.equal(expected);
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
    it(`refuses ${what}`, async () => {
      expect(await fault(text)).to.deep.equal({ pointer, message });
    });
  }

  it('takes what looks like a fault inside a string', async () => {
    const text = JSON.stringify({ content: '{"a":1,"a":2} 1e400 [[[ \\" __proto__' });
    expect(await parse(text)).to.deep.equal(JSON.parse(text));
  });

  it('takes the same key in two objects', async () => {
    expect(await parse('[{"content":1},{"content":2}]')).to.deep.equal([{ content: 1 }, { content: 2 }]);
  });

  it('counts depth to the limit and no further', async () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(await parse(nested(JSON_MAX_DEPTH))).to.be.an('array');
    expect((await fault(nested(JSON_MAX_DEPTH + 1))).message).to.contain('deeper than 64');
    expect((await fault('{"content":'.repeat(50_000))).message).to.contain('deeper than 64');
  });

  it('bounds names, lists and what there is in all, with a pointer, and lets the numbers of vectors pass', async () => {
    const names = (n: number, prefix = 'k'): string => `{${Array.from({ length: n }, (_, i) => `"${prefix}${i}":1`).join()}}`;
    const list = (n: number, value: string): string => `[${Array(n).fill(value).join()}]`;
    const over = 'ERR_REQUEST_TOO_COMPLEX';
    expect(await parse(`{"metadata":${names(JSON_MAX_NAMES)}}`)).to.have.property('metadata');
    expect(await fault(`{"metadata":${names(JSON_MAX_NAMES + 1)}}`, over)).to.deep.equal({
      pointer: '/metadata',
      message: 'has more than 256 names',
    });
    for (const value of ['1', '"a"', 'true', '[]', '1e-7', '{}']) {
      expect(await parse(`{"tags":${list(JSON_MAX_LIST, value)}}`), value).to.have.property('tags');
      expect((await fault(`{"tags":${list(JSON_MAX_LIST + 1, value)}}`, over)).pointer, value).to.equal('/tags');
    }
    const many = list(100, names(10));
    expect(await parse(many, { entries: 1_000 })).to.have.length(100);
    expect((await fault(many, over, { entries: 999 })).message).to.equal('has more than 999 names');
    for (const value of ['"a"', 'null', '[]', '{}'])
      expect((await fault(list(100, value), over, { entries: 99 })).message, value).to.contain('more than 99 texts');
    expect((await fault(list(3, `[${names(2, 'a')},${names(2, 'b')}]`), over, { differentNames: 3 })).message).to.contain(
      '3 different names',
    );
    const vectors = list(10, list(1_000, '0.5'));
    expect(await parse(vectors, { entries: 20, numbers: 10_000 })).to.have.length(10);
    expect((await fault(vectors, over, { numbers: 9_999 })).message).to.contain('9999 numbers');
  });

  it('gives other calls their turn while it reads', async () => {
    const text = `{"items":[${Array.from({ length: 4_000 }, (_, i) => `{"content":"${'x'.repeat(50)}","k${i}":1}`).join()}]}`;
    const order: string[] = [];
    const reading = parse(text).then(() => order.push('read'));
    for (let i = 0; i < 2; i += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      order.push('turn');
    }
    await reading;
    expect(order).to.deep.equal(['turn', 'turn', 'read']);
  });
  it('takes time in proportion to the length', async () => {
    const timeOf = async (keys: number): Promise<number> => {
      const text = `[${Array.from({ length: keys / 100 }, (_, j) => `{${Array.from({ length: 100 }, (_v, i) => `"k${i}":"\\\\${j}"`).join()}}`).join()}]`;
      const from = process.hrtime.bigint();
      await parse(text);
      return Number(process.hrtime.bigint() - from) / 1e6;
    };
    await timeOf(20_000);
    // a quadratic scan would need about 100 times as long, not 10 times
    expect(await timeOf(200_000)).to.be.below(60 * Math.max(await timeOf(20_000), 5));
  });
});
