/** Made-up memories, questions and vectors from a seed: half Chinese, half English, spread over namespaces; the same on every machine. */
import { LOCAL_MODELS, LOCAL_ROUTING } from '../../src/providers/embedding/local-models.ts';
import { CHINESE, ENGLISH, type Phrases } from './phrases.ts';
import { Random } from './random.ts';
import { VectorSource } from './vectors.ts';

/** An item of POST /v1/memories. */
export interface CorpusItem {
  readonly content: string;
  readonly namespace: string;
  readonly kind: string;
  readonly subject: string;
  readonly tags: readonly string[];
  readonly importance: number;
  readonly occurred_at: string;
  readonly admission: 'keep';
  readonly vectors?: Readonly<Record<string, readonly number[]>>;
}

export interface CorpusQuery {
  readonly query: string;
  readonly namespace: string;
}

export interface CorpusOptions {
  readonly seed: number;
  readonly namespaces: number;
  /** Name of the first segment; namespaces are <family>.n000, <family>.n001, … */
  readonly family?: string;
  /** Vectors for the spaces of the local models; without them the service embeds. */
  readonly vectors: boolean;
}

/** The moment the made-up year ends: what questions are asked at. */
export const CORPUS_END = '2026-01-01T00:00:00Z';
const YEAR_MS = 365 * 86_400_000;
const KINDS = ['event', 'fact', 'preference', 'decision', 'tool_result'] as const;
const MORE_SENTENCES = 0.55;
const MAX_SENTENCES = 5;

export class Corpus {
  readonly #options: CorpusOptions;
  readonly #random: Random;
  readonly #sources: ReadonlyMap<string, VectorSource>;
  #made = 0;

  constructor(options: CorpusOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#sources = new Map(LOCAL_MODELS.map(({ space }, i) => [space.name, new VectorSource(space.dims, options.seed + 1 + i)]));
  }

  /** The next `count` memories; namespaces take turns, so any prefix of the corpus fills them evenly. */
  next(count: number): CorpusItem[] {
    return Array.from({ length: count }, () => this.#item());
  }

  /** Questions in the words of the memories, half Chinese; `salt` changes which. */
  queries(count: number, salt = 0): CorpusQuery[] {
    const random = new Random(this.#options.seed * 31 + salt + 7);
    const seen = new Set<string>();
    const queries: CorpusQuery[] = [];
    while (queries.length < count) {
      const phrases = queries.length % 2 === 0 ? CHINESE : ENGLISH;
      const query = fill(random.pick(phrases.questions), phrases, random, random.pickSkewed(phrases.people));
      if (seen.has(query)) continue;
      seen.add(query);
      queries.push({ query, namespace: this.#namespace(random.below(this.#options.namespaces)) });
    }
    return queries;
  }

  #namespace(n: number): string {
    return `${this.#options.family ?? 'bench'}.n${String(n).padStart(3, '0')}`;
  }

  #item(): CorpusItem {
    const random = this.#random;
    const phrases = random.chance(0.5) ? CHINESE : ENGLISH;
    const person = random.pickSkewed(phrases.people);
    const sentences: string[] = [];
    do sentences.push(fill(random.pick(phrases.sentences), phrases, random, person));
    while (sentences.length < MAX_SENTENCES && random.chance(MORE_SENTENCES));
    const content = sentences.join(phrases === CHINESE ? '' : ' ');
    const item = {
      content,
      namespace: this.#namespace(this.#made % this.#options.namespaces),
      kind: random.pick(KINDS),
      subject: person,
      tags: [`tag${random.below(40)}`],
      importance: Math.round(random.next() * 100) / 100,
      occurred_at: new Date(Date.parse(CORPUS_END) - Math.floor(random.next() * YEAR_MS)).toISOString(),
      admission: 'keep' as const,
    };
    this.#made += 1;
    if (!this.#options.vectors) return item;
    const cluster = random.below(1_024);
    const spaces = LOCAL_ROUTING.spacesForText(content);
    return { ...item, vectors: Object.fromEntries(spaces.map((space) => [space, this.#sources.get(space)?.next(cluster) ?? []])) };
  }
}

function fill(pattern: string, phrases: Phrases, random: Random, person: string): string {
  return pattern.replace(/\{(\w+)\}/g, (_all, slot: string) => {
    switch (slot) {
      case 'person':
        return person;
      case 'other':
        return random.pick(phrases.people);
      case 'thing':
        return random.pickSkewed(phrases.things);
      case 'place':
        return random.pickSkewed(phrases.places);
      case 'topic':
        return random.pickSkewed(phrases.topics);
      case 'feeling':
        return random.pick(phrases.feelings);
      case 'code':
        return `${random.pick(['A', 'B', 'OPS', 'REL'])}-${1_000 + random.below(9_000)}`;
      case 'date':
        return phrases.date(1 + random.below(12), 1 + random.below(28));
      default:
        return String(2 + random.below(90));
    }
  });
}
