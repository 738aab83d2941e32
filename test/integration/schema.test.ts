import { expect } from 'chai';
import { createClient, engineVersion } from '../../src/elastic/client.ts';
import { GLOBAL_KINDS, indexBody, INDEX_KINDS, type SchemaSpace } from '../../src/elastic/mappings.ts';
import { globalIndex, placementOf, templateName } from '../../src/elastic/placement.ts';
import { installSchema } from '../../src/elastic/schema.ts';
import { HindsightError } from '../../src/errors.ts';
import { memoryRecord } from '../support/records.ts';
import { openStore, randomPrefix, removePrefix, TEST_NOW, TEST_SPACES, type TestStore } from '../support/store.ts';

const clock = (): number => TEST_NOW;

async function failure(promise: Promise<unknown>): Promise<HindsightError> {
  try {
    await promise;
  } catch (error) {
    expect(error).to.be.instanceOf(HindsightError);
    return error as HindsightError;
  }
  throw new Error('expected a failure');
}

/** Plain JSON that a test reads or bends freely. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Loose = any;

describe('elastic/schema on a real engine', function () {
  this.timeout(120_000);
  let store: TestStore;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  const propertiesOf = async (index: string): Promise<Record<string, Loose>> => {
    const answer = await store.client.indices.getMapping({ index });
    return Object.values(answer)[0]?.mappings.properties as Record<string, Loose>;
  };
  const metaOf = async (index: string): Promise<Record<string, Loose>> => {
    const answer = await store.client.indices.getMapping({ index });
    return Object.values(answer)[0]?.mappings._meta as Record<string, Loose>;
  };

  it('tells the engine version without GET /', async () => {
    expect(await engineVersion(store.client)).to.match(/^\d+\.\d+\.\d+$/);
  });

  it('installs a template for each kind and the global indices, with explicit refresh and expunge settings', async () => {
    const { index_templates } = await store.client.indices.getIndexTemplate({ name: `${store.prefix}-*` });
    expect(index_templates.map((t) => t.name).sort()).to.deep.equal(INDEX_KINDS.map((kind) => templateName(store.prefix, kind)).sort());
    for (const kind of ['namespaces', 'idempotency', 'audit', 'rescan', 'keys'] as const) {
      const index = globalIndex(store.prefix, kind);
      const settings = (await store.client.indices.getSettings({ index, flat_settings: true }))[index]?.settings as Record<string, unknown>;
      expect(settings['index.refresh_interval']).to.equal(kind === 'audit' ? '30s' : '1s');
      expect(settings['index.merge.policy.expunge_deletes_allowed']).to.equal('0');
      expect(settings['index.number_of_replicas']).to.equal('0');
    }
  });

  it('does not rely on templates: a tenant index made without them has every field, the sort, the similarity and the alias', async () => {
    await store.client.indices.deleteIndexTemplate({ name: templateName(store.prefix, 'memory') });
    await store.schema.ensureTenant('bare');
    const place = placementOf(store.prefix, 'bare');
    const want = indexBody('memory', TEST_SPACES, '0-1').mappings.properties;
    expect(Object.keys(await propertiesOf(place.memory)).sort()).to.deep.equal(Object.keys(want).sort());
    const settings = (await store.client.indices.getSettings({ index: place.memory, flat_settings: true }))[place.generation(1)]
      ?.settings as Record<string, unknown>;
    expect(settings['index.sort.field']).to.deep.equal(['namespace']);
    expect(settings['index.similarity.lex.b']).to.equal('0.3');
    const aliases = await store.client.indices.getAlias({ index: place.generation(1) });
    expect(aliases[place.generation(1)]?.aliases).to.have.property(place.memory);
  });

  it('refuses a field that the mapping does not know, at the top, in objects and in passages', async () => {
    await store.schema.ensureTenant('strict');
    const { memory } = placementOf(store.prefix, 'strict');
    const refusals = [
      { ...memoryRecord({ tenant: 'strict' }), surprise: 1 },
      { ...memoryRecord({ tenant: 'strict' }), created_by: { sub: 's', actor: 'user', surprise: 1 } },
      { ...memoryRecord({ tenant: 'strict' }), passages: [{ start: 0, end: 1, text: 'a', surprise: 1 }] },
    ];
    for (const document of refusals) {
      const answer = await store.client.index({ index: memory, document }, { ignore: [400] });
      expect(answer).to.have.nested.property('error.type', 'strict_dynamic_mapping_exception');
    }
  });

  it('creates one index when many callers and two processes make the same tenant at once', async () => {
    const other = await installSchema(store.client, { prefix: store.prefix, spaces: TEST_SPACES, clock });
    await Promise.all([store.schema, other].flatMap((schema) => Array.from({ length: 8 }, () => schema.ensureTenant('rush'))));
    const { memory, generation } = placementOf(store.prefix, 'rush');
    expect(Object.keys(await store.client.indices.get({ index: `${memory}-g*` }))).to.deep.equal([generation(1)]);
  });

  it('lets several processes install at the same time and again', async () => {
    const prefix = randomPrefix();
    try {
      await Promise.all(Array.from({ length: 3 }, () => installSchema(store.client, { prefix, spaces: TEST_SPACES, clock })));
      await installSchema(store.client, { prefix, spaces: TEST_SPACES, clock });
      expect(Object.keys(await store.client.indices.get({ index: `${prefix}-*` }))).to.have.length(GLOBAL_KINDS.length);
    } finally {
      await removePrefix(store.client, prefix);
    }
  });

  it('finds nested passages by knn in an index sorted by namespace, after updates, merges and with the filter inside', async () => {
    await store.schema.ensureTenant('sorted');
    const { memory } = placementOf(store.prefix, 'sorted');
    const vectors = [
      [1, 0, 0, 0],
      [0, 1, 0, 0],
      [0, 0, 1, 0],
    ];
    const operations = ['user.zoe', 'user.ann', 'user.mia', 'user.ann'].flatMap((namespace, i) => [
      { create: { _id: `d${i}` } },
      {
        ...memoryRecord({ tenant: 'sorted', namespace }),
        passages: vectors.map((v, p) => ({ start: p, end: p + 1, text: `passage ${p} of ${i}`, vec_zh: [...v.slice(0, 3), (i + 1) / 10] })),
      },
    ]);
    expect((await store.client.bulk({ index: memory, operations, refresh: true })).errors).to.equal(false);
    await store.client.update({ index: memory, id: 'd1', doc: { importance: 0.5 }, refresh: true });
    await store.client.indices.forcemerge({ index: memory, max_num_segments: 1 });
    const answer = await store.client.search({
      index: memory,
      query: {
        nested: {
          path: 'passages',
          query: {
            knn: {
              field: 'passages.vec_zh',
              query_vector: [0, 1, 0, 0.4],
              k: 10,
              num_candidates: 10,
              filter: [{ term: { namespace: 'user.ann' } }],
            },
          },
          inner_hits: { size: 1, _source: ['passages.text'] },
        },
      },
    });
    expect(answer.hits.hits.map((hit) => hit._id)).to.deep.equal(['d3', 'd1']);
    expect(answer.hits.hits[0]?.inner_hits?.['passages']?.hits.hits[0]?._source).to.deep.equal({ text: 'passage 1 of 3' });
    const all = await store.client.search({ index: memory, sort: ['_doc'], _source: ['namespace'] });
    expect(all.hits.hits.map((hit) => (hit._source as { namespace: string }).namespace)).to.deep.equal([
      'user.ann',
      'user.ann',
      'user.mia',
      'user.zoe',
    ]);
  });

  /** The template would complete an index that a test makes incomplete. */
  const withoutTemplate = (): Promise<unknown> => store.client.indices.deleteIndexTemplate({ name: templateName(store.prefix, 'memory') });

  it('upgrades an older index by adding fields and records that in _meta', async () => {
    await withoutTemplate();
    const { generation, memory } = placementOf(store.prefix, 'old');
    const body = indexBody('memory', [TEST_SPACES[0]!], '0-1');
    const properties: Record<string, unknown> = { ...body.mappings.properties };
    delete properties['doubt'];
    properties['guard'] = { properties: { verdict: { type: 'keyword' } } };
    await store.client.indices.create({
      index: generation(1),
      aliases: { [memory]: {} },
      settings: body.settings,
      mappings: { dynamic: 'strict', properties: properties as Loose, _meta: { ...body.mappings._meta, schema_version: 0 } },
    });
    await installSchema(store.client, { prefix: store.prefix, spaces: TEST_SPACES, clock });
    const after = await propertiesOf(memory);
    expect(after['doubt']).to.deep.equal({ type: 'float' });
    expect(after['guard'].properties).to.have.all.keys('verdict', 'rule_ids', 'policy_revision', 'score', 'confirmed_by', 'confirmed_for');
    expect(after['vec_en']).to.include({ type: 'dense_vector', dims: 3, similarity: 'cosine' });
    expect(after['passages'].properties['vec_en']).to.include({ dims: 3 });
    const meta = await metaOf(memory);
    expect(meta['schema_version']).to.equal(1);
    expect(meta['spaces']).to.have.all.keys('zh', 'en');
    expect(meta['spaces'].en).to.deep.equal({ model_id: 'test-en', dims: 3, calibration: { offset: 0, scale: 1 } });
    expect(meta['upgrades']).to.have.length(1);
    expect(meta['upgrades'][0]).to.include({ from: 0, to: 1, at: '2026-03-01T12:00:00.000Z' });
    expect(meta['upgrades'][0].fields).to.include.members(['doubt', 'guard.rule_ids', 'vec_en', 'passages.vec_en']);
    await installSchema(store.client, { prefix: store.prefix, spaces: TEST_SPACES, clock });
    expect(await metaOf(memory), 'a second start changed the index again').to.deep.equal(meta);
  });

  it('upgrades at the first write of a process that started before the index was made by an older one', async () => {
    await withoutTemplate();
    const { generation, memory } = placementOf(store.prefix, 'late');
    const body = indexBody('memory', [], '0-1');
    await store.client.indices.create({
      index: generation(1),
      aliases: { [memory]: {} },
      settings: body.settings,
      mappings: body.mappings as Loose,
    });
    await store.schema.ensureTenant('late');
    expect(await propertiesOf(memory)).to.include.keys('vec_zh', 'vec_en');
  });

  it('takes the spaces of a later start into existing and new tenants alike', async () => {
    const prefix = randomPrefix();
    try {
      const before = await installSchema(store.client, { prefix, spaces: [], clock });
      await before.ensureTenant('early');
      const after = await installSchema(store.client, { prefix, spaces: TEST_SPACES, clock });
      await after.ensureTenant('after');
      for (const tenant of ['early', 'after']) {
        expect(await propertiesOf(placementOf(prefix, tenant).memory), tenant).to.include.keys('vec_zh', 'vec_en');
      }
    } finally {
      await removePrefix(store.client, prefix);
    }
  });

  it('tries a tenant again after a failure instead of keeping it', async () => {
    const prefix = randomPrefix();
    let broken = false;
    const away = createClient({ url: 'http://127.0.0.1:1' });
    const flaky = new Proxy(store.client, { get: (target, key) => Reflect.get(broken ? away : target, key) as unknown });
    try {
      const schema = await installSchema(flaky, { prefix, spaces: TEST_SPACES, clock });
      broken = true;
      expect((await failure(schema.ensureTenant('acme'))).code).to.equal('ERR_STORE_UNAVAILABLE');
      broken = false;
      await schema.ensureTenant('acme');
      expect(await store.client.indices.exists({ index: placementOf(prefix, 'acme').memory })).to.equal(true);
    } finally {
      await removePrefix(store.client, prefix);
      await away.close();
    }
  });

  describe('refuses to start', () => {
    const refuses = async (spaces: readonly SchemaSpace[], change: (body: Loose) => void): Promise<HindsightError> => {
      const prefix = randomPrefix();
      const body = structuredClone(indexBody('memory', TEST_SPACES, '0-1')) as Loose;
      change(body);
      const { generation, memory } = placementOf(prefix, 'acme');
      await store.client.indices.create({ index: generation(1), aliases: { [memory]: {} }, ...body });
      try {
        return await failure(installSchema(store.client, { prefix, spaces, clock }));
      } finally {
        await removePrefix(store.client, prefix);
      }
    };
    const nothing = (): void => undefined;

    it('with another dimension, in one sentence that names field, dims, model and reindex', async () => {
      const spaces = [{ ...TEST_SPACES[0]!, modelId: 'wide-model', dims: 8 }];
      const error = await refuses(spaces, nothing);
      expect(error.code).to.equal('ERR_SCHEMA_DRIFT');
      expect(error.message).to.match(
        /^The index t\w+-mem-\w+-g1 does not fit this version: (passages\.)?vec_zh holds vectors of 4 dimensions and the embedding model wide-model makes 8: configure the former model again, or reindex: start with another ELASTICSEARCH_INDEX_PREFIX and write the memories again/,
      );
    });

    it('with another model of the same dimension in the same space', async () => {
      const error = await refuses([{ ...TEST_SPACES[0]!, modelId: 'other' }], nothing);
      expect(error.message).to.include('vec_zh was filled by the model test-zh and the configured one is other');
      expect(error.message).to.include('reindex: start with another ELASTICSEARCH_INDEX_PREFIX');
    });

    it('with a changed type, analyzer, index option or similarity, naming the field', async () => {
      const cases: [string, (body: Loose) => void][] = [
        ['field topic has the type text, this version needs keyword', (b) => (b.mappings.properties.topic = { type: 'text' })],
        ['field lex_bi has analyzer default, this version needs whitespace', (b) => delete b.mappings.properties.lex_bi.analyzer],
        ['field lex_uni has index_options positions, this version needs freqs', (b) => delete b.mappings.properties.lex_uni.index_options],
        ['field lex_word has similarity BM25, this version needs lex', (b) => delete b.mappings.properties.lex_word.similarity],
        ['similarity lex has b 0.75, this version needs 0.3', (b) => (b.settings.index.similarity.lex.b = 0.75)],
      ];
      for (const [sentence, change] of cases) {
        const error = await refuses(TEST_SPACES, change);
        expect(error.message).to.include(sentence);
        expect(error.message).to.include('reindex: start with another ELASTICSEARCH_INDEX_PREFIX');
      }
    });

    it('with an index or a template of a newer program, and leaves both alone', async () => {
      const error = await refuses(TEST_SPACES, (b) => (b.mappings._meta.schema_version = 99));
      expect(error.message).to.include('made by a newer program (schema 99, this one knows 1)');

      const prefix = randomPrefix();
      const name = templateName(prefix, 'memory');
      await store.client.indices.putIndexTemplate({ name, index_patterns: [`${prefix}-x`], _meta: { schema_version: 99 } });
      try {
        const refused = await failure(installSchema(store.client, { prefix, spaces: TEST_SPACES, clock }));
        expect(refused.code).to.equal('ERR_SCHEMA_DRIFT');
        const { index_templates } = await store.client.indices.getIndexTemplate({ name });
        expect(index_templates[0]?.index_template.index_patterns).to.deep.equal([`${prefix}-x`]);
      } finally {
        await removePrefix(store.client, prefix);
      }
    });
  });
});
