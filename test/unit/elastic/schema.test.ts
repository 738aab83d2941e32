import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { compareSchema, type ExistingIndex } from '../../../src/elastic/drift.ts';
import {
  indexBody,
  sourceSettings,
  INDEX_KINDS,
  type FieldMapping,
  type Properties,
  type SchemaSpace,
} from '../../../src/elastic/mappings.ts';

const spaces: readonly SchemaSpace[] = [
  { name: 'zh', field: 'vec_zh', modelId: 'm-zh', dims: 512, calibration: { offset: 0.2, scale: 0.45 } },
  { name: 'en', field: 'vec_en', modelId: 'm-en', dims: 384, calibration: { offset: 0.64, scale: 0.3 } },
];
const NOW = '2026-03-01T12:00:00.000Z';

/** The index a fresh installation would have; settings come back as strings. */
const fresh = (change: Partial<ExistingIndex> = {}): ExistingIndex => {
  const { mappings } = indexBody('memory', spaces, '0-1');
  return {
    meta: mappings._meta,
    properties: mappings.properties,
    similarity: { lex: { type: 'BM25', k1: '1.2', b: '0.3' } },
    ...change,
  };
};
const without = (properties: Properties, name: string): Properties =>
  Object.fromEntries(Object.entries(properties).filter(([key]) => key !== name));
const compare = (have: ExistingIndex, wanted = spaces) => compareSchema(have, indexBody('memory', wanted, '0-1'), wanted, NOW);

