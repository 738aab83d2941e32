/** Made-up values in the documented formats of secrets and personal data, by recipe and seed: nobody issued any of them. */
import { crc32 } from 'node:zlib';
import type { Random } from '../../bench/support/random.ts';

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const LOWER = UPPER.toLowerCase();
const DIGITS = '0123456789';
const ALNUM = DIGITS + UPPER + LOWER;
const HEX = `${DIGITS}abcdef`;
const BASE64 = `${UPPER}${LOWER}${DIGITS}+/`;
const BASE64URL = `${UPPER}${LOWER}${DIGITS}_-`;

/** The value of a recipe; throws for one that is not there. */
export function secretValue(recipe: string, random: Random): string {
  const make = RECIPES[recipe];
  if (make === undefined) throw new Error(`no recipe ${recipe}`);
  return make(random);
}

/** The value in another form: as it is pasted, scanned, encoded or hidden. */
export function inForm(value: string, form: string, random: Random): string {
  const write = FORMS[form];
  if (write === undefined) throw new Error(`no form ${form}`);
  return write(value, random);
}

const of = (chars: string, n: number, r: Random): string => Array.from({ length: n }, () => chars.charAt(r.below(chars.length))).join('');
const upto = (r: Random, lo: number, hi: number): number => lo + r.below(hi - lo + 1);
const b64 = (text: string): string => Buffer.from(text).toString('base64url');
/** A random run that a human eye would call random: some of each class. */
const mixed = (n: number, r: Random): string => `${of(LOWER, 2, r)}${of(DIGITS, 2, r)}${of(UPPER, 2, r)}${of(ALNUM, n - 6, r)}`;

