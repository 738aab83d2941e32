import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Actor } from '../../../../src/domain/principal.ts';
import type { WriteItem } from '../../../../src/domain/wire/write.ts';
import { admissionSchema, compileAdmission } from '../../../../src/memory/admission/policy.ts';
import { worthOf, type ModelGrade } from '../../../../src/memory/admission/worth.ts';
import { chattyLog, loadPhrasings, PHRASINGS } from '../../../../bench/admission/log.ts';
import { loadRelationPolicy } from '../../../../src/memory/conflicts/relation-policy.ts';
import { layerPolicySchema } from '../../../../src/memory/layer-policy.ts';
import { loadPolicy } from '../../../../src/policy.ts';

const policies = join(import.meta.dirname, '..', '..', '..', '..', 'policies');
const policy = compileAdmission(loadPolicy(join(policies, 'admission.yaml'), admissionSchema));
const relations = loadRelationPolicy(policies);
const layers = loadPolicy(join(policies, 'layers.yaml'), layerPolicySchema);

const worth = (item: WriteItem, actor: Actor = 'user', model?: ModelGrade) => worthOf(item, { policy, layers, relations, actor }, model);

describe('worth of a text', () => {
  it('keeps as a fact what an event or a decision changes an attribute to, and for good', () => {
    const changes = ['Ana moved to Munich.', 'I moved to Munich last week.', 'The deadline was moved to Monday.', 'Priya joined Bosch.'];
    for (const content of [...changes, '我搬到上海了。', '会议改到周四了。', '小王跳槽去了腾讯。', '我这周搬到杭州了。']) {
      const found = worth({ content });
      expect(found, content).to.include({ keep: true, kind: 'fact', layer: 'semantic' });
      expect(found, content).not.to.have.property('ttlSeconds');
    }
  });

  it('keeps as what it was what is of long ago, tells of the deciding, has several values or a kind of its own', () => {
    for (const content of [
      'I moved to Rome in 2019.',
      'We decided to move the demo to Friday.',
      '我们决定把评审改到周五。',
      'I fly to Berlin on 5 May.',
    ])
      expect(worth({ content }), content).to.include({ keep: true, layer: 'episodic' });
    expect(worth({ content: 'Ana moved to Munich.', kind: 'event' })).to.include({ kind: 'event', layer: 'episodic' });
  });

  it('names kind, layer, importance and reason of what must be kept, in both languages', () => {
    const rows: readonly (readonly [string, string, string, number])[] = [
      ['I prefer window seats.', 'preference', 'semantic', 1],
      ['我喜欢靠窗的座位。', 'preference', 'semantic', 1],
      ['The report must not exceed ten pages.', 'constraint', 'semantic', 0.75],
      ['预算控制在五千以内。', 'constraint', 'semantic', 0.75],
      ['We decided to use Postgres for the ledger.', 'decision', 'episodic', 1],
      ['我们决定用方案二。', 'decision', 'episodic', 1],
      ['压测结果：峰值每秒1200次，平均延迟35毫秒。', 'tool_result', 'episodic', 0.75],
      ['The nightly backup job timed out after 30 minutes.', 'error', 'episodic', 0.75],
    ];
    for (const [content, kind, layer, importance] of rows)
      for (const session_id of [undefined, 's']) {
        const found = worth(session_id === undefined ? { content } : { content, session_id });
        expect(found, content).to.include({ keep: true, kind, layer, importance });
        expect(found.reason, content).to.match(new RegExp(`^kept as ${kind} in ${layer} memory.*grade \\d of 5, by rules`, 'u'));
      }
  });

  it('keeps no acknowledgement, with whatever marks, pictures and particles at its end, and with or without a session', () => {
    const said = [
      ...[
        '好的，收到',
        '收到',
        '好的好的',
        '好的呢',
        '好嘞',
        '嗯嗯',
        '了解了',
        '明白了，谢谢',
        '多谢啦',
        '没问题',
        '辛苦了',
        'OK收到',
        '知道了',
      ],
      ...['ok', 'ok thanks', 'Okay, got it', 'Got it, will do', 'Sounds good', 'Fine by me', 'Noted', 'Perfect, thanks', 'lol ok', 'np'],
    ];
    const ends = ['', '。', '！', '!!', '...', '…', '~', '～', '👍', ' 🙏🏻', '✅', '❤️', ' 🎉🎉', '^_^', ' ^^', ':)', ' (y)', '哈', '哈。'];
    for (const one of said)
      for (const end of ends)
        for (const session of [{}, { session_id: 's' }]) expect(worth({ content: one + end, ...session }).keep, one + end).to.equal(false);
  });

  it('keeps decisions, errors and results of tools in both languages, with or without a session and a picture at the end', () => {
    const said: readonly (readonly [string, 'tool' | undefined])[] = [
      ['我们决定改用 Postgres 存储订单。', undefined],
      ['决定：周五上线，不再延期。', undefined],
      ['We decided to ship on Friday and freeze the API.', undefined],
      ['Decision: use blue/green deploys for billing.', undefined],
      ['构建失败：tsc 报错 TS2345，在 src/app.ts 第 12 行。', 'tool'],
      ['部署脚本报错：缺少环境变量 DB_URL', undefined],
      ['Error: ECONNREFUSED 127.0.0.1:9200 while indexing batch 7', 'tool'],
      ['The migration failed with a deadlock on table orders.', undefined],
      ['测试结果：128 个通过，3 个失败（登录、退款、导出）。', 'tool'],
      ['扫描完成：共发现 4 个高危漏洞。', 'tool'],
      ['Test run finished: 412 passed, 2 failed (checkout, refund).', 'tool'],
      ['Query returned 3 rows: Ana, Bo, Kim.', 'tool'],
    ];
    for (const [content, type] of said)
      for (const end of ['', ' ✅', '！'])
        for (const session of [{}, { session_id: 's' }]) {
          const found = worth({ content: content + end, ...session, ...(type === undefined ? {} : { source: { type } }) });
          expect(found.keep && found.layer !== 'working', content + end).to.equal(true);
        }
  });

  it('keeps no acknowledgement, small talk or question, and says why', () => {
    const rows: readonly (readonly [string, RegExp])[] = [
      ['好的', /only acknowledges/],
      ['收到', /only acknowledges/],
      ['ok thanks', /only acknowledges/],
      ['👍👍', /only acknowledges/],
      ['今天好累啊', /small talk/],
      ['What a lovely day!', /small talk/],
      ['这个函数怎么用？', /it asks/],
      ['What should I cook tonight?', /it asks/],
    ];
    for (const [content, reason] of rows) {
      const found = worth({ content });
      expect(found.keep, content).to.equal(false);
      expect(found.reason, content).to.match(reason).and.to.include('grade 1 of 5');
    }
  });

  it('finds what a question or an order states by the way, and takes nothing that is only supposed', () => {
    for (const content of [
      "Since I'm vegetarian, what can I order there?",
      '给我推荐个餐厅，我对花生过敏',
      'What should I take, I am allergic to aspirin?',
    ])
      expect(worth({ content, session_id: 's' }), content).to.include({ keep: true, kind: 'fact' });
    for (const content of ["If I'm allergic to nuts, what can I order?", 'Do you know whether I like tea?', '我喜欢喝什么？'])
      expect(worth({ content, session_id: 's' }).keep, content).to.equal(false);
  });

  it('takes the weightiest sentence of a text for the whole of it', () => {
    const content = "Thanks! That works now. By the way, I can't stand cilantro. What's next?";
    expect(worth({ content, session_id: 's' })).to.include({ keep: true, kind: 'preference', importance: 1 });
  });

  it('keeps a plain statement whose verb no rule knows, behind talk of any kind, and lets a model overrule that', () => {
    for (const content of [
      'Ugh, trains. Anyway, the landlord refuses drilling into brick walls.',
      '哎，又堵车了。对了，阳台朝北，养不活多肉。',
      'I forgot to say: nobody upstairs drinks dairy.',
    ]) {
      const item = { content, session_id: 's', turn: 3 };
      expect(worth(item), content).to.include({ keep: true, kind: 'fact', layer: 'semantic', importance: 0.5, sure: false });
      expect(worth(item, 'user', { grade: 1, kind: undefined, passing: false }).keep, content).to.equal(false);
    }
  });

  it('takes what an agent writes without a source for words it was told, and those of a named agent for its own', () => {
    const item = { content: 'Nobody upstairs drinks dairy.', session_id: 's', turn: 3 };
    expect(worth(item, 'agent')).to.include({ keep: true, kind: 'fact', layer: 'semantic' });
    expect(worth({ ...item, source: { type: 'agent' } }, 'agent')).to.include({ keep: true, layer: 'working' });
  });

  it('leaves talk about the text at hand, a judgement of it and what is about to be done to the session', () => {
    for (const content of [
      'The intro drags on before it gets anywhere.',
      'a bit too flowery in places',
      'just popping out for some air',
      '结尾收得有点仓促',
      '太官方了，像念稿子',
      '先吃个苹果再继续',
    ])
      expect(worth({ content, session_id: 's', turn: 3 }), content).to.include({ keep: true, layer: 'working' });
  });

  it('leaves a turn that no rule speaks about to its session, and keeps a note of the same words', () => {
    const content = 'Green, from Japan';
    expect(worth({ content, session_id: 's', turn: 3 })).to.include({ keep: true, layer: 'working', sure: false });
    expect(worth({ content })).to.include({ keep: true, layer: 'episodic', importance: 0.5 });
    expect(worth({ content, session_id: 's', task_id: 't' })).to.include({ layer: 'episodic' });
    expect(worth({ content, session_id: 's', subject: 'Ann' })).to.include({ layer: 'semantic' });
    expect(worth({ content, session_id: 's', tags: ['tea'] })).to.include({ layer: 'episodic' });
    expect(worth({ content: 'Call the plumber', session_id: 's' }).keep).to.equal(false);
    expect(worth({ content: 'Call the plumber' }).keep, 'an order to oneself').to.equal(true);
  });

  it('keeps of a log without sessions what it keeps of one with them, and notes of people and agents', () => {
    for (const name of PHRASINGS) {
      const log = chattyLog(loadPhrasings(name), { turns: 2_000, facts: 60, seed: 5 });
      const chatter = log.filter(({ planted, repeats }) => planted === undefined && repeats === undefined);
      const sourced = (speaker: string) => (speaker === 'user' ? {} : { source: { type: speaker as 'agent' | 'tool' } });
      const known = new Map<string, boolean>();
      const stored = (item: WriteItem): boolean => {
        const key = JSON.stringify([item.content, item.source, item.session_id]);
        const before = known.get(key);
        if (before !== undefined) return before;
        const found = worth(item);
        const is = found.keep && found.layer !== 'working';
        known.set(key, is);
        return is;
      };
      for (const { content, speaker, turn, planted } of log.filter((one) => one.planted !== undefined)) {
        if (!stored({ content, session_id: 's', turn, ...sourced(speaker) })) continue;
        expect(stored({ content, ...sourced(speaker) }), `${String(planted)}: ${content}`).to.equal(true);
      }
      const kept = chatter.filter(({ content, speaker }) => stored({ content, ...sourced(speaker) }));
      expect(kept.length / chatter.length, name).to.be.below(0.2);
      const distinct = new Set(
        log.filter(({ content, speaker }) => stored({ content, ...sourced(speaker) })).map(({ content }) => content),
      );
      expect(distinct.size / log.length, name).to.be.below(0.05);
      const unnamed = new Set(log.filter(({ content }) => stored({ content })).map(({ content }) => content));
      expect(unnamed.size / log.length, `${name}, no speaker named`).to.be.below(0.05);
    }
    const own = ['Green, from Japan', 'Call the plumber', 'Buy milk and eggs', '买牛奶', 'Idea: a blog post on slow cooking', '给植物浇水'];
    const plain = ['Dogs are allowed in the garden.', 'I like hiking.', 'The printer is out of toner.', '我每天早上跑步。', 'first text'];
    for (const content of [...own, ...plain])
      for (const more of [
        {},
        { occurred_at: '2026-01-01T00:00:00Z' },
        ...(own.includes(content) ? [{ source: { type: 'agent' as const } }] : []),
      ])
        expect(worth({ content, ...more }), content).to.include({ keep: true });
  });

  it('takes what is marked as a turn for one, with a session or without', () => {
    const content = 'Green, from Japan';
    const marks: readonly Partial<WriteItem>[] = [
      { turn: 3 },
      { metadata: { role: 'user' } },
      { metadata: { speaker: 'Ann', turn_id: 4, timestamp: 1 } },
    ];
    for (const mark of marks) {
      const found = worth({ content, ...mark });
      expect(found).to.include({ keep: false, sure: false });
      expect(found.reason).to.include('a turn of a talk');
      expect(worth({ content, session_id: 's', ...mark })).to.include({ keep: true, layer: 'working' });
      expect(worth({ content: 'I prefer window seats.', ...mark })).to.include({ keep: true, kind: 'preference' });
      expect(worth({ content, kind: 'fact', ...mark })).to.include({ keep: true, kind: 'fact' });
    }
    for (const metadata of [{ customer: 17 }, { role: 'customer', customer: 17 }, { author: 'Ann', date: '2026-01-01' }])
      expect(worth({ content, metadata })).to.include({ keep: true, layer: 'episodic' });
    expect(worth({ content: 'Assistant: Here is the function you wanted:' }).keep).to.equal(false);
    expect(worth({ content: '用户：我对花生过敏' })).to.include({ keep: true, kind: 'fact' });
    expect(worth({ content: '45%', source: { type: 'tool' } }).keep).to.equal(false);
    expect(worth({ content: 'green, from Japan', source: { type: 'web' } })).to.include({ keep: true });
  });

  it('believes a writer who says what it is, but for an acknowledgement', () => {
    expect(worth({ content: 'Where is it?', kind: 'event' })).to.include({ keep: true, kind: 'event', importance: 0.5 });
    expect(worth({ content: '好的', kind: 'fact' }).keep).to.equal(false);
    expect(worth({ content: 'I prefer tea.', kind: 'fact' })).to.include({ kind: 'fact', layer: 'semantic' });
  });

  it('keeps a state that passes for as long as it says, and other kinds for good', () => {
    expect(worth({ content: 'I am in Berlin this week, on version 3.' })).to.include({ ttlSeconds: 604_800 });
    expect(worth({ content: '我今天在家办公。' })).to.include({ ttlSeconds: 86_400 });
    expect(worth({ content: '我今天在家办公。', ttl_seconds: 60 })).to.include({ ttlSeconds: 60 });
    expect(worth({ content: 'Today we decided to use Postgres for the ledger.' })).not.to.have.property('ttlSeconds');
  });

  it('takes an agent’s own importance for a hint of 0.6 at most, and a person’s as given', () => {
    const content = 'Green, from Japan';
    expect(worth({ content, importance: 1 }, 'agent')).to.include({ importance: 0.6 });
    expect(worth({ content, importance: 0.1 }, 'agent').keep).to.equal(false);
    expect(worth({ content: 'I prefer tea.', importance: 0.1 }, 'agent')).to.include({ importance: 1 });
    expect(worth({ content, importance: 0.1 })).to.include({ keep: true, importance: 0.1 });
    fc.assert(
      fc.property(fc.string(), fc.double({ min: 0, max: 1, noNaN: true }), (text, importance) => {
        const [bare, hinted] = [worth({ content: text }, 'agent'), worth({ content: text, importance }, 'agent')];
        if (bare.keep && hinted.keep) expect(hinted.importance).to.be.at.most(Math.max(bare.importance, 0.6));
      }),
    );
  });

  it('lets a model grade only what no rule speaks about', () => {
    const fact: ModelGrade = { grade: 4, kind: 'fact', passing: true };
    const found = worth({ content: 'Green, from Japan', session_id: 's' }, 'user', fact);
    expect(found).to.include({ keep: true, kind: 'fact', layer: 'semantic', importance: 0.75, ttlSeconds: 86_400 });
    expect(found.reason).to.include('by the language model');
    const nothing = worth({ content: 'Green, from Japan' }, 'user', { grade: 1, kind: undefined, passing: false });
    expect(nothing).to.include({ keep: false });
    expect(worth({ content: 'I prefer tea.' }, 'user', { grade: 1, kind: undefined, passing: false }).keep).to.equal(true);
    expect(worth({ content: '好的' }, 'user', fact).keep).to.equal(false);
  });
});
