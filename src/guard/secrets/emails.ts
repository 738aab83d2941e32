/** E-mail addresses, also written out (name at host dot org); not package versions, image names or addresses of repositories. */
import type { Finding } from './finding.ts';

const LOCAL = /[A-Za-z0-9](?:[A-Za-z0-9._%+'-]{0,62}[A-Za-z0-9_+-])?$|[A-Za-z0-9]$/;
const DOMAIN =
  /[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?){0,8}\.(?:[A-Za-z]{2,24}|xn--[a-z0-9-]{2,59})(?![A-Za-z0-9-])/y;
/** Endings of files that stand behind an @ in names of images and modules. */
const FILE_END = /\.(?:png|jpe?g|gif|svg|webp|ico|bmp|css|scss|js|mjs|cjs|ts|tsx|jsx|vue|json|ya?ml|html?|md|zip|gz|pdf)$/i;
const DOT = String.raw`(?:\s?[.．。]\s?|\s{0,2}[([{<]\s?(?:dot|点)\s?[)\]}>]\s{0,2}|\s{1,2}dot\s{1,2}|点)`;
const SPELLED = new RegExp(
  String.raw`(?<![A-Za-z0-9._+-])[A-Za-z0-9_+-]{1,40}(?:${DOT}[A-Za-z0-9_+-]{1,40}){0,4}?(?:\s{0,2}[([{<]\s?(?:at|@|艾特)\s?[)\]}>]\s{0,2}|\s{1,2}at\s{1,2}|\s?艾特\s?|\s{0,2}#at#\s{0,2}|\s?@\s?)[A-Za-z0-9-]{1,40}(?:${DOT}[A-Za-z0-9-]{1,40}){0,4}?${DOT}(?:com|cn|org|net|edu|gov|io|me|co|dev|app|ai|info|uk|de|fr|jp|hk|tw|test)(?![A-Za-z0-9-])`,
  'gi',
);
const SPELLED_HINT = /\bdot\b|[([{<]\s?(?:at|@|dot)\s?[)\]}>]|艾特|#at#|@\s|\s@|点(?:com|cn)/i;

export function* emails(text: string): Iterable<Finding> {
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    const local = LOCAL.exec(text.slice(Math.max(0, at - 64), at))?.[0];
    if (local === undefined) continue;
    DOMAIN.lastIndex = at + 1;
    const domain = DOMAIN.exec(text)?.[0];
    if (domain === undefined || FILE_END.test(domain)) continue;
    const start = at - local.length;
    const end = at + 1 + domain.length;
    // git@host:path, and the user part of an address with a scheme
    if (local === 'git' && /[:/]/.test(text.charAt(end))) continue;
    if (
      /:\/\/[^\s]{0,100}$/.test(text.slice(Math.max(0, start - 110), start)) &&
      !/[?&][^\s]{0,60}$/.test(text.slice(Math.max(0, start - 60), start))
    )
      continue;
    yield { start, end, kind: 'email', detector: 'email' };
  }
  if (SPELLED_HINT.test(text))
    for (const match of text.matchAll(SPELLED))
      yield { start: match.index, end: match.index + match[0].length, kind: 'email', detector: 'email-spelled' };
}
