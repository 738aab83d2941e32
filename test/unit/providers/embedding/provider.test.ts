import { expect } from 'chai';
import fc from 'fast-check';
import {
  cosineToUnit,
  EmbeddingRejected,
  EmbeddingUnavailable,
  normalise,
  spaceNamed,
} from '../../../../src/providers/embedding/provider.ts';

describe('embedding port', () => {
  it('calibrates a cosine to [0, 1] and keeps the order', () => {
    const space = { calibration: { offset: 0.64, scale: 0.3 } };
    expect(cosineToUnit(space, 0.64)).to.equal(0);
    expect(cosineToUnit(space, 0.79)).to.be.closeTo(0.5, 1e-9);
    expect(cosineToUnit(space, 0.94)).to.be.closeTo(1, 1e-9);
    const cos = fc.double({ min: -1, max: 1, noNaN: true });
    fc.assert(
      fc.property(cos, cos, (a, b) => {
        const [low, high] = [cosineToUnit(space, Math.min(a, b)), cosineToUnit(space, Math.max(a, b))];
        expect(low).to.be.within(0, 1);
        expect(high).to.be.within(low, 1);
      }),
    );
  });

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
