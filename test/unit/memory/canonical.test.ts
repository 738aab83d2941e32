import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalJson } from '../../../src/domain/canonical-json.ts';
import { canonicalJsonOfItems } from '../../../src/memory/canonical.ts';

describe('memory/canonical', () => {
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
