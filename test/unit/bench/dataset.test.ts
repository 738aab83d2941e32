import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { documentsOf, firstCopies, readSet, setItems, setNames, splitText } from '../../../bench/support/dataset.ts';
import { UsageError } from '../../../bench/support/options.ts';
import { LIMITS } from '../../../src/domain/wire/common.ts';

describe('bench data sets', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bench-set-'));
    mkdirSync(folder, { recursive: true });
    const row = { id: 'a/u/0', namespace: 'a/u', text: '你好', created_at: '2023-01-01T00:00:00Z' };
    const query = { id: 'q', namespace: 'a/u', query: '谁？', relevant: ['a/u/0'], category: 'x', asked_at: '2023-02-01T00:00:00Z' };
    writeFileSync(join(folder, 'tiny.dev.corpus.jsonl'), `${JSON.stringify(row)}\n\n`);
    writeFileSync(join(folder, 'tiny.dev.queries.jsonl'), `${JSON.stringify(query)}\n`);
  });
  after(() => rmSync(folder, { recursive: true }));

  it('finds the sets of a folder and reads one by its short name', () => {
    expect(setNames(folder)).to.deep.equal(['tiny.dev']);
    const set = readSet(folder, 'tiny');
    expect(set.corpus.map((row) => row.text)).to.deep.equal(['你好']);
    expect(set.queries.map((row) => row.relevant)).to.deep.equal([['a/u/0']]);
  });

  it('says in one sentence that the folder holds no sets, without its path', () => {
    const absent = join(folder, 'nothing-here');
    expect(() => setNames(absent)).to.throw(UsageError, /^no retrieval data in nothing-here: /);
  });

  it('names the sets there are when one is asked for that is not', () => {
    expect(() => readSet(folder, 'other')).to.throw(UsageError, 'there is no set other; there are tiny.dev');
  });

  it('writes a row with its namespace in dots, its time, its speaker, and its turn within the session', () => {
    const row = (id: string, session: number) => ({
      id,
      namespace: 'locomo/conv-1',
      text: `text of ${id}`,
      created_at: '2023-05-08T13:56:00Z',
      speaker: 'Caroline',
      session,
    });
    const items = setItems([row('a', 1), row('b', 1), row('c', 2)]);
    expect(items[1]).to.deep.equal({
      documentId: 'b',
      item: {
        content: 'text of b',
        namespace: 'locomo.conv-1',
        occurred_at: '2023-05-08T13:56:00Z',
        admission: 'keep',
        subject: 'Caroline',
        session_id: 'session-1',
        turn: 1,
      },
    });
    expect(items[2]?.item).to.include({ session_id: 'session-2', turn: 0 });
  });

  it('writes a document over the content limit in parts that are all the same document', () => {
    const items = setItems([{ id: 'long', namespace: 'n', text: 'word '.repeat(15_000), created_at: '2023-01-01T00:00:00Z' }]);
    expect(items.map((item) => item.documentId)).to.deep.equal(['long', 'long', 'long']);
    for (const { item } of items) expect(String(item['content']).length).to.be.at.most(LIMITS.contentChars);
  });

  it('cuts text without losing a character or splitting a surrogate pair, and after a sentence where it can', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.integer({ min: 8, max: 60 }), (text, max) => {
        const parts = splitText(text, max);
        expect(parts.join('')).to.equal(text);
        for (const part of parts) {
          expect(part.length).to.be.within(1, max);
          expect(part.isWellFormed()).to.equal(text.isWellFormed());
        }
      }),
    );
    expect(splitText('这是第一句话。这是第二', 10)).to.deep.equal(['这是第一句话。', '这是第二']);
  });

  it('counts any part of a document as the document, once', () => {
    const documents = new Map([
      ['m1', 'long'],
      ['m2', 'other'],
      ['m3', 'long'],
    ]);
    expect(documentsOf(['m3', 'm1', 'unknown', 'm2'], documents)).to.deep.equal(['long', 'other']);
  });

  it('knows which documents repeat the text and speaker of an earlier one in their namespace', () => {
    const row = (id: string, more: object) => ({
      id,
      namespace: 'n',
      text: 't',
      speaker: 's',
      created_at: '2023-01-01T00:00:00Z',
      ...more,
    });
    const rows = [
      row('a', {}),
      row('b', { namespace: 'm' }),
      row('c', { speaker: 'x' }),
      row('d', { text: 'u' }),
      row('e', {}),
      row('f', {}),
    ];
    expect([...firstCopies(rows)]).to.deep.equal([
      ['e', 'a'],
      ['f', 'a'],
    ]);
  });
});
