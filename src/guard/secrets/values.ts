/** What may stand behind "password is": cuts the value out of the text and tells it from prose, code and placeholders. */
import { entropy, isHex, isPlaceholder, isRandom, isUuid } from './randomness.ts';

/** How a value is tied to its name: `name = value`, `name is value`, or side by side. */
export type Tie = 'assigned' | 'said' | 'beside';

export interface Value {
  readonly start: number;
  readonly text: string;
  readonly quoted: boolean;
}

const QUOTED = /["'`“‘「『]([^"'`”’」』\n]{2,128})["'`”’」』]/y;
const BARE = /[!-~]{2,512}/y;
/** Where a bare value ends although the run goes on: the next parameter, tag, field or statement. */
const CUT = /&\w+=|<\/|;(?=$|\w[\w ]*=|\))|,(?=$|["'\w]+[:=])|["'`]|\)(?=$|[;,.])|\\n/;
const TAIL = /[.,;:)\]}]{1,8}$/;

/** The value that begins at `at`, if something does. */
export function valueAt(text: string, at: number): Value | undefined {
  QUOTED.lastIndex = at;
  const quoted = QUOTED.exec(text)?.[1];
  if (quoted !== undefined) return { start: at + 1, text: quoted, quoted: true };
  const start = /["'`“‘「『]/.test(text.charAt(at)) ? at + 1 : at;
  BARE.lastIndex = start;
  const run = BARE.exec(text)?.[0] ?? '';
  const cut = run.search(CUT);
  const bare = (cut === -1 ? run : run.slice(0, cut)).replace(TAIL, '');
  return bare.length >= 2 ? { start, text: bare, quoted: false } : undefined;
}

/** A number with its unit, which a rule about passwords is about: 8-16 characters, 12 位. */
const UNIT =
  /^\s{0,2}(?:位|个|個|字符|字元|次|天|日|年|月|分钟|分鐘|小时|秒|元|条|种|到|至|~|名|岁|级|bits?\b|bytes?\b|chars?\b|characters|digits?\b|times|days?\b|hours?\b|minutes|months?\b|years?\b|attempts|letters|symbols|or more|%|\+)/i;
const CODE =
  /^(?:process\.env|os\.|env[.[(]|config[.[]|settings\.|self\.|this\.|ctx\.|req\.|args\.|secrets\.|vars\.|var\.|local\.|data\.|await\b|new\b|null|none|nil|undefined|true|false|str|string|text|char|varchar|number|int|bool|boolean|bytes|any|object|optional|required|options?|password|passwd|token|secret|value|encrypted|hashed|protected|incorrect|invalid|wrong|expired|missing|empty|blank|unknown|unchanged|disabled|enabled|forgotten|changed|reset|safe|secure|strong|weak|md5|sha-?\d+|bcrypt|argon2\w*|scrypt|pbkdf2|aes\S*|rsa\S*|base64|uuid|utf-?8|jwt|oauth2?|https?:.*|see\b|tbd|n\/a)\W*$/i;
const CALL = /^[A-Za-z_$][\w$.]*(?:\(|\[["'\w]|\.[a-z_$][\w$]*\b(?!\d))|^(?:\/|\.\/|~\/)[\w./-]+$|^\w+\.\w+\.\w+$/;

/** True for a password: plain words pass only where they are assigned or quoted, never where a sentence goes on. */
export function isPassword(value: Value, tie: Tie, after: string, chinese: boolean): boolean {
  const { text, quoted } = value;
  if (text.length < (quoted ? 3 : 4) || text.length > 200 || isPlaceholder(text) || CODE.test(text) || text.startsWith('[masked'))
    return false;
  if (/^[^A-Za-z0-9\u3400-\u9fff]+$/.test(text)) return false;
  if (UNIT.test(after) && !(/[A-Za-z]/.test(text) && /\d/.test(text))) return false;
  const letters = /[A-Za-z]/.test(text);
  const digits = /\d/.test(text);
  const marks = /[#!@$%^&*~+=_?-]/.test(text);
  if (quoted) return tie !== 'beside' || digits || marks || chinese || !/\s/.test(text);
  if (CALL.test(text) && !(digits && marks && !text.includes('.'))) return false;
  if (!letters && !digits) return false;
  // ranges and dates are said about passwords
  if (!letters && /^\d{1,3}[-~–]\d{1,3}$/.test(text)) return false;
  if (tie === 'assigned') return (letters && digits) || marks || !letters || text.length >= 8 || /[a-z][A-Z]/.test(text) || ends(after);
  if (letters && digits) return text.length >= (tie === 'beside' ? 5 : 4);
  if (letters && marks) return /[#!@$%^&*~+=]/.test(text) && (tie === 'said' || text.length >= 6);
  if (digits) return /^\d{4,12}[#*]?$/.test(text) && (chinese || tie === 'said');
  return chinese && tie === 'said' && !/^\p{Script=Han}/u.test(after);
}

const ends = (after: string): boolean => /^\s*(?:$|\n|["'&,;<}])/.test(after);

/** True for a key or token behind such a word: random, or assigned to a name that only credentials have. */
export function isKeyValue(value: Value, strong: boolean): boolean {
  const { text } = value;
  if (!/^[A-Za-z0-9_\-+/=.~:%]+$/.test(text) || text.length < 12 || text.length > 2_000) return false;
  if (isPlaceholder(text) || CODE.test(text) || CALL.test(text)) return false;
  if (isUuid(text)) return strong;
  if (isHex(text)) return text.length >= (strong ? 16 : 24) && entropy(text) >= 2.6 && /\d/.test(text) && /[a-f]/i.test(text);
  return strong
    ? isRandom(text, 2.8) || (text.length >= 20 && entropy(text) >= 3.6 && /\d/.test(text))
    : text.length >= 16 && isRandom(text, 3.3);
}
