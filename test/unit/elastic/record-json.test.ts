import { expect } from 'chai';
import fc from 'fast-check';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import { recordJson } from '../../../src/elastic/record-json.ts';
import { memoryRecord } from '../../support/records.ts';

const third = Math.fround(1 / 3);

describe('elastic/record-json', () => {
  it('cuts vector components to seven places, in the record and in its passages, and nothing else', () => {
    const record = memoryRecord({
      importance: third,
      vec_zh: [third, -third, 1, 0],
      passages: [{ start: 0, end: 4, text: 'text', vec_en: [third, 0] }],
      metadata: { vec_like: [third] },
    });
    expect(JSON.parse(recordJson(record))).to.deep.equal({
      ...record,
      vec_zh: [0.3333333, -0.3333333, 1, 0],
      passages: [{ start: 0, end: 4, text: 'text', vec_en: [0.3333333, 0] }],
    });
    expect(record.vec_zh, 'the caller’s record was changed').to.deep.equal([third, -third, 1, 0]);
  });

  it('spells every component as JSON reads its rounded value, and does not lose those beyond 1', () => {
    const component = fc.oneof(
      fc.double({ min: -1, max: 1, noNaN: true }),
      fc.constantFrom(1, -1, 0, -0, 0.99999996, -0.99999996, 5e-8, 1e-12),
    );
    fc.assert(
      fc.property(fc.array(component, { minLength: 1, maxLength: 600 }), (vector) => {
        const { vec_en: kept = [] } = JSON.parse(recordJson({ vec_en: vector })) as Partial<MemoryRecord>;
        expect(kept.map((x) => x + 0)).to.deep.equal(vector.map((x) => Math.round(x * 1e7) / 1e7 + 0));
      }),
    );
    expect(JSON.parse(recordJson({ vec_en: [1.5, -20, 0.1] }))).to.deep.equal({ vec_en: [1.5, -20, 0.1] });
  });

  it('keeps the direction of unit vectors far within what the index can tell apart', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 8, maxLength: 64 }), (raw) => {
        const norm = Math.hypot(...raw);
        fc.pre(norm > 0.1);
        const unit = raw.map((x) => x / norm);
        const { vec_en: kept = [] } = JSON.parse(recordJson({ vec_en: unit })) as Partial<MemoryRecord>;
        const cos = kept.reduce((sum, x, i) => sum + x * (unit[i] ?? 0), 0) / Math.hypot(...kept);
        expect(cos).to.be.closeTo(1, 1e-9);
      }),
    );
  });

  it('spells one line, whatever the text holds', () => {
    expect(recordJson({ content: 'a\nb\r\u2028c' })).not.to.match(/[\n\r]/);
  });
});
