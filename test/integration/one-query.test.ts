/** The one hybrid query on a real engine: every body is accepted, its parts add up to `_score`, and small namespaces are found. */
import { randomBytes } from 'node:crypto';
import type { Client } from '@elastic/elasticsearch';
import { expect } from 'chai';
import type { HitRecord, IndexHit, SearchPage, SearchSpec } from '../../src/domain/ranking.ts';
import { createClient } from '../../src/elastic/client.ts';
import { indexBody } from '../../src/elastic/mappings.ts';
import { standingFor } from '../../src/guard/confirmation.ts';
import { buildSearchBody } from '../../src/elastic/query-builder.ts';
import { rankContext } from '../../src/ranking/context.ts';
import { evidenceOf } from '../../src/ranking/evidence.ts';
import { fuse } from '../../src/ranking/fuse.ts';
import { analyze } from '../../src/text/analyze.ts';
import { codes } from '../../src/text/codes.ts';
import { exactItems } from '../../src/text/exact.ts';
import { language } from '../../src/text/script.ts';
import { acquireEngine } from '../support/engine.ts';
import { READER, ASKED_AT_MS, ASSISTANT, SPECS, en, scopeOf, specOf, zh } from '../support/search-specs.ts';

const DAY_MS = 86_400_000;
const TOLERANCE = 1e-3;
/** int8 rounds, and cuts off the outermost values. */
const INT8_COSINE_SLACK = 0.05;
const INT8_DIMS = 64;
/** Records of the large namespace in which small ones must not be lost (architecture.md). */
const CROWD = 100_000;
const BATCH = 2_000;

type Doc = Record<string, unknown> & { readonly memory_id: string; readonly event_at: string };
type Vector = number[];

/** Small generator with a fixed seed (mulberry32), so that a failure can be seen again. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const unit = (next: () => number): Vector => {
  const raw = Array.from({ length: 4 }, () => next() * 2 - 1);
  const length = Math.hypot(...raw);
  return raw.map((x) => x / length);
};
const cosine = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0) / (Math.hypot(...a) * Math.hypot(...b));
/** The vector at this cosine to the axis. */
const at = (axis: number, cos: number): Vector => {
  const vector = [0, 0, 0, 0];
  vector[axis] = cos;
  vector[(axis + 2) % 4] = Math.sqrt(1 - cos * cos);
  return vector;
};

/**
 * The same vector turned into 64 dimensions (by four rows of a Hadamard matrix, so that all cosines stay): int8 keeps the middle
 * 1 - 1 / (dims + 1) of all values, which of four dimensions is too little.
 */
const lift = (vector: readonly number[]): Vector =>
  Array.from({ length: INT8_DIMS }, (_, j) => {
    const sign = (row: number): number => ([1, 2, 4, 8, 16, 32].filter((bit) => row & j & bit).length % 2 === 0 ? 1 : -1);
    return vector.reduce((sum, x, i) => sum + x * sign([21, 38, 43, 60][i] ?? 0), 0) / Math.sqrt(INT8_DIMS);
  });
const lifted = <T>(node: T): T =>
  JSON.parse(
    JSON.stringify(node, (key, value: unknown) => (/^vec_|^vector$/.test(key) ? lift(Object.values(value as object) as Vector) : value)),
  ) as T;

const TEXTS = [
  'Caroline likes green tea in the morning',
  'Order A-8841 was shipped to Caroline',
  'She bought a red kettle and tea cups',
  'The latest order is late again',
  'How to brew green tea: water at 80 degrees',
  '小明喜欢喝龙井绿茶',
  '上个月买了两包红茶',
  '说明书里写着怎么泡绿茶',
  '订单 A-8841 已经发货',
  '我用 MacBook 写说明书',
];

function docOf(id: string, namespace: string, content: string, over: Record<string, unknown> = {}): Doc {
  const tokens = analyze(content);
  const time = new Date(ASKED_AT_MS - 3 * DAY_MS).toISOString();
  return {
    doc_type: 'memory',
    memory_id: id,
    tenant: 'acme',
    namespace,
    generation: 1,
    owner: 'o',
    created_by: { sub: 'ann', actor: 'user' },
    visibility: 'shared',
    layer: 'semantic',
    content,
    language: language(content),
    lex_uni: tokens.uni.join(' '),
    lex_bi: tokens.bi.join(' '),
    lex_word: tokens.word.join(' '),
    lex_context: tokens.uni.join(' '),
    codes: codes(content),
    created_at: time,
    updated_at: time,
    valid_from: time,
    event_at: time,
    trust_tier: 3,
    origin: [{ type: 'user', principal: 'o', ts: time }],
    guard: { verdict: 'allow', rule_ids: [], policy_revision: '1' },
    status: 'active',
    version: 1,
    fingerprint: id,
    ...over,
  };
}

