import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalJson } from '../../../src/domain/canonical-json.ts';

/** The same value with its members in another order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, part]) => [key, turned(part)]),
  );
}

describe('domain/canonical-json', () => {
  it('spells equal values alike, whatever the order of their members, and loses nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        fc.pre(!JSON.stringify(value).includes('"__proto__"'));
        const text = canonicalJson(value);
        expect(canonicalJson(turned(value))).to.equal(text);
        expect(JSON.parse(text)).to.deep.equal(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 300 },
    );
  });

  it('leaves out undefined members, has null for undefined in a list, and sorts by code units', () => {
    expect(canonicalJson({ b: [1, undefined, { d: undefined, c: [0.5, -1e-7] }], a: undefined })).to.equal(
      '{"b":[1,null,{"c":[0.5,-1e-7]}]}',
    );
    expect(canonicalJson({ b: 1, a: { d: undefined, c: ['ü', 'a"b'] }, B: null })).to.equal('{"B":null,"a":{"c":["ü","a\\"b"]},"b":1}');
  });
});
