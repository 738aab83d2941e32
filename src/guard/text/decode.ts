/** What encodings inside a text say: base64/32, hex, binary, percent, escapes, entities, ascii85, rot13, tag characters; for the text guard's views. */

const MAX_PARTS = 32;
const MAX_PART_CHARS = 16 * 1024;

const BASE64 = /[A-Za-z0-9+/_-]{16,}={0,2}/g;
const BASE32 = /\b[A-Z2-7]{16,}={0,6}/g;
const HEX = /(?:\b|\\x|0x)(?:[0-9a-fA-F]{2}[\s:,]?(?:\\x|0x)?){8,}/g;
const BINARY = /(?:\b[01]{8}\b[\s,]*){4,}/g;
const DECIMAL = /(?:\b\d{2,3}\b[\s,]+){7,}\b\d{2,3}\b/g;
const ASCII85 = /<~([\s\S]{8,4096}?)~>/g;
const PERCENT = /%[0-9a-fA-F]{2}/;
const ESCAPES = /\\u\{?[0-9a-fA-F]{4,6}\}?|\\x[0-9a-fA-F]{2}/;
const ENTITIES = /&(?:#\d{2,6}|#x[0-9a-fA-F]{2,5}|lt|gt|amp|quot|nbsp);/;
const TAGS = /[\u{e0020}-\u{e007e}]+/gu;
const SELECTORS = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{4,}/gu;
const ROT13_HINT = /\brot-?13\b/i;
const MORSE = /(?:[.\-]{1,6}[ /]{1,3}){8,}[.\-]{1,6}/g;

/** Something that one of the patterns could begin with; most texts have nothing of it, and one look is cheaper than twelve. */
const ANYTHING_ENCODED =
  /[%\\&\ufe00-\ufe0f\u{e0020}-\u{e01ef}]|<~|[!-~]{16}|\d{2,3}[\s,]+\d{2,3}[\s,]+\d|(?:[0-9a-fA-F]{2}[\s:,]){7}|[.-]{1,6}[ /]{1,3}[.-]{1,6}[ /]{1,3}[.-]|[01]{8}|rot-?13/iu;

/** The same of plain ASCII, but for the long run: no folding of case and no characters beyond the first plane to look for. */
const ANYTHING_ENCODED_ASCII =
  /[%\\&]|<~|\d{2,3}[\s,]+\d{2,3}[\s,]+\d|(?:[0-9a-fA-F]{2}[\s:,]){7}|[.-]{1,6}[ /]{1,3}[.-]{1,6}[ /]{1,3}[.-]|[01]{8}|[rR][oO][tT]-?13/;
const PLAIN_ASCII = /^[\x00-\x7f]*$/;
/** The shortest run of base64 or base32. */
const RUN_CHARS = 16;

function mayBeEncoded(text: string): boolean {
  if (!PLAIN_ASCII.test(text)) return ANYTHING_ENCODED.test(text);
  let run = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    run = code > 0x20 && code < 0x7f ? run + 1 : 0;
    if (run === RUN_CHARS) return true;
  }
  return ANYTHING_ENCODED_ASCII.test(text);
}

/** Readable decodings of the parts of `text`; at most 32, each at most 16 KB. */
export function* decodedParts(text: string): Iterable<string> {
  if (!mayBeEncoded(text)) return;
  let parts = 0;
  for (const part of candidates(text)) {
    if (part === undefined || !readable(part)) continue;
    yield part.slice(0, MAX_PART_CHARS);
    if (++parts >= MAX_PARTS) return;
  }
}

