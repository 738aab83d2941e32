import { expect } from 'chai';
import { CachedEmbeddingProvider } from '../../../../src/providers/embedding/cached.ts';
import { EmbeddingUnavailable, type EmbeddingKind, type EmbeddingProvider } from '../../../../src/providers/embedding/provider.ts';

/** A provider that notes its calls; each ends when the test says so. */
class Recorder implements EmbeddingProvider {
  readonly profile = 'local';
  readonly spaces = [];
  readonly calls: { texts: readonly string[]; kind: EmbeddingKind; signal: AbortSignal | undefined }[] = [];
  readonly ends: { ok: () => void; fail: (error: Error) => void }[] = [];
  closed = false;

  spacesForText(): readonly string[] {
    return ['zh'];
  }

  spacesForQuery(): readonly string[] {
    return ['zh'];
  }

  embed(_space: string, texts: readonly string[], kind: EmbeddingKind, signal?: AbortSignal): Promise<Float32Array[]> {
    this.calls.push({ texts, kind, signal });
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
      this.ends.push({ ok: () => resolve(texts.map((text) => Float32Array.of(text.length, 7))), fail: reject });
    });
  }

  async ready(): Promise<void> {}

  async close(): Promise<void> {
    this.closed = true;
  }
}

const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('CachedEmbeddingProvider', () => {
  let inner: Recorder;
  let cache: CachedEmbeddingProvider;
  const query = (texts: string[], space = 'zh', signal?: AbortSignal): Promise<Float32Array[]> =>
    cache.embed(space, texts, 'query', signal);
  const answer = async (call: Promise<Float32Array[]>): Promise<number[]> => {
    inner.ends.at(-1)?.ok();
    return (await call).map((vector) => vector[0] ?? -1);
  };

  beforeEach(() => {
    inner = new Recorder();
    cache = new CachedEmbeddingProvider(inner, 3);
  });

  it('asks the model once for a repeated query, apart for another space', async () => {
    expect(await answer(query(['tea']))).to.deep.equal([3]);
    expect((await query(['tea'])).map((v) => v[0])).to.deep.equal([3]);
    expect(inner.calls).to.have.length(1);
    await answer(query(['tea'], 'en'));
    expect(inner.calls).to.have.length(2);
    expect(cache.stats()).to.deep.equal({ entries: 2, hits: 1, misses: 2, shared: 0 });
  });

  it('asks only for the texts that it lacks and keeps the order', async () => {
    await answer(query(['bb']));
    expect(await answer(query(['a', 'bb', 'ccc', 'a']))).to.deep.equal([1, 2, 3, 1]);
    expect(inner.calls[1]?.texts).to.deep.equal(['a', 'ccc']);
  });

  it('drops the least recently used entry above its size', async () => {
    for (const text of ['1', '22', '333']) await answer(query([text]));
    await query(['1']);
    await answer(query(['4444']));
    expect(cache.stats().entries).to.equal(3);
    await query(['1']);
    expect(inner.calls).to.have.length(4);
    await answer(query(['22']));
    expect(inner.calls).to.have.length(5);
  });

  it('never keeps passages', async () => {
    for (let i = 0; i < 2; i += 1) await answer(cache.embed('zh', ['text'], 'passage'));
    expect(inner.calls).to.have.length(2);
    expect(cache.stats().entries).to.equal(0);
  });

  it('gives each caller a copy of its own', async () => {
    await answer(query(['tea']));
    const [mine] = await query(['tea']);
    mine?.fill(99);
    expect((await query(['tea']))[0]?.[0]).to.equal(3);
  });

  it('shares one call between equal queries at the same time', async () => {
    const both = [query(['tea']), query(['tea', 'tea'])] as const;
    inner.ends[0]?.ok();
    expect((await both[0]).length + (await both[1]).length).to.equal(3);
    expect(inner.calls).to.have.length(1);
    expect(cache.stats()).to.include({ misses: 1, shared: 1 });
  });

  it('does not let one caller’s abort end a call that another waits for', async () => {
    const abort = new AbortController();
    const leaver = errorOf(query(['tea'], 'zh', abort.signal));
    const stayer = query(['tea']);
    abort.abort('gone');
    expect(await leaver).to.equal('gone');
    expect(inner.calls[0]?.signal?.aborted).to.equal(false);
    expect(await answer(stayer)).to.deep.equal([3]);
  });

  it('ends the call when its last caller has gone, and a new query does not join it', async () => {
    const abort = new AbortController();
    const leaver = errorOf(query(['tea'], 'zh', abort.signal));
    abort.abort('gone');
    expect(await leaver).to.equal('gone');
    expect(inner.calls[0]?.signal?.aborted).to.equal(true);
    expect(await answer(query(['tea']))).to.deep.equal([3]);
    expect(inner.calls).to.have.length(2);
  });

  it('keeps no failure', async () => {
    const failed = errorOf(query(['tea']));
    inner.ends[0]?.fail(new EmbeddingUnavailable('down'));
    expect(await failed).to.be.instanceOf(EmbeddingUnavailable);
    expect(await answer(query(['tea']))).to.deep.equal([3]);
  });

  it('refuses an aborted query even when it knows the vector', async () => {
    await answer(query(['tea']));
    expect(await errorOf(query(['tea'], 'zh', AbortSignal.abort('gone')))).to.equal('gone');
  });

  it('closes the provider behind it', async () => {
    await cache.close();
    expect(inner.closed).to.equal(true);
  });
});
