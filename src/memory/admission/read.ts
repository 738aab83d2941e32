/** Reads one sentence by the admission rules: what it is, and what its clauses state where the whole of it only asks. Pure. */
import { speakerFeature, type AdmissionRule, type CompiledAdmission, type Speaker } from './policy.ts';
import { clausesOf, sentenceOf, type Sentence } from './sentences.ts';
import { substanceOf } from './substance.ts';

/** What a sentence was taken for. `rule` undefined: no rule speaks about it. */
export interface Reading {
  readonly rule: AdmissionRule | undefined;
  /** The rule that its clause or its words are of, where another one opened the sentence. */
  readonly within?: AdmissionRule;
  readonly acknowledgement?: true;
  /** Of a text without a session that no rule speaks about: no note, but talk. */
  readonly talk?: true;
}

const MAX_LEAD_INS = 6;

/** One sentence, whose it is, and whether it was written without a session. */
export function readSentence(policy: CompiledAdmission, given: Sentence, speaker: Speaker, isNote = false): Reading {
  const sentence = withoutLeadIn(policy, given);
  if (sentence === undefined) return { rule: undefined, acknowledgement: true };
  const has = featuresOf(policy, sentence, speaker);
  const rule = policy.rules.find((one) => holds(one, has));
  const within = rule?.carries === true ? carriedIn(policy, sentence, rule, speaker) : undefined;
  if (rule !== undefined && within !== undefined) return { rule, within };
  return isNote && (rule === undefined || rule.ofTurns) ? noteOf(policy, has) : { rule };
}

/** What a sentence without a session is where no rule but those of turns speaks about it; a person's own words are a note in doubt. */
function noteOf({ rules, talk }: CompiledAdmission, has: Has): Reading {
  const rule = rules.find((one) => !one.ofTurns && holds(one, has));
  if (rule !== undefined) return { rule };
  const isTalk =
    talk.features.some(has) ||
    (talk.softFeatures.some(has) && !talk.unless.some(has)) ||
    (has('by_agent') && talk.agentFeatures.some(has)) ||
    ((has('request') || has('by_agent')) && has('several_words') && !has('says'));
  return isTalk ? { rule, talk: true } : { rule };
}

/** Words that only open or close a turn are taken off the front; undefined when nothing else is left. */
function withoutLeadIn({ leadIn }: CompiledAdmission, given: Sentence): Sentence | undefined {
  let { cased } = given;
  for (let i = 0; i < MAX_LEAD_INS; i += 1) {
    const [opening = ''] = leadIn.exec(cased.toLowerCase()) ?? [];
    if (opening === '') break;
    cased = cased.slice(opening.length).trim();
  }
  return /[\p{L}\p{N}]/u.test(cased) ? sentenceOf(cased) : undefined;
}

type Has = (feature: string) => boolean;

/** Each feature is looked for once, when a rule asks. */
function featuresOf({ features, substance, common }: CompiledAdmission, sentence: Sentence, speaker: Speaker): Has {
  const known = new Map([[speakerFeature(speaker), true]]);
  let says: number | undefined;
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const level = substance.get(name);
    if (level !== undefined) return (says ??= substanceOf(sentence.text, common)) >= level;
    const feature = features.get(name);
    const found = feature?.pattern.test(feature.cased ? sentence.cased : sentence.text) === true;
    known.set(name, found);
    return found;
  };
}

function holds({ all, any, none }: AdmissionRule, has: Has): boolean {
  return all.every(has) && (any.length === 0 || any.some(has)) && !none.some(has);
}

/**
 * The weightiest rule that a clause is of, in a sentence that asks or orders. What a question supposes or asks about is not stated: its only
 * clause, and clauses with a word that asks, state nothing.
 */
function carriedIn(policy: CompiledAdmission, sentence: Sentence, opening: AdmissionRule, speaker: Speaker): AdmissionRule | undefined {
  const carried = policy.rules.filter((rule) => rule.carried);
  const best = (parts: readonly Has[]): AdmissionRule | undefined =>
    carried.filter((rule) => parts.some((has) => holds(rule, has))).reduce<AdmissionRule | undefined>(weightier, undefined);
  if (!opening.drops)
    return best([featuresOf(policy, sentence, speaker), ...clausesOf(sentence).map((clause) => featuresOf(policy, clause, speaker))]);
  const clauses = clausesOf(sentence).map((clause) => {
    const has = featuresOf(policy, clause, speaker);
    return { has, asks: has('question') || has('request') || has('asks_word') };
  });
  const last = clauses.length - 1;
  const othersAsk = clauses.slice(0, last).some(({ asks }) => asks);
  const asksAtItsEnd = /[?？]\s*$/u.test(sentence.text);
  return best(clauses.filter(({ asks }, i) => !asks && last > 0 && (i < last || othersAsk || !asksAtItsEnd)).map(({ has }) => has));
}

const weightier = (a: AdmissionRule | undefined, b: AdmissionRule): AdmissionRule => (a === undefined || b.grade > a.grade ? b : a);
