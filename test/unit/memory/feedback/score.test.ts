import { expect } from 'chai';
import fc from 'fast-check';
import { FEEDBACK_VERDICTS, type FeedbackVerdict, type KeptFeedback } from '../../../../src/domain/feedback.ts';
import { scoreOf, voted } from '../../../../src/memory/feedback/score.ts';
import { drawnOn } from '../../../../src/memory/feedback/drawn-on.ts';

const day = (n: number): string => `2026-03-${String(n).padStart(2, '0')}T08:00:00.000Z`;
const after = (ballots: readonly { by: string; verdict: FeedbackVerdict; below?: boolean; day?: number }[]): KeptFeedback | undefined =>
  ballots.reduce<KeptFeedback | undefined>(
    (kept, { by, verdict, below = false, day: n = 1 }) => voted(kept, { by, verdict, below, nowIso: day(n) }) ?? kept,
    undefined,
  );
const score = (...ballots: Parameters<typeof after>[0]): number => after(ballots)?.feedback.score ?? 0;

describe('the score of feedback', () => {
  it('counts a principal once a verdict and day, and by what it said last', () => {
    const kept = after([
      { by: 'a', verdict: 'useful' },
      { by: 'a', verdict: 'useful' },
      { by: 'a', verdict: 'useful', day: 2 },
      { by: 'a', verdict: 'wrong', day: 3 },
    ]);
    expect(kept?.feedback).to.deep.include({ useful: 2, wrong: 1, outdated: 0, cited: 0, last_at: day(3) });
    expect(kept?.votes).to.have.length(1);
    expect(kept?.feedback.score).to.be.closeTo(-1 / 3, 1e-9);
    expect(voted(kept, { by: 'a', verdict: 'wrong', below: false, nowIso: day(3) })).to.equal(undefined);
  });

  it('lies where the verdicts say: wrong below outdated below none below cited below useful, more with more principals', () => {
    const one = (verdict: FeedbackVerdict): number => score({ by: 'a', verdict });
    expect(one('wrong')).to.be.below(one('outdated'));
    expect(one('outdated')).to.be.below(0);
    expect(one('cited')).to.be.within(0.1, one('useful') - 0.01);
    expect(score({ by: 'a', verdict: 'useful' }, { by: 'b', verdict: 'useful' })).to.be.above(one('useful'));
    // cited after useful takes nothing away
    expect(score({ by: 'a', verdict: 'useful' }, { by: 'a', verdict: 'cited' })).to.equal(one('useful'));
  });

  it('is moved by any number of less trusted principals no further than by half a vote', () => {
    const crowd = Array.from({ length: 100 }, (_, i) => ({ by: `agent ${i}`, verdict: 'wrong' as const, below: true }));
    expect(score(...crowd)).to.be.closeTo(-0.2, 1e-9);
    expect(score({ by: 'ann', verdict: 'useful' }, ...crowd)).to.be.above(0.1);
  });

  it('stays within -1 and 1, and one principal can move it by a third at most of what is possible', () => {
    const ballot = fc.record({
      by: fc.integer({ min: 0, max: 8 }).map(String),
      verdict: fc.constantFrom(...FEEDBACK_VERDICTS),
      below: fc.boolean(),
      day: fc.integer({ min: 1, max: 9 }),
    });
    fc.assert(
      fc.property(fc.array(ballot, { maxLength: 60 }), ballot, (ballots, one) => {
        const kept = after(ballots);
        const before = kept?.feedback.score ?? 0;
        const others = scoreOf((kept?.votes ?? []).filter((vote) => vote.by !== one.by));
        const next = (voted(kept, { ...one, nowIso: day(one.day) }) ?? kept)?.feedback.score ?? 0;
        expect(Math.abs(before)).to.be.below(1);
        expect(Math.abs(next - others)).to.be.at.most(2 / 3);
      }),
    );
  });

  it('remembers 256 principals and no more', () => {
    const kept = after(Array.from({ length: 256 }, (_, i) => ({ by: String(i), verdict: 'useful' as const })));
    expect(voted(kept, { by: 'one more', verdict: 'wrong', below: false, nowIso: day(2) })).to.equal(undefined);
    expect(voted(kept, { by: '7', verdict: 'wrong', below: false, nowIso: day(2) })?.votes).to.have.length(256);
  });
});

describe('what an answer draws on', () => {
  it('is told by half of the words or by a code, in both languages', () => {
    expect(drawnOn('Ana prefers green tea in the morning', 'In the morning Ana likes green tea.')).to.equal(true);
    expect(drawnOn('Ana prefers green tea in the morning', 'The train leaves at noon.')).to.equal(false);
    expect(drawnOn('Ticket A-7001 was closed by Maria', 'That was A-7001.')).to.equal(true);
    expect(drawnOn('李明对花生过敏', '他对花生过敏，请避开。')).to.equal(true);
    expect(drawnOn('李明对花生过敏', '会议改到周五。')).to.equal(false);
  });
});
