/** The whole request body of the one hybrid query, for each kind of question; test/integration/one-query.test.ts runs the same bodies. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { SearchSpec } from '../../../src/domain/ranking.ts';
import type { QueryClause } from '../../../src/domain/scope.ts';
import { buildSearchBody } from '../../../src/elastic/query-builder.ts';
import { trustClause } from '../../../src/elastic/trust-filter.ts';
import { withWeights } from '../../../src/ranking/profile.ts';
import { READER, ASSISTANT, SPECS, en, scopeOf, specOf, zh } from '../../support/search-specs.ts';

const SCOPE = scopeOf(['user.ann']);
const FIELDS = [
  ...['doc_type', 'memory_id', 'tenant', 'namespace', 'owner', 'visibility', 'layer', 'kind', 'subject', 'topic', 'task_id', 'task_type'],
  ...['session_id', 'turn'],
  ...['title', 'content', 'summary', 'tags', 'importance', 'confidence', 'access_level', 'created_at', 'occurred_at', 'event_at'],
  ...['expires_at', 'trust_tier', 'origin', 'guard', 'status', 'version', 'fingerprint'],
  ...['valid_from', 'valid_to', 'supersedes', 'superseded_by', 'conflict_with', 'doubt', 'feedback'],
];

const recency = (weight: number): QueryClause => ({
  exp: { event_at: { origin: '2024-05-05T09:00:00.000Z', scale: '2592000000ms', decay: 0.5 } },
  weight,
});
const WORTH: QueryClause[] = [
  { field_value_factor: { field: 'importance', factor: 1, missing: 0.5 }, weight: 2.5 },
  { field_value_factor: { field: 'confidence', factor: 1, missing: 0.5 }, weight: 2.5 },
  { field_value_factor: { field: 'access_level', factor: 0.1, missing: 0 }, weight: 1.25 },
  { field_value_factor: { field: 'trust_tier', factor: 0.2, missing: 0 }, weight: 3.75 },
];
const FUNCTIONS = WORTH;

const knn = (field: string, vector: number[], boost: number, filter: QueryClause[] = SCOPE): QueryClause => ({
  knn: { field, query_vector: vector, k: 1000, num_candidates: 1000, filter, boost },
});
const due = (space: string, boost: number, ...should: QueryClause[]): QueryClause => ({
  constant_score: {
    _name: 'due',
    filter: { bool: { filter: [{ term: { spaces_due: space } }, { bool: { should, minimum_should_match: 1 } }] } },
    boost,
  },
});
const best = (...queries: QueryClause[]): QueryClause => ({ dis_max: { queries } });
const lex = (...should: QueryClause[]): QueryClause => ({ bool: { _name: 'lex', should } });
const match = (field: string, query: string, boost?: number): QueryClause => ({
  match: { [field]: boost === undefined ? { query } : { query, boost } },
});
const spk = (query: string): QueryClause => ({ constant_score: { _name: 'spk', filter: match('lex_subject', query), boost: 12.5 } });
const constant = (boost: number, filter: QueryClause): QueryClause => ({ constant_score: { filter, boost } });
const holdsCode = (value: string): QueryClause => ({ term: { codes: value } });
const holdsAll = (field: string, query: string): QueryClause => ({
  bool: { filter: [{ match: { [field]: { query, operator: 'and' } } }] },
});
const exact = (...should: QueryClause[]): QueryClause => ({ bool: { _name: 'exact', should } });
/** A record that holds a name which few do. */
const rare = (stem: string): QueryClause => ({ function_score: { query: match('lex_uni', stem), min_score: 8 } });
const exactName = (stem: string): QueryClause => ({ dis_max: { _name: 'exact', queries: [constant(120, rare(stem))] } });
const rescue = (boost: number, ...should: QueryClause[]): QueryClause => ({
  constant_score: { _name: 'rescue', filter: { bool: { should, minimum_should_match: 1 } }, boost },
});
const within = (boost: number, ...ranges: [string, string][]): QueryClause => ({
  constant_score: {
    filter: {
      bool: { should: ranges.map(([gte, lt]) => ({ range: { event_at: { gte: `${gte}T00:00:00.000Z`, lt: `${lt}T00:00:00.000Z` } } })) },
    },
    boost,
  },
});
/** By the first space: records without a vector there, with a mark where one is wanted, and those not in Latin script alone. */
const notServed = (mark?: string): QueryClause => {
  const alone = { bool: { ...(mark === undefined ? {} : { _name: mark }), must_not: [{ exists: { field: 'vec_en' } }] } };
  return { bool: { should: [alone, { bool: { must_not: [{ term: { language: 'en' } }] } }], minimum_should_match: 1 } };
};
const code = (value: string): QueryClause => ({ term: { codes: { value, boost: 3 } } });
const english = (terms: string): QueryClause[] => [match('lex_uni', terms), match('lex_context', terms), match('lex_summary', terms, 0.5)];

