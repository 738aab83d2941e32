/** Readings of what is encoded or spelled out in a text: percent, \u, entities and quotes of JSON in a string in place; base64 and hex runs; letters with spaces between. */
import { ViewBuilder, type View } from './view.ts';

const ESCAPED =
  /((?:%[0-9A-Fa-f]{2})+)|\\u\{?([0-9A-Fa-f]{4,6})\}?|\\x([0-9A-Fa-f]{2})|&#(?:x([0-9A-Fa-f]{2,5})|(\d{2,6}));|\\{1,32}(["'])/g;
const SOME_ESCAPED = /%[0-9A-Fa-f]{2}|\\u\{?[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|&#x?[0-9A-Fa-f]{2}|\\["']/;
const decoder = new TextDecoder('utf-8');

/** The text with escapes resolved; undefined when there is none. */
export function unescaped(view: View): View | undefined {
  const { text } = view;
  if (!SOME_ESCAPED.test(text)) return undefined;
  const builder = new ViewBuilder(text.length);
  let from = 0;
  for (const match of text.matchAll(ESCAPED)) {
    const [whole, percent, escape, byte, hex, decimal, quote] = match;
    const decoded =
      quote ??
      (percent !== undefined ? bytesAsText(Buffer.from(percent.replaceAll('%', ''), 'hex')) : codePoint(escape ?? byte ?? hex, decimal));
    if (decoded === undefined) continue;
    builder.copy(text, from, match.index);
    from = match.index + whole.length;
    // a run of single bytes keeps its places; anything else stands for the whole run
    if (percent !== undefined && decoded.length * 3 === percent.length)
      for (let i = 0; i < decoded.length; i++) builder.add(decoded.charAt(i), match.index + 3 * i, match.index + 3 * i + 3);
    else builder.add(decoded, match.index, from);
  }
  if (from === 0) return undefined;
  builder.copy(text, from, text.length);
  return builder.view(view);
}

const bytesAsText = (bytes: Uint8Array): string => decoder.decode(bytes);

function codePoint(hex: string | undefined, decimal: string | undefined): string | undefined {
  const code = hex !== undefined ? parseInt(hex, 16) : Number(decimal);
  return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : undefined;
}

const BASE64 = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{15,}={0,2}/g;
const HEX = /(?<![A-Za-z0-9])(?:[0-9a-fA-F]{2}){12,}(?![A-Za-z0-9])/g;
const MAX_RUN_CHARS = 24_576;
const MAX_RUNS = 64;
const READABLE_BYTES = 48;

/** What the base64 and hex runs of the text say, each as a view that stands for its whole run. */
export function* decodedRuns(view: View): Iterable<View> {
  const { text } = view;
  let runs = 0;
  for (const match of text.matchAll(BASE64)) {
    const [run] = match;
    const bytes = HEX_ONLY.test(run)
      ? Buffer.alloc(0)
      : Buffer.from(run.slice(0, MAX_RUN_CHARS), run.includes('-') || run.includes('_') ? 'base64url' : 'base64');
    const found = readable(bytes) ? bytesAsText(bytes) : undefined;
    if (found === undefined) continue;
    yield { text: found, whole: rangeOf(view, match.index, match.index + run.length) };
    if (++runs >= MAX_RUNS) return;
  }
  for (const match of text.matchAll(HEX)) {
    const bytes = Buffer.from(match[0].slice(0, MAX_RUN_CHARS), 'hex');
    if (!readable(bytes)) continue;
    yield { text: bytesAsText(bytes), whole: rangeOf(view, match.index, match.index + match[0].length) };
    if (++runs >= MAX_RUNS) return;
  }
}

const HEX_ONLY = /^[0-9a-f]+$/i;

function rangeOf(view: View, start: number, end: number): { readonly start: number; readonly end: number } {
  if (view.whole !== undefined) return view.whole;
  return view.starts === undefined ? { start, end } : { start: view.starts[start] ?? 0, end: view.ends?.[end - 1] ?? 0 };
}

/** Text in ASCII or UTF-8 as its first bytes show: random bytes hold control characters soon. */
function readable(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, READABLE_BYTES);
  if (sample.length < 8) return false;
  let plain = 0;
  for (const byte of sample) {
    if (byte < 9 || (byte > 13 && byte < 32) || byte === 127) return false;
    if (byte < 127) plain += 1;
  }
  return plain === sample.length || !bytesAsText(sample.subarray(0, -3)).includes('\ufffd');
}

/** Ten single characters or more, each apart from the next by the same few marks. */
const SPELLED =
  /(?<![A-Za-z0-9])[A-Za-z0-9_.+/=@:-](?:([ \u00a0\u3000·•|,\-]{1,2})[A-Za-z0-9_.+/=@:-])(?:\1[A-Za-z0-9_.+/=@:-]){8,}(?![A-Za-z0-9])/g;
const SOME_SPELLED =
  /[A-Za-z0-9_][ \u00a0\u3000·•|,\-]{1,2}[A-Za-z0-9_][ \u00a0\u3000·•|,\-]{1,2}[A-Za-z0-9_][ \u00a0\u3000·•|,\-]{1,2}[A-Za-z0-9_][ \u00a0\u3000·•|,\-]{1,2}[A-Za-z0-9_]/;

/** Spelled-out values closed up. */
export function* closedUp(view: View): Iterable<View> {
  const { text } = view;
  if (!SOME_SPELLED.test(text)) return;
  for (const match of text.matchAll(SPELLED)) {
    const builder = new ViewBuilder(match[0].length);
    const gap = match[1]?.length ?? 1;
    for (let i = 0; i < match[0].length; i += 1 + gap) builder.copy(text, match.index + i, match.index + i + 1);
    yield builder.view(view);
  }
}
