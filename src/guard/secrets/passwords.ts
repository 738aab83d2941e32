/** Passwords and keys that only the words around them give away, in Chinese and English: assignments, sentences, pairs, command lines. */
import type { Finding, SecretKind } from './finding.ts';
import { isPlaceholder } from './randomness.ts';
import { isKeyValue, isPassword, valueAt, type Tie, type Value } from './values.ts';

/** Where a name can begin; cheap, so that prose costs one pass. */
const PASSWORD_AT =
  /pass|pwd|psw|pw\b|pin|code\b|kennwort|contrase|senha|парол|密码|密碼|口令|暗号|暗號|通行码|密语|门禁码|开门码|开锁码|保险[箱柜]码|锁屏码|解锁码/gi;
/** The whole name; a word that goes on (密码学, passwordless, password policy) is none. */
const PASSWORD =
  /pass[ _-]?(?:word|phrase|code|wd)(?!less|s? (?:policy|manager|reset|field|strength|hash|generator|change)\b|s\b|学)|passwd|passwort|(?<![A-Za-z])pwd\b|psw\b|pw\b|(?<=[\s"'{(,;]|^)pass(?=["']?\s{0,2}[:=])|passe\b|(?<![A-Za-z])pin(?:[ _-]?(?:code|number|no\.?))?(?:码)?(?![A-Za-z])|kennwort|contraseña|senha|пароль|(?:密码|密碼|口令|暗号|暗號|通行码|密语)(?!学|學|箱|本|锁|鎖|框|机|保护|管理|策略|强度|重置|找回|输入|错误|不|长度|位数|必须|需要|要求)|(?<=\b(?:door|gate|alarm|lock|access|entry|unlock|safe|garage|building|lockbox) )code\b|(?:门禁|开门|开锁|保险箱|保险柜|锁屏|解锁)码/iy;
const KEY_AT =
  /key|token|secret|credential|bearer|jeton|(?<![a-z])[as]k(?![a-z])|密钥|密鑰|秘钥|秘鑰|令牌|凭据|凭证|憑證|授权码|激活码|注册码/gi;
const KEY =
  /(?:key|token|secret|credential|bearer|jeton|ak|sk)s?(?:[ _-]?(?:id|value|base64))?(?![A-Za-z])|(?:密钥|密鑰|秘钥|秘鑰|令牌|凭据|凭证|憑證|授权码|激活码|注册码)(?!长度|過期|过期|管理|轮换|对)/iy;
/** What makes a key or token a secret one, directly before the word. */
const QUALIFIER =
  /(?:api|access|secret|auth|app|client|private|encryption|signing|master|service|deploy|integration|webhook|session|refresh|bearer|account|license|consumer|storage|project|user|personal)[ _-]?(?:access[ _-]?)?$/i;
const STRONG_NAME = /^(?:secret|credential|bearer|密|秘|令牌|授权码)/i;
/** A key of this sort is a name, not a secret. */
const PLAIN_KEY =
  /(?:cache|primary|foreign|partition|public|sort|redis|s3|object|idempotency|row|routing|dedup\w{0,12}|hash|shard|message|index|lookup|composite|bucket|translation|i18n|cursor|page|next|continuation|csrf[ _-]?cookie|主|外|公|缓存|分区)[ _-]?$/i;
const NAME_REACH = 32;

const ASSIGN = /["'`”]?\s{0,3}(?:[）)\]]\s{0,2})?(?::=|=>|->|→|[=:：＝>])\s{0,3}/y;
const SAY_EN =
  /(?:\s{1,2}(?:for|of|to|on|in|at|into)\s[^\n.,;:=，。]{1,48}?)?\s{1,2}(?:is|was|are|will be|has been (?:changed|reset|set) to|(?:was |got )?(?:changed|reset|set|updated) to|=|equals|to)(?:\s(?:now|still|currently|just|simply|actually))?\s*[:：]?\s{0,2}/y;
const SAY_ZH =
  /\s{0,2}(?:（[^）\n]{1,12}）|\([^)\n]{1,12}\))?\s{0,2}(?:也|还|都|已经?|现在|目前|暂时|统一|默认|仍然?|依旧|現在){0,2}(?:是|为|為|改成|改为|改為|换成|换为|设成|设为|設為|设置为|设置成|设定为|重置为|重置成|更新为|更改为|变更为|变成|用的?是?|就是|叫|填|写|发过来)了?(?:\s{0,2}[:：])?\s{0,2}/y;
const BESIDE = /\s{1,3}/y;
const NOTHING = /(?=[A-Za-z0-9!@#$%^&*])/y;
/** Words between the name and a colon: "token 发过来了：", "key for the uploader:". */
const GAP = /[^\n。；;.!?=:：]{0,28}[:：=]\s{0,3}/y;

/** The value is named after it: "X 是我的密码", "X is my password". */
const AFTER_ZH = /(?<![!-~])([!-~]{5,64})\s{0,2}(?:是|就是|作为|做)[^\n，。；]{0,12}?(?:密码|口令|密碼)(?![^\n，。]{0,4}(?:学|长度|格式))/g;
const AFTER_EN =
  /(?<![!-~])([!-~]{5,64}?)[,]?\s(?:is|as|was|that is|that's|which is)\s(?:also\s)?(?:my|the|our|his|her|their|your|that's my|that is my|a)\s[^\n.;]{0,24}?(?:password|passphrase|passcode)\b/gi;
/** User and password side by side behind a word for both. */
const PAIR =
  /(?:账号密码|帐号密码|账户密码|用户名密码|用户名和密码|用户名\/密码|登录信息|账密|账号\/密码|(?<![A-Za-z])(?:login|creds?|credentials?|user(?:name)?\s?\/\s?pass(?:word)?)(?: for [^\n:]{1,30}| details)?)\s{0,2}(?:是|为|is|are)?\s{0,2}[:：=]?\s{0,2}([A-Za-z0-9._@+-]{2,64})\s{0,2}[/／,，、|:：]\s{0,2}(?=[!-~])/gi;
const COMMAND =
  /(?<=\s)(?:(?:--?(?:password|passwd|pass|pwd|token|secret|api-key|apikey)[= ]|-p\s{1,2}(?=["']))["']?|(?<=(?:mysql|mysqldump|mariadb|sshpass)\b[^\n]{0,80}\s)-p\s{0,2}["']?)(?=[!-~])/g;
const BASIC =
  /\b(?:Authorization\s{0,2}[:=]\s{0,2}["']?(?:Basic|Token|Bearer|ApiKey|Digest)|Bearer|Basic)\s{1,2}([A-Za-z0-9._~+/=-]{12,2000})/gi;
const COOKIE =
  /\b(?:set-)?cookie\s{0,2}[:=][^\n]{0,200}?\b(?:session|sess|sid|auth|token|jsessionid|phpsessid|connect\.sid)[a-z_-]{0,16}=([A-Za-z0-9%._~+/=-]{16,500})/gi;

const NAMED_AFTER = /password|passphrase|passcode|密码|口令|密碼/i;
const PAIRED = /密码|密碼|登录信息|账密|login|cred|user/i;
const ON_COMMAND_LINE = / -p|--?(?:pass|pwd|token|secret|api-?key)/;
const HEADED = /authorization|bearer|basic|cookie/i;

export function* passwords(text: string): Iterable<Finding> {
  yield* named(text, 'password');
  yield* named(text, 'api_key');
  if (NAMED_AFTER.test(text)) yield* namedAfter(text);
  if (PAIRED.test(text)) yield* valueBehind(text, PAIR, 'login-pair');
  if (ON_COMMAND_LINE.test(text)) yield* valueBehind(text, COMMAND, 'command-line');
  if (!HEADED.test(text)) return;
  for (const [pattern, detector] of [
    [BASIC, 'authorization'],
    [COOKIE, 'cookie'],
  ] as const)
    for (const match of text.matchAll(pattern)) {
      const value = match[1] ?? '';
      if (!isPlaceholder(value) && /\d/.test(value) && /[A-Za-z]/.test(value))
        yield found(match.index + match[0].length - value.length, value, 'api_key', detector);
    }
}

function found(start: number, value: string, kind: SecretKind, detector: string): Finding {
  return { start, end: start + value.length, kind, detector };
}

function* namedAfter(text: string): Iterable<Finding> {
  for (const pattern of [AFTER_ZH, AFTER_EN])
    for (const match of text.matchAll(pattern)) {
      const value = (match[1] ?? '').replace(/^["'(]{1,4}|["'),;:]{1,8}$/g, '');
      const start = match.index + (match[1] ?? '').indexOf(value);
      if (value.length >= 5 && /\d/.test(value) && isPassword({ start, text: value, quoted: false }, 'said', '', false))
        yield found(start, value, 'password', 'named-after');
    }
}

function* valueBehind(text: string, pattern: RegExp, detector: string): Iterable<Finding> {
  for (const match of text.matchAll(pattern)) {
    const value = valueAt(text, match.index + match[0].length);
    if (value !== undefined && isPassword(value, 'assigned', afterOf(text, value), false))
      yield found(value.start, value.text, 'password', detector);
  }
}

const TIES: readonly (readonly [RegExp, Tie])[] = [
  [ASSIGN, 'assigned'],
  [SAY_ZH, 'said'],
  [SAY_EN, 'said'],
  [BESIDE, 'beside'],
  [NOTHING, 'beside'],
  [GAP, 'said'],
];

interface Name {
  readonly end: number;
  readonly kind: 'password' | 'api_key';
  readonly chinese: boolean;
  /** A key that can be nothing but a secret; a number for a password (PIN, door code). */
  readonly strong: boolean;
}

function* namesIn(text: string, kind: Name['kind']): Iterable<Name> {
  const whole = kind === 'password' ? PASSWORD : KEY;
  for (const { index } of text.matchAll(kind === 'password' ? PASSWORD_AT : KEY_AT)) {
    whole.lastIndex = index;
    const name = whole.exec(text)?.[0];
    if (name === undefined) continue;
    const before = text.slice(Math.max(0, index - NAME_REACH), index);
    const qualified = kind === 'api_key' && QUALIFIER.test(before);
    if (kind === 'api_key' && !qualified && (/[A-Za-z]$/.test(before) || PLAIN_KEY.test(before))) continue;
    const strong = kind === 'password' ? /pin|code|码$/i.test(name) : qualified || STRONG_NAME.test(name);
    yield { end: index + name.length, kind, chinese: /\p{Script=Han}$/u.test(name), strong };
  }
}

/** The first reading of what follows each name that is a value of its kind. */
function* named(text: string, kind: Name['kind']): Iterable<Finding> {
  for (const name of namesIn(text, kind))
    for (const [pattern, tie] of TIES) {
      pattern.lastIndex = name.end;
      const link = pattern.exec(text)?.[0];
      const value = link === undefined ? undefined : valueAt(text, name.end + link.length);
      if (value === undefined || !fits(name, value, tie, pattern === GAP, afterOf(text, value))) continue;
      yield found(value.start, value.text, kind, kind === 'password' ? 'named-password' : 'named-key');
      break;
    }
}

function fits(name: Name, value: Value, tie: Tie, far: boolean, after: string): boolean {
  if (name.kind === 'api_key') return isKeyValue(value, name.strong);
  if (name.strong && /^\d{4,8}[#*]?$/.test(value.text) && !far) return isPassword(value, 'said', after, true);
  return (!far || value.text.length >= 6) && isPassword(value, tie, after, name.chinese);
}

const afterOf = (text: string, { start, text: value }: Value): string =>
  text.slice(start + value.length, start + value.length + 16).replace(/^["'”」]/, '');
