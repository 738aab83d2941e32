import { expect } from 'chai';
import { Corpus } from '../../../bench/support/corpus.ts';
import { batchBody, batches } from '../../../bench/support/import.ts';
import { VectorSource } from '../../../bench/support/vectors.ts';
import { LIMITS } from '../../../src/domain/wire/common.ts';
import { writeItem } from '../../../src/domain/wire/write.ts';
import { hasHan } from '../../../src/text/script.ts';

const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0);
const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

describe('bench corpus', () => {
  const options = { seed: 5, namespaces: 4, vectors: true };

  it('makes the same memories and questions from the same seed, others from another', () => {
    const once = new Corpus(options);
    const again = new Corpus(options);
    expect(once.next(20)).to.deep.equal([...again.next(12), ...again.next(8)]);
    expect(once.queries(10)).to.deep.equal(again.queries(10));
    expect(new Corpus({ ...options, seed: 6 }).next(20)).to.not.deep.equal(new Corpus(options).next(20));
  });

  it('makes items that fit the wire schema, in both languages, in every namespace, with a vector for each space the text calls for', () => {
    const items = new Corpus(options).next(60);
    for (const item of items) {
      writeItem.parse(item);
      expect(Object.keys(item.vectors ?? {})).to.include('zh');
      if (!hasHan(item.content)) expect(item.vectors?.['en']).to.have.length(384);
      expect(item.vectors?.['zh']).to.have.length(512);
      expect(item.content).to.not.match(/[{}]/);
    }
    expect(items.filter((item) => hasHan(item.content)).length).to.be.within(15, 45);
    expect(new Set(items.map((item) => item.namespace))).to.have.property('size', 4);
  });

  it('asks each question once', () => {
    const queries = new Corpus(options).queries(200).map((q) => q.query);
    expect(new Set(queries).size).to.equal(200);
  });

  it('makes unit vectors that are nearer within a cluster than across', () => {
    const source = new VectorSource(64, 9);
    const [a, b, c] = [1, 2, 3].map((cluster) => Array.from({ length: 20 }, () => source.next(cluster)));
    for (const vector of [...(a ?? []), ...(b ?? [])]) expect(dot(vector, vector)).to.be.closeTo(1, 1e-4);
    const pairs = (x: number[][] = [], y: number[][] = []): number => mean(x.flatMap((v, i) => y.slice(i + 1).map((w) => dot(v, w))));
    expect(pairs(a, a)).to.be.greaterThan(pairs(a, c) + 0.3);
  });

  it('cuts batches by count and by bytes, in order and without loss', () => {
    const items = Array.from({ length: 25 }, (_, i) => ({ n: i, text: 'x'.repeat(i === 7 ? 900 : 10) }));
    const made = batches(items, 10, 1_000);
    expect(made.flat()).to.deep.equal(items);
    for (const batch of made) {
      expect(batch.length).to.be.at.most(10);
      expect(Buffer.byteLength(batchBody(batch))).to.be.at.most(1_000 + '{"items":[]}'.length);
    }
    expect(batches(new Corpus(options).next(LIMITS.batchItems), LIMITS.batchItems)).to.have.length(1);
  });
});
