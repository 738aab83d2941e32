/** Frame rules for what is used and what it is left for: "We use MySQL", "We switched to Postgres". The topic is that of the thing named (policies/slots.yaml, rivals); of anything else they read nothing. */
import { hasHan } from '../../../text/script.ts';
import { bareName, folded, rivalIn, type RelationPolicy } from '../relation-policy.ts';
import { all, hanNow, hanPart, hanSubject, part, SUBJECT as S } from './pieces.ts';
import type { Found, FrameRule } from './frame.ts';

/**
 * Of what was left, too, where that is said: who leaves one company for another switches no tool. "Our database moved to Postgres" says which
 * attribute it is of, and is read by the rules of those.
 */
function topicOf({ s = '', v = '', w, w2 }: Found, policy: RelationPolicy): string | undefined {
  const topic = rivalIn(policy, v)?.topic;
  if (topic === undefined || namesTopic(folded(s), topic, policy)) return undefined;
  const left = w ?? w2;
  return (left === undefined ? isToolAlone(v, s, policy) : rivalIn(policy, left)?.topic === topic) ? topic : undefined;
}

/**
 * Whoever works with Ava, or has moved to the edge, has chosen no tool: a given name is one only beside a noun of its topic or another tool,
 * a common word where it is written as a name, or in Latin letters in a Chinese sentence.
 */
function isToolAlone(value: string, subject: string, { toolWords, toolNames }: RelationPolicy): boolean {
  const name = bareName(value);
  if (toolNames.has(name)) return false;
  return !toolWords.has(name) || /\p{Lu}/u.test(value) || hasHan(subject);
}

function namesTopic(subject: string, topic: string, { rivalNouns }: RelationPolicy): boolean {
  const ends = (noun: string): boolean => subject === noun || subject.endsWith(/\p{Script=Han}$/u.test(noun) ? noun : ` ${noun}`);
  return [...rivalNouns].some(([noun, of]) => of === topic && ends(noun));
}

const V = part('v', 40);
const W = part('w', 40);
const HAS = '(?:has been |have been |was |were |has |have |had )?(?:now |just |finally |recently |completely |fully )*';

export const ENGLISH_RIVALS: readonly FrameRule[] = [
  {
    examples: ['We switched to Postgres', 'The team has migrated from Jira to Linear', 'I moved over to Firefox', 'They changed to GitLab'],
    pattern: all(
      `^${S} ${HAS}(?:switched|moved|migrated|changed|converted|transitioned)(?: everything)?(?: over| back)?(?: from ${W})?(?: over| back)? to (?:using )?${V}$`,
    ),
    topic: topicOf,
    among: true,
    changes: true,
  },
  {
    examples: ['We replaced MySQL with Postgres', 'I ditched Chrome for Firefox'],
    pattern: all(`^${S} ${HAS}(?:(?:replaced|swapped) ${W} (?:with|by|for)|(?:ditched|dropped|left|abandoned) (?<w2>.{1,40}?) for) ${V}$`),
    topic: topicOf,
    among: true,
    changes: true,
  },
  {
    examples: ['We use MySQL', 'The team is using Jira', 'Our shop runs on AWS'],
    pattern: all(`^${S} (?:uses?|(?:is|are|am) using|runs? on|hosts? on|works? with|(?:is|are|am) on) ${V}$`),
    topic: topicOf,
    among: true,
  },
];

const HAN_S = hanSubject('把');
/** All of it, where 把数据库 would name the attribute. */
const ALL = '(?:把[^,。;把]{0,4}?(?:系统|服务|数据|项目|业务|代码|东西|一切|所有)都?)?';
const WHEN = '(?:上周|上个?星期|上个?月|昨天|前天|今天|去年|今年|前阵子|这周|本周|这个月|从今天起|从现在起),?';
const NOW = hanNow('都|全部?|全面|彻底|正式|决定|统一');
const HAN_V = hanPart('v', 30);
const HAN_W = hanPart('w', 20);
const TURNED =
  '(?:改用|改为用|改成用|改为使用|改成|改为|换用|换成|换到|换为|换回|换(?=[^,。;]{1,12}了$)|切换到|切换成|切换为|切换至|切到|转到|转用|转向|迁移到|迁移至|迁到|迁至|搬到)';

export const CHINESE_RIVALS: readonly FrameRule[] = [
  {
    examples: ['我们改用 Postgres 了', '团队从Jira换成了Linear', '我们迁移到阿里云了', '我换用Firefox了', '公司由钉钉切换到飞书'],
    pattern: all(`^(?:${WHEN})?${HAN_S}${NOW}${ALL}${NOW}(?:[从由]${HAN_W})?${NOW}${TURNED}了?${HAN_V}了?$`),
    topic: topicOf,
    among: true,
    changes: true,
  },
  {
    examples: ['我们用Postgres替换了MySQL', '团队用飞书代替了钉钉'],
    pattern: all(`^(?:${WHEN})?${HAN_S}${NOW}用${HAN_V}(?:替换|替代|代替|取代)掉?了?${HAN_W}了?$`),
    topic: topicOf,
    among: true,
    changes: true,
  },
  {
    examples: ['我们用 MySQL', '团队使用的是Jira', '我们的服务跑在阿里云上'],
    pattern: all(`^(?:${WHEN})?${HAN_S}${NOW}(?:一直|主要|平时)?(?:在?用的?是?|在?使用的?是?|采用的?是?|跑在|部署在)${HAN_V}上?了?$`),
    topic: topicOf,
    among: true,
  },
];
