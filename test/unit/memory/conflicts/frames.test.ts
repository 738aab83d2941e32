/** The rules that sentences are read by: each reads the sentences it is for, and inferSlot makes slots of them. */
import { join } from 'node:path';
import { expect } from 'chai';
import { claimOf, ENDINGS } from '../../../../src/memory/conflicts/claims.ts';
import { CHINESE_FRAMES } from '../../../../src/memory/conflicts/frames/chinese.ts';
import { ENGLISH_FRAMES } from '../../../../src/memory/conflicts/frames/english.ts';
import { CHINESE_MOVED, ENGLISH_MOVED } from '../../../../src/memory/conflicts/frames/moved.ts';
import { CHINESE_RIVALS, ENGLISH_RIVALS } from '../../../../src/memory/conflicts/frames/rivals.ts';
import { frameOf } from '../../../../src/memory/conflicts/frames/read-frame.ts';
import { inferSlot, type SlotText } from '../../../../src/memory/conflicts/infer-slot.ts';
import { plainText } from '../../../../src/memory/conflicts/plain-text.ts';
import { loadRelationPolicy } from '../../../../src/memory/conflicts/relation-policy.ts';

const policy = loadRelationPolicy(join(import.meta.dirname, '..', '..', '..', '..', 'policies'));
const slotOf = (item: SlotText): string => {
  const slot = inferSlot(item, policy);
  return slot === undefined ? 'none' : `${slot.subject} / ${slot.topic} / ${slot.from}${slot.multiValued ? ' / several' : ''}`;
};

describe('frames of sentences', () => {
  for (const { examples, topic } of [
    ...[...ENGLISH_RIVALS, ...ENGLISH_MOVED, ...ENGLISH_FRAMES],
    ...[...CHINESE_RIVALS, ...CHINESE_MOVED, ...CHINESE_FRAMES],
  ])
    it(`read ${examples.join(', ')}`, () => {
      for (const example of examples) {
        const frame = frameOf(claimOf(plainText(example)), { subject: 'Kim', policy });
        expect(frame, example).to.not.equal(undefined);
        if (typeof topic === 'string') expect(frame?.topic, example).to.equal(policy.topics.get(topic) ?? topic);
      }
    });

  it('tell what ends from what holds, for each form of a retraction', () => {
    for (const { examples } of ENDINGS)
      for (const example of examples) {
        const { ends, text } = claimOf(plainText(example));
        expect(ends, example).to.equal(true);
        expect(text, example).to.not.match(/no longer|any ?more|不再|取消|作废/u);
      }
    for (const plain of ['Ana lives in Berlin', 'Not only Ana came', '小李不过是个孩子', '不同的人', 'I am not a doctor', '没想到'])
      expect(claimOf(plain).ends, plain).to.equal(false);
  });
});

describe('inferSlot', () => {
  it('takes subject and topic that were given, under one name for each topic', () => {
    const item = { content: 'x', kind: 'fact', subject: ' Ana ', topic: 'Home  City' } as const;
    expect(slotOf(item)).to.equal('ana / residence / given');
    expect(slotOf({ ...item, topic: '居住地' })).to.equal('ana / residence / given');
    expect(slotOf({ ...item, subject: '用户', topic: '过敏' })).to.equal('self / allergies / given / several');
    expect(slotOf({ ...item, kind: undefined })).to.equal('ana / residence / given');
  });

  it('gives an event, a decision or a tool result no slot', () => {
    for (const kind of ['event', 'decision', 'tool_result', 'error', 'trajectory', 'summary', 'rule'] as const)
      expect(slotOf({ content: 'Ana lives in Berlin', kind, subject: 'Ana', topic: 'home' })).to.equal('none');
  });

  it('infers one from who has which attribute', () => {
    for (const [content, slot] of [
      ["Ana's favourite tea is oolong.", 'ana / favourite tea / inferred'],
      ['The Apollo deadline is 3 May.', 'apollo / deadline / inferred'],
      ['I prefer Vim for editing.', 'self / choice for editing / inferred'],
      ['小李的手机号是13800138000。', '小李 / phone / inferred'],
      ['我住在北京。', 'self / residence / inferred'],
      ['Ana is allergic to nuts.', 'ana / allergies / inferred / several'],
      ['小李会说法语。', '小李 / languages / inferred / several'],
    ] as const)
      expect(slotOf({ content }), content).to.equal(slot);
    expect(slotOf({ content: 'She lives in Berlin.', subject: 'Ana' })).to.equal('ana / residence / inferred');
  });

  it('reads when a deadline is as its value, whosever it is', () => {
    for (const content of [
      'The deadline is 3 May.',
      'The deadline is on Friday.',
      'The deadline was moved to Monday.',
      '截止日期改到下周一。',
    ])
      expect(slotOf({ content }), content).to.equal('deadline / deadline / inferred');
    for (const content of [
      'The grant deadline was moved to Monday.',
      'The deadline of the grant is 3 May.',
      "The grant's deadline is Friday.",
    ])
      expect(slotOf({ content }), content).to.equal('grant / deadline / inferred');
    expect(slotOf({ content: 'The port was changed to 9090.' })).to.equal('port / port / inferred');
  });

  it('takes a common word or a given name for a tool only beside what tells of one', () => {
    for (const [content, slot] of [
      ['Kim works with Ava.', 'none'],
      ['Kim works with Vitest.', 'kim / test runner / inferred'],
      ['Kim switched to the Ava test runner.', 'kim / test runner / inferred'],
      ['Kim moved to edge.', 'none'],
      ['Kim moved to Edge.', 'kim / browser / inferred'],
      ['小李换成 edge 了。', '小李 / browser / inferred'],
    ] as const)
      expect(slotOf({ content }), content).to.equal(slot);
  });

  it('is unsure of pronouns, questions, wishes, ends, denials, subjects left out and texts of several sentences', () => {
    for (const content of [
      'She lives in Berlin.',
      '她住在柏林。',
      'Does Ana live in Berlin?',
      'Ana wants to move to Berlin.',
      '安娜打算搬到柏林。',
      'Ana no longer lives in Berlin.',
      'Ana does not live in Berlin.',
      'The timeout is 30 seconds.',
      'Lives in Berlin.',
      'Ana lives in Berlin. Bob lives in Munich.',
      'Ana went to Paris in May.',
      'My brother lives in Rome.',
      '小李的猫叫汤姆。',
      '今天天气不错。',
      'ok thanks',
      '',
    ])
      expect(slotOf({ content }), content).to.equal('none');
  });
});
