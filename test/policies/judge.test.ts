/** policies/judge.yaml: its patterns against the examples beside them, in Chinese and English, and their speed. */
import { join } from 'node:path';
import { expect } from 'chai';
import { judgeSchema } from '../../src/guard/judge/policy.ts';
import { loadPolicy } from '../../src/policy.ts';
import { fastestMs } from '../support/fastest.ts';

const policy = loadPolicy(join(import.meta.dirname, '..', '..', 'policies', 'judge.yaml'), judgeSchema);

describe('the judge’s policy', () => {
  for (const kind of ['signs', 'to_judge'] as const) {
    const found = (text: string): boolean =>
      policy[kind].some((source) => new RegExp(source, 'u').test(text.normalize('NFKC').toLowerCase()));
    it(`${kind} find their examples and leave the others alone`, () => {
      for (const text of policy.examples[kind].match) expect(found(text), text).to.equal(true);
      for (const text of policy.examples[kind].pass) expect(found(text), text).to.equal(false);
    });

    it(`${kind} are quick over text made to slow them down`, () => {
      const pieces = ['you ', 'reviewer ', 'a', ' ', '审核', '请把这', '"class" ', 'mark this as ', 'without '];
      for (const source of policy[kind]) {
        const pattern = new RegExp(source, 'u');
        for (const piece of pieces) {
          const text = piece.repeat(Math.ceil(32_000 / piece.length));
          expect(
            fastestMs(() => pattern.test(text)),
            `${source.slice(0, 40)} on ${piece}`,
          ).to.be.below(150);
        }
      }
    });
  }

  it('judges every foreign text, holds back and does not block', () => {
    expect(policy.share).to.include({ external: 1, tool_output: 1 });
    expect(policy.max_verdict).to.equal('quarantine');
  });
});
