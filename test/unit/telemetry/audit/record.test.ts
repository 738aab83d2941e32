import { expect } from 'chai';
import fc from 'fast-check';
import { canonical, genesisOf, hashOf, spell } from '../../../../src/telemetry/audit/record.ts';

const json = fc.jsonValue({ maxDepth: 3 });

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

describe('telemetry/audit/record', () => {
  it('spells equal values alike, whatever the order of their members, and loses nothing', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonical(value);
        expect(canonical(turned(value))).to.equal(text);
        expect(JSON.parse(text)).to.deep.equal(JSON.parse(JSON.stringify(value)));
      }),
    );
    expect(canonical({ b: 1, a: { d: undefined, c: ['ü', 'a"b'] }, B: null })).to.equal('{"B":null,"a":{"c":["ü","a\\"b"]},"b":1}');
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