function corpus(): Doc[] {
  const next = random(20_240_505);
  const pick = <T>(...values: T[]): T => values[Math.floor(next() * values.length)] as T;
  const maybe = (share: number, fields: Record<string, unknown>): Record<string, unknown> => (next() < share ? fields : {});
  return Array.from({ length: 220 }, (_, i) => {
    const content = `${TEXTS[i % TEXTS.length]} ${i}`;
    const latin = /[A-Za-z]{2}/.test(content);
    const vectors =
      next() < 0.15 ? { spaces_due: latin ? ['zh', 'en'] : ['zh'] } : { vec_zh: unit(next), ...(latin ? { vec_en: unit(next) } : {}) };
    const passages = [0, 1, 2].map((n) => ({
      start: n,
      end: n + 1,
      text: `passage ${n} of ${i}`,
      vec_zh: unit(next),
      ...(latin ? { vec_en: unit(next) } : {}),
    }));
    const event = new Date(ASKED_AT_MS - Math.floor(next() * 90 * DAY_MS) + 5 * DAY_MS).toISOString();
    return docOf(`m${i}`, pick('user.ann', 'user.bob'), content, {
      ...vectors,
      ...maybe(0.2, { passages }),
      ...maybe(0.5, { importance: next() }),
      ...maybe(0.5, { confidence: next() }),
      ...maybe(0.5, { access_level: Math.floor(next() * 12) }),
      ...maybe(0.3, { subject: 'Caroline', lex_subject: 'carolin' }),
      ...maybe(0.3, { subject: '小明', lex_subject: '小 明 小明' }),
      ...maybe(0.3, { summary: '绿茶 green tea', lex_summary: '绿 茶 绿茶 green tea' }),
      ...maybe(0.2, { task_id: 'ticket-7', task_type: 'shipping' }),
      ...maybe(0.2, { task_type: 'shipping' }),
      ...maybe(0.3, { kind: 'preference' }),
      event_at: event,
      trust_tier: Math.floor(next() * 6),
    });
  });
}

const SPACES = [
  { name: 'zh', field: 'vec_zh', modelId: 'test', dims: 4, calibration: { offset: 0.2, scale: 0.45 } },
  { name: 'en', field: 'vec_en', modelId: 'test', dims: 4, calibration: { offset: 0.64, scale: 0.3 } },
];

/** The product's own mapping, int8 vectors and all, for the vectors that `lift` makes. */
const wideBody = (): ReturnType<typeof indexBody> =>
  indexBody(
    'memory',
    SPACES.map((space) => ({ ...space, dims: INT8_DIMS })),
    0,
  );

/** The share of what a specification wants to the letter that a document's own tokens hold. */
function heldShare(doc: Doc, { query, profile }: SearchSpec): number {
  // no name is rare in an index of this size
  const items = (profile.weights['exact'] ?? 0) > 0 ? exactItems(query).filter(({ kind }) => kind !== 'name') : [];
  const tokens = (field: string): string[] => String(doc[field]).split(' ');
  const held = items.filter((item) =>
    item.kind === 'code'
      ? (doc['codes'] as string[]).includes(item.code)
      : item.uni.every((term) => tokens('lex_uni').includes(term)) && item.bi.every((term) => tokens('lex_bi').includes(term)),
  );
  return held.length / Math.max(1, items.length);
}

