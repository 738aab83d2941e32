/** Letters of other scripts that look like Latin ones, read as Latin; a second reading of the text guard, never the stored text. */

/** Unicode confusables.txt, limited to Cyrillic and Greek letters that stand for one Latin letter (lower case). */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  а: 'a',
  в: 'b',
  с: 'c',
  ԁ: 'd',
  е: 'e',
  ё: 'e',
  һ: 'h',
  і: 'i',
  ї: 'i',
  ј: 'j',
  к: 'k',
  ӏ: 'l',
  м: 'm',
  п: 'n',
  о: 'o',
  р: 'p',
  ԛ: 'q',
  г: 'r',
  ѕ: 's',
  т: 't',
  ц: 'u',
  ѵ: 'v',
  ԝ: 'w',
  х: 'x',
  у: 'y',
  н: 'h',
  α: 'a',
  β: 'b',
  ϲ: 'c',
  ε: 'e',
  η: 'n',
  ι: 'i',
  κ: 'k',
  ν: 'v',
  ο: 'o',
  ρ: 'p',
  σ: 'o',
  τ: 't',
  υ: 'u',
  χ: 'x',
  γ: 'y',
  ω: 'w',
  ɡ: 'g',
  ı: 'i',
  ᴀ: 'a',
  ᴇ: 'e',
  ɪ: 'i',
  ɴ: 'n',
  ᴏ: 'o',
  ʀ: 'r',
  ᴛ: 't',
  ᴜ: 'u',
};
const FOREIGN = /[\p{Script=Cyrillic}\p{Script=Greek}ɡıᴀᴇɪɴᴏʀᴛᴜ]/gu;
/** A word of both scripts: nobody writes one by chance. */
const MIXED = /[a-z](?=[\p{Script=Cyrillic}\p{Script=Greek}ɡıᴀᴇɪɴᴏʀᴛᴜ])|[\p{Script=Cyrillic}\p{Script=Greek}ɡıᴀᴇɪɴᴏʀᴛᴜ](?=[a-z])/u;

/** The text (lower case) with look-alikes as Latin letters when some word mixes the scripts; unchanged otherwise. */
export function foldConfusables(text: string): string {
  return MIXED.test(text) ? text.replace(FOREIGN, (letter) => LOOK_ALIKES[letter] ?? letter) : text;
}
