/** What people see: nothing stored can act on their terminal, lines fit, and exit codes tell what happened. */
import { expect } from 'chai';
import fc from 'fast-check';
import { printForgotten, printWritten } from '../../../src/cli/human/changes.ts';
import { printHistory, printHits, printList, printMemory } from '../../../src/cli/human/memories.ts';
import { printPlain } from '../../../src/cli/human/print.ts';
import { columnsOf, cut, inert, oneLine, penFor, table, type Pen } from '../../../src/cli/human/text.ts';
import { GUARD, MEMORY_ID, TRUST, VIEW } from '../http/support/memory-double.ts';

const PLAIN: Pen = { columns: 60, isTerminal: false, paint: (_colour, text) => text };
const HOSTILE = 'a\u001b[2J\u0007b\u202ec\u{e0041}d\r\u009be';

describe('inert', () => {
  it('shows controls, bidirectional marks and tags as codes', () => {
    expect(inert(HOSTILE)).to.equal('a\\u{1b}[2J\\u{7}b\\u{202e}c\\u{e0041}d\\u{d}\\u{9b}e');
    expect(inert('龙井\t茶\n🍵')).to.equal('龙井\t茶\n🍵');
  });

  it('leaves no control character in any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(inert(text)).not.to.match(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
        expect(oneLine(text)).not.to.contain('\n');
      }),
    );
  });
});

describe('lines', () => {
  it('counts wide characters twice and cuts at the edge', () => {
    expect([columnsOf('tea'), columnsOf('龙井'), columnsOf('é')]).to.deep.equal([3, 4, 1]);
    expect(cut('喜欢喝龙井茶', 7)).to.equal('喜欢喝…');
    expect(cut('short', 7)).to.equal('short');
  });

  it('aligns columns of a table by what is seen', () => {
    expect(
      table(
        PLAIN,
        ['k', 'v'],
        [
          ['茶', 'tea'],
          ['abc', 'x'],
        ],
      ),
    ).to.equal('k    v\n茶   tea\nabc  x\n');
  });

  it('colours at a terminal alone', () => {
    const stdout = (isTTY: boolean): never => ({ isTTY, columns: 80 }) as never;
    expect(penFor({ env: {}, stdout: stdout(true) }).paint('red', 'x')).to.equal('\u001b[31mx\u001b[0m');
    expect(penFor({ env: { NO_COLOR: '1' }, stdout: stdout(true) }).paint('red', 'x')).to.equal('x');
    expect(penFor({ env: {}, stdout: stdout(false) }).paint('red', 'x')).to.equal('x');
  });
});

