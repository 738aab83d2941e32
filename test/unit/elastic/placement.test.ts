import { expect } from 'chai';
import fc from 'fast-check';
import { globalIndex, placementOf, tenantHash, tenantKindOf, tenantPattern } from '../../../src/elastic/placement.ts';

/** Elasticsearch's rules for index names. */
const INDEX_NAME = /^[a-z0-9][a-z0-9._-]{0,254}$/;

describe('elastic/placement', () => {
  it('names a tenant’s indices by the first 20 hex characters of its hash', () => {
    // echo -n acme | sha256sum
    expect(tenantHash('acme')).to.equal('822b33ad87c148a0a20a');
    const place = placementOf('hs', 'acme');
    expect(place.memory).to.equal('hs-mem-822b33ad87c148a0a20a');
    expect(place.generation(1)).to.equal('hs-mem-822b33ad87c148a0a20a-g1');
    expect([place.versions, place.slots, place.stats, place.recall]).to.deep.equal(
      ['versions', 'slots', 'stats', 'recall'].map((kind) => `hs-mem-822b33ad87c148a0a20a-${kind}`),
    );
    expect(globalIndex('hs', 'namespaces')).to.equal('hs-namespaces');
  });

  it('gives legal names whatever the tenant is called, and different ones to different tenants and prefixes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(placementOf('hs', a).generation(7)).to.match(INDEX_NAME);
        if (a !== b) expect(placementOf('hs', a).memory).not.to.equal(placementOf('hs', b).memory);
        expect(placementOf('x', a).memory).not.to.equal(placementOf('hs', a).memory);
      }),
    );
  });

  it('tells the kind of a concrete index by its name, and nothing of names it never gives', () => {
    const place = placementOf('hs', 'acme');
    expect(tenantKindOf('hs', place.generation(12))).to.equal('memory');
    for (const kind of ['versions', 'slots', 'stats', 'recall'] as const) expect(tenantKindOf('hs', place[kind])).to.equal(kind);
    for (const name of [
      place.memory,
      'hs-namespaces',
      'hs-mem-x-g1',
      `x${place.generation(1)}`,
      `${place.generation(1)}x`,
      placementOf('hs-a', 'acme').generation(1),
    ])
      expect(tenantKindOf('hs', name), name).to.equal(undefined);
  });

  it('has patterns that cover their own kind alone', () => {
    const place = placementOf('hs', 'acme');
    const covers = (pattern: string, name: string): boolean => new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name);
    const names = { memory: place.generation(3), versions: place.versions, slots: place.slots, stats: place.stats, recall: place.recall };
    for (const kind of ['memory', 'versions', 'slots', 'stats', 'recall'] as const)
      for (const other of ['memory', 'versions', 'slots', 'stats', 'recall'] as const)
        expect(covers(tenantPattern('hs', kind), names[other]), `${kind} ${other}`).to.equal(kind === other);
  });
});
