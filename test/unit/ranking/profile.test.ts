/** Ranking profiles: the shipped ones, what the loader refuses, a caller's weights. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { HindsightError } from '../../../src/errors.ts';
import { loadProfiles, withWeights } from '../../../src/ranking/profile.ts';
import { ASSISTANT, PROFILES } from '../../support/search-specs.ts';

const SEEDS = ['seed-age', 'seed-multiplicative', 'seed-simple', 'seed-strategy', 'seed-weighted'];

describe('ranking profiles', () => {
  let folder: string;
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const faultOf = (): string => {
    try {
      loadProfiles(folder);
    } catch (error) {
      expect(error).to.be.instanceOf(HindsightError).with.property('code', 'ERR_CONFIG_INVALID');
      return (error as HindsightError).message;
    }
    throw new Error('the loader accepted it');
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'profiles-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('are assistant, support, finance, case-based, audit and the seeds’ five, with their scenarios’ half-lives', () => {
    expect([...PROFILES.keys()].sort()).to.deep.equal(['assistant', 'audit', 'case-based', 'finance', ...SEEDS, 'support']);
    expect(PROFILES.get('assistant')).to.include({ halfLifeDays: 30, candidates: 12, formula: 'hybrid', lexicalSaturation: 24 });
    expect(PROFILES.get('support')?.halfLifeDays).to.equal(7);
    for (const name of SEEDS) expect(PROFILES.get(name)).to.include({ candidates: 100, formula: name });
  });

  it('are frozen through and through', () => {
    for (const profile of PROFILES.values()) {
      expect(profile).to.be.frozen;
      expect(profile.boosts).to.be.frozen;
      expect(profile.weights).to.be.frozen;
    }
  });

  it('keep the numbers that were measured', () => {
    const { unit = 0, date_day = 0, date_near = 0, date_month = 0, date_next_month = 0, date_week = 0 } = ASSISTANT.boosts;
    const { date = 0, vector, lexical } = ASSISTANT.weights;
    expect([vector, lexical]).to.deep.equal([0.7, 0.3]);
    const units = [date_day, date_near, date_month, date_next_month, date_week].map((fit) => Math.round(fit * date * unit * 100) / 100);
    expect(units).to.deep.equal([90, 13.5, 13.5, 4.5, 4]);
  });

  it('report every fault of every file at once', () => {
    write('one.yaml', 'version: 1\ndescription: d\nformula: magic\ncandidates: 0\n');
    write('two.yaml', 'extends: nobody\n');
    write('three.yaml', '{{');
    write('four.yaml', '- a list');
    write('notes.txt', 'not read');
    const message = faultOf();
    for (const text of [
      'one.yaml: /formula',
      'one.yaml: /candidates',
      'one.yaml: /boosts',
      'two.yaml: /extends',
      'three.yaml: is not valid YAML',
      'four.yaml: is not a mapping',
    ])
      expect(message).to.include(text);
  });

  it('refuse unknown weights, unknown boosts and numbers out of range, with the file’s name', () => {
    const { name: _name, halfLifeDays, lexicalSaturation, ...rest } = ASSISTANT;
    const fields = { ...rest, half_life_days: halfLifeDays, lexical_saturation: lexicalSaturation };
    write('good.yaml', JSON.stringify(fields));
    expect(loadProfiles(folder).get('good')).to.deep.equal({ ...ASSISTANT, name: 'good' });
    write('bad.yaml', JSON.stringify({ ...fields, weights: { vector: 11, charm: 1 }, boosts: { ...fields.boosts, uni: -1, extra: 1 } }));
    const message = faultOf();
    expect(message).to.match(/bad\.yaml: \/weights\/vector /);
    expect(message).to.match(/bad\.yaml: \/weights .*charm/);
    expect(message).to.match(/bad\.yaml: \/boosts\/uni /);
    expect(message).to.match(/bad\.yaml: \/boosts .*extra/);
    expect(message).to.not.include('good.yaml');
  });

  it('inherit from one another over several files, boosts key by key and weights as a whole', () => {
    const { name: _name, halfLifeDays, lexicalSaturation, ...rest } = ASSISTANT;
    write('c.yaml', JSON.stringify({ ...rest, half_life_days: halfLifeDays, lexical_saturation: lexicalSaturation }));
    write('b.yaml', 'extends: c\nversion: 2\nboosts: { uni: 7 }\nhalf_life_days: 3\n');
    write('a.yaml', 'extends: b\nversion: 3\nboosts: { bi: 9 }\nweights: { vector: 1 }\n');
    const found = loadProfiles(folder);
    expect(found.get('b')).to.deep.equal({ ...ASSISTANT, name: 'b', version: 2, halfLifeDays: 3, boosts: { ...ASSISTANT.boosts, uni: 7 } });
    expect(found.get('a')).to.deep.equal({
      ...ASSISTANT,
      name: 'a',
      version: 3,
      halfLifeDays: 3,
      boosts: { ...ASSISTANT.boosts, uni: 7, bi: 9 },
      weights: { vector: 1 },
    });
  });

  it('refuse a profile that extends itself, by itself or over others, and an empty folder', () => {
    expect(faultOf()).to.include('there is no ranking profile');
    write('self.yaml', 'extends: self\n');
    write('a.yaml', 'extends: b\n');
    write('b.yaml', 'extends: a\n');
    write('c.yaml', 'extends: a\n');
    const message = faultOf();
    for (const name of ['self', 'a', 'b', 'c']) expect(message).to.include(`${name}.yaml: /extends leads back`);
    write('b.yaml', 'extends: nobody\n');
    expect(faultOf()).to.include('c.yaml: /extends names no profile');
  });

  it('take a caller’s weights over their own, and move the engine’s parts with vector and lexical', () => {
    const changed = withWeights(ASSISTANT, { vector: 1.4, recency: 2 });
    expect(changed.weights).to.deep.equal({ ...ASSISTANT.weights, vector: 1.4, recency: 2 });
    // what the caller says of age holds for questions about the latest too
    expect(changed.boosts).to.deep.equal({ ...ASSISTANT.boosts, vector: 2, recency_asked: 0 });
    expect(ASSISTANT.weights['vector']).to.equal(0.7);
    expect(changed).to.be.frozen;
  });

  it('refuse NaN, infinite, negative and unknown weights with a pointer each', () => {
    for (const weight of [Number.NaN, Infinity, -0.1, 10.1]) {
      expect(() => withWeights(ASSISTANT, { date: weight }))
        .to.throw(HindsightError)
        .with.nested.property('faults[0].pointer', '/weights/date');
    }
    expect(() => withWeights(ASSISTANT, { toString: 1 }))
      .to.throw(HindsightError)
      .with.nested.property('faults[0].pointer', '/weights/toString');
  });
});