describe('printers', () => {
  const hit = {
    ...VIEW,
    content: HOSTILE,
    subject: HOSTILE,
    tags: [],
    score: 0.731,
    reference_only: true,
    trust: { ...TRUST, tier: 'external' as const },
  };
  const search = { hits: [hit], nothing_relevant: false, degraded: [], took_ms: 1, trace_id: 't' };

  it('make everything stored inert', () => {
    const texts = [
      printHits(search, PLAIN, 'en').text,
      printList({ items: [{ ...VIEW, content: HOSTILE }], next_cursor: null, trace_id: 't' }, PLAIN, 'en').text,
      printMemory({ ...VIEW, content: HOSTILE, metadata: { [HOSTILE]: HOSTILE }, tags: [HOSTILE] }, PLAIN, 'zh').text,
      printForgotten(
        {
          forgotten: 0,
          memory_ids: [],
          count: 1,
          trace_id: 't',
          sample: [{ memory_id: MEMORY_ID, content: HOSTILE, created_at: VIEW.created_at, reference_only: false }],
        },
        PLAIN,
        'en',
      ).text,
      printPlain({ [HOSTILE]: [HOSTILE, { x: HOSTILE }] }).text,
      printHistory(
        {
          memory_id: MEMORY_ID,
          trace_id: 't',
          versions: [
            {
              version: 2,
              content: HOSTILE,
              status: 'active',
              valid_from: VIEW.created_at,
              changed_by: { actor: 'user' },
              trust: TRUST,
              reference_only: false,
              changes: [{ field: 'summary', after: HOSTILE }],
            },
          ],
        },
        PLAIN,
        'en',
      ).text,
    ];

    for (const text of texts)
      expect(text)
        .to.match(/u\{1b\}/)
        .and.not.match(/[\u001b\u0007\u202e\u009b]/);
  });

  it('say how far a hit is trusted, and when nothing answers', () => {
    expect(printHits(search, PLAIN, 'en').text)
      .to.match(/^0\.73 {2}a/)
      .and.match(/external, reference only/);
    expect(printHits({ ...search, hits: [] }, PLAIN, 'zh').text).to.equal('没有相关的记忆。\n');
    expect(printHits({ ...search, nothing_relevant: true, degraded: ['vector'] }, PLAIN, 'en').text)
      .to.match(/^Nothing remembered answers this; the nearest:/)
      .and.match(/! without: vector\n$/);
  });

  it('show the turns around a hit, and why others did not come back, inert', () => {
    const turn = {
      memory_id: 'm',
      turn: 3,
      content: HOSTILE,
      trust: TRUST,
      reference_only: true,
      created_at: '2026-01-01T00:00:00Z',
      status: 'active',
      tokens: 4,
    };
    const why = { memory_id: HOSTILE, outcome: 'status' as const, sentence: 'Its status is archived' };
    const { text } = printHits({ ...search, hits: [{ ...hit, neighbours: [turn] }], why_not: [why] }, PLAIN, 'en');
    expect(text)
      .to.match(/\n {6}3: /)
      .and.match(/\nstatus {2}.*Its status is archived\n$/)
      .and.not.match(/[\u001b\u0007\u202e\u009b]/);
    expect(printHits({ ...search, hits: [], why_not: [why] }, PLAIN, 'en').text).to.match(/^Nothing remembered.*\nstatus {2}/);
  });

  it('say which form a hit has and how many did not fit the budget', () => {
    const cut = { ...search, hits: [{ ...hit, form: 'summary' as const, tokens: 5 }], left_out: 2 };
    expect(printHits(cut, PLAIN, 'en').text).to.match(/ \[summary\]\n[^]*! 2 more did not fit the budget\n$/);
    expect(printHits({ ...cut, hits: [] }, PLAIN, 'zh').text).to.equal('! 另有 2 条超出 token 上限\n');
    expect(printHits({ ...cut, hits: [{ ...hit, form: 'whole' }], left_out: 0 }, PLAIN, 'en').text).to.not.match(
      /\[(?:whole|summary)|more did not fit/,
    );
  });

  it('say what a hit was before, since when it holds, and that it is in doubt', () => {
    const of = (more: object): string => printHits({ ...search, hits: [{ ...hit, ...more }] }, PLAIN, 'en').text;
    const until = '2026-02-10T08:00:00.000Z';
    expect(of({ was: { content: HOSTILE, until } })).to.match(/\n {6}until 2026-02-10: a\\u\{1b\}/);
    expect(of({ doubt: 0.5, status: 'conflict' })).to.match(/ \[conflict, possibly outdated\]\n/);
    expect(of({ valid_from: '2026-01-01T00:00:00.000Z', valid_to: until })).to.match(/\n {6}2026-01-01 – 2026-02-10\n/);
    const zh = printHits({ ...search, hits: [{ ...hit, doubt: 1, valid_from: until }] }, PLAIN, 'zh').text;
    expect(zh).to.contain('[可能已过时]').and.to.contain('2026-02-10 – 现在');
  });

  it('leave with 1 when nothing was stored', () => {
    const result = (outcome: 'stored' | 'blocked' | 'duplicate' | 'invalid') => ({
      results: [{ memory_id: null, outcome, settled: true, replaced: [], masked: [], guard: GUARD }],
      trace_id: 't',
    });
    expect(printWritten(result('stored'), PLAIN, 'en').exitCode).to.equal(0);
    expect(printWritten(result('duplicate'), PLAIN, 'en').exitCode).to.equal(0);
    expect(printWritten(result('blocked'), PLAIN, 'en')).to.deep.equal({ text: 'blocked\n', exitCode: 1 });
    expect(printWritten(result('invalid'), PLAIN, 'zh')).to.deep.equal({ text: '无效\n', exitCode: 1 });
  });
});
