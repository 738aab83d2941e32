import { expect } from 'chai';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HindsightError } from '../../../../src/errors.ts';
import { filled, loadContextPolicy } from '../../../../src/memory/context/policy.ts';

const POLICIES = join(import.meta.dirname, '..', '..', '..', '..', 'policies');

describe('memory/context/policy', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'hindsight-test-'));
    cpSync(join(POLICIES, 'context'), join(dir, 'context'), { recursive: true });
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const change = (name: string, from: RegExp, to: string): string => {
    const file = join(dir, 'context', name);
    const before = readFileSync(file, 'utf8');
    const after = before.replace(from, to);
    expect(after).to.not.equal(before);
    writeFileSync(file, after);
    try {
      loadContextPolicy(dir);
    } catch (error) {
      if (error instanceof HindsightError && error.code === 'ERR_CONFIG_INVALID') return error.message;
      throw error;
    }
    throw new Error('it was taken');
  };

  it('is refused by name for a template that lacks a name, repeats one, or has another one', () => {
    expect(change('en.yaml', /^item: .*$/m, "item: '- {text}'")).to.contain('en.yaml /item must name {text} and {marks}, each once');
    expect(change('zh.yaml', /^pair: .*$/m, "pair: '{subject}{subject}{topic}'")).to.contain('/pair must name {subject} and {topic}');
    expect(change('zh.yaml', /^titled: .*$/m, "titled: '{title}{content}'")).to.contain('/titled must name {title}');
  });

  it('is refused for words that would break lines, and for a missing heading', () => {
    expect(change('en.yaml', /^head: .*$/m, 'head: "two\\nlines"')).to.contain('/head must be one line');
    expect(change('zh.yaml', /^ {2}working: .*$/m, '')).to.contain('/sections/working');
  });

  it('is refused when it is the other language’s', () => {
    expect(change('en.yaml', /^lang: en$/m, 'lang: zh')).to.contain('context/en.yaml /lang must be en');
  });

  it('is refused for a rule out of its bounds', () => {
    expect(change('rules.yaml', /^working_share: .*$/m, 'working_share: 1.5')).to.contain('rules.yaml /working_share');
  });

  it('never reads what is filled in as a template', () => {
    expect(filled('{subject}: {topic}', { subject: '{topic}', topic: '$& {subject}' })).to.equal('{topic}: $& {subject}');
  });
});
