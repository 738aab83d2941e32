/** Codes, numbers, names and quoted phrases that nobody has twice, and others that look like them; from a seed. */
import type { Random } from '../support/random.ts';
import type { Kind, Language } from './patterns.ts';

type Make = (random: Random) => string;

const digits = (random: Random, count: number): string => Array.from({ length: count }, () => random.below(10)).join('');
const words = (text: string): readonly string[] => text.split(' ');

/** Version, number, address, hash. */
const WORDLESS: readonly Make[] = [
  (random) => `v${random.below(40)}.${random.below(60)}.${random.below(90)}`,
  (random) => `${1 + random.below(9)}${digits(random, 8)}`,
  (random) => `10.${random.below(250)}.${random.below(250)}.${random.below(250)}`,
  (random) => `c${digits(random, 3)}f${digits(random, 4)}`,
];
/** Those, and order, error, invoice. */
const CODES: readonly Make[] = [
  (random) => `${random.pick(['QX', 'OPS', 'REL', 'KD'])}-${digits(random, 5)}`,
  (random) => `ERR_CONN_${digits(random, 4)}`,
  (random) => `INV${digits(random, 4)}-${digits(random, 5)}`,
  ...WORDLESS,
];
/** A locker's, a ticket's, an account's. */
const NUMBERS: readonly Make[] = [4, 5, 6, 8].map((count) => (random) => `${1 + random.below(9)}${digits(random, count - 1)}`);

const joined = (lists: readonly (readonly string[])[], between = ''): Make => {
  return (random) => lists.map((list) => random.pick(list)).join(between);
};
const GIVEN = words('瀚 翎 岚 钧 芷 骁 昀 婧 珂 霁 筠 湛 沅 琰 祺 朔');
const THINGS: Readonly<Record<'name' | 'phrase', Readonly<Record<Language, Make>>>> = {
  name: {
    en: joined([
      words('Zor Quil Vand Brix Thal Orm Yss Kael Wren Jarl Mir Fenn'),
      words('a e i o u ai or en'),
      words('vane more wick dell quist thorpe stad nova lund ric mond gard'),
    ]),
    zh: joined([words('欧阳 慕容 诸葛 上官 司徒 尉迟 闻 宓 仇 郜 蔺 翟'), GIVEN, GIVEN]),
  },
  phrase: {
    en: joined(
      [
        words('silver hollow crimson paper northern broken velvet amber quiet copper frozen winding'),
        words('lantern kite stamp clock match umbrella button sail candle kettle ladder anchor mirror basket'),
        words('orchard harbour hothouse valley station mill bookshop ferry tavern garden kitchen courtyard'),
      ],
      ' ',
    ),
    zh: joined([
      words('银 青 旧 红 玻璃 雪 铜 蓝 碎 金 木 黑'),
      words('灯笼 风筝 邮票 钟楼 火柴 雨伞 琴键 纽扣 帆船 蜡烛 砖塔 水壶'),
      words('果园 码头 花房 山谷 车站 磨坊 书店 渡口 酒馆 茶园 厨房 后院'),
    ]),
  },
};

/** Gives each thing once; codes and numbers of several forms take turns. */
export class ThingMaker {
  readonly #random: Random;
  readonly #taken = new Set<string>();

  constructor(random: Random) {
    this.#random = random;
  }

  fresh(kind: Kind, language: Language, turn: number): string {
    return this.#once(() => this.#make(kind, language, turn));
  }

  /** For a filler; one without Latin words where its text has none, as that would call for a vector which its base has not. */
  filler(random: Random, turn: number, wordless: boolean): string {
    const makes = wordless ? WORDLESS : CODES;
    return this.#once(() => (makes[turn % makes.length] as Make)(random));
  }

  /** One or two other digits; another name; another phrase that shares words with it. */
  near(thing: string, kind: Kind, language: Language): string {
    if (kind === 'name') return this.fresh(kind, language, 0);
    if (kind === 'phrase')
      return this.#once(() => {
        const other = THINGS.phrase[language](this.#random);
        return this.#random.chance(0.5) ? mixed(thing, other, language) : mixed(other, thing, language);
      });
    const places = [...thing].flatMap((char, i) => (/\d/.test(char) ? [i] : []));
    return this.#once(() => {
      const chars = [...thing];
      for (let n = this.#random.below(2); n >= 0; n -= 1) chars[this.#random.pick(places)] = String(1 + this.#random.below(9));
      return chars.join('');
    });
  }

  #make(kind: Kind, language: Language, turn: number): string {
    if (kind === 'name' || kind === 'phrase') return THINGS[kind][language](this.#random);
    const makes = kind === 'code' ? CODES : NUMBERS;
    return (makes[turn % makes.length] as Make)(this.#random);
  }

  #once(make: () => string): string {
    for (;;) {
      const thing = make();
      if (this.#taken.has(thing)) continue;
      this.#taken.add(thing);
      return thing;
    }
  }
}

/** The end of one phrase behind the beginning of another: Chinese phrases end in two characters, English ones in a word. */
function mixed(thing: string, other: string, language: Language): string {
  const cut = (text: string): number => (language === 'zh' ? text.length - 2 : text.lastIndexOf(' '));
  return thing.slice(0, cut(thing)) + other.slice(cut(other));
}
