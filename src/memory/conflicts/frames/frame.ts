/** What one sentence says of whom: subject, attribute, value. The rules that read frames are data, one list a language. */
import type { RelationPolicy } from '../relation-policy.ts';

/** Stands for the speaker and for "the user": I, my, 我, 用户. Two owners' SELF are two people. */
export const SELF = 'self';

/** What the user asks of whoever answers: said by nobody else, so an empty subject is the user. */
export const REPLY_LANGUAGE = 'reply language';
export const FORM_OF_ADDRESS = 'form of address';

/** Topic of "Ana left X", whatever X was to her. */
export const LEFT = 'left';

export interface Frame {
  /** Folded; SELF for the speaker. */
  readonly subject: string;
  /** Canonical name of the attribute. */
  readonly topic: string;
  /** As written; several in one text for a topic with several values. */
  readonly value: string;
  /** What stands after the value and does not belong to it: "since 2019". */
  readonly rest: string;
  readonly negated: boolean;
  /** It says that this no longer holds. */
  readonly ended: boolean;
  /** The value it says was wrong or is left behind: "not 3 May", "from Berlin". */
  readonly wrong: string | undefined;
  /** Any two values stand against each other, or only two of one type (of an attribute that may be anything). */
  readonly compares: 'any' | 'typed';
  /** The sentence tells of a change ("was moved to"). */
  readonly changes: boolean;
  /** It may be one of several ("we use MySQL"): only what tells of a change takes its place. */
  readonly among: boolean;
}

/** Named parts of a sentence, by group. */
export type Found = Readonly<Record<string, string | undefined>>;

export interface FrameRule {
  /** Sentences it is for; a test checks that it reads each of them. */
  readonly examples: readonly string[];
  /** Anchored at both ends; groups s (subject), v (value), and a (attribute) where the topic is named by the sentence. */
  readonly pattern: RegExp;
  /** Fixed, or made of what was found; undefined when the sentence is no such thing after all. */
  readonly topic: string | ((found: Found, policy: RelationPolicy) => string | undefined);
  /** Only a value of this form. */
  readonly value?: 'name' | 'when' | 'amount' | 'money';
  readonly compares?: 'typed';
  /** The value left behind: the rule tells an end. */
  readonly ends?: true;
  /** What it tells is a change, whatever its words. */
  readonly changes?: true;
  readonly among?: true;
  /** Whose it is, where that is not who did it: "we moved the deadline to Friday". */
  readonly whose?: (found: Found, policy: RelationPolicy) => string;
}
