/** JSON text -> value, without what JSON.parse lets through: duplicate keys, deep nesting, numbers beyond the double range, prototype keys, and more parts than any call has. */
import { setImmediate } from 'node:timers/promises';
import secureJson from 'secure-json-parse';
import { HindsightError } from '../errors.ts';

export const JSON_MAX_DEPTH = 64;
/** A record has 32 names of its own or of its metadata at most; large dictionaries are what makes parsing slow. */
export const JSON_MAX_NAMES = 256;
/** The longest list of the contract is a vector (4,096 numbers); a list in metadata of 8 KB has no more values either. */
export const JSON_MAX_LIST = 4_096;
/** What the scan passes before other calls get their turn: up to some milliseconds. */
const SLICE_CHARS = 262_144;
const SLICE_STEPS = 8_192;

/** How much of what a body may hold. Bytes alone do not bound the time: 8 MiB of tiny names take seconds to parse. */
export interface JsonBudget {
  /** Names; and as many texts, lists, objects and literals. */
  readonly entries: number;
  /** Different names: items repeat the same ones, and each new one makes V8 a shape of its own (0.1 s for 40,000). */
  readonly differentNames: number;
  /** Numbers in lists. */
  readonly numbers: number;
}

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
  /** The text may be JSON, there is only too much of it. */
  readonly tooMuch?: boolean;
}

/**
 * The parsed value. ERR_REQUEST_JSON otherwise, with one fault whose pointer leads to the innermost value named by `known` keys
 * (names of the contract): other keys are the caller's own text and are not repeated. ERR_REQUEST_TOO_COMPLEX, with such a fault, when
 * there is more in it than the budget. Linear in the length; no recursion; other calls get their turn in between.
 */
export async function parseJson(text: string, known: ReadonlySet<string>, budget: JsonBudget): Promise<unknown> {
  if (!/\S/.test(text)) throw jsonError('', 'is empty');
  if (text.charCodeAt(0) === 0xfeff) throw jsonError('', 'begins with a byte order mark');
  const fault = await inSlices(scan(text, budget));
  if (fault !== null) {
    const pointer = pointerTo(fault.frames, known);
    throw fault.tooMuch === true ? tooComplex(pointer, fault.message) : jsonError(pointer, fault.message);
  }
  await setImmediate();
  try {
    return secureJson.parse(text, POISON_REFUSED) as unknown;
  } catch {
    // the parser's message quotes the text
    throw jsonError('', 'has a syntax error');
  }
}

async function inSlices<T>(steps: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

export function jsonError(pointer: string, message: string): HindsightError {
  const detail = `${pointer === '' ? 'it' : pointer} ${message}`;
  return new HindsightError('ERR_REQUEST_JSON', { params: { detail }, faults: [{ pointer, message }] });
}

function tooComplex(pointer: string, message: string): HindsightError {
  const detail = `${pointer === '' ? 'it' : pointer} ${message}`;
  return new HindsightError('ERR_REQUEST_TOO_COMPLEX', { params: { detail }, faults: [{ pointer, message }] });
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
/** First letters of true, false and null. */
const LOWER_F = 0x66;
const LOWER_N = 0x6e;
const LOWER_T = 0x74;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Numbers without exponent and of at most 64 characters, each with the comma that follows it; the last one, and what comes after 1,024, is left to the loop. */
const PLAIN_NUMBERS = /(?:-?[\d.]{1,64},){1,1024}/y;

/** Walks the structure only; whatever is not JSON at all is left to JSON.parse. Yields where others may have their turn. */
function* scan(text: string, budget: JsonBudget): Generator<undefined, JsonFault | null> {
  const frames: Frame[] = [];
  let top: Frame | undefined;
  let [names, values, numbers] = [0, 0, 0];
  const different = new Set<string>();
  let [steps, sliceEnd] = [0, SLICE_CHARS];
  const tooMuch = (message: string, at: readonly Frame[] = []): JsonFault => ({ frames: at, message, tooMuch: true });
  for (let i = 0; i < text.length; i += 1) {
    if (i >= sliceEnd || steps >= SLICE_STEPS) {
      yield;
      [steps, sliceEnd] = [0, i + SLICE_CHARS];
    }
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      const end = endOfString(text, i);
      if (end < 0) return null;
      steps += 1;
      if (top?.expectsKey === true) {
        const message = takeKey(top, text.slice(i, end + 1));
        if (message !== null) return { frames: frames.slice(0, -1), message };
        if ((top.keys?.size ?? 0) > JSON_MAX_NAMES) return tooMuch(`has more than ${JSON_MAX_NAMES} names`, frames.slice(0, -1));
        names += 1;
        different.add(String(top.at));
        if (different.size > budget.differentNames) return tooMuch(`has more than ${budget.differentNames} different names`);
      } else values += 1;
      i = end;
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      // the outermost name says enough
      if (frames.length >= JSON_MAX_DEPTH) return { frames: frames.slice(0, 1), message: `is nested deeper than ${JSON_MAX_DEPTH} levels` };
      top = code === OPEN_OBJECT ? { keys: new Set(), at: '', expectsKey: true } : { keys: null, at: 0, expectsKey: false };
      frames.push(top);
      values += 1;
      steps += 1;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      frames.pop();
      top = frames.at(-1);
    } else if (code === COMMA && top !== undefined) {
      if (typeof top.at !== 'number') top.expectsKey = true;
      else if ((top.at += 1) >= JSON_MAX_LIST) return tooMuch(`has more than ${JSON_MAX_LIST} values`, frames.slice(0, -1));
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      steps += 1;
      if (top?.keys === null) {
        const before = Number(top.at);
        const run = endOfPlainNumbers(text, i, top);
        numbers += Math.max(1, Number(top.at) - before);
        if (numbers > budget.numbers) return tooMuch(`has more than ${budget.numbers} numbers in lists`);
        if (Number(top.at) >= JSON_MAX_LIST) return tooMuch(`has more than ${JSON_MAX_LIST} values`, frames.slice(0, -1));
        if (run > i) {
          i = run - 1;
          continue;
        }
      }
      const end = endOfNumber(text, i);
      if (mayOverflow(text, i, end) && Math.abs(Number(text.slice(i, end))) === Infinity)
        return { frames, message: 'is a number out of range' };
      i = end - 1;
    } else if (code === LOWER_T || code === LOWER_F || code === LOWER_N) {
      values += 1;
      steps += 1;
    }
    if (names > budget.entries) return tooMuch(`has more than ${budget.entries} names`);
    if (values > budget.entries) return tooMuch(`has more than ${budget.entries} texts, lists, objects and literals`);
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

/** Index of the closing quote, -1 when there is none. Most strings hold no quote: theirs is the first one. */
function endOfString(text: string, start: number): number {
  const first = text.indexOf('"', start + 1);
  if (first < 0 || text.charCodeAt(first - 1) !== BACKSLASH) return first;
  for (let i = start + 1; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === BACKSLASH) i += 1;
    else if (code === QUOTE) return i;
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
