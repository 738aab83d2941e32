import { expect } from 'chai';
import fc from 'fast-check';
import { chooseSentences } from '../../../../src/memory/summary/choose.ts';
import { rankSentences } from '../../../../src/memory/summary/rank.ts';
import { inTime, quotable, termsOf, type Sentence } from '../../../../src/memory/summary/sentence.ts';

const NOBODY = (): undefined => undefined;
const DAY_MS = 86_400_000;

function sentence(text: string, day: number, more: Partial<Sentence> = {}): Sentence {
  return { text, memoryIds: [`m${day}`], atMs: day * DAY_MS, place: 1, worth: 0.7, terms: termsOf(text), ...more };
}

const LOG = [
  'The release train leaves on Thursday at nine.',
  'Ana moved the release train to Friday because of the audit.',
  'Lunch was fine.',
  'The audit found two open ports on the build server.',
  'The build server was closed behind the firewall after the audit.',
  'Someone sang in the corridor.',
  'The release train left on Friday with eleven fixes.',
  '发布列车周五出发，带着十一个修复。',
  '审计发现构建服务器有两个开放端口。',
].map((text, i) => sentence(text, i + 1));

const summary = (given: readonly Sentence[], sentences: number, query?: string, chars = 10_000) =>
  chooseSentences(rankSentences(given, query === undefined ? undefined : termsOf(query)), { sentences, chars }, NOBODY);

describe('memory/summary ranking', () => {
  it('prefers what others speak of too to what stands alone', () => {
    const texts = summary(LOG, 4).map(({ text }) => text);
    expect(texts).not.to.include('Lunch was fine.').and.not.to.include('Someone sang in the corridor.');
  });

  it('answers in the order of time, the same whatever order the sentences came in', () => {
    const once = summary(LOG, 4);
    expect(once.map(({ atMs }) => atMs)).to.deep.equal([...once.map(({ atMs }) => atMs)].sort((a, b) => a - b));
    fc.assert(
      fc.property(fc.shuffledSubarray(LOG, { minLength: LOG.length }), (shuffled) => {
        expect(summary([...shuffled].sort(inTime), 4)).to.deep.equal(once);
      }),
      { numRuns: 20 },
    );
  });

  it('follows a query, in Chinese and in English', () => {
    expect(summary(LOG, 1, 'which open ports did the audit find').map(({ text }) => text)).to.deep.equal([
      'The audit found two open ports on the build server.',
    ]);
    expect(summary(LOG, 1, '审计发现了什么').map(({ text }) => text)).to.deep.equal(['审计发现构建服务器有两个开放端口。']);
  });

  it('says each thing once: near copies take one place, and what vectors find alike comes last', () => {
    const copies = [
      ...Array.from({ length: 6 }, (_, i) => sentence(`The release train leaves on Thursday at nine sharp${'!'.repeat(i)}`, 20 + i)),
      sentence('The audit found two open ports.', 30),
    ];
    expect(summary(copies, 5).map(({ text }) => text)).to.have.length(2);
    const paraphrases = [
      sentence('Ana drinks oat tea at dawn.', 1),
      sentence('Her morning beverage contains cereal.', 2),
      sentence('Ports closed.', 3),
    ];
    const alike = chooseSentences(rankSentences(paraphrases, undefined), { sentences: 2, chars: 1_000 }, (a, b) =>
      a.memoryIds[0] !== 'm3' && b.memoryIds[0] !== 'm3' ? 1 : 0,
    );
    expect(alike.map(({ memoryIds }) => memoryIds[0]))
      .to.include('m3')
      .and.to.have.length(2);
  });

  it('weighs what matters more', () => {
    const [plain, pinned] = [sentence('Alpha beta gamma delta.', 1, { worth: 0.2 }), sentence('Epsilon zeta eta theta.', 2, { worth: 1 })];
    expect(summary([plain, pinned], 1))
      .to.have.length(1)
      .and.to.have.nested.property('[0].text', pinned.text);
  });

  it('keeps to its budget of characters and passes over what is too long for it', () => {
    const texts = summary(LOG, 20, undefined, 100);
    expect(texts.reduce((sum, { text }) => sum + text.length, 0)).to.be.within(1, 100);
    expect(summary(LOG, 20, undefined, 5)).to.deep.equal([]);
    expect(summary([], 5)).to.deep.equal([]);
  });

  it('shortlists thousands from every part of the time, in bounded work', () => {
    const busy = Array.from({ length: 4_000 }, (_, i) => sentence(`Build ${i} of the release train passed on runner ${i % 7}.`, i));
    const quiet = Array.from({ length: 400 }, (_, i) => sentence(`The garden of house ${i} grew beans and peas.`, 5_000 + i));
    const ranked = rankSentences([...busy, ...quiet], undefined);
    expect(ranked).to.have.length(300);
    expect(ranked.filter(({ text }) => text.includes('garden'))).to.have.length.within(20, 40);
  });

  it('finds the same with sentences that have no term in common, or none at all', () => {
    const odd = [sentence('!!!', 1, { terms: [] }), sentence('Quartz.', 2), sentence('Velvet.', 3)];
    for (const { score } of rankSentences(odd, undefined)) expect(score).to.be.within(0, 1);
  });
});

describe('memory/summary quotes', () => {
  it('divides a sentence that is too long at its clauses, and loses nothing but white space', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('word ', '词', '，', 'long'.repeat(30), '😀'), { maxLength: 300 }).map((parts) => parts.join('')),
        (text) => {
          const parts = quotable(text);
          expect(parts.join('').replaceAll(' ', '')).to.equal(text.replaceAll(' ', ''));
          for (const part of parts) {
            expect(part.length).to.be.at.most(400);
            expect(text).to.contain(part);
            expect(part.isWellFormed()).to.equal(true);
          }
        },
      ),
    );
  });
});
