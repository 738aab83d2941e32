/** The parts of a text that its reader does not see on the page: comments, invisible elements, titles and attributes; for the text guard's views. */

const PARTS: readonly RegExp[] = [
  /<!--([\s\S]{4,4000}?)(?:-->|$)/g,
  /<[a-z][^>]{0,400}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0|color\s*:\s*(?:#fff(?:fff)?|white|transparent)|\bhidden\b|aria-hidden)[^>]{0,400}>([\s\S]{4,4000}?)(?:<\/|$)/gi,
  /\b(?:alt|title|aria-label|placeholder|content|data-[a-z-]{1,20})\s*=\s*"([^"]{4,2000})"/gi,
  /\[[^\]]{0,200}\]:\s*(?:#|<[^>]{0,200}>|\S{1,200})\s+[("']([^)"'\n]{4,2000})[)"']/g,
  /\]\([^)\s]{1,500}\s+"([^"]{4,2000})"\)/g,
  /!\[([^\]]{8,1000})\]\(/g,
];

/** Hidden parts of `text` as written. */
export function* hiddenParts(text: string): Iterable<string> {
  if (!/[<[=]/.test(text)) return;
  for (const pattern of PARTS) for (const match of text.matchAll(pattern)) if (match[1] !== undefined) yield match[1];
}
