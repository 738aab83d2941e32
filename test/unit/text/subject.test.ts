import { expect } from 'chai';
import { withSubject } from '../../../src/text/subject.ts';

describe('withSubject', () => {
  it('puts the subject in front of a text that does not name it', () => {
    expect(withSubject('Ana', 'prefers tea')).to.equal('Ana: prefers tea');
    expect(withSubject('小王', '喜欢喝龙井茶')).to.equal('小王: 喜欢喝龙井茶');
  });

  it('leaves a text alone that names its subject in any case, or has none', () => {
    expect(withSubject('Ana', 'ana prefers tea')).to.equal('ana prefers tea');
    expect(withSubject(undefined, 'prefers tea')).to.equal('prefers tea');
  });
});
