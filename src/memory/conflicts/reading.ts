/** A memory's text as tokens that can be compared: synonyms in one form, silent words out, the subject's own mention off. */
import type { RelationPolicy } from './relation-policy.ts';
import { folded } from './relation-policy.ts';
import { SELF } from './frames/frame.ts';
import { plainText, sentencesOf } from './plain-text.ts';
import { scan } from './values/scan.ts';
import type { Token } from './values/token.ts';

/** Texts are read up to here; a longer one is the same only as one of the same fingerprint (relation). */
export const MAX_COMPARED_CHARS = 2_000;

export interface Reading {
  readonly plain: string;
  readonly sentences: readonly string[];
  /** Whom it is about, as far as a name given with it or its first words tell; folded, or SELF. */
  readonly subject: string | undefined;
  readonly tokens: readonly Token[];
  /** The same with the subject's mention off and the verb after it in its base form. */
  readonly about: readonly Token[];
}

/** Spellings of the speaker. Two owners' are two people. */
const SELVES = new Set([...'i me my mine myself user 用户 我 本人 我自己 我的 用户的'.split(' '), 'the user', "the user's", "user's"]);
const WE = new Set(['we', 'our', 'us', '我们', '我们的', '咱们']);
const THIRD = new Set(['he', 'she', 'they', 'his', 'her', 'their', 'it', 'its', '他', '她', '它', '其', '他的', '她的', '他们']);

/** A subject in one spelling: determiners and possessive off; SELF, `we`, or undefined for a pronoun that names nobody. */
export function subjectOf(written: string, given?: string): string | undefined {
  const name = folded(written)
    .replace(/^(?:the|a|an|this|that) (?=[^ ])(?!user$)/u, '')
    .replace(/^new (?=[^ ])/u, '')
    .replace(/(?:'s|(?<=s)'|的)$/u, '')
    .trim();
  if (SELVES.has(name) || SELVES.has(folded(written))) return given === undefined || isSelf(given) ? SELF : folded(given);
  if (WE.has(name)) return 'we';
  if (THIRD.has(name) || name === '') return given === undefined ? undefined : isSelf(given) ? SELF : folded(given);
  return name;
}

/** The spellings above, and what the user asks of whoever answers (frames, REPLY_LANGUAGE and FORM_OF_ADDRESS), whose subject is left out. */
const MAY_BE_OF_SELF =
  /\b(?:i|me|my|mine|myself|user|answers?|repl(?:y|ies)|respon(?:d|ses)|write|talk|speak|explanations)\b|[我用]|本人/iu;

/** False only where nothing in a text can make it one of its writer's: half of what is imported need not be read for that (bench:import). */
export function mayBeOfSelf(item: { readonly content: string; readonly subject?: string | undefined }, policy: RelationPolicy): boolean {
  if (item.subject !== undefined && isSelf(item.subject)) return true;
  return MAY_BE_OF_SELF.test(policy.unify(plainText(item.content.slice(0, MAX_COMPARED_CHARS))));
}

function isSelf(subject: string): boolean {
  return SELVES.has(folded(subject)) || folded(subject) === SELF;
}

/** Tokens of a plain text without silent words. */
export function tokensOf(plain: string, policy: RelationPolicy): readonly Token[] {
  return joined(scan(policy.unify(plain).replace(NOW, '')), policy).filter(
    (token) => !policy.silent.has(token.text) || token.type === 'code',
  );
}

/** Silent as "now" is. */
const NOW = /(?:现在|目前|如今|当前)(?!的)/gu;

/** Han characters that make one of two opposite words stay together: 在线 and 离线 share half of theirs. */
function joined(tokens: readonly Token[], { opposites }: RelationPolicy): readonly Token[] {
  const found: Token[] = [];
  for (let i = 0; i < tokens.length; i += 1) {
    const [token, next] = [tokens[i], tokens[i + 1]];
    if (token === undefined) break;
    const word = token.type === 'han' && next?.type === 'han' && next.start === token.end ? token.text + next.text : '';
    const isOne = next !== undefined && opposites.has(word);
    found.push(isOne ? { ...token, text: word, end: next.end } : token);
    if (isOne) i += 1;
  }
  return found;
}

