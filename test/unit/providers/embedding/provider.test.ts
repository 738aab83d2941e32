import { expect } from 'chai';
import { EmbeddingRejected, EmbeddingUnavailable, normalise, spaceNamed } from '../../../../src/providers/embedding/provider.ts';

describe('embedding port', () => {
  it('scales a vector to length 1 and refuses one without a direction', () => {
    expect([...(normalise(Float32Array.of(3, 4)) ?? [])].map((x) => Math.round(x * 10))).to.deep.equal([6, 8]);
    for (const values of [[0, 0], [Number.NaN, 1], [Number.POSITIVE_INFINITY, 1], []])
      expect(normalise(Float32Array.from(values))).to.equal(undefined);
  });

  it('tells an outage from a refused text by code, and says nothing of the cause to a caller', () => {
    const outage = new EmbeddingUnavailable('connect ECONNREFUSED 10.0.0.7:8000');
    expect(outage).to.include({ code: 'ERR_EMBEDDING_UNAVAILABLE', status: 503, retryable: true });
    expect(outage.message).to.not.contain('10.0.0.7');
    expect((outage.cause as Error).message).to.contain('10.0.0.7');
    const refused = new EmbeddingRejected('the vector is zero or not finite', 3);
    expect(refused).to.include({ code: 'ERR_EMBEDDING_REJECTED', status: 422, retryable: false, textIndex: 3 });
  });

  it('throws on a space that does not exist', () => {
    expect(() => spaceNamed([], 'zh')).to.throw('there is no vector space "zh"');
  });
});
