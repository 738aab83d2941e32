/** D3 (guard.md): no regular expression of the guard's policies or modules is vulnerable to hostile text; recheck decides, and what it cannot decide is timed. */
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { check, type Parameters } from 'recheck';
import { loadGuardPolicy } from '../../src/guard/text/policy.ts';
import { caught, regexesUnder, type FoundRegex } from '../support/regexes.ts';

const root = join(import.meta.dirname, '..', '..');
/** Its automata decide nearly all of these in milliseconds, once they are allowed their size; the rest is left to the clock. */
const PARAMETERS: Parameters = { timeout: 1_500, maxRepeatCount: 10_000, maxPatternSize: 20_000, maxNFASize: 500_000 };
const HOSTILE_CHARS = 32_768;
/** CPU time of this process for one pattern over 32 KB: linear ones take under 10 ms, a quadratic one a second. */
const MAX_CPU_MS = 150;
/** Looked at by the guard for every text, whatever their folder. */
const FOLDERS = ['guard/text', 'guard/secrets', 'guard/screening', 'guard/anomaly', 'text'];

describe('regular expressions of the guard', function () {
  this.timeout(90_000);
  let undecided: FoundRegex[] = [];

  const expectSafe = async (all: readonly FoundRegex[]): Promise<void> => {
    for (const regex of all) {
      const found = await check(regex.source, regex.flags.replace(/[dgvy]/g, ''), PARAMETERS);
      const attack = found.status === 'vulnerable' ? found.attack.pattern : '';
      expect(found.status, `${regex.where} /${regex.source.slice(0, 120)}/ ${attack}`).not.to.equal('vulnerable');
      if (found.status === 'unknown') undecided.push(regex);
    }
  };

  it('D3 the concepts of policies/guard, as they are compiled, are not vulnerable', async () => {
    const compiled = await caught('concepts.yaml', () => loadGuardPolicy(join(root, 'policies', 'guard')));
    expect(compiled).to.have.length.above(50);
    await expectSafe(compiled);
  });

  it('D3 those of the modules behind the guard are not vulnerable', async () => {
    for (const folder of FOLDERS) {
      const found = await regexesUnder(join(root, 'src', folder));
      expect(found, folder).to.have.length.above(2);
      await expectSafe(found);
    }
  });

  it('D3 what recheck cannot decide takes no longer than linear ones on hostile text', () => {
    for (const regex of undecided) {
      for (const text of hostileTexts(regex)) {
        const took = Math.min(...[1, 2, 3].map(() => cpuMsOf(() => matchAll(regex, text))));
        expect(took, `${regex.where} /${regex.source.slice(0, 120)}/ on ${JSON.stringify(text.slice(0, 60))}…`).to.be.below(MAX_CPU_MS);
      }
    }
    undecided = [];
  });

  it('D3 the clock tells a vulnerable pattern, and so does recheck', async () => {
    const vulnerable = { where: 'here', source: '\\?\\s*\\s*$', flags: 'u' };
    expect((await check(vulnerable.source, vulnerable.flags, PARAMETERS)).status).to.equal('vulnerable');
    expect(Math.max(...hostileTexts(vulnerable).map((text) => cpuMsOf(() => matchAll(vulnerable, text))))).to.be.above(MAX_CPU_MS);
  });
});

/** 32 KB each: beginnings of what it matches, near-misses, runs of one character, Han beside letters. */
function hostileTexts({ source, flags }: FoundRegex): readonly string[] {
  // what fast-check cannot make texts for says where a match may begin, not of what it is made
  const shapes = source.replace(/\\[b1-9]|\(\?<?[=!](?:[^()\\]|\\.|\([^()]*\))*\)/g, '').replace(/\$$/, '');
  const samples = fc.sample(fc.stringMatching(new RegExp(shapes, flags.replace(/[dgimy]/g, ''))), { numRuns: 4, seed: 7 });
  const beginnings = samples.flatMap((text) => [text, text.slice(0, -1), text.slice(0, Math.ceil(text.length / 2)), text.slice(0, 2)]);
  const runs = [...new Set(samples.flatMap((text) => [...text.slice(0, 8)]))].map(
    (char) => `${samples[0]?.slice(0, 1) ?? ''}${char.repeat(HOSTILE_CHARS)}\0`,
  );
  const units = [...new Set([...beginnings, 'a', '忽a', '忽略', ' ', '\t', '0', '<a ', '"', '[a](', '=\n'])].filter((unit) => unit !== '');
  return [
    ...units.map((unit) => unit.repeat(Math.ceil(HOSTILE_CHARS / unit.length)).slice(0, HOSTILE_CHARS)),
    ...units.map((unit) => `${unit}${'a'.repeat(HOSTILE_CHARS)}!`),
    ...runs,
    `?${'\t'.repeat(HOSTILE_CHARS)}!`,
  ];
}

function matchAll({ source, flags }: FoundRegex, text: string): void {
  // a sticky one is tried at places of its own: here at every place
  const pattern = new RegExp(source, `${flags.replace(/[gy]/g, '')}g`);
  for (const _match of text.matchAll(pattern));
}

/** Of this process: other work on the machine does not count. */
function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