function* candidates(text: string): Iterable<string | undefined> {
  for (const [run] of text.matchAll(TAGS)) yield [...run].map((c) => String.fromCodePoint((c.codePointAt(0) ?? 0) - 0xe0000)).join('');
  for (const [run] of text.matchAll(SELECTORS)) yield utf8(Uint8Array.from([...run].map(selectorByte)));
  if (PERCENT.test(text)) yield percentDecoded(text);
  if (ESCAPES.test(text))
    yield text.replace(/\\u\{?([0-9a-fA-F]{4,6})\}?|\\x([0-9a-fA-F]{2})/g, (all, u?: string, x?: string) => codePoint(u ?? x ?? '') ?? all);
  if (ENTITIES.test(text)) yield text.replace(/&(?:#(\d{2,6})|#x([0-9a-fA-F]{2,5})|(lt|gt|amp|quot|nbsp));/g, entity);
  for (const [run] of text.matchAll(HEX)) {
    const digits = run.replace(/\\x|0x|[\s:,]/g, '');
    yield utf8(Buffer.from(digits.length % 2 === 0 ? digits : digits.slice(0, -1), 'hex'));
  }
  for (const [run] of text.matchAll(BASE64)) yield utf8(Buffer.from(run, run.includes('-') || run.includes('_') ? 'base64url' : 'base64'));
  const folded = text.replace(/(?<![A-Za-z0-9+/])([A-Za-z0-9+/]{40,})\r?\n(?=[A-Za-z0-9+/]{4,})/g, '$1');
  if (folded !== text) for (const [run] of folded.matchAll(BASE64)) yield utf8(Buffer.from(run, 'base64'));
  for (const [run] of text.matchAll(BASE32)) yield utf8(base32(run));
  for (const [run] of text.matchAll(BINARY)) yield utf8(Uint8Array.from((run.match(/[01]{8}/g) ?? []).map((b) => parseInt(b, 2))));
  for (const [run] of text.matchAll(DECIMAL)) yield utf8(Uint8Array.from((run.match(/\d+/g) ?? []).map(Number)));
  for (const match of text.matchAll(ASCII85)) yield utf8(ascii85(match[1] ?? ''));
  for (const [run] of text.matchAll(MORSE)) yield morse(run);
  if (ROT13_HINT.test(text)) yield text.replace(/[a-zA-Z]/g, rot13);
}

/** Of letters and marks as people write them: at least nine in ten characters, some letters among them. */
function readable(text: string): boolean {
  // noise in front of a payload does not make it unreadable
  for (let from = 0; from < text.length; from += SAMPLE_CHARS) if (isProse(text.slice(from, from + SAMPLE_CHARS))) return true;
  return false;
}

const SAMPLE_CHARS = 512;

function isProse(sample: string): boolean {
  if (sample.length < 4) return false;
  const good = sample.match(/[\p{L}\p{N}\p{P}\p{Zs}\n\r\t]/gu)?.length ?? 0;
  const letters = sample.match(/\p{L}/gu)?.length ?? 0;
  return good >= 0.9 * [...sample].length && letters >= 3;
}

const decoder = new TextDecoder('utf-8');

/** A byte that is no text, or a character cut in half, leaves the rest readable: nobody hides a whole payload behind one. */
function utf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

function percentDecoded(text: string): string {
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (run) => utf8(Buffer.from(run.replaceAll('%', ''), 'hex')));
}

function codePoint(hex: string): string | undefined {
  const code = parseInt(hex, 16);
  return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : undefined;
}

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', nbsp: ' ' };

function entity(all: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return NAMED[name] ?? all;
  return codePoint(hex ?? Number(decimal).toString(16)) ?? all;
}

function selectorByte(selector: string): number {
  const code = selector.codePointAt(0) ?? 0;
  return code < 0xff00 ? code - 0xfe00 : code - 0xe0100 + 16;
}

/** RFC 4648, section 6. */
function base32(text: string): Uint8Array {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const char of text) {
    const digit = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(char);
    if (digit < 0) break;
    value = ((value << 5) | digit) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >> bits) & 0xff);
    }
  }
  return Uint8Array.from(bytes);
}

/** Adobe's form, without the marks. */
function ascii85(text: string): Uint8Array {
  const bytes: number[] = [];
  const digits = [...text.replace(/\s/g, '').replaceAll('z', '!!!!!')].map((c) => c.charCodeAt(0) - 33);
  for (let i = 0; i < digits.length; i += 5) {
    const group = digits.slice(i, i + 5);
    if (group.some((d) => d < 0 || d > 84)) return Uint8Array.from([]);
    const size = group.length;
    let value = 0;
    for (let k = 0; k < 5; k++) value = value * 85 + (group[k] ?? 84);
    for (let k = 0; k < size - 1; k++) bytes.push(Math.floor(value / 256 ** (3 - k)) % 256);
  }
  return Uint8Array.from(bytes);
}

function rot13(letter: string): string {
  const code = letter.charCodeAt(0);
  const base = code < 97 ? 65 : 97;
  return String.fromCharCode(((code - base + 13) % 26) + base);
}

const MORSE_LETTERS: ReadonlyMap<string, string> = new Map(
  '.- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..'
    .split(' ')
    .map((code, i) => [code, String.fromCharCode(97 + i)]),
);

function morse(run: string): string {
  return run
    .split(/ ?\/ ?| {2,}/)
    .map((word) =>
      word
        .trim()
        .split(/\s+/)
        .map((code) => MORSE_LETTERS.get(code) ?? '')
        .join(''),
    )
    .join(' ');
}
