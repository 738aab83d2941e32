/** policies/admission.yaml: every rule and term against the examples beside it, in Chinese and English, and the speed of its patterns. */
import { join } from 'node:path';
import { expect } from 'chai';
import { admissionSchema, compileAdmission, speakerFeature, SPEAKERS, type Speaker } from '../../src/memory/admission/policy.ts';
import { readSentence } from '../../src/memory/admission/read.ts';
import { sentencesOf } from '../../src/memory/admission/sentences.ts';
import { substanceOf } from '../../src/memory/admission/substance.ts';
import { loadPolicy } from '../../src/policy.ts';

const policy = loadPolicy(join(import.meta.dirname, '..', '..', 'policies', 'admission.yaml'), admissionSchema);
const compiled = compileAdmission(policy);
/** A sentence is read no further. */
const SENTENCE_CHARS = 400;
/** CPU time for one pattern over one sentence: linear ones take a fraction of it. */
const MAX_CPU_MS = 40;

const rulesOf = (text: string, speaker: Speaker = 'person'): readonly (string | undefined)[] =>
  sentencesOf(text).flatMap((sentence) => {
    const { rule, within, acknowledgement } = readSentence(compiled, sentence, speaker);
    return acknowledgement === true ? ['acknowledgement'] : [rule?.id, within?.id];
  });

describe('the policy of admission', () => {
  for (const rule of policy.rules) {
    it(`${rule.id} finds its examples and leaves the others alone`, () => {
      const speaker = SPEAKERS.find((one) => rule.all.includes(speakerFeature(one)));
      for (const text of rule.match) expect(rulesOf(text, speaker), text).to.include(rule.id);
      for (const text of rule.pass) expect(rulesOf(text, speaker), text).not.to.include(rule.id);
    });

    it(`${rule.id} has examples in both languages`, () => {
      const han = rule.match.filter((text) => /\p{Script=Han}/u.test(text));
      expect(han, 'zh').to.have.length.above(0);
      expect(rule.match.length - han.length, 'en').to.be.above(0);
    });
  }

  it('talk without a session is told from notes', () => {
    const isTalk = (text: string): boolean =>
      sentencesOf(text).every((sentence) => readSentence(compiled, sentence, 'person', true).talk === true);
    for (const text of policy.talk.match) expect(isTalk(text), text).to.equal(true);
    for (const text of policy.talk.pass) expect(isTalk(text), text).to.equal(false);
  });

  it('terms find their examples and leave the others alone', () => {
    for (const [i, { match, pass }] of policy.volatile.entries()) {
      const holds = (text: string): boolean => compiled.volatile[i]?.pattern.test(text.toLowerCase()) === true;
      for (const text of match) expect(holds(text), text).to.equal(true);
      for (const text of pass) expect(holds(text), text).to.equal(false);
    }
  });

  it('what tells of long ago or of the deciding is told from what holds', () => {
    for (const text of policy.values.match) expect(compiled.values.unless.test(text.toLowerCase()), text).to.equal(true);
    for (const text of policy.values.pass) expect(compiled.values.unless.test(text.toLowerCase()), text).to.equal(false);
  });

  it('an acknowledgement is what has nothing behind its opening words', () => {
    for (const text of ['好的', '收到', 'ok thanks', 'Got it, thank you so much!', '嗯嗯，明白了，谢谢', '👍', '好的👌'])
      expect(
        rulesOf(text).filter((id) => id !== 'acknowledgement'),
        text,
      ).to.deep.equal([]);
    for (const text of ['好的，以后都用中文回答。', 'Ok, we decided to use Go for the API.', '对花生过敏'])
      expect(rulesOf(text), text).not.to.include('acknowledgement');
  });

  it('every rule that drops has the grade of what is not kept, every other one of what is', () => {
    for (const { id, drops, grade } of policy.rules) expect((grade - 1) / 4 < policy.keep_from, id).to.equal(drops === true);
  });

  it('knows the words of any talk: one of them repeated is no substance, and every level is above none', () => {
    const words = policy.common.split(/\s+/u).filter((word) => word !== '');
    expect(new Set(words).size).to.equal(words.length);
    for (const word of words) expect(substanceOf(`${word} ${word}`, compiled.common), word).to.equal(0);
    expect([...compiled.substance.values()]).to.deep.equal([1, 2, 3, 4]);
  });

  it('has ids of its own, uses every feature, and names none that there is not', () => {
    expect(new Set(policy.rules.map(({ id }) => id)).size).to.equal(policy.rules.length);
    const used = new Set([
      'asks_word',
      'several_words',
      ...policy.talk.soft_features,
      ...policy.talk.unless,
      ...policy.talk.agent_features,
      ...policy.talk.features,
      ...policy.rules.flatMap(({ all, any = [], none = [] }) => [...all, ...any, ...none]),
    ]);
    expect(Object.keys(policy.features).filter((name) => !used.has(name))).to.deep.equal([]);
    const {
      rules: [first, ...more],
      ...rest
    } = policy;
    const broken = admissionSchema.safeParse({ ...rest, rules: [{ ...first, all: ['nothing'] }, ...more] });
    expect(broken.error?.issues[0]?.message).to.include('nothing');
  });

  it('patterns are quick over sentences made to slow them down', () => {
    const pieces = [
      'i ',
      'the a ',
      'a',
      ' ',
      '我',
      '我的',
      '今天',
      '每次',
      'is ',
      'ok ',
      '好的',
      'never ',
      'A b ',
      '小',
      "a's ",
      '1',
      ', ',
      '的是',
    ];
    const patterns = [
      ...compiled.features.values(),
      ...compiled.volatile,
      { pattern: compiled.leadIn },
      { pattern: compiled.values.unless },
    ];
    for (const { pattern } of patterns) {
      for (const piece of pieces) {
        const text = piece.repeat(SENTENCE_CHARS).slice(0, SENTENCE_CHARS);
        const took = Math.min(...[1, 2].map(() => cpuMsOf(() => pattern.test(text))));
        expect(took, `${pattern.source.slice(0, 60)} on ${piece}`).to.be.below(MAX_CPU_MS);
      }
    }
  });
});

/** Of this process: other work on the machine does not count. */
function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