describe('elastic/mappings', () => {
  it('holds every field of a record, as product.md and domain/memory spell them', () => {
    const source = readFileSync('src/domain/memory.ts', 'utf8');
    const body = /export interface MemoryRecord \{([\s\S]*?)\n\}/.exec(source)?.[1] ?? '';
    const fields = [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map((match) => match[1] ?? '');
    expect(fields.length).to.be.greaterThan(60);
    expect(indexBody('memory', spaces, '0-1').mappings.properties).to.include.keys(...fields);
    const later = ['sealed', 'key_id', 'feedback', 'legal_hold', 'doubt', 'triggers', 'counter_examples', 'masked', 'sensitivity'];
    expect(indexBody('memory', spaces, '0-1').mappings.properties).to.include.keys(...later);
  });

  it('is strict everywhere, and no object or nested field opens it again', () => {
    const walk = (mapping: FieldMapping): void => {
      expect(mapping['dynamic'] ?? 'strict').to.equal('strict');
      for (const inner of Object.values(mapping.properties ?? {})) walk(inner);
    };
    for (const kind of INDEX_KINDS) {
      const { mappings } = indexBody(kind, spaces, '0-1');
      expect(mappings.dynamic, kind).to.equal('strict');
      walk(mappings);
    }
  });

  it('keeps vectors in _source: no mapping takes anything out of it', () => {
    for (const kind of INDEX_KINDS) expect(indexBody(kind, spaces, '0-1').mappings).not.to.have.property('_source');
  });

  it('sets one shard, an explicit refresh, purging merges and the replicas asked for on every kind', () => {
    for (const kind of INDEX_KINDS) {
      const { index } = indexBody(kind, spaces, '0-1').settings;
      expect(index, kind).to.deep.include({ number_of_shards: 1, auto_expand_replicas: '0-1' });
      expect(index['refresh_interval'], kind).to.match(/^\d+s$/);
      expect(index['merge']).to.deep.equal({ policy: { expunge_deletes_allowed: 0 } });
      const fixed = indexBody(kind, spaces, 2).settings.index;
      expect(fixed['number_of_replicas']).to.equal(2);
      expect(fixed).not.to.have.property('auto_expand_replicas');
    }
  });

  it('gives every lexical field the service’s own words and a low b', () => {
    const { settings, mappings } = indexBody('memory', spaces, '0-1');
    expect(settings.index['similarity']).to.deep.equal({ lex: { type: 'BM25', k1: 1.2, b: 0.3 } });
    for (const field of ['lex_uni', 'lex_bi', 'lex_word', 'lex_context', 'lex_summary', 'lex_subject']) {
      expect(mappings.properties[field]).to.deep.equal({
        type: 'text',
        analyzer: 'whitespace',
        index_options: 'freqs',
        norms: true,
        similarity: 'lex',
      });
    }
  });

  it('adds one vector field a space to the record and to its passages, in memory and versions only', () => {
    for (const kind of ['memory', 'versions'] as const) {
      const { properties, _meta } = indexBody(kind, spaces, '0-1').mappings;
      for (const where of [properties, properties['passages']?.properties ?? {}]) {
        const vector = { type: 'dense_vector', index: true, similarity: 'cosine', index_options: { type: 'int8_hnsw' } };
        expect(where['vec_zh']).to.deep.equal({ ...vector, dims: 512 });
        expect(where['vec_en']).to.deep.equal({ ...vector, dims: 384 });
      }
      expect(_meta.spaces).to.deep.equal({
        zh: { model_id: 'm-zh', dims: 512, calibration: { offset: 0.2, scale: 0.45 } },
        en: { model_id: 'm-en', dims: 384, calibration: { offset: 0.64, scale: 0.3 } },
      });
    }
    const flat = indexBody('memory', spaces, '0-1', {}, 'flat').mappings.properties;
    for (const where of [flat, flat['passages']?.properties ?? {}])
      expect(where['vec_zh']).to.deep.include({ index_options: { type: 'flat' } });
    expect(indexBody('slots', spaces, '0-1').mappings.properties).not.to.have.property('vec_zh');
    expect(indexBody('memory', [], '0-1').mappings.properties, 'the cached file was changed').not.to.have.property('vec_zh');
  });
});

describe('elastic/drift', () => {
  it('finds nothing to do in an index as this version makes it', () => {
    const drift = compare(fresh());
    expect(drift).to.deep.include({ newer: false, missing: {}, missingNames: [], changed: [], metaDiffers: false });
  });

  it('lists missing fields, deep ones in the nesting that put-mapping wants', () => {
    const { properties } = fresh();
    const have = { ...without(properties, 'doubt'), guard: { properties: without(properties['guard']?.properties ?? {}, 'score') } };
    const passages = { ...properties['passages'], properties: without(properties['passages']?.properties ?? {}, 'vec_en') };
    const drift = compare(fresh({ properties: { ...have, passages } }));
    expect([...drift.missingNames].sort()).to.deep.equal(['doubt', 'guard.score', 'passages.vec_en']);
    expect(drift.missing).to.deep.equal({
      doubt: { type: 'float' },
      guard: { properties: { score: { type: 'float' } } },
      passages: { type: 'nested', properties: { vec_en: properties['vec_en'] } },
    });
    expect(drift.changed).to.deep.equal([]);
    expect(drift.meta.upgrades).to.deep.equal([{ from: 1, to: 1, at: NOW, fields: drift.missingNames }]);
  });

  it('leaves an index alone whose fields are searchable or not otherwise: both answer what is asked', () => {
    const audit = indexBody('audit', [], '0-1');
    const searchable = Object.fromEntries(
      Object.entries(audit.mappings.properties).map(([name, { index: _index, doc_values: _values, ...field }]) => [name, field]),
    );
    expect(searchable).not.to.deep.equal(audit.mappings.properties);
    const have = { meta: audit.mappings._meta, properties: searchable, similarity: {} };
    expect(compareSchema(have, audit, [], NOW)).to.deep.include({ missing: {}, changed: [], metaDiffers: false });
  });

  it('keeps another program’s spaces and fields when it adds its own', () => {
    const other: SchemaSpace = { name: 'openai', field: 'vec_openai', modelId: 'm-o', dims: 8, calibration: { offset: 0, scale: 1 } };
    const drift = compare(fresh(), [other]);
    expect(drift.changed).to.deep.equal([]);
    expect([...drift.missingNames].sort()).to.deep.equal(['passages.vec_openai', 'vec_openai']);
    expect(drift.meta.spaces).to.have.all.keys('zh', 'en', 'openai');
  });

  it('takes a new calibration into _meta without calling it an upgrade', () => {
    const drift = compare(fresh(), [{ ...spaces[0]!, calibration: { offset: 0.3, scale: 0.4 } }, spaces[1]!]);
    expect(drift.metaDiffers).to.equal(true);
    expect(drift.meta.spaces?.['zh']?.calibration).to.deep.equal({ offset: 0.3, scale: 0.4 });
    expect(drift.meta).not.to.have.property('upgrades');
  });

  it('says one clear sentence for a wrong dimension, another model and a changed similarity', () => {
    const wide = compare(fresh(), [{ ...spaces[0]!, dims: 1024, modelId: 'm-wide' }]);
    expect(wide.changed).to.include(
      'vec_zh holds vectors of 512 dimensions and the embedding model m-wide makes 1024: configure the former model again, or reindex: start with another ELASTICSEARCH_INDEX_PREFIX and write the memories again',
    );
    expect(compare(fresh(), [{ ...spaces[1]!, modelId: 'm-en2' }]).changed).to.deep.equal([
      'vec_en was filled by the model m-en and the configured one is m-en2: configure the former again, or reindex: start with another ELASTICSEARCH_INDEX_PREFIX and write the memories again',
    ]);
    const dot = { ...fresh().properties, vec_en: { ...fresh().properties['vec_en'], similarity: 'dot_product' } };
    expect(compare(fresh({ properties: dot })).changed).to.deep.equal([
      'vec_en has similarity dot_product, this version needs cosine: reindex: start with another ELASTICSEARCH_INDEX_PREFIX and write the memories again',
    ]);
    expect(compare(fresh({ similarity: {} })).changed[0]).to.equal(
      'similarity lex has type null, this version needs BM25: reindex: start with another ELASTICSEARCH_INDEX_PREFIX and write the memories again',
    );
  });

  it('knows a newer index, and one that carries no version as older', () => {
    expect(compare(fresh({ meta: { schema_version: 2 } })).newer).to.equal(true);
    const unmarked = compare(fresh({ meta: {} }));
    expect(unmarked.newer).to.equal(false);
    expect(unmarked.meta.upgrades?.[0]).to.include({ from: 0, to: 1 });
  });
});

describe('source settings', () => {
  it('asks Elasticsearch 9.2 and newer to hand vectors back, and tells older ones nothing they would refuse', () => {
    const name = 'mapping.exclude_source_vectors';
    for (const old of ['8.16.0', '8.19.9', '9.0.8', '9.1.10']) expect(sourceSettings(old), old).to.deep.equal({});
    for (const recent of ['9.2.0', '9.10.1', '10.0.0']) expect(sourceSettings(recent), recent).to.deep.equal({ [name]: false });
    expect(indexBody('memory', [], 0, sourceSettings('9.2.0')).settings.index).to.include({ [name]: false });
    expect(indexBody('slots', [], 0, sourceSettings('9.2.0')).settings.index).to.not.have.property(name);
  });
});
