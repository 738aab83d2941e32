/** What two frames of one slot say of each other: the same value, a new one, one more, an end, or a contradiction nobody can decide. */
import { LEFT, type Frame } from './frames/frame.ts';
import { isKnownTopic } from './frames/read-frame.ts';
import { keyOf, tokensOf } from './reading.ts';
import type { Relation } from './relation-kind.ts';
import { folded, isOneOfSeveral, rivalIn, type RelationPolicy } from './relation-policy.ts';
import { MEASURES, type Token, type TokenType } from './values/token.ts';

/** Topics whose parts (day, time, place in the calendar) are told apart: "on Friday" says nothing against "at 3 pm". */
const SCHEDULES = new Set(['schedule', 'start', 'end', 'deadline', 'departure', 'arrival']);
/** Several trains go to Rome. */
const DEPARTURES = new Set(['departure', 'arrival', '出发时间', '发车时间', '起飞时间', '到达时间', '抵达时间']);
const DEGREES = new Set(['likes', 'dislikes']);
const TEMPORARY =
  /\b(?:today|tomorrow|tonight|this (?:week|month|weekend|afternoon|morning|evening)|temporarily|for the (?:day|week)|just for now|for now|until)\b|今天|明天|后天|今晚|这周|本周|临时|暂时|这个月|本月|这次/iu;

/** Undefined when they are not of one slot. */
export function compareFrames(
  older: Frame,
  newer: Frame,
  texts: { readonly older: string; readonly newer: string },
  policy: RelationPolicy,
): Relation | undefined {
  if (older.subject !== newer.subject || (older.topic !== newer.topic && !leaves(older, newer))) return undefined;
  const [before, after] = [older, newer].map((frame) => tokensOf(frame.value, policy)) as [readonly Token[], readonly Token[]];
  const equal = keyOf(before) === keyOf(after) || isSameRival(older.value, newer.value, policy);
  if (older.ended) return equal && !newer.ended ? unsure('it is said again of what was ended') : different();
  if (newer.ended) return ended(before, after, equal);
  if (equal) return sameValue(older, newer, policy);
  if (newer.wrong !== undefined && keyOf(tokensOf(newer.wrong, policy)) === keyOf(before))
    return changed('corrects the value of the same topic');
  if (older.negated || newer.negated) return different();
  if (newer.among) return amongRivals(older, newer, policy);
  if (older.among && !newer.changes) return unsure('perhaps used beside it');
  if (isMulti(newer.topic, policy)) return { kind: 'adds', reason: 'one more value of a topic with several' };
  if (SCHEDULES.has(newer.topic)) {
    if (DEPARTURES.has(newer.topic) && !newer.changes) return unsure('perhaps another one');
    const parts = scheduleRelation(before, after);
    if (parts !== undefined) return parts;
  }
  const [shared, extra] = overlapOf(before, after);
  if (extra.before === 0) return changed('the same topic, more exactly');
  if (extra.after === 0) return different('says less of the same topic');
  if (!comparable(newer, before, after, policy)) return shared > 0 ? unsure('the same topic, values that cannot be compared') : different();
  if (TEMPORARY.test(texts.newer) && !TEMPORARY.test(texts.older)) return unsure('perhaps for a time only');
  if (!newer.changes && (DEPARTURES.has(newer.topic) || isOneOfSeveral(policy, newer.subject) || isOneOfSeveral(policy, newer.topic)))
    return unsure('perhaps another one');
  if (!SCHEDULES.has(newer.topic) && [before, after].every(isDated)) return unsure('each at its own time');
  if (newer.subject === '' && !newer.changes) return unsure('the same topic, of nobody in particular');
  return changed('a new value of the same topic');
}

/** Two spellings of one thing, of no version. */
function isSameRival(older: string, newer: string, { rivals }: RelationPolicy): boolean {
  const [one, other] = [rivals.get(folded(older)), rivals.get(folded(newer))];
  return one !== undefined && one.topic === other?.topic && one.name === other.name;
}

/** What is used is left for what was switched to; where it is said what was left, that alone. */
function amongRivals(older: Frame, newer: Frame, policy: RelationPolicy): Relation {
  const before = rivalIn(policy, older.value);
  const left = newer.wrong === undefined ? undefined : rivalIn(policy, newer.wrong);
  if (before === undefined || (left !== undefined && left.name !== before.name)) return different();
  return newer.changes ? changed('what it was left for') : { kind: 'adds', reason: 'perhaps used beside it' };
}

