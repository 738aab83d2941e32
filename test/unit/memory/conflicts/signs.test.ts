/** Texts that differ in a sign, in brackets or in the case of a code are two, by every way in which two texts are called the same. */
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { WriteInput, WriteResult } from '../../../../src/domain/wire/write.ts';
import { printOf } from '../../../../src/memory/conflicts/keys.ts';
import { loadRelationPolicy } from '../../../../src/memory/conflicts/relation-policy.ts';
import { relationOf } from '../../../../src/memory/conflicts/relation.ts';
import { scan } from '../../../../src/memory/conflicts/values/scan.ts';
import { fingerprint } from '../../../../src/text/clean.ts';
import { createWorld } from '../../../support/memory-world.ts';
import { memoryRecord } from '../../../support/records.ts';

const policy = loadRelationPolicy(join(import.meta.dirname, '..', '..', '..', '..', 'policies'));
const kindOf = (older: string, newer: string): string => relationOf({ content: older }, { content: newer }, policy).kind;
const signsOf = (plain: string): readonly string[] =>
  scan(plain)
    .filter(({ type }) => type === 'sign')
    .map(({ text }) => text);

const TWO: readonly (readonly [string, string])[] = [
  ["Kim's limit is ≥10.", "Kim's limit is ≤10."],
  ['Kim voted ✅ on plan B.', 'Kim voted ❌ on plan B.'],
  ['Kim gave 👍 to the offer.', 'Kim gave 👎 to the offer.'],
  ['The build flag is !cache.', 'The build flag is cache.'],
  ['a != b holds', 'a = b holds'],
  ["Kim's team is 🇩🇪.", "Kim's team is 🇫🇷."],
  [
    'The flag is \u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}',
    'The flag is \u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}',
  ],
  ['The rating is ⭐⭐.', 'The rating is ⭐⭐⭐⭐⭐.'],
  ['☑ ship, ☐ test', '☐ ship, ☑ test'],
  ['The range is [0,1).', 'The range is (0,1].'],
  ['(A or B) and C', 'A or (B and C)'],
  ['A ⇒ B', 'B ⇒ A'],
  ['The set is A∪B', 'The set is A∩B'],
  ['The review: ✓', 'The review: ✗'],
  ['Kim drew ♠', 'Kim drew ♥'],
  ['The cat is ♀', 'The cat is ♂'],
  ['Traffic goes →', 'Traffic goes ←'],
  ['Deploy is 🔴', 'Deploy is 🟢'],
  ['I feel :)', 'I feel :('],
  ["Ana's box is 5’", 'Ana\'s box is 5"'],
  ['Tea (no sugar)', 'Tea, no, sugar'],
  ['不,可以吸烟。', '不可以吸烟。'],
  ['不要,停。', '不要停。'],
  ['The dose is .5 mg', 'The dose is 5 mg'],
  ['The score is 2:1', 'The score is 2 1'],
  ['It is –5 degrees', 'It is 5 degrees'],
  ['The tax is 5‰', 'The tax is 5'],
  ['Kim is vegan?', 'Kim is vegan.'],
  ['限额≥10元。', '限额≤10元。'],
  ['小李投了👍。', '小李投了👎。'],
  ['评审：✅', '评审：❌'],
  ['The video id is dQw4w9WgXcQ.', 'The video id is dqw4w9wgxcq.'],
  ['The owner of repo aBc is Kim.', 'The owner of repo abc is Kim.'],
  ['The coupon is ABC123.', 'The coupon is abc123.'],
  ['视频编号是dQw4w9WgXcQ。', '视频编号是dqw4w9wgxcq。'],
];

