/** Takes out of a text what a reader does not see and a terminal or a model would act on; first step of what the envelope does to words. */

/** CSI, OSC (ended by BEL or ST) and the other escape sequences of ECMA-48, in their 7-bit and 8-bit spelling. */
const ESCAPES =
  /(?:\u001b\[|\u009b)[0-?]{0,64}[ -/]{0,16}[@-~]?|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c\u009d\n]{0,512}(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]{0,4}[0-~]?/g;
const LINE_ENDS = /\r\n?|[\u000b\u000c\u0085]/g;
const CONTROLS = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\ufff9-\ufffb]/g;

/** Scripts whose words are spelled with joiners and non-joiners. */
const JOINING = String.raw`\p{Script=Arabic}\p{Script=Syriac}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Mongolian}`;
const SPELLED = String.raw`(?<=[${JOINING}]\p{M}?)[\u200c\u200d](?=[${JOINING}])`;
const EMOJI_JOINED = String.raw`(?<=\p{Extended_Pictographic}\ufe0f?|[\u{1f3fb}-\u{1f3ff}])\u200d(?=\p{Extended_Pictographic})`;
const EMOJI_STYLE = String.raw`(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)`;
/** Default-ignorable code points (zero-width, bidi controls, tags, fillers, variation selectors), save where a script or an emoji is spelled with them. */
const IGNORABLE = new RegExp(`(${SPELLED}|${EMOJI_JOINED}|${EMOJI_STYLE})|\\p{Default_Ignorable_Code_Point}`, 'gu');

/** ASCII and Chinese text with nothing of the kind. */
const PLAIN = /^[\t\n -~\u2018-\u201d\u2026\u3000-\u303f\u3400-\u9fff\uff01-\uff5e]*$/;

/** The text without escape sequences, control, bidi and tag characters and without zero-width ones that spell nothing. Idempotent, linear. */
export function withoutInvisible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replace(ESCAPES, '')
    .replace(LINE_ENDS, '\n')
    .replace(CONTROLS, '')
    .replace(IGNORABLE, (_match, spelled: string | undefined) => spelled ?? '');
}