export function keyOf(tokens: readonly Token[]): string {
  return tokens.map(({ type, text }) => (type === 'word' || type === 'han' ? text : `${type}:${text}`)).join(' ');
}

export function read(item: { readonly content: string; readonly subject?: string | undefined }, policy: RelationPolicy): Reading {
  const plain = plainText(item.content.slice(0, MAX_COMPARED_CHARS));
  const tokens = tokensOf(plain.replace(/[\s.!。!]+$/u, ''), policy);
  return { plain, sentences: sentencesOf(plain), tokens, ...aboutOf(tokens, item.subject) };
}

function aboutOf(tokens: readonly Token[], given: string | undefined): Pick<Reading, 'subject' | 'about'> {
  const [first] = tokens;
  if (first === undefined) return { subject: given === undefined ? undefined : subjectOf(given), about: tokens };
  const subject = given === undefined ? undefined : subjectOf(given);
  const mention = mentionOf(tokens, given);
  if (mention === undefined) return { subject, about: tokens };
  const own = subject ?? (mention.self ? SELF : undefined);
  if (own === undefined) return { subject: undefined, about: tokens };
  const rest = tokens.slice(mention.length);
  const owns: Token = { type: 'word', text: "'s", start: first.start, end: first.start, capital: false };
  return { subject: own, about: mention.owns ? [owns, ...rest] : baseForm(rest) };
}

interface Mention {
  readonly length: number;
  readonly owns: boolean;
  readonly self: boolean;
}

/** How the text begins with its subject: by a pronoun, or by the name given with it. */
function mentionOf(tokens: readonly Token[], given: string | undefined): Mention | undefined {
  const [first, second] = tokens;
  if (first === undefined) return undefined;
  if (first.text === '我' || (first.text === '本' && second?.text === '人')) {
    if (second?.text === '们') return undefined;
    return { length: first.text === '我' ? 1 : 2, owns: false, self: true };
  }
  if (first.text === '用' && second?.text === '户') return { length: 2, owns: false, self: true };
  if (first.text === 'i' || first.text === 'user') return { length: 1, owns: false, self: true };
  if (first.text === 'my' || first.text === "user's") return { length: 1, owns: true, self: true };
  if (given === undefined) return undefined;
  if (['他', '她', 'he', 'she', 'they'].includes(first.text) && second?.text !== '们') return { length: 1, owns: false, self: false };
  if (['his', 'her', 'their'].includes(first.text)) return { length: 1, owns: true, self: false };
  const name = scan(folded(given));
  const at = name.findIndex((token, i) => token.text !== tokens[i]?.text.toLowerCase());
  if (name.length === 0) return undefined;
  if (at === -1) return { length: name.length, owns: false, self: false };
  const last = tokens[at]?.text.toLowerCase();
  return at === name.length - 1 && last === `${name[at]?.text ?? ''}'s` ? { length: name.length, owns: true, self: false } : undefined;
}

const IRREGULAR = new Map([
  ['has', 'have'],
  ['is', 'be'],
  ['am', 'be'],
  ['are', 'be'],
  ['does', 'do'],
  ['goes', 'go'],
  ['was', 'were'],
]);

/** "lives in Rome" of Ana is "live in Rome" of me. */
function baseForm(tokens: readonly Token[]): readonly Token[] {
  const at = tokens.findIndex(({ type }) => type !== 'not' && type !== 'degree');
  const verb = tokens[at];
  if (verb === undefined || verb.type !== 'word' || verb.capital) return tokens;
  return tokens.map((token, i) => (i === at ? { ...token, text: baseOf(token.text) } : token));
}

export function baseOf(verb: string): string {
  const irregular = IRREGULAR.get(verb);
  if (irregular !== undefined) return irregular;
  if (/[^aeiou]ies$/.test(verb) && verb.length > 4) return `${verb.slice(0, -3)}y`;
  if (/(?:ch|sh|ss|x|zz)es$/.test(verb)) return verb.slice(0, -2);
  return /[^su]s$/.test(verb) && verb.length > 3 ? verb.slice(0, -1) : verb;
}