/** "Ana left X" ends whatever X was to her, and says nothing against another X. */
function leaves(older: Frame, newer: Frame): boolean {
  return newer.topic === LEFT && LEAVABLE.has(older.topic);
}

const LEAVABLE = new Set(['residence', 'employer', 'school', 'location']);

export function isMulti(topic: string, policy: RelationPolicy): boolean {
  return policy.multiValued.has(topic);
}

const changed = (reason: string): Relation => ({ kind: 'changed', reason });
const unsure = (reason: string): Relation => ({ kind: 'unsure', reason });
const different = (reason = 'neither says anything of the other'): Relation => ({ kind: 'different', reason });

function ended(before: readonly Token[], after: readonly Token[], equal: boolean): Relation {
  if (equal) return { kind: 'retracted', reason: 'no longer holds' };
  const [, extra] = overlapOf(before, after);
  if (extra.before === 0 && after.length > 0) return { kind: 'retracted', reason: 'no longer holds' };
  return extra.after === 0 ? unsure('a part of it no longer holds') : different();
}

function sameValue(older: Frame, newer: Frame, policy: RelationPolicy): Relation {
  if (older.negated !== newer.negated) return unsure('one denies what the other says');
  // to love is more than to like
  if (DEGREES.has(newer.topic)) return different('the same, more or less');
  const rests = [older, newer].map(({ rest }) => keyOf(tokensOf(rest, policy)));
  return rests[0] === rests[1] && older.subject !== ''
    ? { kind: 'same', reason: 'the same value of the same topic' }
    : different('the same value, and more');
}

/** Undefined where day and time do not decide it. */
function scheduleRelation(before: readonly Token[], after: readonly Token[]): Relation | undefined {
  const types: readonly TokenType[] = ['date', 'weekday', 'time'];
  const of = (tokens: readonly Token[], type: TokenType): string => keyOf(tokens.filter((t) => t.type === type));
  const both = types.filter((type) => of(before, type) !== '' && of(after, type) !== '');
  if (both.length === 0) return before.some((t) => types.includes(t.type)) ? different('another part of the same schedule') : undefined;
  if (both.every((type) => of(before, type) === of(after, type))) return undefined;
  const alone = types.some((type) => of(before, type) === '' && of(after, type) !== '');
  return alone && types.some((type) => type !== 'time' && of(after, type) !== '' && of(before, type) === '' && both.includes('time'))
    ? unsure('perhaps on that day only')
    : changed('a new time of the same topic');
}

function overlapOf(
  before: readonly Token[],
  after: readonly Token[],
): readonly [number, { readonly before: number; readonly after: number }] {
  const [a, b] = [before, after].map((tokens) => new Set(tokens.map(({ type, text }) => `${type}:${text}`))) as [Set<string>, Set<string>];
  const shared = [...a].filter((text) => b.has(text)).length;
  return [shared, { before: a.size - shared, after: b.size - shared }];
}

function comparable(frame: Frame, before: readonly Token[], after: readonly Token[], policy: RelationPolicy): boolean {
  const scripts = [before, after].map((tokens) => tokens.some(({ type }) => type === 'han'));
  const latin = [before, after].map((tokens) => tokens.some(({ type }) => type === 'word'));
  const [typeBefore, typeAfter] = [typeOf(before), typeOf(after)];
  if (typeBefore !== undefined && typeAfter !== undefined) return typeBefore === typeAfter;
  if (frame.compares === 'any' || isKnownTopic(frame.topic, policy)) return typeBefore === typeAfter || isLoose(frame.topic);
  const names = [before, after].every((tokens) => tokens.every(({ type, capital }) => (type === 'word' && capital) || type === 'code'));
  return names && scripts[0] === scripts[1] && latin[0] === latin[1];
}

/** Topics whose values are written in many ways: a status, a plan. */
const isLoose = (topic: string): boolean => !SCHEDULES.has(topic);

/** Whether a value tells its time and says something else besides. */
function isDated(value: readonly Token[]): boolean {
  return value.some(({ type }) => type === 'date') && value.some(({ type }) => type === 'word' || type === 'han');
}

/** The type of a value that is a measure: its first one. */
function typeOf(tokens: readonly Token[]): TokenType | undefined {
  return tokens.find(({ type }) => MEASURES.has(type))?.type;
}