const RECIPES: Readonly<Record<string, (r: Random) => string>> = {
  aws_id: (r) => `${r.pick(['AKIA', 'ASIA'])}${of('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16, r)}`,
  aws_secret: (r) => `${mixed(20, r)}/${of(BASE64, 18, r)}+`,
  github: (r) => withCrc(r.pick(['ghp_', 'gho_', 'ghs_', 'ghu_', 'ghr_']), of(ALNUM, 30, r)),
  github_fine: (r) => `github_pat_${of(ALNUM, 22, r)}_${of(ALNUM, 59, r)}`,
  gitlab: (r) => `glpat-${mixed(20, r)}`,
  openai_project: (r) => `sk-proj-${of(BASE64URL, 74, r)}T3BlbkFJ${mixed(74, r)}`,
  anthropic: (r) => `sk-ant-api03-${of(BASE64URL, 93, r)}AA`,
  huggingface: (r) => `hf_${of(UPPER + LOWER, 34, r)}`,
  google: (r) => `AIza${mixed(35, r)}`,
  slack_bot: (r) => `xoxb-${of(DIGITS, 12, r)}-${of(DIGITS, 13, r)}-${mixed(24, r)}`,
  slack_hook: (r) => `https://hooks.slack.com/services/T${of(UPPER + DIGITS, 10, r)}/B${of(UPPER + DIGITS, 10, r)}/${mixed(24, r)}`,
  stripe: (r) => `${r.pick(['sk_test_', 'rk_live_', 'sk_live_'])}${mixed(24, r)}`,
  sendgrid: (r) => `SG.${mixed(22, r)}.${mixed(43, r)}`,
  twilio: (r) => `SK${of(HEX, 32, r)}`,
  npm: (r) => withCrc('npm_', of(ALNUM, 30, r)),
  pypi: (r) => `pypi-AgEIcHlwaS5vcmc${of(BASE64URL, 90, r)}x`,
  telegram: (r) => `${upto(r, 100_000_000, 999_999_999)}:AA${of(BASE64URL, 32, r)}k`,
  digitalocean: (r) => `dop_v1_${of(HEX, 64, r)}`,
  vault: (r) => `hvs.${mixed(24, r)}`,
  terraform: (r) => `${mixed(14, r)}.atlasv1.${mixed(67, r)}`,
  aliyun_id: (r) => `LTAI5t${mixed(18, r)}`,
  aliyun_secret: (r) => mixed(30, r),
  tencent_id: (r) => `AKID${mixed(32, r)}`,
  sk_hex: (r) => `sk-${of(HEX, 32, r)}`,
  shopify: (r) => `shpat_${of(HEX, 32, r)}`,
  linear: (r) => `lin_api_${mixed(40, r)}`,
  newrelic: (r) => `NRAK-${of(UPPER + DIGITS, 27, r)}`,
  grafana: (r) => `glsa_${mixed(32, r)}_${of(HEX, 8, r)}`,
  alnum32: (r) => mixed(32, r),
  alnum40: (r) => mixed(40, r),
  azure: (r) => `${mixed(85, r)}Q==`,
  pem_openssh: (r) => pem('OPENSSH PRIVATE KEY', `b3BlbnNzaC1rZXktdjE${of(BASE64, 260, r)}`),
  pem_ec: (r) => pem('EC PRIVATE KEY', `MHcCAQEE${of(BASE64, 156, r)}==`),
  pem_pkcs8: (r) => pem('PRIVATE KEY', `MIIEvQIBADANBgkqhkiG9w0BAQEFAASC${of(BASE64, 380, r)}`),
  pem_cut: (r) =>
    pem('RSA PRIVATE KEY', `MIIEowIBAAKCAQEA${of(BASE64, 200, r)}`)
      .split('\n')
      .slice(0, 3)
      .join('\n'),
  pgp: (r) => pem('PGP PRIVATE KEY BLOCK', `lQdGBGVo${of(BASE64, 300, r)}`).replace('-----\n', '-----\n\n'),
  age: (r) => `AGE-SECRET-KEY-1${of('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58, r)}`,
  wireguard: (r) => `${mixed(42, r)}8=`,
  der_base64: (r) => `MIIEvQIBADANBgkqhkiG9w0BAQEFAASC${of(BASE64, 300, r)}`,
  jwt: (r) => `${b64('{"alg":"HS256","typ":"JWT"}')}.${b64(`{"sub":"u${of(DIGITS, 8, r)}","exp":1790000000}`)}.${of(BASE64URL, 43, r)}`,
  jwe: (r) => `${b64('{"alg":"dir","enc":"A256GCM"}')}..${of(BASE64URL, 16, r)}.${of(BASE64URL, 80, r)}.${of(BASE64URL, 22, r)}`,
  pw: (r) => r.pick([`${word(r)}${of(DIGITS, 4, r)}`, mixed(12, r), `${capital(word(r))}${of(DIGITS, 3, r)}x`]),
  pw_hard: (r) => `${capital(word(r))}${r.pick(['#', '!', '*', '~', '^'])}${of(DIGITS, 4, r)}`,
  words: (r) => `${word(r)}-${word(r)}-${word(r)}${of(DIGITS, 2, r)}`,
  pin: (r) => of('123456789', 4, r),
  pin6: (r) => of('123456789', 6, r),
  cnid: (r) => cnId(r),
  card: (r) => luhn(`${r.pick(['4', '51', '55'])}${of(DIGITS, 14, r)}`.slice(0, 15)),
  amex: (r) => luhn(`${r.pick(['34', '37'])}${of(DIGITS, 12, r)}`),
  unionpay: (r) => luhn(`${r.pick(['622848', '621700', '621226'])}${of(DIGITS, 12, r)}`),
  mobile: (r) => `1${r.pick(['38', '59', '77', '86', '91'])}${of(DIGITS, 8, r)}`,
  uk: (r) => `+44 7700 900${of(DIGITS, 3, r)}`,
  german: (r) => `+49 30 901820${of(DIGITS, 2, r)}`,
  nyc: (r) => `+1 (212) 555-01${of(DIGITS, 2, r)}`,
  japan: (r) => `+81 3-3224-${of(DIGITS, 4, r)}`,
  landline: (r) => `0755-8${of(DIGITS, 7, r)}`,
  landline_parens: (r) => `010）6${of(DIGITS, 7, r)}`,
  email: (r) => `${word(r)}.${word(r)}${of(DIGITS, 2, r)}@${r.pick(['mail.example.com', 'example.org', 'corp.example.cn'])}`,
  passport: (r) => `E${r.pick(['B', 'D', 'H', 'J'])}${of(DIGITS, 7, r)}`,
  passport_us: (r) => of('123456789', 9, r),
  permit: (r) => `C${of(DIGITS, 8, r)}`,
  plate: (r) => `${r.pick(['京', '粤', '川', '沪'])}${r.pick(['A', 'B', 'C'])}${of('ABCDEFGHJKLMNPQRSTUVWXYZ', 1, r)}${of(DIGITS, 4, r)}`,
  plate_ev: (r) => `${r.pick(['京', '粤', '浙'])}${r.pick(['A', 'B'])}D${of(DIGITS, 5, r)}`,
  otp6: (r) => of(DIGITS, 6, r),
  otp4: (r) => of('123456789', 4, r),
  otp_split: (r) => `${of(DIGITS, 3, r)} ${of(DIGITS, 3, r)}`,
  sha1: (r) => of(HEX, 40, r),
  sha7: (r) => `${of('abcdef', 1, r)}${of(HEX, 5, r)}7`,
  hex64: (r) => of(HEX, 64, r),
  hex32: (r) => of(HEX, 32, r),
  hex16: (r) => of(HEX, 16, r),
  uuid: (r) => `${of(HEX, 8, r)}-${of(HEX, 4, r)}-4${of(HEX, 3, r)}-a${of(HEX, 3, r)}-${of(HEX, 12, r)}`,
  digits8: (r) => `3${of(DIGITS, 7, r)}`,
  digits10: (r) => `7${of(DIGITS, 9, r)}`,
  digits13: (r) => `7${of(DIGITS, 12, r)}`,
  digits18: (r) => `2026${of(DIGITS, 14, r)}`,
  epoch_ms: (r) => `17${of(DIGITS, 11, r)}`,
  ean13: (r) => `690${of(DIGITS, 10, r)}`,
  serial: (r) => `SN${of(UPPER + DIGITS, 12, r)}`,
  base64_text: (r) => Buffer.from(`a picture of ${word(r)} and ${word(r)} under a clear sky`).toString('base64'),
  base64_id: (r) => of(BASE64URL, 20, r),
};

