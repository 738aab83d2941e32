import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { z } from 'zod';
import { loadPolicy, revisionOf } from '../../src/policy.ts';

describe('policy', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'policy-'));
  });
  afterEach(() => {
    rmSync(dir, { recursive: true });
  });
  const schema = z.strictObject({ version: z.literal(1), rows: z.array(z.strictObject({ name: z.string(), weight: z.number().min(0) })) });
  const file = (name: string, text: string): string => {
    const path = join(dir, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
    return path;
  };

  it('loads a file and freezes it at every depth', () => {
    const policy = loadPolicy(file('a.yaml', 'version: 1\nrows: [{name: x, weight: 0.5}]\n'), schema);
    expect(policy).to.deep.equal({ version: 1, rows: [{ name: 'x', weight: 0.5 }] });
    expect(() => (policy.rows as unknown[]).push(1)).to.throw(TypeError);
    expect(Object.isFrozen(policy.rows[0])).to.equal(true);
  });

  it('names file, pointer and what must stand there', () => {
    const path = file('b.yaml', 'version: 1\nrows:\n  - {name: x, weight: -1}\n  - {name: 7, weight: 1, extra: secret-value}\n');
    expect(() => loadPolicy(path, schema))
      .to.throw(/b\.yaml \/rows\/0\/weight .*\/rows\/1\/name .*\/rows\/1 .*extra/)
      .with.property('code', 'ERR_CONFIG_INVALID');
    expect(() => loadPolicy(path, schema)).to.not.throw(/secret-value/);
  });

  it('escapes pointers as RFC 6901 says', () => {
    const map = z.record(z.string(), z.number());
    expect(() => loadPolicy(file('c.yaml', '"a/b~c": x\n'), map)).to.throw('/a~1b~0c ');
  });

  it('refuses syntax errors with their line, doubled keys, tags and alias bombs', () => {
    expect(() => loadPolicy(file('d.yaml', 'version: 1\nrows: [\n'), schema)).to.throw(/d\.yaml line \d+ is not valid YAML/);
    expect(() => loadPolicy(file('e.yaml', 'version: 1\nrows: []\nversion: 1\n'), schema)).to.throw(
      'line 3 is not valid YAML (DUPLICATE_KEY)',
    );
    expect(() => loadPolicy(file('f.yaml', 'version: !!js/function "x"\nrows: []\n'), schema)).to.throw('f.yaml line 1');
    const bomb = ['a: &a [x,x,x,x,x,x,x,x,x,x]', 'b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]', 'c: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]'].join('\n');
    expect(() => loadPolicy(file('g.yaml', bomb), z.unknown())).to.throw('too many aliases');
  });

  it('refuses an absent and an empty file', () => {
    expect(() => loadPolicy(join(dir, 'absent.yaml'), schema)).to.throw('absent.yaml cannot be read');
    expect(() => loadPolicy(file('h.yaml', ''), schema)).to.throw('h.yaml / ');
  });

  it('gives a folder a revision that changes with every name and byte and with nothing else', () => {
    file('x.yaml', 'a: 1\n');
    file('guard/y.yaml', 'b: 2\n');
    const first = revisionOf(dir);
    expect(first).to.match(/^[0-9a-f]{64}$/);
    file('notes.txt', 'not a policy');
    expect(revisionOf(dir)).to.equal(first);
    file('guard/y.yaml', 'b: 3\n');
    const second = revisionOf(dir);
    expect(second).to.not.equal(first);
    file('guard/y.yaml', 'b: 2\n');
    expect(revisionOf(dir)).to.equal(first);
    rmSync(join(dir, 'x.yaml'));
    expect(revisionOf(dir)).to.not.be.oneOf([first, second]);
  });
});
