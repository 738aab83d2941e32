import { expect } from 'chai';
import { ownNamespaceOf } from '../../../src/domain/principal.ts';

describe('own namespace', () => {
  it('is the sub where that fits a segment, else a hash of issuer and sub', () => {
    expect(ownNamespaceOf('i', 'alice')).to.equal('user.alice');
    expect(ownNamespaceOf('i', 'alice@corp.com')).to.match(/^user\.[a-z2-7]{26}$/);
    expect(ownNamespaceOf('j', 'alice@corp.com')).to.not.equal(ownNamespaceOf('i', 'alice@corp.com'));
  });

  it('of a sub that looks like such a hash is not the namespace of whoever has that hash', () => {
    const victim = ownNamespaceOf('i', 'alice@corp.com');
    expect(ownNamespaceOf('i', victim.slice('user.'.length))).to.not.equal(victim);
  });
});
