/** A large namespace from a seed: fillers, records with something known to the letter, and look-alikes that differ in that alone; half Chinese. */
import { Corpus, CORPUS_END } from '../support/corpus.ts';
import { CHINESE, ENGLISH, type Phrases } from '../support/phrases.ts';
import { Random } from '../support/random.ts';
import { PATTERNS, type Kind, type Language, type Pattern } from './patterns.ts';
import { ThingMaker } from './things.ts';

/** Texts that the service embeds; all other records take their vectors from these, moved a little. */
const BASES = 600;
/** Look-alikes for each known thing. */
export const LOOK_ALIKES = 20;

export const KINDS: readonly Kind[] = ['code', 'number', 'name', 'phrase'];

export interface Known {
  readonly id: string;
  readonly kind: Kind;
  readonly language: Language;
  /** What the question and its record hold to the letter. */
  readonly thing: string;
  readonly content: string;
  readonly question: string;
}

/** A record whose vectors are those of a base text, moved by noise of this length. */
export interface Derived {
  readonly content: string;
  readonly base: string;
  readonly noise: number;
}

export interface Crowd {
  /** To be embedded by the service. */
  readonly bases: readonly string[];
  readonly known: readonly Known[];
  /** `records` in all, without the known ones. */
  readonly derived: () => Iterable<Derived>;
}

/** Questions by kind: so many for a code, and so many for each other kind. */
export interface KnownCounts {
  readonly codes: number;
  readonly things: number;
}

export const CROWD_TIME = CORPUS_END;

/** The same crowd for the same numbers, on every machine. */
export function crowdOf(records: number, { codes, things }: KnownCounts, seed: number): Crowd {
  const random = new Random(seed);
  const maker = new ThingMaker(random);
  const texts = new Corpus({ seed, namespaces: 1, vectors: false }).next(BASES).map(({ content }) => content);
  const known: Known[] = [];
  const near: Derived[] = [];
  const patternBases = new Set<string>();
  for (const kind of KINDS)
    for (let i = 0; i < (kind === 'code' ? codes : things); i += 1) {
      const language = i % 2 === 1 ? 'zh' : 'en';
      const phrases = language === 'zh' ? CHINESE : ENGLISH;
      const patterns = PATTERNS[kind][language];
      const pattern = patterns[Math.floor(i / 2) % patterns.length] as Pattern;
      const thing = maker.fresh(kind, language, i);
      const content = fill(pattern.record, phrases, random, thing);
      known.push({ id: `${kind}-${i}`, kind, language, thing, content, question: pattern.question.replace('{code}', thing) });
      const base = fill(pattern.lookAlike, phrases, new Random(seed), EXAMPLES[kind][language]);
      patternBases.add(base);
      for (let n = 0; n < LOOK_ALIKES; n += 1)
        near.push({ content: fill(pattern.lookAlike, phrases, random, maker.near(thing, kind, language)), base, noise: 0.15 });
    }
  function* derived(): Iterable<Derived> {
    const fillers = new Random(seed + 1);
    for (let i = 0; i < records; i += 1) {
      const lookAlike = near[i];
      const text = texts[i % texts.length] ?? '';
      const chinese = /\p{Script=Han}/u.test(text);
      const number = maker.filler(fillers, i, chinese);
      yield lookAlike ?? { content: chinese ? `${text}（单号 ${number}）` : `${text} (reference ${number})`, base: text, noise: 0.25 };
    }
  }
  return { bases: [...texts, ...patternBases], known, derived };
}

/** What stands in the base text of the look-alikes. */
const EXAMPLES: Readonly<Record<Kind, Readonly<Record<Language, string>>>> = {
  code: { en: 'QX-10000', zh: 'QX-10000' },
  number: { en: '38120', zh: '38120' },
  name: { en: 'Ostenvelde', zh: '令狐景行' },
  phrase: { en: 'wooden feather bridge', zh: '石羽毛桥头' },
};

/** A unit vector near this one; cosine about 1 / (1 + noise²). */
export function moved(vector: readonly number[], noise: number, random: Random): number[] {
  const half = noise * Math.sqrt(3 / vector.length);
  const raw = vector.map((x) => x + (2 * random.next() - 1) * half);
  const scale = 1e4 / Math.hypot(...raw);
  return raw.map((x) => Math.round(x * scale) / 1e4);
}

function fill(pattern: string, phrases: Phrases, random: Random, thing: string): string {
  const slots: Readonly<Record<string, () => string>> = {
    code: () => thing,
    person: () => random.pick(phrases.people),
    other: () => random.pick(phrases.people),
    place: () => random.pick(phrases.places),
    thing: () => random.pick(phrases.things),
  };
  return pattern.replace(/\{(\w+)\}/g, (whole, slot: string) => slots[slot]?.() ?? whole);
}
