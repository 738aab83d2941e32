/** The list of the threat model's scenarios (test/security/README.md) against the titles of the tests: none is missing, and none is named that there is not. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const tests = join(import.meta.dirname, '..');
const COUNTS: Readonly<Record<string, number>> = { N: 9, Q: 5, J: 9, M: 10, D: 7, G: 17, S: 7, L: 7, X: 8 };
const SCENARIOS = Object.entries(COUNTS).flatMap(([letter, count]) => Array.from({ length: count }, (_, i) => `${letter}${i + 1}`));

const list = readFileSync(join(tests, 'security', 'README.md'), 'utf8');
const rows = [...list.matchAll(/^\| ([A-Z]\d+) +\| (\S+) +\| (.+?) +\|$/gm)].map(([, scenario = '', file = '', title = '']) => ({
  scenario,
  file,
  title,
}));
const [, whole = ''] = /Left out, wholly:\n([\s\S]*?)Left out, in part:/.exec(list) ?? [];
const leftOut = [...whole.matchAll(/^- ([A-Z]\d+): \S/gm)].map(([, scenario = '']) => scenario);

describe('list of security scenarios', () => {
  it('names each scenario, with a test or with the reason why there is none', () => {
    const tested = new Set(rows.map(({ scenario }) => scenario));
    expect(SCENARIOS.filter((scenario) => !tested.has(scenario) && !leftOut.includes(scenario))).to.deep.equal([]);
    expect([...tested, ...leftOut].filter((scenario) => !SCENARIOS.includes(scenario))).to.deep.equal([]);
    expect(leftOut.filter((scenario) => tested.has(scenario))).to.deep.equal([]);
  });

  it('names titles that there are', () => {
    for (const { scenario, file, title } of rows) {
      const text = readFileSync(join(tests, `${file}.test.ts`), 'utf8');
      const found = ["'", '`', '"'].some((quote) => text.includes(quote + title));
      expect(found, `${scenario}: "${title}" in ${file}`).to.equal(true);
    }
  });

  it('calls no scenario left out that a title names', () => {
    for (const name of readdirSync(join(tests, 'security')).filter((file) => file.endsWith('.test.ts'))) {
      const titles = readFileSync(join(tests, 'security', name), 'utf8').matchAll(/\bit\(\s*['`"]([NQJMDGSLX]\d+)\b/g);
      for (const [, scenario = ''] of titles) expect(leftOut, `${scenario} in ${name}`).not.to.include(scenario);
    }
  });
});
