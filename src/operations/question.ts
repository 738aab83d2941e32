/** The question about a held-back write: its texts in full where they fit, in a form that no client renders as anything but text. */
import type { HeldBack } from '../memory/gateway.ts';
import { spelledForMarkdown } from '../text/spelled-out.ts';

export interface Question {
  readonly message: string;
  readonly seen: 'whole' | 'part';
}

/** Characters of all texts together, as they are shown: what a form can show and a person reads. */
const MAX_SHOWN = 4_000;
/** Of a text that is cut, so much of the room shows its end. */
const TAIL_SHARE = 0.25;
/** Rules that are named; more say nothing more. */
const MAX_RULES = 8;

/**
 * Every line of a text stands behind four blanks: Markdown takes it for code as it is, a plain window shows it set off. Long runs of blanks
 * and line ends, which would push the rest out of the window, are counted instead.
 */
export function questionAbout({ texts, namespace, asks, rule_ids }: HeldBack): Question {
  const shown = Object.entries(texts).map(([field, text]) => ({ field, text: inertLines(text), length: text.length }));
  const rooms = roomsFor(shown.map(({ text }) => text.length));
  const seen = shown.every(({ text }, i) => text.length <= (rooms[i] ?? 0)) ? 'whole' : 'part';
  const parts = shown.map(({ field, text, length }, i) => {
    const room = rooms[i] ?? 0;
    if (text.length <= room) return `${field}:\n\n${indented(text)}`;
    return `${field} (CUT; its whole length is ${length} characters 内容过长已截断，全文共 ${length} 个字符):\n\n${indented(shortened(text, room))}`;
  });
  const rules = rule_ids.slice(0, MAX_RULES).join(', ');
  const cutNote =
    seen === 'part' ? '\n\nNot all of it is shown: say no unless you know the rest. 未显示全文：如不清楚其余内容，请选“否”。' : '';
  const head = `${LEADS[asks]}\n\nNamespace 命名空间: ${namespace}. Held back by 拦下它的规则: ${rules}. Say no if this is not what you want. 如果这不是你的意思，请选“否”。`;
  return { message: `${head}\n\n${parts.join('\n\n')}${cutNote}`, seen };
}

const LEADS: Readonly<Record<HeldBack['asks'], string>> = {
  write: 'An agent wants to remember this as something you said. Keep it? 智能体想把下面的内容作为你说过的话记住，是否保留？',
  update:
    'An agent wants to change a memory; this is how it would read, as something you said. Keep it? 智能体想更正一条记忆，更正后作为你说过的话如下，是否保留？',
  invalidate: 'An agent wants this memory to hold no longer. Take it away? 智能体想让下面这条记忆失效，是否作废？',
  share: 'An agent wants others to see this memory of yours. Share it? 智能体想把你的这条记忆共享给他人，是否共享？',
};

function inertLines(text: string): string {
  return spelledForMarkdown(text)
    .replace(/[\p{Zs}\t]{9,}/gu, (run) => `<${run.length} blanks>`)
    .replace(/\n(?:[\p{Zs}\t]*\n){2,}/gu, (run) => `\n<${run.split('\n').length - 1} line ends>\n`);
}

const indented = (text: string): string => text.replace(/^/gm, '    ');

/** Each text gets what it needs, smallest first; what is left is the room of those that do not fit. */
function roomsFor(lengths: readonly number[]): readonly number[] {
  const rooms = lengths.map(() => 0);
  let left = MAX_SHOWN;
  const bySize = lengths.map((length, i) => ({ length, i })).sort((a, b) => a.length - b.length);
  for (const [n, { length, i }] of bySize.entries()) {
    const room = Math.min(length, Math.floor(left / (bySize.length - n)));
    rooms[i] = room;
    left -= room;
  }
  return rooms;
}

/** Beginning and end; whole characters and whole spellings only. */
function shortened(text: string, room: number): string {
  const tail = Math.floor(room * TAIL_SHARE);
  const head = text.slice(0, room - tail).replace(/<[^<>]*$|[\ud800-\udbff]$/u, '');
  const end = text.slice(text.length - tail).replace(/^[^<>]*>|^[\udc00-\udfff]/u, '');
  return `${head}\n<… ${text.length - head.length - end.length} …>\n${end}`;
}
