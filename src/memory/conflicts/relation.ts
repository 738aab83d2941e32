/** How a newer memory relates to an older one, read from the two texts alone: the one decision that merging and superseding go by. */
import type { Language } from '../../domain/memory.ts';
import { hasOwnCase } from '../../text/case.ts';
import { fingerprint } from '../../text/clean.ts';
import { claimOf, type Claim } from './claims.ts';
import { compareFrames } from './compare-frames.ts';
import { frameOf } from './frames/read-frame.ts';
import { SELF, type Frame } from './frames/frame.ts';
import { slotOf, type SlotText } from './infer-slot.ts';
import { keyOf, MAX_COMPARED_CHARS, mayBeOfSelf, read, type Reading } from './reading.ts';
import type { Relation } from './relation-kind.ts';
import type { RelationPolicy } from './relation-policy.ts';
import { endsOlder } from './retraction.ts';
import { switchesFrom } from './switch.ts';
import { sameWords } from './same-words.ts';
import { skeletonRelation } from './skeleton-relation.ts';
import { PAUSED } from './values/signs.ts';

/** One of two memories that are compared; the fields of a record. */
export interface ComparedText extends SlotText {
  readonly language?: Language | undefined;
}

/** A sentence with what it claims. */
interface Said {
  readonly claim: Claim;
  readonly frame: Frame | undefined;
}

interface Side {
  readonly item: ComparedText;
  readonly reading: Reading;
  readonly said: readonly Said[];
}

const MAX_SENTENCES = 4;
/** What rules out another answer stands first. */
const STRONGEST = ['changed', 'retracted', 'same', 'unsure', 'adds'] as const;

/** Pure and deterministic; never throws. `same` and `different` are symmetric. */
export function relationOf(older: ComparedText, newer: ComparedText, policy: RelationPolicy): Relation {
  const [before, after] = [sideOf(older, policy), sideOf(newer, policy)];
  const found = directed(before, after, policy);
  if (found.kind !== 'different') return found;
  // an older retraction of what the newer says is no end, and no stranger either
  const { kind } = directed(after, before, policy);
  return kind === 'retracted' || kind === 'unsure' ? { kind: 'unsure', reason: 'one speaks against the other' } : found;
}

/** Whether a text is about whoever wrote it: two owners' such texts say nothing of each other. */
export function speaksOfSelf(item: ComparedText, policy: RelationPolicy): boolean {
  if (!mayBeOfSelf(item, policy)) return false;
  const { reading, said } = sideOf(item, policy);
  return reading.subject === SELF || said.some(({ frame }) => frame?.subject === SELF);
}

function directed(older: Side, newer: Side, policy: RelationPolicy): Relation {
  const [a, b] = [older.reading, newer.reading];
  const long = older.item.content.length > MAX_COMPARED_CHARS || newer.item.content.length > MAX_COMPARED_CHARS;
  // only their beginnings were read
  if (long && fingerprint(older.item.content) !== fingerprint(newer.item.content))
    return { kind: 'different', reason: 'too long to be compared' };
  const alike = tellingSigns(a) === tellingSigns(b);
  if (sameWords(a, b)) return alike ? { kind: 'same', reason: 'the same words' } : { kind: 'different', reason: 'other signs or letters' };
  if (a.subject !== undefined && b.subject !== undefined && a.subject !== b.subject)
    return { kind: 'different', reason: 'of another subject' };
  if (long) return { kind: 'different', reason: 'too long to be compared' };
  const found = whole(older, newer, policy);
  // a frame reads no more than its subject and value
  if (found.kind === 'same' && !alike) return { kind: 'different', reason: 'other signs or letters' };
  // a text of several sentences says more than what was contradicted
  if (older.said.length > 1 && (found.kind === 'changed' || found.kind === 'retracted'))
    return { kind: 'unsure', reason: `in a part of it: ${found.reason}` };
  return found;
}

/** What every two texts that say the same must share, wherever in them it stands: signs, and words whose case is a part of them. */
function tellingSigns({ tokens }: Reading): string {
  const telling = tokens.filter(({ type, text }) =>
    type === 'sign' ? text !== PAUSED : (type === 'word' || type === 'code') && hasOwnCase(text),
  );
  return keyOf([...telling].sort((one, other) => (one.text < other.text ? -1 : one.text > other.text ? 1 : 0)));
}

function whole(older: Side, newer: Side, policy: RelationPolicy): Relation {
  const relations = older.said.flatMap((one) => newer.said.flatMap((other) => pair(one, other, older, newer, policy) ?? []));
  const given = givenSlots(older, newer, policy);
  for (const kind of STRONGEST) {
    const found = relations.find((relation) => relation.kind === kind);
    if (found === undefined) continue;
    if (kind === 'same' && (older.said.length > 1 || newer.said.length > 1)) continue;
    if (kind === 'unsure' && given?.kind === 'changed') return given;
    return found;
  }
  return given ?? relations.find(({ kind }) => kind === 'different') ?? { kind: 'different', reason: 'neither says anything of the other' };
}

function pair(one: Said, other: Said, older: Side, newer: Side, policy: RelationPolicy): Relation | undefined {
  const texts = { older: older.reading.plain, newer: newer.reading.plain };
  const framed = one.frame === undefined || other.frame === undefined ? undefined : compareFrames(one.frame, other.frame, texts, policy);
  if (framed !== undefined) return framed;
  if (one.claim.ends) return undefined;
  if (other.claim.ends) return endsOlder(one.claim.text, other.claim.text, policy);
  return switchesFrom(one.claim.text, other.claim.text, policy) ?? skeletonRelation(older.reading, newer.reading, other.claim, policy);
}

/** What subject and topic decide that the callers gave: the newer takes the older's place, or stands beside it. */
function givenSlots(older: Side, newer: Side, policy: RelationPolicy): Relation | undefined {
  const [before, after] = [slotOf(older.item, undefined, policy), slotOf(newer.item, undefined, policy)];
  if (before === undefined || after === undefined || before.subject !== after.subject || before.topic !== after.topic) return undefined;
  if (newer.said.some(({ claim }) => claim.ends)) return { kind: 'retracted', reason: 'the topic no longer holds' };
  return after.multiValued
    ? { kind: 'adds', reason: 'one more value of a topic with several' }
    : { kind: 'changed', reason: 'a new value of the same topic' };
}

/** A new memory is compared with several stored ones, and read once. */
const readings = new WeakMap<RelationPolicy, Map<string, Pick<Side, 'reading' | 'said'>>>();
const READINGS_KEPT = 256;

function sideOf(item: ComparedText, policy: RelationPolicy): Side {
  const known = readings.get(policy) ?? new Map<string, Pick<Side, 'reading' | 'said'>>();
  readings.set(policy, known);
  const key = JSON.stringify([item.subject ?? null, item.content.slice(0, MAX_COMPARED_CHARS)]);
  const side = known.get(key) ?? readSide(item, policy);
  if (known.size >= READINGS_KEPT) known.clear();
  known.set(key, side);
  return { item, ...side };
}

function readSide(item: ComparedText, policy: RelationPolicy): Pick<Side, 'reading' | 'said'> {
  const reading = read(item, policy);
  let { subject } = item;
  const said = reading.sentences.slice(0, MAX_SENTENCES).map((sentence): Said => {
    const claim = claimOf(policy.unify(sentence));
    const frame = frameOf(claim, { subject, policy });
    // she is whom the sentence before speaks of
    subject ??= frame === undefined || frame.subject === '' ? undefined : frame.subject;
    return { claim, frame };
  });
  return { reading, said };
}
