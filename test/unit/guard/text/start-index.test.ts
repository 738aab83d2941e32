import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { loadPolicy } from '../../../../src/policy.ts';
import { startsOf } from '../../../../src/guard/text/pattern-starts.ts';
import { conceptsSchema } from '../../../../src/guard/text/rules.ts';
import { StartIndex } from '../../../../src/guard/text/start-index.ts';

const root = join(import.meta.dirname, '..', '..', '..', '..');

/** Where matches begin, tried at every place of the text. */
function beginnings(source: string, text: string): readonly number[] {
  const pattern = new RegExp(source, 'y');
  return Array.from({ length: text.length }, (_, at) => at).filter((at) => {
    pattern.lastIndex = at;
    return pattern.test(text);
  });
}

function placesOf(index: StartIndex, pattern: number, text: string): readonly number[] {
  const places = index.placesIn(text);
  return Array.from({ length: places.count(pattern) }, (_, i) => places.at(pattern, i));
}

const beginningsOf = (source: string): readonly string[] | undefined => startsOf(source)?.map(({ text }) => text);

const atom = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'ab', '的', ' ', '-', '1') },
  fc.constantFrom('.', '\\w', '\\d', '\\s', '\\S', '[ab]', '[a-c1-]', '[^a]', '[\\w-]', '\\.', '\\b', '\\B', '^', '$'),
);
const quantifier = fc.constantFrom('', '', '', '?', '*', '+', '{2}', '{0,2}', '{1,3}', '{2,}', '{9}', '+?');
/** Patterns whose groups are nested so deep. */
function patternsOf(depth: number): fc.Arbitrary<string> {
  const plain = fc.tuple(atom, quantifier).map(([char, times]) => (/^(?:\\[bB]|\^|\$)$/.test(char) ? char : char + times));
  const groups = (inner: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc.oneof(
      fc
        .tuple(fc.constantFrom('(?:', '('), inner, fc.constantFrom('', '', '?', '{0,2}', '{2}'))
        .map(([open, one, times]) => `${open}${one})${times}`),
      fc.tuple(fc.constantFrom('(?=', '(?!', '(?<=', '(?<!'), inner).map(([open, one]) => `${open}${one})`),
    );
  const term = depth === 0 ? plain : fc.oneof({ weight: 3, arbitrary: plain }, groups(patternsOf(depth - 1)));
  const sequence = fc.array(term, { minLength: 1, maxLength: 4 }).map((terms) => terms.join(''));
  return fc.array(sequence, { minLength: 1, maxLength: 3 }).map((sequences) => sequences.join('|'));
}
const patterns = patternsOf(2);
const texts = fc
  .array(fc.constantFrom('a', 'b', 'c', 'ab', '的', ' ', '-', '1', '.', '\n', '_', 'B'), { maxLength: 20 })
  .map((c) => c.join(''));

describe('beginnings of patterns', () => {
  it('are read off alternatives, optional parts, classes and repeats', () => {
    expect(beginningsOf('(?:every|all) day')).to.have.members(['every', 'all d']);
    expect(beginningsOf('pre-?s')).to.have.members(['pres', 'pre-s']);
    expect(beginningsOf('[ab]{2}c')).to.have.members(['aac', 'abc', 'bac', 'bbc']);
    expect(beginningsOf('go\\w{0,24} it')).to.have.length(64).and.include.members(['go it', 'goi', 'goe']);
    expect(beginningsOf('(?<!x)no(?! way)t')).to.deep.equal(['not']);
  });

  it('are none where a match can begin with anything, or the pattern holds what is not read', () => {
    for (const source of ['.a', '(?:a|)b?', '[^a]b', '\\s{1,2}x', '(a)\\1', '(?<n>a)', '\\u0061'])
      expect(startsOf(source), source).to.equal(undefined);
  });

  it('never leave out a place where a match begins, whatever the patterns and the text', () => {
    let indexed = 0;
    fc.assert(
      fc.property(fc.array(patterns, { minLength: 1, maxLength: 4 }), texts, (sources, text) => {
        const index = new StartIndex(sources);
        for (const [number, source] of sources.entries()) {
          if (index.indexed[number] !== true) continue;
          indexed += 1;
          expect(placesOf(index, number, text), `/${source}/ in ${JSON.stringify(text)}`).to.include.members([...beginnings(source, text)]);
        }
      }),
      { numRuns: 2_000 },
    );
    expect(indexed).to.be.above(500);
  });

  it('are in order and each place once', () => {
    const index = new StartIndex(['a|ab|abc', 'b']);
    expect(placesOf(index, 0, 'abc abc')).to.deep.equal([0, 4]);
    expect(placesOf(index, 1, 'abc abc')).to.deep.equal([1, 5]);
    expect(placesOf(index, 1, 'x')).to.deep.equal([]);
  });

  it('stay apart from text to text, also when one holds more than there was room for', () => {
    const index = new StartIndex(['a', '^.b']);
    expect(placesOf(index, 0, 'a'.repeat(9_000))).to.have.length(9_000);
    expect(placesOf(index, 0, 'ba')).to.deep.equal([1]);
    expect(placesOf(index, 1, 'ab')).to.deep.equal([0]);
  });
});

describe('beginnings of the concepts of policies/guard', () => {
  const concepts = loadPolicy(join(root, 'policies', 'guard', 'concepts.yaml'), conceptsSchema).concepts;
  const sources = Object.values(concepts).flatMap((byLanguage) =>
    Object.values(byLanguage).map((alternatives = []) => alternatives.map((alternative) => `(?:${alternative})`).join('|')),
  );
  const index = new StartIndex(sources);

  it('are known of every concept: none has to be tried at every place', () => {
    expect(sources.filter((_, number) => index.indexed[number] !== true)).to.deep.equal([]);
  });

  it('never leave out a place where a concept stands, in the words of attacks and of the concepts themselves', () => {
    const rows = readFileSync(join(root, 'test', 'policies', 'texts', 'attacks.jsonl'), 'utf8')
      .split('\n')
      .filter(Boolean);
    const words = [
      ...rows.flatMap(
        (row) => (JSON.parse(row) as { text: string }).text.toLowerCase().match(/[a-z']+ ?|\p{Script=Han}{1,4}|\P{L}/gu) ?? [],
      ),
      ...sources.flatMap((source) => source.match(/[a-z]{3,}|\p{Script=Han}+/gu) ?? []),
    ];
    let met = 0;
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { minLength: 5, maxLength: 30 }), fc.constantFrom('', ' '), (some, gap) => {
        const text = some.join(gap);
        for (const [number, source] of sources.entries()) {
          const found = beginnings(source, text);
          if (found.length === 0) continue;
          met += 1;
          expect(placesOf(index, number, text), `/${source.slice(0, 80)}/ in ${text}`).to.include.members([...found]);
        }
      }),
      { numRuns: 60 },
    );
    expect(met).to.be.above(100);
  });
});
