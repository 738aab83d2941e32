/** Reads one sentence as "the ATTRIBUTE of SUBJECT is VALUE", by the rules of its language; undefined when it is nothing of the kind. */
import { hasHan } from '../../../text/script.ts';
import type { Claim } from '../claims.ts';
import { subjectOf, tokensOf } from '../reading.ts';
import { canonicalTopic, folded, type RelationPolicy } from '../relation-policy.ts';
import { scan } from '../values/scan.ts';
import { MEASURES, type TokenType } from '../values/token.ts';
import { CHINESE_FRAMES } from './chinese.ts';
import { CHINESE_MOVED, ENGLISH_MOVED } from './moved.ts';
import { CHINESE_RIVALS, ENGLISH_RIVALS } from './rivals.ts';
import { ENGLISH_FRAMES } from './english.ts';
import { FORM_OF_ADDRESS, REPLY_LANGUAGE, SELF, type Found, type Frame, type FrameRule } from './frame.ts';

const MAX_SENTENCE_CHARS = 240;
/** Wishes, plans, doubts and hearsay state nothing. */
const TENTATIVE =
  /\b(?:if|might|maybe|perhaps|possibly|probably|considering|thinking (?:of|about)|plans? to|planning to|wants to (?:move|work|live)|hopes?|would like to|wonders?|almost|nearly|considered|says?|said|thinks?|guess|unless|whether|used to think)\b|如果|要是|也许|或许|可能|打算|计划|考虑|希望|想(?!要|念)|准备|差点|听说|据说|以为|觉得|假如|是否|是不是/iu;
const LEAD =
  /^(?:(?:actually|correction|update|note|fyi|by the way|btw|remember(?: that)?|please remember(?: that)?|just so you know|okay?|so|well|and|but|in fact|also|now|currently|from now on|as of (?:now|today)|starting (?:today|now)|going forward|no)\b[,:]? ?|(?:其实|更正一下|更正|更新一下|更新|注意|请记住|记住|记一下|另外|对了|顺便说一下|从现在起|从今天起|从今以后|今后|现在|目前|实际上|事实上|不对)[,:,]? ?)+/iu;
const ASIDES =
  /,? ?\b(?:now|currently|presently|nowadays|these days|at the moment|still|already|really|just|recently|officially|as of today|right now|at present|so far|instead|again|after all)\b/giu;
const REST =
  /^(.+?)(,? (?:since|as of|effective|because|starting|from (?!.*\bto\b)(?=(?:next|this|\d|January|February|March|April|May|June|July|August|September|October|November|December|Monday))|so that|, (?:so|but|and|which|who|where)) ?.*|,? ?(?:since|because) .*|,(?:因为|所以|并且|而且|从).*|, (?:and|but|so|which|who|where|because) .*)$/iu;
const HAN_ASIDES = /(?:现在|目前|如今|当前)(?!的)/gu;
/** When a change happened is no part of its value. */
const HAPPENED =
  /(?:上周|上个?星期|上个?月|昨天|前天|今天|去年|今年|最近|刚刚?|前阵子|这周|本周|这个月)(?=搬|跳槽|入职|换|改|加入|升|转行|当上|晋升|从)| (?:last (?:week|month|year|night)|yesterday|this (?:week|month|year)|recently|a (?:week|month|year) ago)$/iu;
const NEGATIONS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:do|does|did) not (?=[a-z])/iu, ''],
  [/\b(is|are|am|was|were) not\b/iu, '$1'],
  [/\bnever (?=[a-z])/iu, ''],
  [/(?<!而)不(?=住|在|是|喜欢|爱|会|用|叫|养|对|再)/u, ''],
  [/没有?(?=住|在|养)/u, ''],
];

export interface FrameContext {
  readonly subject?: string | undefined;
  readonly policy: RelationPolicy;
}

/** What names a rival is read as one first: "we moved to Postgres" tells of no home. */
const ENGLISH = [...ENGLISH_RIVALS, ...ENGLISH_MOVED, ...ENGLISH_FRAMES];
const CHINESE = [...CHINESE_RIVALS, ...CHINESE_MOVED, ...CHINESE_FRAMES];

/** The frame of a claim. Pure. */
export function frameOf(claim: Claim, context: FrameContext): Frame | undefined {
  const { text } = claim;
  if (text.length > MAX_SENTENCE_CHARS || /[?？]\s*$/u.test(text) || TENTATIVE.test(text)) return undefined;
  const bare = text.replace(LEAD, '').replace(ASIDES, '').replace(HAN_ASIDES, '').replace(HAPPENED, '').replace(/\s+/gu, ' ').trim();
  let positive = bare;
  for (const [pattern, instead] of NEGATIONS) positive = positive.replace(pattern, instead);
  const [, main = positive, rest = ''] = REST.exec(positive) ?? [];
  for (const rule of hasHan(main) ? CHINESE : ENGLISH) {
    const found = rule.pattern.exec(main);
    const frame = found?.groups === undefined ? undefined : build(rule, found.groups, text, context);
    if (frame !== undefined)
      return {
        ...frame,
        rest: rest.trim(),
        negated: positive !== bare,
        ended: claim.ends || rule.ends === true,
        wrong: claim.wrong ?? frame.wrong,
      };
  }
  return undefined;
}

