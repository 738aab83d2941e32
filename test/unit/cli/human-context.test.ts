import { expect } from 'chai';
import { printContext } from '../../../src/cli/human/context.ts';
import type { Pen } from '../../../src/cli/human/text.ts';
import type { ContextAnswer } from '../../../src/domain/wire/context.ts';

const pen = (isTerminal: boolean): Pen => ({ columns: 60, isTerminal, paint: (_colour, text) => text });
const ANSWER: ContextAnswer = {
  context: '## Facts\n- Ana: tea\u001b[2J',
  items: [
    {
      memory_id: null,
      layer: 'working',
      tokens: 5,
      score: null,
      trust: { tier: 'user_stated' },
      reference_only: false,
      at: '2026-05-04T09:30:00.000Z',
    },
  ],
  tokens: 9,
  nothing_relevant: false,
  degraded: ['vector'],
  took_ms: 1,
  trace_id: 't',
};

describe('cli/human/context', () => {
  it('prints the block, inert, and at a terminal what it costs and lacks', () => {
    expect(printContext(ANSWER, pen(false), 'en').text).to.equal('## Facts\n- Ana: tea\\u{1b}[2J\n');
    expect(printContext(ANSWER, pen(true), 'zh').text).to.equal('## Facts\n- Ana: tea\\u{1b}[2J\n\n1 条，约 9 个 token\n! 缺少：vector\n');
  });

  it('tells an empty block from one that the budget does not hold', () => {
    const empty = { ...ANSWER, context: '', items: [], tokens: 0, degraded: [] };
    expect(printContext({ ...empty, nothing_relevant: true }, pen(true), 'en').text).to.equal('Nothing remembered is relevant.\n');
    expect(printContext(empty, pen(true), 'en').text).to.equal('Nothing fits into this token budget.\n');
  });
});
