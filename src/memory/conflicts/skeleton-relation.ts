/** The relation of two sentences that share nearly all their words: decided by where and in what they differ. */
import type { Claim } from './claims.ts';
import { keyOf, read, tokensOf, type Reading } from './reading.ts';
import type { Relation } from './relation-kind.ts';
import type { RelationPolicy } from './relation-policy.ts';
import { differenceOf, hunksOf, type Hunk } from './skeleton.ts';
import type { Token } from './values/token.ts';

/** Share of the words that both must have. */
const ALIKE = 0.5;
const MIN_SHARED = 2;
/** What happened is not undone by what happened next. */
const EVENT =
  /\b(?:was|were|did|had|went|bought|ran|met|saw|ate|took|got|came|made|gave|sent|paid|spent|won|lost|flew|drove|wrote|slept|said|told|found|left|yesterday|ago|last (?:week|month|year|night)|(?<!\b(?:is|are|be|being|am) )(?!need|(?:shed|bed|red|seed|feed|speed|weed|breed|hundred|indeed|sacred|naked|wicked|bed|embed)\b|limited|capped|allowed|required|based|scheduled)[a-z]{2,}ed)\b|了(?!解)|(?<!超|通|经|不)过(?!期|敏|滤|程|去)|昨|前天|上周|上个?月|去年|刚才|刚刚/iu;
/** Something is numbered, not counted: another number is another thing. */
const NUMBERED = new Set(
  (
    'room ticket invoice order case issue page chapter flight line floor step phase sprint episode part player server node id gate platform seat table unit ' +
    'building apartment bus train route exit lot batch lesson module item row column question number no version port'
  ).split(' '),
);
const HAN_NUMBERED = /^[号章页楼层室班组期集课题路线站栋排列行]/u;
const VERBS = new Set(
  (
    'is are am be was were has have had do does costs cost takes take needs need runs run weighs lasts gets get uses use drinks drink eats eat sleeps ' +
    'sleep walks walk works work keep keeps add adds limit set send sends call calls wait retry retries check checks holds hold contains contain allows ' +
    'accepts accept supports support goes go spends spend pays pay earns earn reads read wants want likes prefers prefer must may can should shall will ' +
    'never always not seats fits fit stores store returns return gives give makes make owns own lives live charges charge expires expire backs'
  ).split(' '),
);
const HAN_VERBS = /[是为有在要需吃喝用花跑走睡收卖租住买付交发存能可会应必超至最共只限每读写练做跳打学戴量测放保留含]/u;

export function skeletonRelation(older: Reading, newer: Reading, claim: Claim, policy: RelationPolicy): Relation | undefined {
  const said = claim.wrong === undefined ? newer : read({ content: claim.text, subject: newer.subject }, policy);
  const [before, after] = [older.about, said.about];
  const laid = hunksOf(before, after);
  if (laid === undefined || laid.hunks.length === 0 || laid.shared < MIN_SHARED) return undefined;
  if ((2 * laid.shared) / (before.length + after.length) < ALIKE) return undefined;
  const { hunks } = laid;
  if (claim.wrong !== undefined) {
    const wrong = keyOf(tokensOf(claim.wrong, policy));
    if (hunks.some((hunk) => keyOf(hunk.before) === wrong)) return { kind: 'changed', reason: 'corrects it' };
  }
  const kinds = new Set(hunks.map((hunk) => differenceOf(hunk, policy)));
  if (/[?]\s*$/u.test(newer.plain) || /[?]\s*$/u.test(older.plain)) return undefined;
  if (kinds.has('other') || kinds.has('name')) return undefined;
  if ([...kinds].every((kind) => kind === 'negation' || kind === 'degree' || kind === 'opposite'))
    return { kind: 'unsure', reason: 'one speaks against the other' };
  const [hunk] = hunks;
  if (hunk === undefined || EVENT.test(older.plain) || EVENT.test(said.plain)) return undefined;
  if (hunks.length > 1)
    return kinds.size === 1 && !hunks.some((one) => isSubject(one, before))
      ? { kind: 'unsure', reason: 'several values differ' }
      : undefined;
  if (kinds.has('state')) return { kind: 'changed', reason: 'the other state' };
  return measureRelation(hunk, before);
}

function measureRelation(hunk: Hunk, before: readonly Token[]): Relation | undefined {
  const [type] = hunk.before.map((token) => token.type);
  if (isNumbered(hunk, before)) return isSubject(hunk, before) ? undefined : { kind: 'unsure', reason: 'another number of the same words' };
  if (isSubject(hunk, before)) return undefined;
  if (verbOf(before) === -1) return { kind: 'unsure', reason: 'another amount of the same words' };
  if (type === 'date' || type === 'weekday' || type === 'time') return { kind: 'unsure', reason: 'another time of the same words' };
  return { kind: 'changed', reason: 'another amount of the same words' };
}

function indexOf(hunk: Hunk, before: readonly Token[]): number {
  return Math.round(hunk.at * Math.max(1, before.length));
}

function isNumbered(hunk: Hunk, before: readonly Token[]): boolean {
  const [first] = hunk.before;
  const at = indexOf(hunk, before);
  if (first?.type === 'quantity') return HAN_NUMBERED.test(first.text);
  const next = before[at + hunk.before.length];
  return (
    first?.type === 'number' &&
    ((NUMBERED.has(before[at - 1]?.text ?? '') && before[at - 1]?.capital !== true) || HAN_NUMBERED.test(next?.text ?? ''))
  );
}

/** It stands before the first verb: it belongs to what is spoken of, not to what is said of it. */
function isSubject(hunk: Hunk, before: readonly Token[]): boolean {
  const verb = verbOf(before);
  return verb === -1 ? hunk.at < 0.5 : indexOf(hunk, before) < verb;
}

function verbOf(tokens: readonly Token[]): number {
  return tokens.findIndex(({ text, type }) => type === 'degree' || VERBS.has(text) || (type === 'han' && HAN_VERBS.test(text)));
}
