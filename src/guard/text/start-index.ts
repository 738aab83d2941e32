/** Where in a text the matches of many patterns can begin: one walk over the text for all of them; reading.ts tries each pattern only there. */
import { startsOf } from './pattern-starts.ts';

/** Places of each pattern in one text, ascending. They stand in room that the next text's take over: read them before. */
export interface Places {
  /** How many the pattern has. */
  count(pattern: number): number;
  at(pattern: number, index: number): number;
}

const isWordUnit = (unit: number): boolean =>
  (unit >= 97 && unit <= 122) || (unit >= 48 && unit <= 57) || (unit >= 65 && unit <= 90) || unit === 95;

const WORD_ROOT = 0;
const OTHER_ROOT = 1;
/** Room for the symbols of one node. */
const SYMBOL_BITS = 12;

/** Beginnings of all patterns as two trees: one for places where a word begins, one for all others. */
export class StartIndex implements Places {
  /** Per pattern: false where its matches can begin anywhere, so that it has to be tried on the whole text. */
  readonly indexed: readonly boolean[];
  /** Number of a UTF-16 unit among those that beginnings hold; 0: none of them. */
  readonly #symbols = new Uint16Array(0x10000);
  readonly #children: HashTable;
  /** Children of the two roots by symbol, -1 for none: most places are done with there. */
  readonly #firstOfWord: Int32Array;
  readonly #firstOfOther: Int32Array;
  /** Of node n: endPatterns[endFrom[n]] up to that of n + 1. */
  readonly #endFrom: Int32Array;
  readonly #endPatterns: Int32Array;
  /** Patterns that can begin at the front of a text, whatever stands there. */
  readonly #atFront: readonly number[];

  // of the text looked at last
  #hits = new Int32Array(0x1000);
  #places = new Int32Array(0x1000);
  readonly #from: Int32Array;
  readonly #last: Int32Array;

