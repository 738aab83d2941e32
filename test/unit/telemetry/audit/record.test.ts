import { expect } from 'chai';
import fc from 'fast-check';
import { genesisOf, hashOf, spell } from '../../../../src/telemetry/audit/record.ts';

const json = fc.jsonValue({ maxDepth: 3 });

describe('telemetry/audit/record', () => {
  it('gives a record the hash that it has in logs there are', () => {
    const record = { seq: 2, chain: 'p1-a', tenant: 'a', heads: [{ seq: 1, hash: 'x' }], detail: { n: [1, 2.5, -1e-7] }, count: undefined };
    expect(hashOf({ ...record, hash: 'h', signature: 's' })).to.equal('0e743b7830c2f84e787437b849d24d7cc13ab3e2784fca29939e39e609bf2497');
  });

  it('hashes what it spells: whoever reads the line back finds the hash in it', () => {
    const facts = fc.record({
      record_type: fc.constant('operation' as const),
      tenant: fc.string(),
      memory_ids: fc.option(fc.array(fc.string()), { nil: undefined }),
      count: fc.option(fc.nat(), { nil: undefined }),
      detail: fc.option(fc.dictionary(fc.string(), json), { nil: undefined }),
    });
    fc.assert(
      fc.property(facts, (given) => {
        const link = { chain: 'c', seq: 1, prevHash: genesisOf('c'), at: '2026-05-03T03:09:37.000Z', policyRevision: 'r1' };
        for (const sign of [undefined, (hash: string) => `signed ${hash.slice(0, 4)}`]) {
          const { line, hash } = spell(given, link, sign);
          const read = JSON.parse(line) as Record<string, unknown>;
          expect([read['hash'], hashOf(read)]).to.deep.equal([hash, hash]);
          expect(read['signature']).to.equal(sign?.(hash));
        }
      }),
    );
  });
});
