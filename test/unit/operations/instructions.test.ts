import { expect } from 'chai';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HindsightError } from '../../../src/errors.ts';
import { operations } from '../../../src/operations/index.ts';
import { loadInstructions } from '../../../src/operations/instructions-files.ts';
import { READER, startServer, type TestServer } from '../http/support/test-server.ts';

const POLICIES = join(import.meta.dirname, '..', '..', '..', 'policies');
const sections = (text: string): string[] => text.split('\n').filter((line) => line.startsWith('## '));

describe('operations/instructions', () => {
  const { zh, en } = loadInstructions(POLICIES);

  it('tells the same sections in both languages, each in its own', () => {
    expect(sections(en.text)).to.have.length(6);
    expect(sections(zh.text)).to.have.length(6);
    expect(zh.text).to.match(/\p{Script=Han}{8}/u);
    expect(en.text).to.not.match(/\p{Script=Han}/u);
  });

  it('names only tools and fields that exist', () => {
    const tools = operations.map(({ name }) => name);
    const fields = operations.flatMap(({ input, output }) => [...Object.keys(input.shape), ...Object.keys(output.shape)]);
    // of the single hit, not of the answer
    const known = new Set([...tools, ...fields, 'reference_only', 'created_at']);
    for (const { text } of [zh, en]) {
      const named = text.match(/\b[a-z]+_[a-z_]+\b/g) ?? [];
      expect(named).to.include.members(['memory_search', 'memory_write', 'memory_update', 'memory_forget', 'reference_only']);
      expect(named.filter((name) => !known.has(name))).to.deep.equal([]);
    }
  });

  it('keeps within what a system prompt can spare', () => {
    for (const { text } of [zh, en]) expect(text.length).to.be.below(4_000);
  });

  describe('a file that is not complete', () => {
    let dir: string;
    beforeEach(() => {
      dir = mkdtempSync(join(tmpdir(), 'hindsight-test-'));
      cpSync(join(POLICIES, 'instructions'), join(dir, 'instructions'), { recursive: true });
    });
    afterEach(() => rmSync(dir, { recursive: true, force: true }));

    const change = (from: RegExp, to: string): HindsightError => {
      const file = join(dir, 'instructions', 'en.yaml');
      const before = readFileSync(file, 'utf8');
      const after = before.replace(from, to);
      expect(after).to.not.equal(before);
      writeFileSync(file, after);
      try {
        loadInstructions(dir);
      } catch (error) {
        if (error instanceof HindsightError) return error;
        throw error;
      }
      throw new Error('it was taken');
    };

    it('is refused by name when a section is missing', () => {
      const error = change(/ {2}- id: secrets[\s\S]*$/, '');
      expect(error.code).to.equal('ERR_CONFIG_INVALID');
      expect(error.message).to.contain('en.yaml /sections must be the sections recall, remember, change, avoid, reference, secrets');
    });

    it('is refused when it is the other language’s', () => {
      expect(change(/^lang: en$/m, 'lang: zh').message).to.contain('en.yaml /lang must be en');
    });
  });

  describe('GET /v1/instructions', () => {
    let test: TestServer;
    before(async () => {
      test = await startServer();
    });
    after(() => test.listening.close());

    it('answers English by default and the language asked for', async () => {
      const answer = await test.request('GET', '/v1/instructions', { token: READER });
      expect(answer.status).to.equal(200);
      expect(answer.json).to.deep.equal({ lang: 'en', ...en, trace_id: answer.json['trace_id'] });
      expect((await test.request('GET', '/v1/instructions?lang=zh', { token: READER })).json).to.include({ lang: 'zh', text: zh.text });
    });

    it('knows no other language, and nobody without a token', async () => {
      const other = await test.request('GET', '/v1/instructions?lang=fr');
      expect(other.status).to.equal(400);
      expect(other.json['errors']).to.have.nested.property('[0].pointer', '/lang');
      expect((await test.request('GET', '/v1/instructions', { token: null })).status).to.equal(401);
    });
  });
});
