/** The reading of a text without disguise: invisible characters off, full-width, mathematical and look-alike letters as ASCII, digits in Chinese as digits. */
import { ViewBuilder, type View } from './view.ts';

const INVISIBLE = String.raw`\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\u{e0000}-\u{e0fff}\u{1bca0}-\u{1bca3}`;
/** Arabic, Persian, Devanagari, Bengali and Thai; the last four bits tell the digit, counted from 0 or from 6. */
const OTHER_DIGITS = String.raw`\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef\u0e50-\u0e59`;
/** Letters and digits that NFKC reads as ASCII, and digits of other scripts. Chinese punctuation is no disguise and stays. */
const COMPATIBLE = String.raw`\uff04-\uff07\uff0a\uff0b\uff0d-\uff19\uff1d\uff20-\uff3a\uff3c\uff3e-\uff5a\uff5e\uff03\uff3f\u2460-\u24ff\u{1d400}-\u{1d7ff}\u00b2\u00b3\u00b9\u2070-\u209c${OTHER_DIGITS}`;
const FOLDABLE = new RegExp(`[${INVISIBLE}${COMPATIBLE}]`, 'u');
const FOLDABLE_EACH = new RegExp(`([${INVISIBLE}]+)|[${COMPATIBLE}]|[АВЕЅІЈКМНОРСТХУаеѕіјорсхуΑΒΕΖΗΙΚΜΝΟΡΤΥΧο]`, 'gu');
const MIXED = /[A-Za-z0-9_][АВЕЅІЈКМНОРСТХУаеѕіјорсхуΑΒΕΖΗΙΚΜΝΟΡΤΥΧο]|[АВЕЅІЈКМНОРСТХУаеѕіјорсхуΑΒΕΖΗΙΚΜΝΟΡΤΥΧο][A-Za-z0-9_]/;
const LOOK_ALIKES = 'АAВBЕEЅSІIЈJКKМMНHОOРPСCТTХXУYаaеeѕsіiјjоoрpсcхxуyΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXοo';

/** One character becomes four at most: ⒇ is (20). */
const MOST_CHARS = 4;

const HANZI_RUN =
  /[零〇一二三四五六七八九幺壹贰貳叁參肆伍陆陸柒捌玖两](?:[ 、，\-]?[零〇一二三四五六七八九幺壹贰貳叁參肆伍陆陸柒捌玖两\dXx]){6,}/g;
const HANZI_DIGITS: Readonly<Record<string, string>> = {
  零: '0',
  〇: '0',
  一: '1',
  幺: '1',
  壹: '1',
  二: '2',
  两: '2',
  贰: '2',
  貳: '2',
  三: '3',
  叁: '3',
  參: '3',
  四: '4',
  肆: '4',
  五: '5',
  伍: '5',
  六: '6',
  陆: '6',
  陸: '6',
  七: '7',
  柒: '7',
  八: '8',
  捌: '8',
  九: '9',
  玖: '9',
};
const HANZI_DIGIT = /[零〇一二三四五六七八九幺壹贰貳叁參肆伍陆陸柒捌玖两]/g;

/** The undisguised reading of `text`; the text itself when nothing is disguised. */
export function folded(text: string): View {
  const numbered = withDigits(text);
  if (!FOLDABLE.test(numbered) && !MIXED.test(numbered)) return { text: numbered };
  const look = MIXED.test(numbered);
  const builder = new ViewBuilder(numbered.length * MOST_CHARS);
  let from = 0;
  for (const match of numbered.matchAll(FOLDABLE_EACH)) {
    const [char, invisible] = match;
    const alike = LOOK_ALIKES.indexOf(char);
    if (invisible === undefined && alike >= 0 && !look) continue;
    builder.copy(numbered, from, match.index);
    from = match.index + char.length;
    if (invisible === undefined) builder.add(alike >= 0 ? LOOK_ALIKES.charAt(alike + 1) : plainOf(char), match.index, from);
  }
  builder.copy(numbered, from, numbered.length);
  return builder.view();
}

const OTHER_DIGIT = new RegExp(`[${OTHER_DIGITS}]`);
const SIX_FIRST = /[\u0966-\u096f\u09e6-\u09ef]/;

function plainOf(char: string): string {
  if (!OTHER_DIGIT.test(char)) return char.normalize('NFKC');
  const code = char.charCodeAt(0);
  return String((code & 0xf) - (SIX_FIRST.test(char) ? 6 : 0));
}

/** Character for character, so offsets stay. */
function withDigits(text: string): string {
  return text.replace(HANZI_RUN, (run) => run.replace(HANZI_DIGIT, (digit) => HANZI_DIGITS[digit] ?? digit).replace(/[、，]/g, ' '));
}
