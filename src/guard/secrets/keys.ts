/** Private keys (PEM blocks whole, cut or on one line; bare bodies; JWK, age, WireGuard, raw hex) and JSON web tokens. */
import type { Finding } from './finding.ts';
import { isRandom } from './randomness.ts';

const BEGIN = /-{2,5} ?BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{2,5}/g;
const END = /-{2,5} ?END (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{2,5}/g;
/** Lines of a key without its end: base64 or a header each; line ends also as \n, quoted or quoted back. */
const LINES = /(?:(?:\s|\\[nr]|["'+>|]){1,8}(?:[A-Za-z-]{2,20}: [^\n\\]{1,80}|[A-Za-z0-9+/=]{16,}))*/y;
/** Longest key there is (RSA 16384 in PEM). */
const MAX_KEY_CHARS = 16_384;

/** DER of PKCS#1, PKCS#8, SEC1 and OpenSSH keys begin alike in base64. */
const BARE =
  /(?<![A-Za-z0-9+/])(?:MII[A-J][A-Za-z0-9+/]{3}(?:IBAA|AgEA|BADA)|MI(?:GH|GT|HO|G2)AgEAM|M[HGI][a-z]?[CcgIk](?:AQE|AgEA)|MC4CAQAwBQYDK2V|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/=\s\\]{60,}/g;
const BARE_ANCHOR = /MII[A-J]|MI[GH]|MH[cg]C|MC4C|b3BlbnNz/;

const JWK = /"(?:d|p|q|dp|dq|qi|k)"\s{0,4}:\s{0,4}"([A-Za-z0-9_-]{22,700})"/g;
const AGE = /AGE-(?:SECRET-KEY-1|PLUGIN-[A-Z0-9]{1,20}-1)[0-9A-Z]{50,120}/g;
/** A named private key on one line. */
const NAMED =
  /(?:private ?-?_?key|signing ?_?key|私钥|私鑰|助记词私钥)[^\n]{0,24}?(?:[=:：]|是|为|\s)\s{0,3}["'`“]?((?:0x)?[0-9a-fA-F]{64}|[A-Za-z0-9+/]{42,44}={0,2}|[5KL][1-9A-HJ-NP-Za-km-z]{50,51}|[xyz]prv[1-9A-HJ-NP-Za-km-z]{100,112})(?![A-Za-z0-9+/])/gi;
const WIF = /(?<![A-Za-z0-9])[xyz]prv[1-9A-HJ-NP-Za-km-z]{100,112}(?![A-Za-z0-9])/g;
const PUTTY = /PuTTY-User-Key-File-\d: [^\n]{3,40}\n[\s\S]{0,6000}?Private-MAC: [0-9a-f]{40,64}/g;

export function* privateKeys(text: string): Iterable<Finding> {
  if (text.includes('PRIVATE KEY')) yield* blocks(text);
  const found = (start: number, length: number, detector: string): Finding => ({
    start,
    end: start + length,
    kind: 'private_key',
    detector,
  });
  if (BARE_ANCHOR.test(text)) for (const m of text.matchAll(BARE)) yield found(m.index, m[0].trimEnd().length, 'der-base64');
  if (text.includes('"kty"'))
    for (const m of text.matchAll(JWK)) yield found(m.index + m[0].length - (m[1]?.length ?? 0) - 1, m[1]?.length ?? 0, 'jwk');
  if (text.includes('AGE-')) for (const m of text.matchAll(AGE)) yield found(m.index, m[0].length, 'age');
  if (text.includes('PuTTY-User-Key')) for (const m of text.matchAll(PUTTY)) yield found(m.index, m[0].length, 'putty');
  if (text.includes('prv')) for (const m of text.matchAll(WIF)) yield found(m.index, m[0].length, 'bip32');
  for (const m of text.matchAll(NAMED)) {
    const key = m[1] ?? '';
    if (isRandom(key)) yield found(m.index + m[0].length - key.length, key.length, 'named-private-key');
  }
}

function* blocks(text: string): Iterable<Finding> {
  const begins = [...text.matchAll(BEGIN)];
  const ends = [...text.matchAll(END)];
  let nextEnd = 0;
  for (const [i, begin] of begins.entries()) {
    const bodyAt = begin.index + begin[0].length;
    while (nextEnd < ends.length && (ends[nextEnd]?.index ?? 0) < bodyAt) nextEnd += 1;
    const end = ends[nextEnd];
    const limit = Math.min(begins[i + 1]?.index ?? text.length, bodyAt + MAX_KEY_CHARS);
    const closed = end !== undefined && end.index <= limit;
    LINES.lastIndex = bodyAt;
    const cut = closed ? bodyAt : bodyAt + (LINES.exec(text)?.[0].length ?? 0);
    const until = closed ? end.index + end[0].length : cut;
    if (until > bodyAt) yield { start: begin.index, end: until, kind: 'private_key', detector: 'pem' };
  }
}

/** Compact JWS and JWE (RFC 7515, 7516): the header is a JSON object in base64url, so it begins with eyJ (or ewo, with a line end). */
const JWT = /(?<![A-Za-z0-9_-])(?:eyJ|ewo)[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){0,2}/g;

export function* jsonWebTokens(text: string): Iterable<Finding> {
  if (!text.includes('eyJ') && !text.includes('ewo')) return;
  for (const { 0: token, index } of text.matchAll(JWT)) {
    const [head = '', ...rest] = token.split('.');
    if (rest.join('').length < 16 || !/"(?:alg|enc|typ)"/.test(Buffer.from(head, 'base64url').toString('latin1'))) continue;
    yield { start: index, end: index + token.length, kind: 'jwt', detector: 'jwt' };
  }
}
