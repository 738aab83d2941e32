/** The stop: every part in its turn, and an end whatever one of them does. */
import { expect } from 'chai';
import { Teardown } from '../../../src/compose/teardown.ts';
import type { Logger } from '../../../src/telemetry/logger.ts';

interface Line {
  readonly part?: string;
  readonly message: string;
}

function setUp(totalMs?: number) {
  const lines: Line[] = [];
  const logger = { error: (fields: object, message: string) => lines.push({ ...fields, message }) } as unknown as Logger;
  return { teardown: new Teardown(logger, totalMs), lines };
}

const never = (): Promise<void> => new Promise(() => undefined);

describe('Teardown', () => {
  it('closes in reverse order, once', async () => {
    const { teardown, lines } = setUp();
    const closed: string[] = [];
    for (const name of ['a', 'b', 'c']) teardown.add(name, () => void closed.push(name));
    await Promise.all([teardown.run(), teardown.run()]);
    expect(closed).to.deep.equal(['c', 'b', 'a']);
    expect(lines).to.deep.equal([]);
  });

  it('goes on past a part that fails or hangs, and names it', async () => {
    const { teardown, lines } = setUp();
    const closed: string[] = [];
    teardown.add('first', () => void closed.push('first'));
    teardown.add('hangs', never, 20);
    teardown.add('throws', () => {
      throw new Error('no');
    });
    teardown.add('rejects', () => Promise.reject(new Error('no')));
    await teardown.run();
    expect(closed).to.deep.equal(['first']);
    expect(lines.map(({ part, message }) => [part, message])).to.deep.equal([
      ['rejects', 'part did not close cleanly'],
      ['throws', 'part did not close cleanly'],
      ['hangs', 'part did not close in time'],
    ]);
  });

  it('ends within its time, having asked every part', async () => {
    const { teardown, lines } = setUp(40);
    const asked: string[] = [];
    for (const name of ['a', 'b', 'c', 'd'])
      teardown.add(name, () => {
        asked.push(name);
        return never();
      });
    const startedAt = performance.now();
    await teardown.run();
    expect(performance.now() - startedAt).to.be.below(1_000);
    expect(asked).to.deep.equal(['d', 'c', 'b', 'a']);
    expect(lines).to.have.length(4);
  });
});
