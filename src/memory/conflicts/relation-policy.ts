/** The policies of duplicates and conflicts (policies/slots.yaml, policies/duplicates.yaml): read once at start, used wherever two texts are compared. */
import { join } from 'node:path';
import { z } from 'zod';
import { KINDS, type Kind } from '../../domain/memory.ts';
import { loadPolicy, type DeepReadonly } from '../../policy.ts';
import { fold } from '../../text/analyze.ts';

const name = z.string().min(1).max(128);
const unit = z.number().min(0).max(1);

const slotsSchema = z.strictObject({
  version: z.int().min(1),
  kinds: z.array(z.enum(KINDS)),
  aliases: z.record(name, z.array(name)),
  several: z.array(name),
  multi_valued: z.array(name),
  unnamed: z.array(name),
  rivals: z.record(name, z.array(z.array(name).min(1)).min(2)),
  rival_nouns: z.record(name, z.array(name)),
  rival_words: z.array(name).default([]),
  rival_names: z.array(name).default([]),
  bookkeeping: z.string().min(1),
});

const duplicatesSchema = z.strictObject({
  version: z.int().min(1),
  lexical: z.strictObject({ candidates: z.int().min(1).max(50), overlap: unit }),
  silent: z.array(name),
  same_words: z.array(z.array(name).min(2)),
  opposites: z.strictObject({ states: z.array(z.tuple([name, name])), others: z.array(z.tuple([name, name])) }),
  vector: z.strictObject({
    neighbours: z.int().min(1).max(50),
    near: unit,
    spaces: z.record(name, z.strictObject({ offset: z.number().min(-1).max(1), scale: z.number().positive() })),
  }),
});

/** What relationOf and inferSlot go by. */
export interface RelationPolicy {
  /** Kinds whose subject and topic hold one value. */
  readonly kinds: ReadonlySet<Kind>;
  /** Canonical topic by every name it has, folded. */
  readonly topics: ReadonlyMap<string, string>;
  /** Nouns of which one can have several, folded. */
  readonly several: readonly string[];
  /** Canonical topics with several values at once. */
  readonly multiValued: ReadonlySet<string>;
  /** Canonical topics of which a place has one, whosever it is. */
  readonly unnamed: ReadonlySet<string>;
  /** Canonical topic and one spelling of each thing of which one is mostly in use at a time, by every name it has, folded. */
  readonly rivals: ReadonlyMap<string, Rival>;
  /** Topic of those by every noun for it, folded. Its values are compared as those of any other noun. */
  readonly rivalNouns: ReadonlyMap<string, string>;
  /** Rivals that are common words, folded. */
  readonly toolWords: ReadonlySet<string>;
  /** Rivals that are people's names, folded. */
  readonly toolNames: ReadonlySet<string>;
  /** Last words of metadata keys that tell no two subjects apart, folded. */
  readonly bookkeeping: ReadonlySet<string>;
  readonly duplicates: DeepReadonly<z.output<typeof duplicatesSchema>>;
  /** Words that never change what is said. */
  readonly silent: ReadonlySet<string>;
  /** The other word of each pair of opposites, and whether both name a state, of which a thing is in one at a time. */
  readonly opposites: ReadonlyMap<string, { readonly other: string; readonly state: boolean }>;
  /** A text with every word of `same_words` in the first form of its row. */
  unify(plain: string): string;
}

/** One of the values of a topic that take each other's place. */
export interface Rival {
  readonly topic: string;
  readonly name: string;
}