  constructor(sources: readonly string[]) {
    const tree = new Tree(this.#symbols);
    const atFront = new Set<number>();
    this.indexed = sources.map((source, pattern) => {
      const starts = startsOf(source);
      for (const { text, before } of starts ?? []) {
        if (before === 'nothing') atFront.add(pattern);
        else {
          const isWord = isWordUnit(text.charCodeAt(0));
          if (isWord) tree.add(WORD_ROOT, text, pattern);
          // before a mark, a boundary is the end of a word: no such place is worth a tree
          if (!isWord || before === 'any') tree.add(OTHER_ROOT, text, pattern);
        }
      }
      return starts !== undefined;
    });
    this.#atFront = [...atFront];
    this.#children = new HashTable(tree.children);
    [this.#firstOfWord, this.#firstOfOther] = [WORD_ROOT, OTHER_ROOT].map((root) =>
      Int32Array.from({ length: 1 << SYMBOL_BITS }, (_, symbol) => tree.children.get((root << SYMBOL_BITS) | symbol) ?? -1),
    ) as [Int32Array, Int32Array];
    this.#endPatterns = Int32Array.from(tree.ends.flatMap((ends) => [...ends]));
    this.#endFrom = new Int32Array(tree.ends.length + 1);
    for (const [node, ends] of tree.ends.entries()) this.#endFrom[node + 1] = (this.#endFrom[node] as number) + ends.size;
    this.#from = new Int32Array(sources.length + 1);
    this.#last = new Int32Array(sources.length);
  }

  count(pattern: number): number {
    return (this.#from[pattern + 1] as number) - (this.#from[pattern] as number);
  }

  at(pattern: number, index: number): number {
    return this.#places[(this.#from[pattern] as number) + index] as number;
  }

  /** Looks at a text. Every place at which a match of an indexed pattern begins is among its places; at most of its places none does. */
  placesIn(text: string): Places {
    const last = this.#last.fill(-1);
    let hits = this.#hits;
    let hitCount = 0;
    const from = this.#from.fill(0);
    for (const pattern of this.#atFront) {
      hits[hitCount++] = pattern;
      hits[hitCount++] = 0;
      last[pattern] = 0;
      from[pattern + 1] = 1;
    }
    const [symbols, children, endFrom, endPatterns] = [this.#symbols, this.#children, this.#endFrom, this.#endPatterns];
    const [ofWord, ofOther] = [this.#firstOfWord, this.#firstOfOther];
    let inWord = false;
    for (let at = 0; at < text.length; at += 1) {
      const first = text.charCodeAt(at);
      const isWord = isWordUnit(first);
      let node = (isWord && !inWord ? ofWord : ofOther)[symbols[first] as number] as number;
      inWord = isWord;
      for (let next = at + 1; node >= 0; next += 1) {
        const to = endFrom[node + 1] as number;
        for (let end = endFrom[node] as number; end < to; end += 1) {
          const pattern = endPatterns[end] as number;
          if (last[pattern] === at) continue;
          last[pattern] = at;
          from[pattern + 1] = (from[pattern + 1] as number) + 1;
          if (hitCount === hits.length) hits = this.#hits = doubled(hits);
          hits[hitCount++] = pattern;
          hits[hitCount++] = at;
        }
        if (next === text.length) break;
        const symbol = symbols[text.charCodeAt(next)] as number;
        node = symbol === 0 ? -1 : children.get((node << SYMBOL_BITS) | symbol);
      }
    }
    this.#sort(hits, hitCount);
    return this;
  }

  /** By pattern, those of one in the order they were met. */
  #sort(hits: Int32Array, hitCount: number): void {
    if (this.#places.length < hitCount / 2) this.#places = new Int32Array(hits.length / 2);
    const [from, places] = [this.#from, this.#places];
    for (let pattern = 1; pattern < from.length; pattern += 1) from[pattern] = (from[pattern] as number) + (from[pattern - 1] as number);
    const next = this.#last;
    for (let pattern = 0; pattern < next.length; pattern += 1) next[pattern] = from[pattern] as number;
    for (let hit = 0; hit < hitCount; hit += 2) {
      const pattern = hits[hit] as number;
      const to = next[pattern] as number;
      places[to] = hits[hit + 1] as number;
      next[pattern] = to + 1;
    }
  }
}

function doubled(array: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}

/** The trees while they grow. */
class Tree {
  readonly children = new Map<number, number>();
  /** Patterns that end at each node. */
  readonly ends: Set<number>[] = [new Set(), new Set()];
  readonly #symbols: Uint16Array;
  #symbolCount = 0;

  constructor(symbols: Uint16Array) {
    this.#symbols = symbols;
  }

  add(root: number, text: string, pattern: number): void {
    let node = root;
    for (let i = 0; i < text.length; i += 1) {
      const key = (node << SYMBOL_BITS) | this.#symbolOf(text.charCodeAt(i));
      const child = this.children.get(key) ?? this.ends.push(new Set()) - 1;
      this.children.set(key, child);
      node = child;
    }
    this.ends[node]?.add(pattern);
  }

  #symbolOf(unit: number): number {
    const known = this.#symbols[unit] as number;
    if (known !== 0) return known;
    this.#symbolCount += 1;
    if (this.#symbolCount >= 1 << SYMBOL_BITS || this.ends.length >= 1 << (31 - SYMBOL_BITS))
      throw new Error('too many beginnings of patterns');
    return (this.#symbols[unit] = this.#symbolCount);
  }
}

/** Numbers by numbers above 0, open addressing, never changed: three times as fast as a Map. */
class HashTable {
  /** Key, value, key, value: both of one slot are fetched at once. */
  readonly #slots: Int32Array;
  readonly #mask: number;

  constructor(entries: ReadonlyMap<number, number>) {
    const size = 1 << Math.ceil(Math.log2(entries.size * 1.5 + 2));
    this.#mask = 2 * size - 1;
    this.#slots = new Int32Array(2 * size);
    for (const [key, value] of entries) {
      let slot = this.#slotOf(key);
      while (this.#slots[slot] !== 0) slot = (slot + 2) & this.#mask;
      this.#slots[slot] = key;
      this.#slots[slot + 1] = value;
    }
  }

  #slotOf(key: number): number {
    return (Math.imul(key, 0x9e3779b1) >>> 13) & this.#mask & ~1;
  }

  /** -1 when there is none. */
  get(key: number): number {
    const [slots, mask] = [this.#slots, this.#mask];
    for (let slot = this.#slotOf(key); ; slot = (slot + 2) & mask) {
      const found = slots[slot];
      if (found === key) return slots[slot + 1] as number;
      if (found === 0) return -1;
    }
  }
}
