/** Frame rules for who changed which attribute to what: "We moved the deadline to Friday", 我们把数据库换成了Postgres. What it was before is not said. */
import { hasHan } from '../../../text/script.ts';
import { canonicalTopic, rivalIn, type RelationPolicy } from '../relation-policy.ts';
import { HAN_ATTRIBUTES } from './chinese.ts';
import { ATTRIBUTES } from './english.ts';
import type { Found, FrameRule } from './frame.ts';
import { all, hanSubject } from './pieces.ts';

/** With the words before its noun, where they are not those of the thing that has it. */
const attribute = (found: Found, policy: RelationPolicy): string | undefined => {
  const { x = '', a = '' } = found;
  return (thingIn(found, policy) === undefined ? x + a : a).trim();
};

/** Of the speakers; any other possessive is that of whoever changed it. */
const OWNERS: Readonly<Record<string, string>> = { my: 'I', our: 'we', 我: '我', 我的: '我', 我们: '我们', 我们的: '我们' };

const PLAIN = /^(?:new|current|own|新的?|目前的?|现在的?)$/iu;

/** "The report deadline" is that of the report, as "the report is due on Friday" has it; our main database is one of ours. */
function thingIn({ x = '', v = '', the, of }: Found, policy: RelationPolicy): string | undefined {
  const thing = x.trim().replace(/的$/u, '');
  const isNamed = thing !== '' && !PLAIN.test(thing) && of === undefined && (the !== undefined || hasHan(x));
  return isNamed && rivalIn(policy, v) === undefined ? thing : undefined;
}

/** Whoever moves the deadline, it is that of the place; our database is ours, and so is the one that we put another in for. */
function whose(found: Found, policy: RelationPolicy): string {
  const { s = '', x = '', a = '', v = '', the, of = '' } = found;
  const thing = thingIn(found, policy);
  if (thing !== undefined) return thing;
  if (policy.unnamed.has(canonicalTopic(policy, (x + a).trim()))) return '';
  const owner = OWNERS[of.toLowerCase()];
  if (owner !== undefined) return owner;
  return the === undefined || rivalIn(policy, v) !== undefined ? s : '';
}

export const ENGLISH_MOVED: readonly FrameRule[] = [
  {
    examples: [
      'We moved the deadline to Friday',
      'Ana moved the report deadline to Monday',
      'They switched our database from MySQL to Postgres',
      'I changed my username to kim7',
    ],
    pattern: all(
      `^(?<s>[^,;:"]{1,40}?) (?:has |have |had )?(?:changed|moved|switched|migrated|set|reset|updated|raised|lowered|increased|reduced|cut|extended|shortened|postponed|pushed|shifted|rescheduled|upgraded|downgraded) (?:(?<the>the)|(?<of>our|my|his|her|their|its)) (?<x>(?:[\\p{L}-]+ ){0,2}?)(?<a>${ATTRIBUTES})(?: back| over)?(?: from (?<w>.{1,40}?))? to (?<v>.{1,60})$`,
    ),
    topic: attribute,
    whose,
    changes: true,
    compares: 'typed',
  },
  {
    examples: ['We moved the standup to 10:00', 'Ana postponed our review to Thursday'],
    pattern: all(
      `^(?<s>[^,;:"]{1,40}?) (?:has |have |had )?(?:moved|postponed|pushed|shifted|rescheduled|delayed|brought forward) (?:the|our|my) (?<a>[^,;:"]{1,40}?)(?: back| forward)?(?: from (?<w>.{1,40}?))? (?:to|until) (?<v>.{1,40})$`,
    ),
    topic: 'schedule',
    value: 'when',
    whose: ({ a = '' }) => a,
    changes: true,
  },
];

const S = hanSubject('', 16);

export const CHINESE_MOVED: readonly FrameRule[] = [
  {
    examples: ['我们把数据库换成了 Postgres', '团队把截止日期推迟到周五了', '我们把报告的截止日期推迟到周五', '我把编辑器从Vim换成了Emacs'],
    pattern: all(
      `^${S}(?:现在|目前|已经|已|最近|刚刚?|决定|统一)*把(?:(?<of>我们的?|我的?)|公司的?)?(?<x>[^,。;:、"的]{1,12}?的?)??(?<a>${HAN_ATTRIBUTES})(?:从(?<w>[^,。;]{1,16}?))?(?:改为|改成|改到|改用|换成|换为|换到|切换到|切换成|切换为|迁移到|迁到|迁至|调整为|调整到|推迟到|延期到|延后到|延到|提前到|提高到|降低到|降到|涨到|升级到|更新为|设为|设成|定为|定在)了?(?<v>[^,。;]{1,30}?)了?$`,
    ),
    topic: attribute,
    whose,
    changes: true,
    compares: 'typed',
  },
  {
    examples: ['我们把评审会改到周四了', '小李把周会从周三挪到了周五'],
    pattern: all(
      `^${S}(?:现在|已经|已|刚刚?|决定)*把(?:我们的?|我的?)?(?<a>[^,。;的]{1,16}?)(?:从(?<w>[^,。;]{1,16}?))?(?:改到|改在|推迟到|延期到|延后到|延到|提前到|挪到|移到|调到|调整到)了?(?<v>[^,。;]{1,24}?)了?$`,
    ),
    topic: 'schedule',
    value: 'when',
    whose: ({ a = '' }) => a,
    changes: true,
  },
];
