import { expect } from 'chai';
import { HindsightError } from '../../../src/errors.ts';
import { createWorker, type Job, type Run, type WorkerOptions } from '../../../src/jobs/worker.ts';

/** Time that passes only while the worker sleeps, and only as far as the test lets it. */
function virtualTime() {
  let nowMs = 0;
  let untilMs = 0;
  let release: (() => void) | undefined;
  let asleep: (() => void) | undefined;
  const sleep = async (ms: number, signal: AbortSignal): Promise<void> => {
    const wakeMs = nowMs + ms;
    while (!signal.aborted && wakeMs > untilMs) {
      asleep?.();
      await new Promise<void>((resolve) => {
        release = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    if (!signal.aborted) nowMs = wakeMs;
  };
  /** Lets time run to `ms` and waits until the worker sleeps beyond it. */
  const advanceTo = async (ms: number): Promise<void> => {
    untilMs = ms;
    const idle = new Promise<void>((resolve) => (asleep = resolve));
    release?.();
    await idle;
    nowMs = ms;
  };
  return { clock: () => nowMs, sleep, advanceTo };
}

interface Script {
  due?: () => readonly string[];
  run?: (tenant: string, run: Run, atMs: number) => 'more' | 'idle' | Promise<'more' | 'idle'>;
}

function workerOf(script: Script, more: Partial<WorkerOptions> = {}) {
  const virtual = virtualTime();
  const runs: [string, number, boolean][] = [];
  const errors: number[] = [];
  const job: Job = {
    name: 'test',
    due: async () => script.due?.() ?? [],
    run: async (tenant, run) => {
      runs.push([tenant, virtual.clock(), run.nudged]);
      return (await script.run?.(tenant, run, virtual.clock())) ?? 'idle';
    },
  };
  const worker = createWorker({
    job,
    clock: virtual.clock,
    sleep: virtual.sleep,
    onError: (_job, _error, pauseMs) => void errors.push(pauseMs),
    ...more,
  });
  return { worker, runs, errors, ...virtual };
}

describe('worker', () => {
  it('runs a nudged tenant after a short gathering, once for many nudges', async () => {
    const { worker, runs, advanceTo } = workerOf({});
    worker.start();
    await advanceTo(100);
    for (let i = 0; i < 50; i += 1) worker.nudge('a');
    await advanceTo(1_000);
    expect(runs).to.deep.equal([['a', 120, true]]);
    await worker.stop();
  });

  it('gathers the nudges of a stream longer, unless somebody waits', async () => {
    const { worker, runs, advanceTo } = workerOf({});
    worker.start();
    await advanceTo(100);
    worker.nudge('a');
    await advanceTo(300);
    worker.nudge('a');
    await advanceTo(400);
    worker.nudge('a');
    await advanceTo(600);
    worker.nudge('a');
    worker.nudge('a', true);
    await advanceTo(1_000);
    worker.nudge('b', false);
    await advanceTo(2_000);
    expect(runs.map(([tenant, atMs]) => [tenant, atMs])).to.deep.equal([
      ['a', 120],
      ['a', 500],
      ['a', 620],
      ['b', 1_200],
    ]);
    await worker.stop();
  });

  it('finds work that nobody told of by looking every five seconds', async () => {
    let left = ['a', 'b'];
    const { worker, runs, advanceTo } = workerOf({
      due: () => left,
      run: (tenant) => {
        left = left.filter((t) => t !== tenant);
        return 'idle';
      },
    });
    worker.start();
    await advanceTo(0);
    expect(runs).to.deep.equal([
      ['a', 0, false],
      ['b', 0, false],
    ]);
    left = ['c'];
    await advanceTo(4_999);
    expect(runs).to.have.length(2);
    await advanceTo(5_000);
    expect(runs.at(-1)).to.deep.equal(['c', 5_000, false]);
    await worker.stop();
  });

  it('goes on with a tenant that has more, in turn with the others', async () => {
    const left: Record<string, number> = { a: 3, b: 2 };
    const { worker, runs, advanceTo } = workerOf({
      due: () => [],
      run: (tenant) => ((left[tenant] = (left[tenant] ?? 0) - 1) > 0 ? 'more' : 'idle'),
    });
    worker.start();
    await advanceTo(0);
    worker.nudge('a');
    worker.nudge('b');
    await advanceTo(1_000);
    expect(runs.map(([tenant]) => tenant)).to.deep.equal(['a', 'b', 'a', 'b', 'a']);
    // what the batch before wrote must be visible to the next one, or it claims the same records in vain
    for (const [, , nudged] of runs) expect(nudged).to.equal(true);
    await worker.stop();
  });

  it('runs again for a nudge that came during the run', async () => {
    const holder: { nudge?: (tenant: string) => void } = {};
    let first = true;
    const { worker, runs, advanceTo } = workerOf({
      run: () => {
        if (first) holder.nudge?.('a');
        first = false;
        return 'idle';
      },
    });
    holder.nudge = (tenant) => worker.nudge(tenant);
    worker.start();
    await advanceTo(0);
    worker.nudge('a');
    await advanceTo(1_000);
    expect(runs).to.have.length(2);
    await worker.stop();
  });

  it('pauses as a whole while the model is away: 1 s, doubling to 30 s, and starts anew after a success', async () => {
    let away = true;
    const { worker, runs, errors, advanceTo } = workerOf({
      run: () => {
        if (away) throw new HindsightError('ERR_EMBEDDING_UNAVAILABLE');
        return 'idle';
      },
    });
    worker.start();
    await advanceTo(0);
    worker.nudge('a');
    await advanceTo(120_000);
    expect(errors.slice(0, 7)).to.deep.equal([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    const before = runs.length;
    worker.nudge('b');
    await advanceTo(120_100);
    expect(runs.length, 'a nudge does not end the pause').to.equal(before);
    away = false;
    await advanceTo(160_000);
    expect(new Set(runs.slice(before).map(([tenant]) => tenant))).to.deep.equal(new Set(['a', 'b']));
    away = true;
    worker.nudge('a');
    await advanceTo(160_100);
    expect(errors.at(-1)).to.equal(1_000);
    await worker.stop();
  });

  it('backs off one tenant for a fault of its own while the others go on', async () => {
    const { worker, runs, advanceTo } = workerOf({
      run: (tenant) => {
        if (tenant === 'bad') throw new Error('a broken record');
        return 'idle';
      },
    });
    worker.start();
    await advanceTo(0);
    worker.nudge('bad');
    await advanceTo(500);
    worker.nudge('bad');
    worker.nudge('good');
    await advanceTo(900);
    expect(runs.map(([tenant]) => tenant)).to.deep.equal(['bad', 'good']);
    await advanceTo(1_100);
    expect(runs.map(([tenant]) => tenant)).to.deep.equal(['bad', 'good', 'bad']);
    await worker.stop();
  });

  it('survives a look that fails', async () => {
    let fails = true;
    const { worker, runs, advanceTo } = workerOf({
      due: () => {
        if (fails) throw new HindsightError('ERR_STORE_UNAVAILABLE');
        return ['a'];
      },
    });
    worker.start();
    await advanceTo(0);
    fails = false;
    await advanceTo(6_000);
    expect(runs.map(([tenant]) => tenant)).to.deep.equal(['a']);
    await worker.stop();
  });

  it('finishes the batch that runs before stop() resolves, and begins none after', async () => {
    let finish: (() => void) | undefined;
    let signal: AbortSignal | undefined;
    let begin: (() => void) | undefined;
    const started = new Promise<void>((resolve) => (begin = resolve));
    const { worker, runs, advanceTo } = workerOf({
      run: async (_tenant, run): Promise<'more'> => {
        signal = run.signal;
        begin?.();
        await new Promise<void>((done) => (finish = done));
        return 'more';
      },
    });
    worker.start();
    await advanceTo(0);
    worker.nudge('a');
    void advanceTo(1_000);
    await started;
    let stopped = false;
    const stopping = worker.stop().then(() => (stopped = true));
    expect(signal?.aborted).to.equal(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(stopped).to.equal(false);
    finish?.();
    await stopping;
    expect(stopped).to.equal(true);
    expect(runs).to.have.length(1);
  });
});