const FORMS: Readonly<Record<string, (value: string, r: Random) => string>> = {
  fullwidth: (v) => v.replace(/[!-~]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)),
  zerowidth: (v, r) => [...v].map((c, i) => (i > 0 && i % 3 === 0 ? r.pick(['\u200b', '\u200d', '\u2060']) : '') + c).join(''),
  spaced: (v) => [...v].join(' '),
  dashed: (v) =>
    v.length === 18 ? `${v.slice(0, 6)}-${v.slice(6, 14)}-${v.slice(14)}` : `${v.slice(0, 3)}-${v.slice(3, 7)}-${v.slice(7)}`,
  grouped: (v) => v.replace(/(.{4})(?=.)/g, '$1 '),
  hanzi: (v) => v.replace(/\d/g, (d) => '零一二三四五六七八九'.charAt(Number(d))),
  base64: (v) => Buffer.from(v).toString('base64'),
  percent: (v) => v.replace(/./g, (c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`),
  escaped: (v) => v.replaceAll('\n', '\\n'),
  plus86: (v) => `+86 ${v.slice(0, 3)} ${v.slice(3, 7)} ${v.slice(7)}`,
  at_dot: (v) => v.replace('@', ' (at) ').replaceAll('.', ' dot '),
  dot: (v) => `${v.slice(0, 2)}·${v.slice(2)}`,
};

const WORDS = ['harbor', 'pepper', 'mango', 'copper', 'tulip', 'falcon', 'granite', 'lantern', 'meadow', 'orchid'];
const word = (r: Random): string => r.pick(WORDS);
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** GitHub's and npm's tokens end in six base62 digits of the CRC-32 of what stands before (their engineering blog, 2021). */
function withCrc(prefix: string, body: string): string {
  let value = crc32(body);
  let check = '';
  for (let i = 0; i < 6; i++) {
    check = ALNUM.charAt(value % 62) + check;
    value = Math.floor(value / 62);
  }
  return `${prefix}${body}${check}`;
}

function pem(label: string, body: string): string {
  return [`-----BEGIN ${label}-----`, ...(body.match(/.{1,64}/g) ?? []), `-----END ${label}-----`].join('\n');
}

/** GB 11643: area, date of birth, sequence, check digit of ISO 7064 mod 11-2. */
function cnId(r: Random): string {
  const area = r.pick(['110105', '330106', '440106', '510107', '320583', '610113']);
  const date = `${upto(r, 1955, 2012)}${String(upto(r, 1, 12)).padStart(2, '0')}${String(upto(r, 1, 28)).padStart(2, '0')}`;
  const body = `${area}${date}${of(DIGITS, 3, r)}`;
  const weights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
  const sum = weights.reduce((total, weight, i) => total + weight * Number(body.charAt(i)), 0);
  return body + '10X98765432'.charAt(sum % 11);
}

function luhn(body: string): string {
  let sum = 0;
  for (let i = 0; i < body.length; i++) {
    const digit = Number(body.charAt(body.length - 1 - i)) * (i % 2 === 0 ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return `${body}${(10 - (sum % 10)) % 10}`;
}
