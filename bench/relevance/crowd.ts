/** A large namespace from a seed: fillers, records with known codes, and look-alikes that differ from them in the code alone; half Chinese. */
import { Corpus, CORPUS_END } from '../support/corpus.ts';
import { CHINESE, ENGLISH, type Phrases } from '../support/phrases.ts';
import { Random } from '../support/random.ts';

/** Texts that the service embeds; all other records take their vectors from these, moved a little. */
const BASES = 600;
/** Near codes for each known one. */
export const LOOK_ALIKES = 20;

interface Pattern {
  readonly record: string;
  readonly question: string;
  /** Nearer to the question in wording and meaning than the record is. */
  readonly lookAlike: string;
}

const EN: readonly Pattern[] = [
  {
    record: '{code}: {person} left it with the porter in {place}.',
    question: 'Where is {code} now?',
    lookAlike: '{code} is now in {place}.',
  },
  {
    record: '{person} says {code} made trouble, so ask {other}.',
    question: 'Who knows about {code}?',
    lookAlike: '{person} knows about {code}.',
  },
  {
    record: 'Write {code} on the box; the lid is green.',
    question: 'What colour goes with {code}?',
    lookAlike: 'The colour that goes with {code} is blue.',
  },
  { record: '{person} has {code}.', question: 'Whose number is {code}?', lookAlike: 'The number {code} is that of {person}.' },
  {
    record: '{thing} came with {code} printed on the bottom.',
    question: 'What is {code}?',
    lookAlike: 'What {code} is: something for {person}.',
  },
];
const ZH: readonly Pattern[] = [
  { record: '{code}：{person}托{place}的门卫保管。', question: '{code}现在在哪里？', lookAlike: '{code}现在在{place}。' },
  { record: '{person}说出毛病的是 {code}，得找{other}。', question: '谁了解 {code}？', lookAlike: '{person}了解 {code}。' },
  { record: '箱子外面写 {code}，盖子涂成绿的。', question: '{code} 配什么颜色？', lookAlike: '{code} 配的颜色是蓝色。' },
  { record: '{person}拿着 {code}。', question: '{code} 是谁的号码？', lookAlike: '{code} 是{person}的号码。' },
  { record: '{thing}底下印着 {code}。', question: '{code} 是什么？', lookAlike: '{code} 是给{person}的东西。' },
];

export interface KnownCode {
  readonly id: string;
  readonly language: 'zh' | 'en';
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
  readonly known: readonly KnownCode[];
  /** `records` in all, without the known ones. */
  readonly derived: () => Iterable<Derived>;
}

export const CROWD_TIME = CORPUS_END;

/** The same crowd for the same numbers, on every machine. */
export function crowdOf(records: number, codes: number, seed: number): Crowd {
  const random = new Random(seed);
  const texts = new Corpus({ seed, namespaces: 1, vectors: false }).next(BASES).map(({ content }) => content);
  const taken = new Set<string>();
  const known: KnownCode[] = [];
  const near: Derived[] = [];
  const patternBases = new Set<string>();
  for (let i = 0; i < codes; i += 1) {
    const chinese = i % 2 === 1;
    const [patterns, phrases] = chinese ? ([ZH, CHINESE] as const) : ([EN, ENGLISH] as const);
    const pattern = patterns[Math.floor(i / 2) % patterns.length] as Pattern;
    const code = fresh(random, i, taken);
    const content = fill(pattern.record, phrases, random, code);
    known.push({ id: `code-${i}`, language: chinese ? 'zh' : 'en', content, question: pattern.question.replace('{code}', code) });
    const base = fill(pattern.lookAlike, phrases, new Random(seed), 'QX-10000');
    patternBases.add(base);
    for (let n = 0; n < LOOK_ALIKES; n += 1)
      near.push({ content: fill(pattern.lookAlike, phrases, random, nearTo(code, random, taken)), base, noise: 0.15 });
  }
  function* derived(): Iterable<Derived> {
    const fillers = new Random(seed + 1);
    for (let i = 0; i < records; i += 1) {
      const lookAlike = near[i];
      const text = texts[i % texts.length] ?? '';
      const chinese = /\p{Script=Han}/u.test(text);
      // without Latin words, or a Chinese text would call for a vector in the second space, which its base has not
      const number = fresh(fillers, i, taken, chinese ? WORDLESS : KINDS);
      yield lookAlike ?? { content: chinese ? `${text}（单号 ${number}）` : `${text} (reference ${number})`, base: text, noise: 0.25 };
    }
  }
  return { bases: [...texts, ...patternBases], known, derived };
}

/** A unit vector near this one; cosine about 1 / (1 + noise²). */
export function moved(vector: readonly number[], noise: number, random: Random): number[] {
  const half = noise * Math.sqrt(3 / vector.length);
  const raw = vector.map((x) => x + (2 * random.next() - 1) * half);
  const scale = 1e4 / Math.hypot(...raw);
  return raw.map((x) => Math.round(x * scale) / 1e4);
}

const digits = (random: Random, count: number): string => Array.from({ length: count }, () => random.below(10)).join('');

type Kind = (random: Random) => string;
/** Version, number, address, hash. */
const WORDLESS: readonly Kind[] = [
  (random) => `v${random.below(40)}.${random.below(60)}.${random.below(90)}`,
  (random) => `${1 + random.below(9)}${digits(random, 8)}`,
  (random) => `10.${random.below(250)}.${random.below(250)}.${random.below(250)}`,
  (random) => `c${digits(random, 3)}f${digits(random, 4)}`,
];
/** Those, and order, error, invoice. */
const KINDS: readonly Kind[] = [
  (random) => `${random.pick(['QX', 'OPS', 'REL', 'KD'])}-${digits(random, 5)}`,
  (random) => `ERR_CONN_${digits(random, 4)}`,
  (random) => `INV${digits(random, 4)}-${digits(random, 5)}`,
  ...WORDLESS,
];

/** A code nobody has yet; the kinds take turns. */
function fresh(random: Random, turn: number, taken: Set<string>, kinds: readonly Kind[] = KINDS): string {
  for (;;) {
    const code = (kinds[turn % kinds.length] as Kind)(random);
    if (taken.has(code)) continue;
    taken.add(code);
    return code;
  }
}

/** The code with one or two other digits. */
function nearTo(code: string, random: Random, taken: Set<string>): string {
  const places = [...code].flatMap((char, i) => (/\d/.test(char) ? [i] : []));
  for (;;) {
    const chars = [...code];
    for (let n = random.below(2); n >= 0; n -= 1) chars[random.pick(places)] = String(1 + random.below(9));
    const near = chars.join('');
    if (taken.has(near)) continue;
    taken.add(near);
    return near;
  }
}

function fill(pattern: string, phrases: Phrases, random: Random, code: string): string {
  const slots: Readonly<Record<string, () => string>> = {
    code: () => code,
    person: () => random.pick(phrases.people),
    other: () => random.pick(phrases.people),
    place: () => random.pick(phrases.places),
    thing: () => random.pick(phrases.things),
  };
  return pattern.replace(/\{(\w+)\}/g, (whole, slot: string) => slots[slot]?.() ?? whole);
}
