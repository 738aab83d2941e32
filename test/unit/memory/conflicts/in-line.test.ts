import { expect } from 'chai';
import { createLine } from '../../../../src/memory/conflicts/in-line.ts';

describe('calls in line', () => {
  const gate = (): { open: () => void; opened: Promise<void> } => {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    return { open, opened };
  };

  const forEver = (): Promise<void> => new Promise(() => undefined);

  it('lets those that share a key run one after the other, and others at once', async () => {
    const line = createLine(forEver);
    const log: string[] = [];
    const first = gate();
    const runs = [
      line.run(['a', 'b'], async () => {
        log.push('first');
        await first.opened;
        log.push('first ends');
      }),
      line.run(['b', 'c'], async () => void log.push('second')),
      line.run(['c'], async () => void log.push('third')),
      line.run(['d'], async () => void log.push('other')),
      line.run([], async () => void log.push('no key')),
    ];
    await Promise.all(runs.slice(3));
    expect(log.sort()).to.deep.equal(['first', 'no key', 'other']);
    first.open();
    await Promise.all(runs);
    expect(log.slice(3)).to.deep.equal(['first ends', 'second', 'third']);
  });

  it('goes on after a call that failed, whose failure is its own', async () => {
    const line = createLine(forEver);
    const failed = line.run(['a'], () => Promise.reject(new Error('lost')));
    const next = line.run(['a'], async () => 'done');
    expect(await failed.catch((error: Error) => error.message)).to.equal('lost');
    expect(await next).to.equal('done');
  });

  it('waits no longer than it has patience', async () => {
    const line = createLine(async () => undefined);
    const first = gate();
    const hanging = line.run(['a'], () => first.opened);
    expect(await line.run(['a'], async () => 'done')).to.equal('done');
    first.open();
    await hanging;
  });
});