describe('signs and the case of codes', () => {
  for (const [one, other] of TWO)
    it(`tell ${JSON.stringify(one)} from ${JSON.stringify(other)}`, () => {
      expect(kindOf(one, other)).to.not.equal('same');
      expect(kindOf(other, one)).to.not.equal('same');
      expect(fingerprint(one)).to.not.equal(fingerprint(other));
    });

  it('tell any two texts apart of which one has a symbol or emoji more, or another one', () => {
    const symbol = fc.constantFrom(...'≥≤≠±∞∪∩⇒←→↑↓✅❌✓✗👍👎🔴🟢⭐☑☐♠♥♀♂€£%§†🎉🙂🙁');
    const shape = fc.constantFrom(
      'Ana lives in Rome X',
      'X Kim voted',
      "Kim's limit is X10",
      'The plan X is ready.',
      '小李X住在北京',
      '预算是X',
    );
    fc.assert(
      fc.property(symbol, symbol, shape, (one, other, text) => {
        const put = (sign: string): string => text.replace('X', sign);
        expect(kindOf(put(one), put(''))).to.not.equal('same');
        if (one !== other) expect(kindOf(put(one), put(other))).to.not.equal('same');
        expect(kindOf(put(one), put(one))).to.equal('same');
      }),
    );
  });

  it('leave texts the same that differ in marks which only dress or end them', () => {
    for (const [one, other] of [
      ['Ana moved to Munich!', 'Ana moved to Munich.'],
      ['Kim said “no” again', 'Kim said "no" again'],
      ['Ana, my sister, lives in Rome.', 'Ana my sister lives in Rome'],
      ['I use `npm` here', 'I use npm here'],
      ['太好了！我住在北京', '太好了。我住在北京'],
      ['Tea, no sugar, please', 'Tea; no sugar please.'],
      ['No sugar.', 'No sugar'],
      ['The PDFs are ready', 'the pdfs are ready'],
      ['Ticket T-81 is open', 'ticket t-81 is open'],
    ] as const)
      expect(kindOf(one, other), `${one} ${other}`).to.equal('same');
  });

  it('are opposites that speak against each other where they are a yes and a no', () => {
    expect(kindOf('Kim voted ✅ on plan B.', 'Kim voted ❌ on plan B.')).to.equal('unsure');
    expect(kindOf('小李给方案投了👍。', '小李给方案投了👎。')).to.be.oneOf(['unsure', 'different']);
    expect(kindOf("Kim's limit is ≥10.", "Kim's limit is ≤10.")).to.equal('changed');
  });

  it('are read from where they stand: an exclamation denies nothing, a decimal point begins a number', () => {
    expect(signsOf('Hello! I am here!')).to.deep.equal([]);
    expect(signsOf('use !cache')).to.deep.equal(['!']);
    expect(signsOf('.5 mg')).to.deep.equal(['.']);
    expect(signsOf('1.5 mg, 3 May')).to.deep.equal([]);
    expect(signsOf('⭐⭐')).to.deep.equal(['⭐', '⭐']);
    expect(signsOf('I did, not he')).to.deep.equal(['pause']);
  });

  it('of a topic keep two memories apart as those of their texts do', () => {
    const topic = (name: string): string => printOf(memoryRecord({ content: 'It works', subject: 'video', topic: name }), policy);
    expect(topic('dQw4w9WgXcQ')).to.not.equal(topic('dqw4w9wgxcq'));
    expect(topic('Status')).to.equal(topic('status'));
  });

  it('keep both memories that are written, one by one or in a batch', async () => {
    for (const [one, other] of TWO) {
      const items: WriteInput[] = [one, other].map((content) => ({ content, kind: 'fact' }));
      const world = createWorld();
      const { results: batch } = await world.memory.write({ items: items }, world.call());
      expect((batch[1] as WriteResult).outcome, `${one} ${other}`).to.not.equal('duplicate');
      const apart = createWorld();
      const outcomes: string[] = [];
      for (const item of items) outcomes.push(((await apart.memory.write(item, apart.call())).results[0] as WriteResult).outcome);
      expect(outcomes[1], `${one} ${other}`).to.not.equal('duplicate');
    }
  });
});

describe('a sentence that ends what an older one says', () => {
  for (const end of [
    "I don't work at Bosch any more.",
    "I don't work at Bosch anymore.",
    'I do not work at Bosch any longer.',
    'I no longer work at Bosch.',
  ])
    it(`is found to be near it by its words: ${end}`, async () => {
      const world = createWorld();
      const [stored] = (await world.memory.write({ content: 'I work at Bosch.', kind: 'fact' }, world.call())).results;
      const [ended] = (await world.memory.write({ content: end, kind: 'fact' }, world.call())).results;
      expect(ended?.outcome).to.equal('replaced');
      expect(world.index.heads.get(stored?.memory_id ?? '')?.record.status).to.equal('superseded');
    });

  it('leaves what somebody else does', async () => {
    const world = createWorld();
    await world.memory.write({ content: 'Ana works at Bosch.', kind: 'fact' }, world.call());
    const [ended] = (await world.memory.write({ content: "Bo doesn't work at Bosch any more.", kind: 'fact' }, world.call())).results;
    expect(ended?.outcome).to.equal('stored');
  });
});

describe('a name with digits', () => {
  for (const [one, other] of [
    ['I live in Sector7.', 'I live in Sector8.'],
    ['I work at Area51.', 'I work at Studio54.'],
    ['Ana studies at PS118.', 'Ana studies at PS119.'],
  ] as const)
    it(`is a value as any other: ${one} ${other}`, async () => {
      expect(kindOf(one, other)).to.equal('changed');
      const world = createWorld();
      await world.memory.write({ content: one, kind: 'fact' }, world.call());
      const [second] = (await world.memory.write({ content: other, kind: 'fact' }, world.call())).results;
      expect(second?.outcome).to.equal('replaced');
    });
});
