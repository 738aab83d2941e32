import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalJson, canonicalJsonOfItems } from '../../../src/memory/canonical.ts';

const turned = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, part]) => [key, turned(part)]),
  );
};

describe('memory/canonical', () => {
  it('spells equal values alike, whatever the order of their keys, and loses nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        fc.pre(!JSON.stringify(value).includes('"__proto__"'));
        expect(canonicalJson(turned(value))).to.equal(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).to.deep.equal(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 300 },
    );
    expect(canonicalJson({ b: [1, undefined, { d: undefined, c: [0.5, -1e-7] }], a: undefined })).to.equal(
      '{"b":[1,null,{"c":[0.5,-1e-7]}]}',
    );
  });

  it('spells a batch in pieces as it does at once', async () => {
    const items = fc.array(fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constant('"items":"\0items\0"')), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(items, fc.boolean(), async (list, wait) => {
        const input = { wait, items: list };
        expect(await canonicalJsonOfItems(input)).to.equal(canonicalJson(input));
      }),
      { numRuns: 100 },
    );
    expect(await canonicalJsonOfItems(Object.assign({ content: 'x' }, { items: undefined }))).to.equal('{"content":"x"}');
  });
});
