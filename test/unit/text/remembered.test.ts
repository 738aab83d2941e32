import { expect } from 'chai';
import { remembered } from '../../../src/text/remembered.ts';

describe('text/remembered', () => {
  const counted = (texts: number, chars = 10) => {
    const read: string[] = [];
    const of = remembered(
      (text) => {
        read.push(text);
        return { text };
      },
      { texts, chars },
    );
    return { of, read };
  };

  it('reads a text once and answers the same value again', () => {
    const { of, read } = counted(4);
    expect(of('a')).to.equal(of('a')).and.deep.equal({ text: 'a' });
    expect(read).to.deep.equal(['a']);
  });

  it('reads a long text each time', () => {
    const { of, read } = counted(4, 3);
    expect(of('long')).to.deep.equal(of('long'));
    expect(read).to.have.length(2);
  });

  it('keeps what is asked for again while many others come, and forgets what is not', () => {
    const { of, read } = counted(4);
    of('often');
    of('once');
    for (let i = 0; i < 20; i += 1) {
      of(`other ${i}`);
      of('often');
    }
    expect(read.filter((text) => text === 'often')).to.have.length(1);
    of('once');
    expect(read.filter((text) => text === 'once')).to.have.length(2);
  });

  it('keeps no more than it has room for', () => {
    const { of, read } = counted(4);
    const texts = Array.from({ length: 10 }, (_, i) => `${i}`);
    texts.forEach(of);
    read.length = 0;
    texts.toReversed().forEach(of);
    expect(read.length).to.be.at.least(6);
  });
});
