/** Masks the free-text fields of a write, an update or a filter, whatever their shape: strings, lists, and metadata with its keys as context. */
import { isResidentBody } from './checksums.ts';
import type { FindSecrets } from './detect.ts';
import { markOf, maskText, secretOf, type FoundSecret, type Keep } from './mask.ts';

/** Every field of the wire that can hold words of a caller's own. */
const TEXT_FIELDS = [
  'title',
  'content',
  'summary',
  'subject',
  'topic',
  'task_type',
  'session_id',
  'task_id',
  'tags',
  'keywords',
  'entities',
  'triggers',
  'counter_examples',
  'metadata',
  'source',
  'query',
  'queries',
] as const;

/** Fields that read on from each other, where a value split over two of them would show. */
const NEIGHBOURS = [
  ['title', 'content'],
  ['content', 'summary'],
  ['subject', 'topic'],
] as const;
const SEAM_CHARS = 200;

export interface Masked<T> {
  /** The same object when nothing was found. */
  readonly value: T;
  readonly found: readonly FoundSecret[];
}

/** `value` with every text field masked; other fields, numbers and dates stay as they are. */
export function maskFields<T extends object>(find: FindSecrets, value: T, keep: Keep): Masked<T> {
  const found: FoundSecret[] = [];
  const changed: Record<string, unknown> = {};
  const given = value as Readonly<Record<string, unknown>>;
  for (const field of TEXT_FIELDS) {
    const before = given[field];
    if (before === undefined || before === null) continue;
    const after = maskValue(find, before, field, keep, found);
    if (after !== before) changed[field] = after;
  }
  maskSeams(find, { ...given, ...changed }, keep, changed, found);
  return found.length === 0 ? { value, found } : { value: { ...value, ...changed }, found };
}

/** Keys that say what the values under them are; any other key leaves that to the key above it: {"password": {"value": …}}. */
const TELLING_KEY =
  /pass|secret|token|key|pin|pwd|cred|auth|cvv|cvc|otp|ssn|plate|密|口令|令牌|码|证|護照|护照|卡|card|phone|tel|电话|手机/i;
const CARD_KEY = /card|卡|account|账号|帳號/i;

function maskValue(find: FindSecrets, value: unknown, field: string, keep: Keep, found: FoundSecret[], key = ''): unknown {
  const context = key === '' ? '' : `${key}=`;
  if (typeof value === 'string') {
    const masked = maskText(find, value, field, keep, context);
    found.push(...masked.found);
    return masked.found.length === 0 ? value : masked.text;
  }
  // a number can be a card, a phone or a PIN as well
  if (typeof value === 'number') {
    if (!Number.isInteger(value) || value < 0) return value;
    const digits = BigInt(value).toString();
    const masked = Number.isSafeInteger(value) ? maskText(find, digits, field, keep, context) : maskRounded(digits, field, key);
    found.push(...masked.found);
    return masked.found.length === 0 ? value : masked.text;
  }
  if (Array.isArray(value)) return mapped(value, (part) => maskValue(find, part, field, keep, found, key));
  if (typeof value !== 'object' || value === null) return value;
  let same = true;
  const entries = Object.entries(value).map(([name, part]) => {
    const safeName = maskText(find, name, field, keep);
    found.push(...safeName.found);
    // a dot in a key is a path to the index
    const newName = safeName.found.length === 0 ? name : safeName.text.replaceAll('.', '');
    const newPart = maskValue(find, part, field, keep, found, TELLING_KEY.test(name) || !TELLING_KEY.test(key) ? name : key);
    same &&= newName === name && newPart === part;
    return [newName, newPart] as const;
  });
  return same ? value : Object.fromEntries(entries);
}

/**
 * A number beyond 2^53 lost its last digits before it came here, and its check digit with them: what can be an identity number, or stands
 * under the key of a card, is one. It is not kept: what would be revealed is not what was written.
 */
function maskRounded(digits: string, field: string, key: string): { readonly text: string; readonly found: readonly FoundSecret[] } {
  const resident = digits.length === 18 && isResidentBody(digits);
  const card = digits.length >= 16 && digits.length <= 19 && CARD_KEY.test(key);
  if (!resident && !card) return { text: digits, found: [] };
  const secret = { field, kind: resident ? 'cn_id' : 'bank_card', value: digits, kept: false } as const;
  return { text: markOf(secret), found: [secret] };
}

function mapped(list: readonly unknown[], change: (part: unknown) => unknown): readonly unknown[] {
  const after = list.map(change);
  return after.every((part, i) => part === list[i]) ? list : after;
}

/** A value cut in two: its first part ends one field, the rest begins the next. */
function maskSeams(
  find: FindSecrets,
  fields: Readonly<Record<string, unknown>>,
  keep: Keep,
  changed: Record<string, unknown>,
  found: FoundSecret[],
): void {
  for (const [first, second] of NEIGHBOURS) {
    const [a, b] = [changed[first] ?? fields[first], changed[second] ?? fields[second]];
    if (typeof a !== 'string' || typeof b !== 'string' || !/[A-Za-z0-9+/=_-]$/.test(a) || !/^[A-Za-z0-9+/=_-]/.test(b)) continue;
    const tail = a.slice(-SEAM_CHARS);
    const across = find(tail + b.slice(0, SEAM_CHARS)).find(({ start, end }) => start < tail.length && end > tail.length);
    // words that meet at a seam are no secret: only what has a form of its own counts
    if (across === undefined || across.detector.startsWith('named') || across.kind === 'email') continue;
    const whole = secretOf(first, across.kind, (tail + b).slice(across.start, across.end), keep);
    changed[first] = a.slice(0, a.length - tail.length + across.start) + markOf(whole);
    changed[second] = b.slice(across.end - tail.length).trimStart() || markOf(whole);
    found.push(whole);
  }
}