/** @throws ERR_CONFIG_INVALID naming the file and what is wrong in it. */
export function loadRelationPolicy(policiesDir: string): RelationPolicy {
  const slots = loadPolicy(join(policiesDir, 'slots.yaml'), slotsSchema);
  const duplicates = loadPolicy(join(policiesDir, 'duplicates.yaml'), duplicatesSchema);
  const { states, others } = duplicates.opposites;
  const topics = new Map<string, string>();
  for (const [canonical, others] of Object.entries(slots.aliases))
    for (const one of [canonical, ...others]) topics.set(folded(one), folded(canonical));
  return {
    kinds: new Set(slots.kinds),
    topics,
    several: slots.several.map(folded),
    multiValued: new Set(slots.multi_valued.map(folded)),
    unnamed: new Set(slots.unnamed.map(folded)),
    rivals: new Map(
      Object.entries(slots.rivals).flatMap(([topic, things]) =>
        things.flatMap(([first = '', ...more]) =>
          [first, ...more].map((one): [string, Rival] => [folded(one), { topic: folded(topic), name: folded(first) }]),
        ),
      ),
    ),
    rivalNouns: new Map(
      Object.keys(slots.rivals).flatMap((topic) =>
        [topic, ...(slots.rival_nouns[topic] ?? [])].map((noun): [string, string] => [folded(noun), folded(topic)]),
      ),
    ),
    toolWords: new Set(slots.rival_words.map(folded)),
    toolNames: new Set(slots.rival_names.map(folded)),
    bookkeeping: new Set(slots.bookkeeping.split(/\s+/u).map(folded)),
    duplicates,
    silent: new Set(duplicates.silent),
    opposites: new Map([...pairs(states, true), ...pairs(others, false)]),
    unify: unifier(duplicates.same_words),
  };
}

function pairs(rows: readonly (readonly [string, string])[], state: boolean): [string, { other: string; state: boolean }][] {
  return rows.flatMap(([a, b]): [string, { other: string; state: boolean }][] => [
    [a, { other: b, state }],
    [b, { other: a, state }],
  ]);
}

/** Longest spelling first; a Latin one matches whole words, whatever their case. */
function unifier(rows: readonly (readonly string[])[]): (plain: string) => string {
  const forms = new Map(rows.flatMap(([first = '', ...more]) => more.map((other): [string, string] => [folded(other), first])));
  const spellings = [...forms.keys()].sort((a, b) => b.length - a.length).map(bounded);
  const any = new RegExp(spellings.join('|'), 'giu');
  return (plain) => plain.replace(any, (found) => forms.get(folded(found)) ?? found);
}

function bounded(spelling: string): string {
  const plain = spelling.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return /^[a-z]/.test(spelling) ? `(?<![\\p{L}\\p{N}'-])${plain}(?![\\p{L}\\p{N}'-])` : plain;
}

/** NFKC, lower case, single spaces: how names of subjects and topics are compared. */
export function folded(text: string): string {
  return fold(text).replace(/\s+/gu, ' ').trim();
}

/** Whether a subject may be another one each time: "my brother", 小李的猫. */
export function isOneOfSeveral(policy: RelationPolicy, subject: string): boolean {
  return policy.several.some(
    (noun) => subject === noun || subject.endsWith(` ${noun}`) || (/\p{Script=Han}$/u.test(noun) && subject.endsWith(noun)),
  );
}

/** The one name of a topic, whatever it is called; a topic without aliases keeps its own. */
export function canonicalTopic(policy: RelationPolicy, topic: string): string {
  const own = folded(topic);
  return policy.topics.get(own) ?? policy.rivalNouns.get(own) ?? own;
}

const VERSION_AT_END = / ?v?\d+(?:\.\d+)*$/u;

/** Of a thing, folded: without its article and version. */
export function bareName(value: string): string {
  return withoutArticle(value).replace(VERSION_AT_END, '');
}

const withoutArticle = (value: string): string => folded(value).replace(/^(?:the|an?) /u, '');

/** The rival that a value names, whatever its version, with or without the noun of its topic: "the Postgres 16 database". */
export function rivalIn(policy: RelationPolicy, value: string): Rival | undefined {
  const name = withoutArticle(value);
  const found = policy.rivals.get(name) ?? policy.rivals.get(name.replace(VERSION_AT_END, ''));
  if (found !== undefined) return found;
  for (const [noun, topic] of policy.rivalNouns) {
    if (!name.endsWith(noun)) continue;
    const rival = policy.rivals.get(name.slice(0, -noun.length).trim().replace(VERSION_AT_END, ''));
    if (rival?.topic === topic) return rival;
  }
  return undefined;
}