/** What a hit's `_score` should be, worked out from the document and the specification alone, but for the BM25 part. */
function expectedScore(doc: Doc, spec: SearchSpec, hit: IndexHit): { total: number; cosines: (number | undefined)[]; vector: number } {
  const number = (field: string, missing: number): number => (doc[field] as number | undefined) ?? missing;
  const weight = (name: string): number => (spec.profile.weights[name] ?? 0) * (spec.profile.boosts['unit'] ?? 0);
  const recency =
    spec === SPECS.latest ? (spec.profile.boosts['recency_asked'] ?? 0) * (spec.profile.boosts['unit'] ?? 0) : weight('recency');
  const days = Math.abs(ASKED_AT_MS - Date.parse(doc.event_at)) / DAY_MS;
  let functions =
    recency * Math.exp((Math.log(0.5) * days) / spec.profile.halfLifeDays) +
    weight('importance') * number('importance', 0.5) +
    weight('confidence') * number('confidence', 0.5) +
    (weight('access') * number('access_level', 0)) / 10 +
    (weight('trust') * number('trust_tier', 0)) / 5;
  if (spec.taskId !== undefined && doc['task_id'] === spec.taskId) functions += weight('task');
  else if (spec.taskType !== undefined && doc['task_type'] === spec.taskType) functions += weight('task') / 2;
  if (spec === SPECS.onlyTask) functions += 1;

  const [first, second] = (spec.profile.weights['vector'] ?? 0) > 0 ? spec.vectors : [];
  const boost = spec === SPECS.short ? 10 : (first?.boost ?? 0);
  const own =
    first === undefined || doc[first.field] === undefined ? undefined : cosine(first.vector as Vector, doc[first.field] as Vector);
  const passages = (doc['passages'] ?? []) as Record<string, Vector>[];
  const passageCosines =
    first === undefined || !spec.passages
      ? []
      : passages.flatMap((p) => (p[first.field] ? [cosine(first.vector as Vector, p[first.field] as Vector)] : []));
  const passage = passageCosines.length > 0 ? Math.max(...passageCosines) : undefined;
  const judged = second !== undefined && doc[second.field] !== undefined && !(doc['language'] === 'en' && own !== undefined);
  const other = judged ? cosine(second.vector as Vector, doc[second.field] as Vector) : undefined;
  const parts = [own, passage].map((cos) => (cos === undefined ? 0 : (boost * (1 + cos)) / 2));
  if (other !== undefined) parts.push(399 + (633.3333 * (1 + other)) / 2);
  const held = heldShare(doc, spec);
  if (first !== undefined && held > 0) parts.push((boost * (1 + first.calibration.offset + 0.7 * first.calibration.scale)) / 2);
  const vector = Math.max(...parts, hit.named['due'] ?? 0);
  const named = (hit.named['lex'] ?? 0) + (hit.named['spk'] ?? 0) + (hit.named['date'] ?? 0);
  return { total: named + 120 * held + functions + vector, cosines: [own, passage, other], vector };
}

