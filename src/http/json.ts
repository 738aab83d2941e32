/** JSON text -> value, with what JSON.parse lets through: duplicate keys, deep nesting, numbers beyond the double range, prototype keys. */
import secureJson from 'secure-json-parse';
import { HindsightError } from '../errors.ts';

export const JSON_MAX_DEPTH = 64;

/** Refused at any depth, so that no merge further on can reach a prototype. */
const PROTOTYPE_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

const POISON_REFUSED = { protoAction: 'error', constructorAction: 'error' } as const;

interface Frame {
  /** Keys met so far; null in an array. */
  readonly keys: Set<string> | null;
  /** Key or index of the value that is being read. */
  at: string | number;
  expectsKey: boolean;
}

interface JsonFault {
  readonly frames: readonly Frame[];
  readonly message: string;
}

/**
 * The parsed value. ERR_REQUEST_JSON otherwise, with one fault whose pointer leads to the innermost value named by `known` keys
 * (names of the contract): other keys are the caller's own text and are not repeated. Linear in the length; no recursion.
 */
export function parseJson(text: string, known: ReadonlySet<string>): unknown {
  if (text.trim() === '') throw jsonError('', 'is empty');
  if (text.charCodeAt(0) === 0xfeff) throw jsonError('', 'begins with a byte order mark');
  const fault = scan(text);
  if (fault !== null) throw jsonError(pointerTo(fault.frames, known), fault.message);
  try {
    return secureJson.parse(text, POISON_REFUSED) as unknown;
  } catch {
    // the parser's message quotes the text
    throw jsonError('', 'has a syntax error');
  }
}

export function jsonError(pointer: string, message: string): HindsightError {
  const detail = `${pointer === '' ? 'it' : pointer} ${message}`;
  return new HindsightError('ERR_REQUEST_JSON', { params: { detail }, faults: [{ pointer, message }] });
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Numbers without exponent and of at most 64 characters, each with the comma that follows it; the last one, and what comes after 1,024, is left to the loop. */
const PLAIN_NUMBERS = /(?:-?[\d.]{1,64},){1,1024}/y;

/** Walks the structure only; whatever is not JSON at all is left to JSON.parse. */
function scan(text: string): JsonFault | null {
  const frames: Frame[] = [];
  let top: Frame | undefined;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      const end = endOfString(text, i);
      if (end < 0) return null;
      if (top?.expectsKey === true) {
        const message = takeKey(top, text.slice(i, end + 1));
        if (message !== null) return { frames: frames.slice(0, -1), message };
      }
      i = end;
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      // the outermost name says enough
      if (frames.length >= JSON_MAX_DEPTH) return { frames: frames.slice(0, 1), message: `is nested deeper than ${JSON_MAX_DEPTH} levels` };
      top = code === OPEN_OBJECT ? { keys: new Set(), at: '', expectsKey: true } : { keys: null, at: 0, expectsKey: false };
      frames.push(top);
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      frames.pop();
      top = frames.at(-1);
    } else if (code === COMMA && top !== undefined) {
      if (typeof top.at === 'number') top.at += 1;
      else top.expectsKey = true;
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const run = top?.keys === null ? endOfPlainNumbers(text, i, top) : i;
      if (run > i) {
        i = run - 1;
        continue;
      }
      const end = endOfNumber(text, i);
      if (mayOverflow(text, i, end) && Math.abs(Number(text.slice(i, end))) === Infinity)
        return { frames, message: 'is a number out of range' };
      i = end - 1;
    }
  }
  return null;
}

/**
 * Vectors are most of an import's bytes: a run of plain numbers in an array is passed over at once, its commas counted. Returns `start`
 * when there is none.
 */
function endOfPlainNumbers(text: string, start: number, array: Frame): number {
  PLAIN_NUMBERS.lastIndex = start;
  if (!PLAIN_NUMBERS.test(text)) return start;
  const end = PLAIN_NUMBERS.lastIndex;
  for (let comma = text.indexOf(',', start); comma >= 0 && comma < end; comma = text.indexOf(',', comma + 1))
    array.at = Number(array.at) + 1;
  return end;
}

/** Index of the closing quote, -1 when there is none: the first quote with an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return -1;
}

/** Only an exponent or hundreds of digits lead out of the double range; converting every number would double the time of the scan. */
function mayOverflow(text: string, start: number, end: number): boolean {
  if (end - start > 300) return true;
  // an exponent stands behind the point
  for (let i = end - 1; i > start; i -= 1) {
    const code = text.charCodeAt(i);
    if (code === 0x45 || code === 0x65) return true;
    if (code === 0x2e) return false;
  }
  return false;
}

function endOfNumber(text: string, start: number): number {
  let i = start + 1;
  for (; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    // + - . E e and digits
    if (!((code >= ZERO && code <= NINE) || code === 0x2b || code === MINUS || code === 0x2e || code === 0x45 || code === 0x65)) break;
  }
  return i;
}

/** Notes a key in its frame; the message of the fault, or null. Two spellings of one key ("a", "\u0061") are the same key. */
function takeKey(frame: Frame, token: string): string | null {
  let key = token.slice(1, -1);
  if (key.includes('\\')) {
    try {
      key = JSON.parse(token) as string;
    } catch {
      return 'has a syntax error';
    }
  }
  if (PROTOTYPE_KEYS.has(key)) return 'has a reserved key';
  if (frame.keys?.has(key) === true) return 'names a key twice';
  frame.keys?.add(key);
  frame.at = key;
  frame.expectsKey = false;
  return null;
}

function pointerTo(frames: readonly Frame[], known: ReadonlySet<string>): string {
  let pointer = '';
  for (const { at } of frames) {
    if (typeof at === 'string' && !known.has(at)) break;
    pointer += `/${at}`;
  }
  return pointer;
}