function body(should: QueryClause[], over: { functions?: QueryClause[]; filter?: QueryClause[]; size?: number } = {}): object {
  const bool = { filter: over.filter ?? SCOPE, should, minimum_should_match: 1 };
  const functions = over.functions ?? FUNCTIONS;
  return {
    size: over.size ?? 12,
    track_total_hits: false,
    include_named_queries_score: true,
    _source: FIELDS,
    query: functions.length === 0 ? { bool } : { function_score: { query: { bool }, functions, score_mode: 'sum', boost_mode: 'sum' } },
  };
}
const build = (name: keyof typeof SPECS): Record<string, unknown> => buildSearchBody(SPECS[name], SCOPE, READER);

const GREEN_TEA = [
  lex(...english('green tea')),
  best(knn('vec_en', [0, 1, 0, 0], 950), due('en', 850.25, match('lex_uni', 'green tea'))),
  spk('green tea'),
];

describe('the one hybrid query', () => {
  it('asks a Chinese question by bigrams, words and the zh vector', () => {
    const bigrams = '小明 明喜 喜欢 欢喝 喝哪 哪种 种绿 绿茶';
    expect(build('chinese')).to.deep.equal(
      body([
        lex(match('lex_bi', bigrams, 1.5), match('lex_word', '小明 喜欢 绿茶', 0.25), match('lex_summary', bigrams, 0.5)),
        best(knn('vec_zh', [1, 0, 0, 0], 400), due('zh', 285, match('lex_bi', bigrams))),
        spk(bigrams),
      ]),
    );
  });

  it('honours words, codes, phrases, names and dates of both wordings, each list by the wording a record fits better', () => {
    const [turn, rewrite] = ['get 8841 2 mai 2024', 'carolin receiv order 8841 green tea set'];
    const words = (list: string): QueryClause[] => [match('lex_uni', list), match('lex_context', list), match('lex_summary', list, 0.5)];
    const [, ...others] = words(rewrite);
    const both = 'get 8841 2 mai 2024 carolin receiv order green tea set';
    const phrase = holdsAll('lex_uni', 'green tea set');
    expect(build('twoWordings')).to.deep.equal(
      body([
        {
          dis_max: {
            _name: 'lex',
            queries: [
              { bool: { _name: 'lex_1', should: [...words(turn), code('a-8841'), code('2024')] } },
              {
                bool: { _name: 'lex_2', should: [match('lex_uni', rewrite), match('lex_uni', 'carolin'), ...others, code('a-8841')] },
              },
            ],
          },
        },
        best(
          knn('vec_en', [0, 1, 0, 0], 950),
          due('en', 850.25, match('lex_uni', both), { terms: { codes: ['a-8841', '2024'] } }),
          rescue(878.75, holdsCode('a-8841'), phrase),
        ),
        spk(both),
        {
          bool: {
            _name: 'date',
            should: [within(90, ['2024-05-02', '2024-05-03']), within(13.5, ['2024-05-01', '2024-05-02'], ['2024-05-03', '2024-05-06'])],
          },
        },
        {
          dis_max: {
            _name: 'exact',
            queries: [
              { bool: { should: [constant(120, holdsCode('a-8841'))] } },
              { bool: { should: [constant(60, holdsCode('a-8841')), constant(60, phrase)] } },
            ],
          },
        },
      ]),
    );
  });

  it('asks two wordings in two languages each in its own space', () => {
    const [bigrams, terms] = ['她喜 喜欢 欢喝 喝哪 哪种 种绿 绿茶', 'green tea carolin like'];
    const chinese = [match('lex_bi', bigrams, 1.5), match('lex_word', '喜欢 绿茶', 0.25), match('lex_summary', bigrams, 0.5)];
    const latin = [match('lex_uni', terms), match('lex_uni', 'carolin'), match('lex_context', terms), match('lex_summary', terms, 0.5)];
    expect(build('twoLanguages')).to.deep.equal(
      body([
        {
          dis_max: {
            _name: 'lex',
            queries: [{ bool: { _name: 'lex_1', should: chinese } }, { bool: { _name: 'lex_2', should: latin } }],
          },
        },
        best(
          knn('vec_en', [0, 1, 0, 0], 950),
          {
            bool: { must: [knn('vec_zh', [1, 0, 0, 0], 633.3333, [...SCOPE, notServed('other_alone')]), { match_all: { boost: 399 } }] },
          },
          due('en', 850.25, match('lex_uni', terms), match('lex_bi', bigrams)),
          rescue(878.75, rare('carolin')),
        ),
        spk(`${terms} ${bigrams}`),
        exactName('carolin'),
      ]),
    );
  });

  it('asks an English question over a mixed namespace in both spaces, the second on the scale of the first', () => {
    const terms = 'green tea carolin like';
    expect(build('mixed')).to.deep.equal(
      body([
        lex(match('lex_uni', terms), match('lex_uni', 'carolin'), match('lex_context', terms), match('lex_summary', terms, 0.5)),
        best(
          knn('vec_en', [0, 1, 0, 0], 950),
          {
            bool: { must: [knn('vec_zh', [1, 0, 0, 0], 633.3333, [...SCOPE, notServed('other_alone')]), { match_all: { boost: 399 } }] },
          },
          due('en', 850.25, match('lex_uni', terms)),
          rescue(878.75, rare('carolin')),
        ),
        spk(terms),
        exactName('carolin'),
      ]),
    );
  });

  it('names the second space where each similarity is told by itself, of the past, and where the two stand on different scales', () => {
    const wanted = [knn('vec_zh', [1, 0, 0, 0], 633.3333, [...SCOPE, notServed()]), { match_all: { boost: 399 } }];
    const named = (spec: SearchSpec): unknown => {
      const { bool } = (buildSearchBody(spec, SCOPE, READER)['query'] as { function_score: { query: { bool: { should: QueryClause[] } } } })
        .function_score.query;
      return (bool.should[1] as { dis_max: { queries: QueryClause[] } }).dis_max.queries[1];
    };
    expect(named({ ...SPECS.mixed, explain: true })).to.deep.equal({ bool: { _name: 'knn_zh', must: wanted } });
    const past = named({ ...SPECS.mixed, asOf: { ms: SPECS.mixed.askedAtMs, statuses: ['active'] } });
    expect(past).to.have.nested.property('bool._name', 'knn_zh');
    const steep = { ...zh(), calibration: { offset: 0.9, scale: 0.1 } };
    expect(named({ ...SPECS.mixed, vectors: [en(), steep] })).to.have.nested.property('bool._name', 'knn_zh');
  });

  it('asks summaries for nothing where there are none', () => {
    expect(buildSearchBody({ ...SPECS.short, summaries: false }, SCOPE, READER)).to.deep.equal(
      body([
        lex(match('lex_bi', '绿茶', 1.5), match('lex_word', '绿茶', 0.25)),
        best(knn('vec_zh', [1, 0, 0, 0], 10), due('zh', 7.125, match('lex_bi', '绿茶'))),
        spk('绿茶'),
      ]),
    );
  });

  it('looks for the day a question names and the days around it', () => {
    const terms = 'carolin bui 2 mai 2024';
    expect(build('dated')).to.deep.equal(
      body([
        lex(
          match('lex_uni', terms),
          match('lex_uni', 'carolin'),
          match('lex_context', terms),
          match('lex_summary', terms, 0.5),
          code('2024'),
        ),
        best(
          knn('vec_en', [0, 1, 0, 0], 950),
          due('en', 850.25, match('lex_uni', terms), { terms: { codes: ['2024'] } }),
          rescue(878.75, rare('carolin')),
        ),
        spk(terms),
        {
          bool: {
            _name: 'date',
            should: [within(90, ['2024-05-02', '2024-05-03']), within(13.5, ['2024-05-01', '2024-05-02'], ['2024-05-03', '2024-05-06'])],
          },
        },
        exactName('carolin'),
      ]),
    );
  });

  it('looks for last month and the first ten days after it, in Chinese too', () => {
    const { bool } = (build('datedChinese')['query'] as { function_score: { query: { bool: { should: QueryClause[] } } } }).function_score
      .query;
    expect(bool.should[3]).to.deep.equal({
      bool: { _name: 'date', should: [within(13.5, ['2024-04-01', '2024-05-01']), within(4.5, ['2024-05-01', '2024-05-11'])] },
    });
  });

  it('lets age count when the question asks for the latest, and only then', () => {
    const query = build('latest')['query'] as { function_score: { functions: QueryClause[] } };
    expect(query.function_score.functions).to.deep.equal([recency(6.25), ...WORTH]);
  });

  it('adds task functions that never both match, and an exact code', () => {
    const sameId = { term: { task_id: 'ticket-7' } };
    expect(build('task')).to.deep.equal(
      body(
        [
          lex(...english('order 8841'), code('a-8841')),
          best(
            knn('vec_en', [0, 1, 0, 0], 950),
            due('en', 850.25, match('lex_uni', 'order 8841'), { terms: { codes: ['a-8841'] } }),
            rescue(878.75, holdsCode('a-8841')),
          ),
          spk('order 8841'),
          exact(constant(120, holdsCode('a-8841'))),
        ],
        {
          functions: [
            ...FUNCTIONS,
            { filter: sameId, weight: 6.25 },
            { filter: { bool: { filter: [{ term: { task_type: 'shipping' } }], must_not: [sameId] } }, weight: 3.125 },
          ],
        },
      ),
    );
  });

  it('looks to the letter for strong codes and quoted phrases, each with its share, whatever their vectors say', () => {
    const { bool } = (build('codes')['query'] as { function_score: { query: { bool: { should: QueryClause[] } } } }).function_score.query;
    const wanted = [holdsCode('a-8841'), holdsCode('v2.3.1'), holdsAll('lex_bi', '订单 单已 已经 经发 发货')];
    expect(bool.should.at(-1)).to.deep.equal(exact(...wanted.map((filter) => constant(40, filter))));
    const vectors = bool.should[1] as { dis_max: { queries: QueryClause[] } };
    expect(vectors.dis_max.queries.at(-1)).to.deep.equal(rescue(303, ...wanted));
  });

  it('looks to the letter while the embedder is away, and not at all where that has no weight', () => {
    const degraded = JSON.stringify(build('codesDegraded'));
    expect(degraded).to.include('"_name":"exact"').and.not.include('"_name":"rescue"');
    expect(JSON.stringify(build('withoutExact'))).not.to.match(/"_name":"(?:exact|rescue)"/);
  });

  it('adds one function for a task type alone', () => {
    const query = build('taskType')['query'] as { function_score: { functions: QueryClause[] } };
    expect(query.function_score.functions).to.deep.equal([...FUNCTIONS, { filter: { term: { task_type: 'shipping' } }, weight: 3.125 }]);
  });

  it('asks by words alone while the embedder is away', () => {
    const terms = 'green tea carolin like';
    expect(build('degraded')).to.deep.equal(
      body([
        lex(match('lex_uni', terms), match('lex_uni', 'carolin'), match('lex_context', terms), match('lex_summary', terms, 0.5)),
        spk(terms),
        exactName('carolin'),
      ]),
    );
  });

  it('lets words decide a Chinese question of at most four characters', () => {
    expect(build('short')).to.deep.equal(
      body([
        lex(match('lex_bi', '绿茶', 1.5), match('lex_word', '绿茶', 0.25), match('lex_summary', '绿茶', 0.5)),
        best(knn('vec_zh', [1, 0, 0, 0], 10), due('zh', 7.125, match('lex_bi', '绿茶'))),
        spk('绿茶'),
      ]),
    );
  });

  it('asks the passages of long memories by name and brings the best one along', () => {
    const bigrams = '说明 明书 书里 里怎 怎么 么泡 泡绿 绿茶';
    expect(build('passages')).to.deep.equal(
      body([
        lex(match('lex_bi', bigrams, 1.5), match('lex_word', '说明 怎么 绿茶', 0.25), match('lex_summary', bigrams, 0.5)),
        best(
          knn('vec_zh', [1, 0, 0, 0], 400),
          {
            nested: {
              _name: 'passage',
              path: 'passages',
              score_mode: 'max',
              query: knn('passages.vec_zh', [1, 0, 0, 0], 400),
              inner_hits: { name: 'passage', size: 1, _source: ['passages.text'] },
            },
          },
          due('zh', 285, match('lex_bi', bigrams)),
        ),
        spk(bigrams),
      ]),
    );
  });

  it('puts the caller’s filter beside the scope’s, outside and inside knn, and doubles a large top_k', () => {
    const filter = [...SCOPE, { terms: { kind: ['preference'] } }, trustClause([3], READER)];
    const [words, , speaker] = GREEN_TEA as [QueryClause, QueryClause, QueryClause];
    const vector = best(knn('vec_en', [0, 1, 0, 0], 950, filter), due('en', 850.25, match('lex_uni', 'green tea')));
    expect(build('filtered')).to.deep.equal(body([words, vector, speaker], { filter, size: 40 }));
  });

  it('scores single memories as among all: their ids stand beside the filter, and not inside knn', () => {
    const filter = [...SCOPE, { terms: { memory_id: ['a', 'b'] } }];
    const spec = specOf({ query: 'green tea', vectors: [en()], only: ['a', 'b'] });
    expect(buildSearchBody(spec, SCOPE, READER)).to.deep.equal(body(GREEN_TEA, { filter, size: 2 }));
  });

  it('anchors functions that all carry a filter, because Elasticsearch gives 1 where none matches', () => {
    expect(build('onlyTask')).to.deep.equal(
      body(GREEN_TEA, { functions: [{ weight: 1 }, { filter: { term: { task_id: 'ticket-7' } }, weight: 6.25 }] }),
    );
  });

  it('has no clause for a question without words or vectors, and so finds nothing', () => {
    expect(build('wordless')).to.deep.equal(body([]));
  });

  it('follows a caller’s weights in the engine: no vector clause at 0, twice the lexical one at twice the weight', () => {
    const [, , speaker] = GREEN_TEA as [QueryClause, QueryClause, QueryClause];
    expect(build('onlyWords')).to.deep.equal(body([{ bool: { _name: 'lex', boost: 2, should: english('green tea') } }, speaker]));
  });

  it('takes k and num_candidates of every knn clause from the profile', () => {
    const profile = { ...ASSISTANT, boosts: { ...ASSISTANT.boosts, neighbours: 50 } };
    const spec = specOf({ query: 'tea', vectors: [en(), zh()], passages: true, profile });
    const found = JSON.stringify(buildSearchBody(spec, SCOPE, READER));
    expect(found.match(/"k":50,"num_candidates":50,/g)).to.have.length(3);
    expect(found).not.to.include('1000');
  });

  it('brings a seed profile its 100 candidates without additive functions', () => {
    expect(build('seedStrategy')).to.deep.equal(body(GREEN_TEA.slice(0, 2), { functions: [], size: 100 }));
  });

  it('gives every time as a date, never as now, and uses at most 128 terms, whatever is asked', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 600 }), fc.boolean(), (query, both) => {
        const built = buildSearchBody(specOf({ query, vectors: both ? [en(), zh()] : [zh()] }), SCOPE, READER);
        const terms = new Set<string>();
        walk(built, (key, value) => {
          if (key === 'origin' || key === 'gte' || key === 'lt') expect(value).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
          if (key === 'query' && typeof value === 'string') for (const term of value.split(' ')) terms.add(term);
          if (key === 'value') terms.add(String(value));
        });
        expect(terms.size).to.be.at.most(128);
      }),
      { numRuns: 200 },
    );
  });

  it('keeps within 128 terms a pasted text full of words, bigrams and codes', () => {
    const query = Array.from(
      { length: 90 },
      (_, i) => `word${String.fromCharCode(97 + (i % 26))}x${i} 订${String.fromCharCode(0x4e00 + i)}号 A-${1000 + i}`,
    ).join(' ');
    const { lexical, distinct } = termsOf(buildSearchBody(specOf({ query, vectors: [zh()] }), SCOPE, READER));
    expect(lexical).to.be.at.most(128);
    expect(distinct.has('a-1000'), 'codes are kept').to.equal(true);
  });

  it('has the mandatory filter in the query and in each knn clause, whatever is asked', () => {
    for (const spec of Object.values(SPECS)) {
      walk(buildSearchBody(spec, SCOPE, READER), (key, value) => {
        if (key !== 'knn') return;
        expect((value as { filter: unknown[] }).filter.slice(0, SCOPE.length)).to.deep.equal(SCOPE);
      });
    }
  });

  it('refuses a weight for a signal that does not exist, with a pointer', () => {
    expect(() => withWeights(ASSISTANT, { recency: 11, charm: 1 }))
      .to.throw()
      .that.deep.includes({
        code: 'ERR_REQUEST_INVALID',
        faults: [
          { pointer: '/weights/recency', message: 'is not a number from 0 to 10' },
          { pointer: '/weights/charm', message: 'is not a ranking signal' },
        ],
      });
  });
});

function walk(node: unknown, visit: (key: string, value: unknown) => void): void {
  if (typeof node !== 'object' || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    visit(key, value);
    walk(value, visit);
  }
}

/** Distinct terms over the fields, each counted once a kind of field (uni and names share one). */
function termsOf(built: object): { lexical: number; distinct: Set<string> } {
  const distinct = new Set<string>();
  walk(built, (key, value) => {
    if (['lex_uni', 'lex_bi', 'lex_word'].includes(key)) {
      for (const term of (value as { query: string }).query.split(' ')) distinct.add(`${key}:${term}`);
    }
    if (key === 'value') distinct.add(String(value));
  });
  return { lexical: distinct.size, distinct };
}