describe('the one hybrid query on a real engine', function () {
  this.timeout(480_000);
  const prefix = `oq${randomBytes(5).toString('hex')}`;
  const exact = `${prefix}-exact`;
  const product = `${prefix}-int8`;
  const docs = corpus();
  const byId = new Map(docs.map((doc) => [doc.memory_id, doc]));
  let client: Client;
  let release: () => Promise<void>;

  const load = (index: string, items: readonly Doc[]): Promise<void> =>
    client
      .bulk({
        operations: items.flatMap((doc) => [{ index: { _index: index, _id: doc.memory_id } }, index === product ? lifted(doc) : doc]),
        refresh: true,
      })
      .then(({ errors, items: results }) => {
        expect(errors, JSON.stringify(results.find((r) => r.index?.error))).to.equal(false);
      });

  async function search(index: string, spec: SearchSpec, namespaces: readonly string[]): Promise<SearchPage> {
    const answer = await client.search<HitRecord>({
      index,
      ...buildSearchBody(index === product ? { ...spec, vectors: lifted(spec.vectors) } : spec, scopeOf(namespaces), READER),
    });
    return {
      tookMs: answer.took,
      hits: answer.hits.hits.map((hit) => {
        const passage = hit.inner_hits?.['passage']?.hits.hits[0]?._source as { text: string } | undefined;
        return {
          record: hit._source as HitRecord,
          score: hit._score ?? 0,
          named: (hit.matched_queries ?? {}) as unknown as Record<string, number>,
          ...(passage === undefined ? {} : { passage: passage.text }),
        };
      }),
    };
  }

  before(async () => {
    const engine = await acquireEngine();
    release = () => engine.release();
    client = createClient({ url: engine.url });
    const body = indexBody('memory', SPACES, 0);
    // Vectors as floats: an independently computed cosine can be compared to the last digit.
    const float = structuredClone(body) as unknown as {
      mappings: { properties: Record<string, { properties?: Record<string, unknown> } & Record<string, unknown>> };
    };
    for (const { field } of SPACES) {
      const mapping = { type: 'dense_vector', dims: 4, index: true, similarity: 'cosine', index_options: { type: 'hnsw' } };
      float.mappings.properties[field] = mapping;
      Object.assign(float.mappings.properties['passages']?.properties ?? {}, { [field]: mapping });
    }
    await client.indices.create({ index: exact, ...(float as object) });
    await client.indices.create({ index: product, ...(wideBody() as object) });
    await load(exact, docs);
    await load(product, docs);
  });

  after(async () => {
    await client.indices.delete({ index: `${exact},${product},${prefix}-crowd`, ignore_unavailable: true });
    await client.close();
    await release();
  });

  for (const [name, spec] of Object.entries(SPECS)) {
    it(`accepts the query "${name}", and its parts add up to _score for every hit`, async () => {
      const page = await search(exact, { ...spec, explain: true }, ['user.ann', 'user.bob']);
      if (name === 'wordless') expect(page.hits).to.have.length(0);
      else expect(page.hits.length).to.be.greaterThan(3);
      const context = rankContext(spec);
      for (const hit of page.hits) {
        const doc = byId.get(hit.record.memory_id) as Doc;
        const { total, cosines, vector } = expectedScore(doc, spec, hit);
        expect(hit.score, `_score of ${doc.memory_id}`).to.be.closeTo(total, TOLERANCE);
        const evidence = evidenceOf(hit, context);
        const [own, passage, other] = cosines;
        const ownIsBest =
          own !== undefined && context.similarity !== undefined && (context.similarity.primary.boost * (1 + own)) / 2 > vector - TOLERANCE;
        if (ownIsBest) expect(evidence.cosine, `cosine of ${doc.memory_id}`).to.be.closeTo(own, name === 'short' ? 1e-3 : 1e-4);
        else expect(evidence.cosine).to.equal(null);
        if (passage !== undefined) expect(evidence.passageCosine).to.be.closeTo(passage, 1e-4);
        if (passage !== undefined) expect(hit.passage).to.match(/^passage \d of \d+$/);
        if (other !== undefined) expect(evidence.otherCosine).to.be.closeTo(other, 1e-4);
      }
    });
  }

  it('gives the same hits, scores and order where the second space is not named, and its cosines to records that it alone serves', async () => {
    let alone = 0;
    for (const spec of Object.values(SPECS).filter(({ vectors }) => vectors.length > 1)) {
      const [lean, apart] = [
        await search(exact, spec, ['user.ann', 'user.bob']),
        await search(exact, { ...spec, explain: true }, ['user.ann', 'user.bob']),
      ];
      const context = rankContext(spec);
      const cosines = new Map(apart.hits.map((hit) => [hit.record.memory_id, evidenceOf(hit, context).otherCosine]));
      for (const hit of lean.hits) {
        expect(Object.keys(hit.named)).to.not.include('knn_zh');
        if (hit.named['other_alone'] === undefined || evidenceOf(hit, context).otherCosine === null) continue;
        expect(evidenceOf(hit, context).otherCosine).to.be.closeTo(cosines.get(hit.record.memory_id) ?? NaN, 1e-5);
        alone += 1;
      }
      const [ranked, told] = [fuse(lean, spec), fuse(apart, spec)];
      expect(ranked.map(({ record }) => record.memory_id)).to.deep.equal(told.map(({ record }) => record.memory_id));
      for (const [i, { score }] of ranked.entries()) expect(score).to.be.closeTo(told[i]?.score ?? NaN, 1e-5);
    }
    expect(alone).to.be.greaterThan(5);
  });

  it('runs them all on the product’s int8 vectors too, with cosines as near as int8 allows', async () => {
    for (const spec of Object.values(SPECS)) {
      const page = await search(product, spec, ['user.ann', 'user.bob']);
      const boost = spec === SPECS.short ? 10 : (spec.vectors[0]?.boost ?? 0);
      for (const hit of page.hits) {
        const doc = byId.get(hit.record.memory_id) as Doc;
        expect(hit.score).to.be.closeTo(expectedScore(doc, spec, hit).total, TOLERANCE + (boost * INT8_COSINE_SLACK) / 2);
      }
    }
  });

  it('scores no record of another namespace and none outside the caller’s filter', async () => {
    const page = await search(exact, SPECS.filtered, ['user.ann']);
    expect(page.hits.length).to.be.greaterThan(0);
    for (const { record } of page.hits) {
      expect(record.namespace).to.equal('user.ann');
      expect(record.kind).to.equal('preference');
      expect(standingFor(record, READER).tier).to.equal(3);
    }
  });

  it('finds the three records of a small namespace among thousands of nearer neighbours, in the order of exact cosines', async () => {
    const next = random(7);
    const crowd = Array.from({ length: 2_000 }, (_, i) =>
      docOf(`c${i}`, 'user.crowd', `crowd ${i}`, { vec_en: at(1, 0.999 - next() * 0.001) }),
    );
    const few = [0, 1, 2].map((i) => docOf(`f${i}`, 'user.few', `few ${i}`, { vec_en: at(1, -0.5 - i / 10) }));
    await load(exact, [...crowd.slice(0, 1_000), ...few, ...crowd.slice(1_000)]);
    const page = await search(exact, specOf({ query: 'unrelated', vectors: [en()] }), ['user.few']);
    expect(page.hits.map(({ record }) => record.memory_id)).to.deep.equal(['f0', 'f1', 'f2']);
  });

  it('finds the three records of every small namespace among 100,000 nearer neighbours of another one', async () => {
    const next = random(11);
    const index = `${prefix}-crowd`;
    await client.indices.create({ index, ...(wideBody() as object), settings: { ...wideBody().settings, refresh_interval: '-1' } });
    // the crowd lies around the query's vector, the few on the other side of it or across, each namespace elsewhere in the load
    const around = (low: number, high: number): Vector => {
      const cos = low + next() * (high - low);
      const [x = 0, y = 0, z = 0] = unit(next);
      const rest = Math.sqrt(1 - cos * cos) / Math.hypot(x, y, z);
      return [x * rest, cos, y * rest, z * rest];
    };
    const lines: string[] = [];
    const shape = { ...docOf('', '', 'crowd'), content: 'crowd', lex_uni: 'crowd', lex_bi: '', lex_word: '', lex_context: '' };
    const add = (id: string, namespace: string, vector: Vector): void => {
      const line = JSON.stringify({ ...shape, memory_id: id, fingerprint: id, namespace, vec_en: lift(vector).map((x) => +x.toFixed(4)) });
      lines.push(`{"index":{"_id":"${id}"}}\n${line}`);
    };
    const SMALL = 8;
    for (let i = 0; i < CROWD; i += 1) {
      add(`c${i}`, 'user.crowd', around(0.3, 0.999));
      const [group, offset] = [Math.floor((i * SMALL) / CROWD), i % (CROWD / SMALL)];
      if (offset % 4_000 === 17 && offset < 12_000) add(`f${group}-${offset}`, `user.few${group}`, around(-0.99, 0.1));
    }
    const startedAt = performance.now();
    for (let from = 0; from < lines.length; from += BATCH) {
      const { errors } = await client.bulk({ index, operations: lines.slice(from, from + BATCH) }, { requestTimeout: 120_000 });
      expect(errors).to.equal(false);
    }
    await client.indices.refresh({ index }, { requestTimeout: 120_000 });
    const loadSeconds = (performance.now() - startedAt) / 1_000;
    expect((await client.count({ index })).count).to.equal(CROWD + 3 * SMALL);
    const spec = specOf({ query: 'unrelated', vectors: lifted([en()]) });
    for (let group = 0; group < SMALL; group += 1) {
      const answer = await client.search<HitRecord>({ index, ...buildSearchBody(spec, scopeOf([`user.few${group}`]), READER) });
      expect(answer.hits.hits.map((hit) => hit._id).sort(), `loaded in ${loadSeconds.toFixed(0)} s`).to.deep.equal(
        [17, 4_017, 8_017].map((offset) => `f${group}-${offset}`).sort(),
      );
    }
  });

  it('brings a record whose vector is due among many that have one, when its words fit', async () => {
    const crowd = Array.from({ length: 60 }, (_, i) =>
      docOf(`d${i}`, 'user.due', `nothing of the kind ${i}`, { vec_en: at(1, 0.7 + i / 2_000) }),
    );
    const fresh = docOf('fresh', 'user.due', 'The gate code is K-4417', { spaces_due: ['zh', 'en'] });
    await load(product, [...crowd, fresh]);
    const spec = specOf({ query: 'Which gate code do we have?', vectors: [en()] });
    const ranked = fuse(await search(product, spec, ['user.due']), spec);
    const found = ranked.find(({ record }) => record.memory_id === 'fresh');
    expect(found, 'among the candidates').to.not.equal(undefined);
    expect(found?.parts.find(({ signal }) => signal === 'lexical')?.weight).to.equal(1);
    expect(found?.parts.find(({ signal }) => signal === 'vector')).to.include({ raw: null, contribution: 0 });
  });

  it('finds the record with the very code or quoted phrase outside the nearest neighbours, before those that look alike', async () => {
    const alike = Array.from({ length: 120 }, (_, i) =>
      docOf(`l${i}`, 'user.codes', `Where is order A-${9_000 + i} now? The order is here`, {
        vec_en: at(1, 0.9 + i / 2_000),
        vec_zh: at(0, 0.6),
      }),
    );
    const far = (id: string, content: string): Doc => docOf(id, 'user.codes', content, { vec_en: at(1, -0.2), vec_zh: at(0, -0.2) });
    const chinese = far('phrase', '小明在纸上写“水壶漏水了”贴在门口');
    await load(product, [...alike, chinese, far('code', 'Porter: A-8841, third shelf')]);
    const profile = { ...ASSISTANT, boosts: { ...ASSISTANT.boosts, neighbours: 50 } };
    const first = async (query: string, vector: ReturnType<typeof en>): Promise<string | undefined> => {
      const spec = specOf({ query, vectors: [vector], profile });
      return fuse(await search(product, spec, ['user.codes']), spec)[0]?.record.memory_id;
    };
    expect(await first('Where is order A-8841 now?', en())).to.equal('code');
    expect(await first('A-8841 在哪？', zh())).to.equal('code');
    expect(await first('谁写的“水壶漏水了”？', zh())).to.equal('phrase');
    expect(await first('Where is order now?', en()), 'without a code').to.match(/^l/);
  });

  it('finds the record with a rare name outside the nearest neighbours, while one that many records hold decides nothing', async () => {
    const alike = Array.from({ length: 4_500 }, (_, i) =>
      docOf(`c${i}`, 'user.names', `Caroline has the spare key number ${i} 卡罗琳有备用钥匙`, { vec_en: at(1, 0.9), vec_zh: at(0, 0.6) }),
    );
    const far = (id: string, content: string): Doc => docOf(id, 'user.names', content, { vec_en: at(1, -0.2), vec_zh: at(0, -0.2) });
    await load(product, [
      ...alike,
      far('rare', 'Zorvane: blue door'),
      far('chinese', '慕容翎岚：蓝门'),
      far('common', 'Caroline: blue door'),
    ]);
    const profile = { ...ASSISTANT, boosts: { ...ASSISTANT.boosts, neighbours: 50 } };
    const first = async (query: string, vector: ReturnType<typeof en>): Promise<string | undefined> => {
      const spec = specOf({ query, vectors: [vector], profile });
      return fuse(await search(product, spec, ['user.names']), spec)[0]?.record.memory_id;
    };
    expect(await first('Where is the spare key of Zorvane?', en())).to.equal('rare');
    expect(await first('慕容翎岚的备用钥匙在哪里？', zh())).to.equal('chinese');
    expect(await first('Where is the spare key of Caroline?', en())).to.match(/^c\d/);
  });

  it('ranks the Chinese memory that answers an English question before English ones that do not', async () => {
    const english = Array.from({ length: 60 }, (_, i) =>
      docOf(`e${i}`, 'user.both', `unrelated ${i}`, { vec_en: at(1, 0.72 + i / 1_000), vec_zh: at(0, 0.55) }),
    );
    const chinese = docOf('answer', 'user.both', '她最喜欢的饮料是龙井', { vec_zh: at(0, 0.6) });
    await load(product, [...english, chinese]);
    const spec = specOf({ query: 'favourite drink', vectors: [en(), zh()] });
    const [first] = fuse(await search(product, spec, ['user.both']), spec);
    expect(first?.record.memory_id).to.equal('answer');
    expect(first?.parts.find(({ signal }) => signal === 'vector_other')?.contribution).to.be.greaterThan(0.5);
    expect(first?.parts.find(({ signal }) => signal === 'vector')).to.include({ raw: null, contribution: 0 });
  });
});
