import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { EmbeddingThread, type EmbeddingThreadOptions } from '../../../../src/providers/embedding/embedding-thread.ts';
import { EmbeddingRejected, EmbeddingUnavailable } from '../../../../src/providers/embedding/provider.ts';

const entry = new URL('./fixtures/worker.ts', import.meta.url);
const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );
const causeOf = (error: unknown): string => ((error as Error).cause as Error).message;

/** Tries until it succeeds or 10 s have gone. */
async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

describe('EmbeddingThread', () => {
  let thread: EmbeddingThread;
  const open = (options: Partial<EmbeddingThreadOptions> = {}): EmbeddingThread =>
    (thread = new EmbeddingThread({ entry, workerData: {}, firstRestartDelayMs: 50, ...options }));
  const run = (text: string): Promise<Float32Array> => thread.run('zh', text);

  afterEach(() => thread.close());

  it('starts on the first text and answers texts one after the other', async () => {
    open();
    expect((await run('four'))[0]).to.equal(4);
    expect((await run('three'))[0]).to.equal(5);
  });

  for (const how of ['crash', 'exit']) {
    it(`fails the text that makes the worker ${how}, refuses more until the restart, then works again`, async () => {
      open();
      await thread.start();
      const error = await errorOf(run(how));
      expect(error).to.be.instanceOf(EmbeddingUnavailable);
      expect(causeOf(await errorOf(run('too early')))).to.equal('the embedding worker died and waits for its restart');
      expect((await eventually(() => run('back')))[0]).to.equal(4);
    });
  }

  it('ends a worker that does not answer in time and replaces it', async () => {
    open({ textTimeoutMs: 50 });
    await thread.start();
    expect(causeOf(await errorOf(run('hang')))).to.equal('the embedding worker gave no answer in 50 ms');
    expect((await eventually(() => run('back')))[0]).to.equal(4);
  });

  it('passes a refused text and a failed run on as what they are, and keeps the worker', async () => {
    open();
    expect(await errorOf(run('reject'))).to.be.instanceOf(EmbeddingRejected);
    expect(await errorOf(run('fail'))).to.be.instanceOf(EmbeddingUnavailable);
    expect((await run('next'))[0]).to.equal(4);
  });

  it('says why it cannot start and tries again by itself', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'embedding-thread-'));
    try {
      const startFile = join(folder, 'start');
      open({ workerData: { startFile } });
      expect(causeOf(await errorOf(thread.start()))).to.equal('no start file');
      await writeFile(startFile, '');
      await eventually(() => thread.start());
      expect((await run('four'))[0]).to.equal(4);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('waits longer after each failure in a row', async () => {
    open({ workerData: { startFile: '/nonexistent' }, firstRestartDelayMs: 40, maxRestartDelayMs: 10_000 });
    const begun = performance.now();
    // A real attempt fails with the worker's own words; the refusals while a restart waits are not attempts.
    for (let attempts = 0; attempts < 3;) {
      const error = await errorOf(thread.start());
      if (causeOf(error) === 'no start file') attempts += 1;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(performance.now() - begun).to.be.greaterThan(40 + 80);
  });

  it('fails what runs when it is closed and does not start again', async () => {
    open();
    await thread.start();
    const running = errorOf(run('hang'));
    await new Promise((resolve) => setImmediate(resolve));
    await thread.close();
    for (const error of [await running, await errorOf(run('later'))]) expect(causeOf(error)).to.equal('the embedding worker is closed');
  });
});