function build(rule: FrameRule, found: Found, sentence: string, { subject: given, policy }: FrameContext): Frame | undefined {
  const cut = cutSubject(rule, (found.v ?? found.v2 ?? '').trim(), found.s ?? '');
  const { value } = cut;
  const owner = rule.whose?.(found, policy) ?? cut.subject;
  const due = rule.topic === 'schedule' ? DUE.exec(owner)?.groups : undefined;
  const named = typeof rule.topic === 'string' ? rule.topic : rule.topic(found, policy);
  const topic = due === undefined ? named : 'deadline';
  if (value === '' || topic === undefined || topic === '' || !fits(rule, value, policy)) return undefined;
  const asked = topic === REPLY_LANGUAGE || topic === FORM_OF_ADDRESS;
  const whose = due === undefined ? owner : (due.s ?? due.of ?? '');
  const subject = asked && whose === '' ? SELF : subjectIn(whose, given);
  if (subject === undefined) return undefined;
  const wrong = (found.w ?? found.w2 ?? found.w3)?.trim();
  return {
    subject,
    topic: canonicalTopic(policy, topic.replace(/^(?:(?:new|current|own) |新的?(?=[\p{L}]{2}))/iu, '')),
    value,
    rest: '',
    negated: false,
    ended: false,
    wrong,
    compares: rule.compares ?? 'any',
    changes: rule.changes === true || CHANGES.test(sentence) || wrong !== undefined,
    among: rule.among === true,
  };
}

const CHANGES =
  /\b(?:changed|moved|updated|raised|lowered|increased|reduced|extended|shortened|switched|postponed|pushed|brought forward|shifted|rescheduled|renamed|upgraded|downgraded|went (?:up|down)|became|relocated|slipped|turned|now|no longer|currently)\b|现在|目前|如今|岁了|改|换成|换为|变成|变为|更新|调整|推迟|延期|延后|提前|升级|涨到|降到|搬到|移到|挪到/iu;

const VERB_AT_END = /(?:已经|已|将|改|卖|收费|售价|要价|涨到|降到|涨|降|花费|花|只要|需要|要|需|是|为)+$/u;

/** When a deadline is, is its value, and whose it is the subject: "the report deadline was moved to Monday". */
const DUE = /^(?:the )?(?:(?<s>.+?)(?:'s)? )?(?:deadline|due date)(?: (?:of|for) (?<of>.+))?$/iu;

/** Without spaces a lazy subject is empty: what stands before the first measure of a value that is one belongs to it. */
function cutSubject({ value: form }: FrameRule, value: string, subject: string): { readonly value: string; readonly subject: string } {
  if (subject !== '' || !hasHan(value) || form === undefined || form === 'name') return { value, subject };
  const measure = scan(value).find(({ type }) => MEASURES.has(type));
  const start =
    measure === undefined
      ? 0
      : (/(?:每[个]?[天周月年日晚早]?|[下上本这]个?|早上|晚上|上午|下午|改到|在|于|要|是)*$/u.exec(value.slice(0, measure.start))?.index ??
        0);
  return { value: value.slice(start).replace(/^(?:改到|在|于|要|是)+/u, ''), subject: value.slice(0, start).replace(VERB_AT_END, '') };
}

/** A name, or nothing for a sentence that leaves its subject out; undefined for what can be no subject. */
function subjectIn(written: string, given: string | undefined): string | undefined {
  const name = written.trim();
  if (name === '') return given === undefined ? '' : subjectOf(given);
  if (
    /\b(?:is|are|was|were|that|which|who|because|and|or|when|there|this|these|those|it|he|she|they)\b/iu.test(name) &&
    given === undefined
  )
    return undefined;
  if (/[这那谁]|因为|和|或|,/u.test(name)) return undefined;
  return subjectOf(name, given);
}

const AROUND_TIMES = '每天周月年日上下本早晚午前后的到至从中旬初底末之以再个这那整';

function fits({ value: form }: FrameRule, value: string, policy: RelationPolicy): boolean {
  if (form === undefined) return true;
  const tokens = tokensOf(value, policy);
  if (form === 'name') return tokens.some(({ capital, type }) => capital || type === 'han') && !tokens.some(({ type }) => type === 'time');
  if (form === 'money')
    return tokens.length > 0 && tokens.every(({ type, text }) => type === 'money' || '每月年天次人晚个a per month year'.includes(text));
  if (form === 'amount') return tokens.some(({ type }) => MEASURES.has(type));
  const isTime = (type: TokenType): boolean => type === 'date' || type === 'weekday' || type === 'time';
  return tokens.some(({ type }) => isTime(type)) && tokens.every(({ type, text }) => type !== 'han' || AROUND_TIMES.includes(text));
}

/** Whether a topic is a known one, so that any two of its values stand against each other. */
export function isKnownTopic(topic: string, policy: RelationPolicy): boolean {
  return policy.topics.has(topic) || /^(?:favou?rite|preferred|choice|default|最喜欢的|偏好的|选择)/u.test(folded(topic));
}
