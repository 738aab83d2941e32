import { expect } from 'chai';
import { plainQuery, withFreshExpiry } from '../../../bench/support/query-forms.ts';

const filter = [
  { term: { namespace: 'bench.n001' } },
  { bool: { should: [{ range: { expires_at: { gt: '2026-01-01T00:00:00.000Z' } } }], minimum_should_match: 1 } },
];
const knn = { field: 'vec_en', query_vector: [0.6, 0.8], k: 1_000, num_candidates: 1_000, filter, boost: 950 };
const lexical = { bool: { _name: 'lex', should: [{ match: { lex_uni: { query: 'green tea' } } }, { match: { lex_word: 'x' } }] } };
const body = (vector: unknown): string =>
  JSON.stringify({
    size: 20,
    query: { function_score: { query: { bool: { filter, should: [lexical, vector], minimum_should_match: 1 } }, functions: [] } },
  });

describe('bench query forms', () => {
  it('makes the plain query of the same filter, the first words and the same vector', () => {
    const plain = JSON.parse(plainQuery(body({ dis_max: { queries: [{ knn }] } }))) as unknown;
    expect(plain).to.deep.equal({
      size: 10,
      track_total_hits: false,
      _source: ['content'],
      query: {
        bool: {
          filter,
          should: [
            { match: { lex_uni: { query: 'green tea' } } },
            { knn: { field: 'vec_en', query_vector: [0.6, 0.8], k: 10, num_candidates: 100, filter } },
          ],
          minimum_should_match: 1,
        },
      },
    });
  });

  it('refuses a body without words', () => {
    expect(() => plainQuery(JSON.stringify({ query: { match_all: {} } }))).to.throw('no filter or no words');
  });

  it('moves every expiry bound to the moment of sending and touches nothing else', () => {
    const before = body({ knn });
    const after = withFreshExpiry(before, Date.parse('2026-03-04T05:06:07.008Z'));
    expect(after).to.equal(before.replaceAll('2026-01-01T00:00:00.000Z', '2026-03-04T05:06:07.008Z'));
    expect(after.match(/2026-03-04T05:06:07\.008Z/g)).to.have.length(2);
  });
});
