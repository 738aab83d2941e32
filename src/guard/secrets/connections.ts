/** Passwords inside addresses: scheme://user:password@host, JDBC and query parameters, key=value;… strings, .pgpass lines, curl -u. */
import type { Finding } from './finding.ts';
import { isPlaceholder } from './randomness.ts';

/** The password reaches to the last @ before the host: people leave @ and / in it unencoded. */
const SCHEME = /(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,24}:\/\/([^\s:/@"'<>，。；]{0,100}):([^\s"'<>，。；（）]{1,256})/g;
const HOST = /^(?:[A-Za-z0-9_.-]{1,100}|\[[0-9a-fA-F:]{2,45}\])(?=[:/?#,\s"'`)}\]>;]|$)/;
/** Key=value strings of ADO.NET, ODBC, libpq and JDBC. */
const KEYWORD =
  /(?<=[;?&\s"'(]|^)(?:password|pwd|passwd|accountkey|sharedaccesskey|sharedsecret)\s{0,2}=\s{0,2}(?:'([^'\n]{1,128})'|\{([^}\n]{1,128})\}|"([^"\n]{1,128})"|([^;&\s"'，。；）]{1,128}))/gi;
const KEYWORD_NEAR =
  /(?:server|host|data source|user id|uid|user|database|initial catalog|accountname|endpoint|dbname|jdbc:|driver)\s{0,2}=|jdbc:|:\/\//i;
const PGPASS =
  /(?<=^|[\s"'])[A-Za-z0-9_.*-]{1,80}:(?:\d{2,5}|\*):[A-Za-z0-9_*-]{1,63}:[A-Za-z0-9_*.-]{1,63}:([^\s:"']{4,100})(?=$|[\s"'])/gm;
const CURL = /\bcurl\b[^\n]{0,300}?\s(?:-u|--user)\s{1,3}["']?[^\s:"']{1,80}:([^\s"']{1,100})/g;

export function* connectionStrings(text: string): Iterable<Finding> {
  const found = (end: number, length: number, detector: string): Finding => ({
    start: end - length,
    end,
    kind: 'connection_string',
    detector,
  });
  if (text.includes('://'))
    for (const match of text.matchAll(SCHEME)) {
      const [whole, , rest = ''] = match;
      const at = lastAt(rest);
      if (at <= 0) continue;
      const password = rest.slice(0, at);
      if (isPlaceholder(password)) continue;
      const restAt = match.index + whole.length - rest.length;
      yield found(restAt + at, at, 'url-password');
    }
  if (/(?:pass|pwd|key|secret)[a-z]{0,9}\s{0,2}=/i.test(text) && KEYWORD_NEAR.test(text))
    for (const match of text.matchAll(KEYWORD)) {
      const value = match.slice(1).find((part) => part !== undefined) ?? '';
      if (value.length < 3 || isPlaceholder(value)) continue;
      const end = match.index + match[0].length - (match[4] === undefined ? 1 : 0);
      yield found(end, value.length, 'keyword-password');
    }
  for (const [pattern, detector] of [
    [PGPASS, 'pgpass'],
    [CURL, 'curl-user'],
  ] as const)
    for (const match of text.matchAll(pattern)) {
      const value = match[1] ?? '';
      if (!isPlaceholder(value)) yield found(match.index + match[0].length, value.length, detector);
    }
}

/** Place of the @ that a host follows; of several the last. */
function lastAt(rest: string): number {
  for (let at = rest.lastIndexOf('@'); at > 0; at = rest.lastIndexOf('@', at - 1)) if (HOST.test(rest.slice(at + 1, at + 110))) return at;
  return -1;
}
