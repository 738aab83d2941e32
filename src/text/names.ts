/** Who or what a question calls by name, for the exact clause of the one query: capitalised words, and Chinese personal names. */
import { fold, stem } from './analyze.ts';
import { capitalisedWords } from './query-terms.ts';
import { STOP_WORDS } from './stop-words.ts';

/** A name by its stems and Han bigrams, all of which a record has to hold. */
export interface NameTerms {
  readonly uni: readonly string[];
  readonly bi: readonly string[];
}

const MAX_NAMES = 4;
/** Names stand in a question's first sentences. */
const MAX_UNITS = 400;

/** The hundred commonest surnames and some that no ordinary word begins with; those that are ordinary words (于, 时, 向, …) are left out. */
const SURNAMES = new Set(
  '王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文庞樊兰殷施陶洪翟安颜倪严牛温芦季俞章鲁葛伍韦申尤毕聂丛焦柳邢骆岳齐沿梅莫庄辛管祝左涂谷祁耿牟卜路詹关苗凌费纪靳盛童欧甄项曲成游阳裴席卫查屈鲍位覃霍翁隋植甘景薄单包司柏宁柯阮桂闵闻宓仇郜蔺' +
    // as Traditional script writes those that differ
    '張劉陳楊趙黃吳孫馬羅鄭謝韓馮蕭鄧許呂蘇盧蔣賈葉閻鍾譚鄒陸顧龍萬錢湯喬賀賴龔龐蘭顏嚴溫蘆魯韋畢聶叢駱齊莊關費紀歐項陽衛鮑單寧閔聞藺',
);
const LONG_SURNAMES = [
  '欧阳',
  '上官',
  '司马',
  '司徒',
  '诸葛',
  '慕容',
  '尉迟',
  '令狐',
  '皇甫',
  '东方',
  '端木',
  '公孙',
  '夏侯',
  '轩辕',
  '澹台',
  '宇文',
  '歐陽',
  '司馬',
  '東方',
  '公孫',
  '軒轅',
  '尉遲',
];
/** What follows a surname without being a given name: particles, verbs and titles that stand alone. */
const NO_GIVEN = new Set(
  '的了是在我你他她它们吗呢和也就都啊吧不没有会要能还很去来到给说做吃买与跟同被把让对从向为着过个几多什怎哪谁这那总家某老小們嗎會還來說給買與對從過個幾麼誰這總',
);

const segmenter = new Intl.Segmenter('zh', { granularity: 'word' });

/**
 * At most 4 names in question order. Whether a name is rare is for the index to say. A Chinese name is a surname and one or two characters
 * that the dictionary knows no word of: it takes 王磊 and 欧阳震华 apart, and leaves 高兴 and 方便 whole.
 */
export function namesIn(question: string): NameTerms[] {
  const text = question.slice(0, MAX_UNITS);
  const latin = capitalisedWords(text).map((name) => ({ uni: [stem(fold(name))], bi: [] }));
  const all = [...latin, ...chineseNames(text).map(bigrams)];
  return [...new Map(all.map((name) => [JSON.stringify(name), name])).values()].slice(0, MAX_NAMES);
}

function chineseNames(text: string): string[] {
  const names: string[] = [];
  for (const [run] of fold(text).matchAll(/\p{Script=Han}{2,}/gu)) {
    const parts = [...segmenter.segment(run)].map(({ segment }) => segment);
    for (let i = 0; i < parts.length; i += 1) {
      const name = nameAt(parts, i);
      if (name === undefined) continue;
      names.push(name.text);
      i += name.parts - 1;
    }
  }
  return names;
}

/** The name that begins with a part, and how many parts it has. */
function nameAt(parts: readonly string[], at: number): { readonly text: string; readonly parts: number } | undefined {
  const first = parts[at] ?? '';
  const long = LONG_SURNAMES.find((surname) => first.startsWith(surname) || `${first}${parts[at + 1] ?? ''}` === surname);
  const surnameParts = long === undefined || first.startsWith(long) ? 1 : 2;
  // a long surname may stand in one part with what follows it
  if (long === undefined && !SURNAMES.has(first)) return undefined;
  let text = parts.slice(at, at + surnameParts).join('');
  let taken = surnameParts;
  const most = (long ?? first).length + 2;
  while (text.length < most) {
    const next = parts[at + taken];
    if (next === undefined || next.length !== 1 || NO_GIVEN.has(next) || STOP_WORDS.has(next)) break;
    text += next;
    taken += 1;
  }
  return text.length > (long ?? first).length ? { text, parts: taken } : undefined;
}

function bigrams(name: string): NameTerms {
  const chars = [...name];
  return { uni: [], bi: chars.slice(1).map((char, i) => `${chars[i] ?? ''}${char}`) };
}
