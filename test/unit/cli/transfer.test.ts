/** Rows of an import file, the lines they stand in, and what tells a whole export from a damaged one. */
import { expect } from 'chai';
import fc from 'fast-check';
import { Readable } from 'node:stream';
import { createHash } from 'node:crypto';
import { linesOf } from '../../../src/cli/transfer/lines.ts';
import { createProgress } from '../../../src/cli/transfer/progress.ts';
import { parseMap, rowOf, type RowOptions } from '../../../src/cli/transfer/rows.ts';
import { ExportCheck } from '../../../src/cli/transfer/survey.ts';

const OPTIONS: RowOptions = {
  map: new Map(),
  namespace: undefined,
  extra: 'reject',
  known: new Set(['content', 'tags', 'metadata', 'namespace']),
};

async function lines(chunks: readonly Buffer[]): Promise<{ number: number; text: string | undefined }[]> {
  const found: { number: number; text: string | undefined }[] = [];
  for await (const { number, text } of linesOf(Readable.from(chunks))) found.push({ number, text });
  return found;
}

describe('linesOf', () => {
  it('finds the same lines wherever the stream is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme' }).map((s) => s.replace(/[\r\n\ufeff]/g, '_'))),
        fc.array(fc.nat(40)),
        async (texts, cuts) => {
          const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
          const chunks: Buffer[] = [];
          let from = 0;
          for (const cut of cuts) chunks.push(bytes.subarray(from, (from += cut)));
          chunks.push(bytes.subarray(from));
          expect(await lines(chunks)).to.deep.equal(texts.map((text, i) => ({ number: i + 1, text })));
        },
      ),
    );
  });

  it('takes Windows line ends, a byte order mark and a last line without an end, and no line beyond 1 MiB', async () => {
    expect(await lines([Buffer.from('\ufeffa\r\nb')])).to.deep.equal([
      { number: 1, text: 'a' },
      { number: 2, text: 'b' },
    ]);
    const [long, next] = await lines([Buffer.alloc(1_048_577, 0x61), Buffer.from('\nc\n')]);
    expect([long?.text, next?.text]).to.deep.equal([undefined, 'c']);
  });
});

describe('rowOf', () => {
  it('renames fields, also from inside objects, and leaves others as they are', () => {
    const map = parseMap(['content=message.text', 'tags=labels']) ?? new Map<string, string>();
    expect(rowOf('{"message":{"text":"x"},"labels":["a"],"n":1}', { ...OPTIONS, map })).to.deep.equal({
      item: { message: { text: 'x' }, n: 1, content: 'x', tags: ['a'] },
    });
    expect(parseMap(['content'])).to.equal(undefined);
  });

  it('swaps two names', () => {
    const map = parseMap(['content=title', 'title=content']) ?? new Map<string, string>();
    expect(rowOf('{"content":"a","title":"b"}', { ...OPTIONS, map })).to.deep.equal({ item: { content: 'b', title: 'a' } });
  });

  it('drops unknown fields or keeps them as metadata, and gives a namespace where there is none', () => {
    const text = '{"content":"x","author":"ann","metadata":{"n":1},"note":null}';
    expect(rowOf(text, { ...OPTIONS, extra: 'drop' })).to.deep.equal({ item: { content: 'x', metadata: { n: 1 } } });
    expect(rowOf(text, { ...OPTIONS, extra: 'metadata', namespace: 'a.b' })).to.deep.equal({
      item: { content: 'x', metadata: { author: 'ann', note: null, n: 1 }, namespace: 'a.b' },
    });
    expect(rowOf('{"content":"x","namespace":"c"}', { ...OPTIONS, namespace: 'a.b' })).to.deep.equal({
      item: { content: 'x', namespace: 'c' },
    });
  });

  it('says why a line is no row', () => {
    expect(rowOf('{', OPTIONS)).to.deep.equal({ reason: 'is not JSON' });
    for (const text of ['[]', '1', 'null']) expect(rowOf(text, OPTIONS)).to.deep.equal({ reason: 'is not a JSON object' });
    expect(rowOf(undefined, OPTIONS)).to.deep.equal({ reason: 'is longer than 1 MiB' });
    expect(rowOf('{"__proto__":{"x":1},"content":"y"}', OPTIONS)).to.have.nested.property('item.content', 'y');
    expect(({} as Record<string, unknown>)['x']).to.equal(undefined);
  });
});

describe('ExportCheck', () => {
  const head = '{"hindsight_export":{"format":1}}\n';
  const body = `${head}{"content":"a"}\n{"content":"b"}\n`;
  const manifest = (count: number, of = body): string =>
    `{"hindsight_manifest":{"count":${count},"sha256":"${createHash('sha256').update(of).digest('hex')}"}}\n`;
  const verdict = async (text: string): Promise<unknown> => {
    const check = new ExportCheck();
    for await (const line of linesOf(Readable.from([Buffer.from(text)]))) check.feed(line);
    const end = check.end();
    return end === undefined ? 'plain' : 'damage' in end ? end.damage : 'whole';
  };

  it('knows a whole export from one that was cut off or changed, and from a plain file', async () => {
    expect(await verdict(body + manifest(2))).to.equal('whole');
    expect(await verdict(head + manifest(0, head))).to.equal('whole');
    expect(await verdict(body)).to.equal('cut off');
    expect(await verdict(body + manifest(3))).to.equal('changed');
    expect(await verdict(body.replace('"b"', '"c"') + manifest(2))).to.equal('changed');
    expect(await verdict('{"content":"a"}\n')).to.equal('plain');
    expect(await verdict('')).to.equal('plain');
  });
});

describe('createProgress', () => {
  const told = (isTTY: boolean, steps: readonly [number, number][]): string => {
    let text = '';
    let nowMs = 0;
    const view = createProgress(100, { isTTY, write: (s: string) => ((text += s), true) } as never, () => nowMs);
    for (const [at, done] of steps) {
      nowMs = at;
      view.at(done);
    }
    view.end();
    return text;
  };

  it('draws a bar at a terminal and takes it away', () => {
    expect(
      told(true, [
        [0, 0],
        [1_000, 50],
      ]),
    ).to.match(/\r\[#{12} {12}\] 50 % {2}50\/100 {2}50\/s\u001b\[K\r\u001b\[K$/);
  });

  it('writes a line now and then elsewhere', () => {
    expect(
      told(false, [
        [0, 0],
        [1_000, 10],
        [6_000, 60],
        [7_000, 100],
      ]),
    ).to.equal('60 %  60/100  10/s\n100 %  100/100  14/s\n');
  });
});
