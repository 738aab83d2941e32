/** Makes markdown and HTML of foreign texts inert: no image or link is left that a page would fetch or a person click; part of the envelope. */

/** An open `[` and where its words begin among the pieces written so far. */
interface Opening {
  readonly piece: number;
  readonly image: boolean;
}

const MAX_TARGET_CHARS = 2_048;
const HOST = /^\s{0,64}<?\s{0,64}(?:[a-z][a-z0-9+.-]{0,30}:)?[\\/]{2,}(?:[^\s\\/?#@<>]{0,256}@)?([^\s\\/?#:@[\]()<>]{1,253})/i;
/** `[label]: target`, as a definition of a link or image elsewhere in the text. */
const DEFINITION = /\]:[^\S\n]{0,8}\n?[^\S\n]{0,8}<?((?:[a-z][a-z0-9+.-]{0,30}:|[\\/]{2})[^\s<>]{0,2048})>?/gi;
const IMAGE_TAG = /<(\s{0,4}(?:img|image)(?![a-z0-9])[^<>]{0,2048})>?/gi;
const ALT = /\balt\s{0,4}=\s{0,4}(?:"([^"<>]{0,500})"|'([^'<>]{0,500})'|([^\s"'<>]{1,100}))/i;
/** Elements that fetch, run or link by themselves; images again, as taking one out may have put another together. */
const ACTIVE_TAG =
  /<(\s{0,4}\/?\s{0,4}(?:a|area|audio|base|body|button|embed|form|frame|iframe|image|img|input|link|math|meta|object|picture|script|source|style|svg|table|td|track|video)(?![a-z0-9])[^<>]{0,2048})(>?)/gi;

/**
 * Images become their alt text, links their words with the host in brackets; a bare address stays, as nothing fetches it by itself.
 * Afterwards no `](` is left, nor an HTML element that loads anything. Idempotent; one pass over the text.
 */
export function withoutLinks(text: string): string {
  const imageless = text.replace(IMAGE_TAG, (tag: string) => {
    const alt = ALT.exec(tag);
    return alt?.[1] ?? alt?.[2] ?? alt?.[3] ?? '';
  });
  return inlineLinks(imageless)
    .replace(DEFINITION, (_match, target: string) => `] –${hostOf(target) === '' ? '' : ` ${hostOf(target)}`}`)
    .replace(ACTIVE_TAG, (_match, inside: string, end: string) => `‹${inside}${end === '' ? '' : '›'}`)
    .replaceAll('](', '] (');
}

function inlineLinks(text: string): string {
  if (!text.includes('](')) return text;
  const pieces: string[] = [];
  const open: Opening[] = [];
  let copied = 0;
  const copyTo = (at: number): void => {
    if (at > copied) pieces.push(text.slice(copied, at));
    copied = at;
  };
  const next = /[[\]]/g;
  for (let match = next.exec(text); match !== null; match = next.exec(text)) {
    const at = match.index;
    if (match[0] === '[') {
      const image = at > copied && text[at - 1] === '!';
      copyTo(image ? at - 1 : at);
      open.push({ piece: pieces.length, image });
      pieces.push(image ? '![' : '[');
      copied = at + 1;
      continue;
    }
    const opening = open.pop();
    if (opening === undefined || text[at + 1] !== '(') continue;
    const end = endOfTarget(text, at + 2);
    if (end === undefined) continue;
    copyTo(at);
    pieces[opening.piece] = '';
    const host = hostOf(text.slice(at + 2, end));
    if (!opening.image && host !== '') pieces.push(` (${host})`);
    copied = end + 1;
    next.lastIndex = copied;
  }
  copyTo(text.length);
  return pieces.join('');
}

/** Where the bracket that was opened closes; undefined when it does not, or not before another link begins (which keeps the pass linear). */
function endOfTarget(text: string, from: number): number | undefined {
  let depth = 0;
  const limit = Math.min(text.length, from + MAX_TARGET_CHARS);
  for (let at = from; at < limit; at += 1) {
    const char = text[at];
    if (char === '(') {
      if (text[at - 1] === ']') return undefined;
      depth += 1;
    } else if (char === ')') {
      if (depth === 0) return at;
      depth -= 1;
    }
  }
  return undefined;
}

/** Host of a link's target, lower case; empty for a relative one and for schemes without a host. */
function hostOf(target: string): string {
  return (HOST.exec(target)?.[1] ?? '').toLowerCase();
}
