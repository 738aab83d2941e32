/** A chatty log of an assistant's turns with planted facts, made from phrasings by a seed: who says what in which session, and which turns are planted. Pure. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { Random } from '../support/random.ts';

const SPEAKERS = ['user', 'agent', 'tool'] as const;
type Speaker = (typeof SPEAKERS)[number];

const lines = z.strictObject({ user: z.array(z.string()), agent: z.array(z.string()), tool: z.array(z.string()) });
const phrasingsSchema = z.strictObject({ words: z.record(z.string(), z.array(z.string()).min(1)), facts: lines, chatter: lines });
export type Phrasings = z.output<typeof phrasingsSchema>;

/** Sets of phrasings by name, each of one file or of two halves. */
const FILES = {
  phrasings: ['phrasings'],
  'phrasings-2': ['phrasings-2'],
  'phrasings-3': ['phrasings-3', 'held-out-3'],
  'held-out': ['held-out'],
} as const;
type PhrasingsName = keyof typeof FILES;
export const PHRASINGS = Object.keys(FILES) as readonly PhrasingsName[];

/** One set; throws where a file is missing or of another form. */
export function loadPhrasings(name: PhrasingsName): Phrasings {
  const halves = FILES[name].map((file) => phrasingsSchema.parse(parse(readFileSync(join(import.meta.dirname, `${file}.yaml`), 'utf8'))));
  const joined = (part: 'facts' | 'chatter'): Phrasings['facts'] => ({
    user: halves.flatMap((half) => half[part].user),
    agent: halves.flatMap((half) => half[part].agent),
    tool: halves.flatMap((half) => half[part].tool),
  });
  return {
    words: Object.assign({}, ...halves.map(({ words }) => words)) as Phrasings['words'],
    facts: joined('facts'),
    chatter: joined('chatter'),
  };
}

export interface Turn {
  readonly content: string;
  readonly speaker: Speaker;
  readonly session: string;
  readonly turn: number;
  /** Number of its fact, on its first telling. */
  readonly planted?: number;
  /** Number of the fact that it says again. */
  readonly repeats?: number;
}

export interface LogOptions {
  readonly turns: number;
  readonly facts: number;
  readonly seed: number;
}

const TURNS_PER_SESSION = 25;
/** Facts said again word for word later on, as a share of the facts. */
const REPEATED = 0.5;
/** Of the chatter: who speaks. */
const SHARE: readonly (readonly [Speaker, number])[] = [
  ['user', 0.45],
  ['agent', 0.35],
  ['tool', 0.2],
];

/** The log; every fact of the phrasings is drawn once before any comes twice. */
export function chattyLog(phrasings: Phrasings, { turns, facts, seed }: LogOptions): readonly Turn[] {
  const random = new Random(seed);
  const filled = (line: string): string => line.replace(/\{(\w+)\}/gu, (_all, word: string) => random.pick(phrasings.words[word] ?? ['?']));
  const planted = shuffled(
    SPEAKERS.flatMap((speaker) => phrasings.facts[speaker].map((line) => ({ speaker, line }))),
    random,
  ).slice(0, facts);
  const said = planted.map(({ speaker, line }, i) => ({ speaker, content: filled(line), planted: i }));
  const again = said.filter(() => random.chance(REPEATED)).map(({ speaker, content, planted: repeats }) => ({ speaker, content, repeats }));
  const chatter = Array.from({ length: turns - said.length - again.length }, () => {
    const speaker = speakerBy(random.next());
    return { speaker, content: filled(random.pick(phrasings.chatter[speaker])) };
  });
  // a repeat comes after what it repeats: the first half of the log holds the facts
  const half = Math.floor(chatter.length / 2);
  const first = shuffled([...said, ...chatter.slice(0, half)], random);
  const second = shuffled([...again, ...chatter.slice(half)], random);
  return [...first, ...second].map((turn, i) => ({
    ...turn,
    session: `log-${seed}-${Math.floor(i / TURNS_PER_SESSION)}`,
    turn: i % TURNS_PER_SESSION,
  }));
}

function speakerBy(share: number): Speaker {
  let left = share;
  for (const [speaker, part] of SHARE) {
    left -= part;
    if (left < 0) return speaker;
  }
  return 'user';
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const copy = [...items];
  for (let i = copy.length - 1; i > 0; i -= 1) {
    const j = random.below(i + 1);
    [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
  }
  return copy;
}
