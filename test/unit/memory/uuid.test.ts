import { expect } from 'chai';
import { createUuidV7 } from '../../../src/memory/uuid.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('UUIDv7', () => {
  it('writes the time of RFC 9562’s example in its place', () => {
    const id = createUuidV7(() => 0x017f22e279b0)();
    expect(id.slice(0, 15)).to.equal('017f22e2-79b0-7');
    expect(id).to.match(UUID);
  });

  it('grows with each call, within a millisecond and when the clock goes back', () => {
    const times = [5, 5, 5, 3, 6, 1];
    let i = 0;
    const make = createUuidV7(() => 1_700_000_000_000 + (times[Math.floor((i += 1) / 1000)] ?? 0));
    const ids = Array.from({ length: 6000 }, make);
    expect(ids).to.deep.equal([...ids].sort());
    expect(new Set(ids).size).to.equal(6000);
    expect(ids.every((id) => UUID.test(id))).to.equal(true);
  });

  it('moves to the next millisecond when the random part is full', () => {
    const make = createUuidV7(
      () => 1_000,
      (bytes) => Buffer.alloc(bytes, 0xff),
    );
    const [first, second] = [make(), make()];
    expect(first).to.equal('00000000-03e8-7fff-bfff-ffffffffffff');
    expect(second > first).to.equal(true);
    expect(second).to.match(/^00000000-03e9-7/);
  });
});
