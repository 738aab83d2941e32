import { expect } from 'chai';
import { EmbeddingQueue, type QueueLimits } from '../../../../src/providers/embedding/embedding-queue.ts';
import { EmbeddingRejected, EmbeddingUnavailable } from '../../../../src/providers/embedding/provider.ts';

/** A queue whose model is worked by hand: each step answers the text at its head. */
function byHand(limits?: QueueLimits) {
  const seen: string[] = [];
  const waiting: { resolve: (v: Float32Array) => void; reject: (e: Error) => void }[] = [];
  const queue = new EmbeddingQueue(
    (_space, text) =>
      new Promise((resolve, reject) => {
        seen.push(text);
        waiting.push({ resolve, reject });
      }),
    limits,
  );
  const settle = async (act: (head: (typeof waiting)[number]) => void): Promise<void> => {
    const head = waiting.shift();
    if (head === undefined) throw new Error('nothing is being embedded');
    act(head);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    queue,
    seen,
    idle: () => waiting.length === 0,
    answer: () => settle((head) => head.resolve(Float32Array.of(seen.length))),
    fail: (error: Error) => settle((head) => head.reject(error)),
  };
}

const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('EmbeddingQueue', () => {
  it('embeds one text at a time and lets a query in between two passages of one call', async () => {
    const hand = byHand();
    const passages = hand.queue.submit('zh', ['p1', 'p2', 'p3'], 'passage');
    const query = hand.queue.submit('zh', ['q'], 'query');
    expect(hand.seen).to.deep.equal(['p1']);
    for (let i = 0; i < 4; i += 1) await hand.answer();
    expect(hand.seen).to.deep.equal(['p1', 'q', 'p2', 'p3']);
    expect((await passages).map((v) => v[0])).to.deep.equal([1, 3, 4]);
    expect((await query).map((v) => v[0])).to.deep.equal([2]);
    expect(hand.idle()).to.equal(true);
  });

  it('takes calls of one kind in the order they came', async () => {
    const hand = byHand();
    const calls = ['a', 'b', 'c'].map((text) => hand.queue.submit('zh', [text], 'passage'));
    for (let i = 0; i < 3; i += 1) await hand.answer();
    await Promise.all(calls);
    expect(hand.seen).to.deep.equal(['a', 'b', 'c']);
  });

  it('refuses a call above the limit of its kind, and never a query because passages wait', async () => {
    const hand = byHand({ query: 2, passage: 3 });
    const first = hand.queue.submit('zh', ['p1', 'p2'], 'passage');
    expect(await errorOf(hand.queue.submit('zh', ['p3', 'p4'], 'passage'))).to.be.instanceOf(EmbeddingUnavailable);
    const fits = hand.queue.submit('zh', ['p5'], 'passage');
    const query = hand.queue.submit('zh', ['q1', 'q2'], 'query');
    for (let i = 0; i < 5; i += 1) await hand.answer();
    await Promise.all([first, fits, query]);
    expect(hand.seen).to.deep.equal(['p1', 'q1', 'q2', 'p2', 'p5']);
  });

  it('takes a call that is larger than the limit when nothing waits', async () => {
    const hand = byHand({ query: 1, passage: 1 });
    const call = hand.queue.submit('zh', ['a', 'b'], 'passage');
    await hand.answer();
    await hand.answer();
    expect(await call).to.have.length(2);
  });

  it('drops an aborted call that waits without embedding any of it', async () => {
    const hand = byHand();
    const first = hand.queue.submit('zh', ['a'], 'passage');
    const abort = new AbortController();
    const second = errorOf(hand.queue.submit('zh', ['b', 'c'], 'passage', abort.signal));
    const third = hand.queue.submit('zh', ['d'], 'passage');
    abort.abort('gone');
    expect(await second).to.equal('gone');
    expect(hand.queue.waiting('passage')).to.equal(2);
    await hand.answer();
    await hand.answer();
    await Promise.all([first, third]);
    expect(hand.seen).to.deep.equal(['a', 'd']);
  });

  it('answers an abort at once while a text of the call is being embedded, and goes on after it', async () => {
    const hand = byHand();
    const abort = new AbortController();
    const first = errorOf(hand.queue.submit('zh', ['a', 'b'], 'passage', abort.signal));
    const second = hand.queue.submit('zh', ['c'], 'passage');
    abort.abort('gone');
    expect(await first).to.equal('gone');
    await hand.answer();
    await hand.answer();
    expect(await second).to.have.length(1);
    expect(hand.seen).to.deep.equal(['a', 'c']);
  });

  it('fails a call with the first refused text and its position, and serves the next call', async () => {
    const hand = byHand();
    const first = errorOf(hand.queue.submit('zh', ['a', 'b', 'c'], 'passage'));
    const second = hand.queue.submit('zh', ['d'], 'passage');
    await hand.answer();
    await hand.fail(new EmbeddingRejected('not finite'));
    await hand.answer();
    expect(await first).to.include({ code: 'ERR_EMBEDDING_REJECTED', textIndex: 1, detail: 'not finite' });
    await second;
    expect(hand.seen).to.deep.equal(['a', 'b', 'd']);
  });
});
