/** Flags from input schemas: every field has one, under a name of its own, and says what the schema takes. */
import { expect } from 'chai';
import { faultLines, flagsOf, inputOf } from '../../../src/cli/flags.ts';
import { readInput, restCallOf } from '../../../src/cli/operation-command.ts';
import { UsageError, type Invocation } from '../../../src/cli/command-spec.ts';
import { memoryForget } from '../../../src/operations/memory-forget.ts';
import { memoryList } from '../../../src/operations/memory-list.ts';
import { memorySearch } from '../../../src/operations/memory-search.ts';
import { memoryUpdate } from '../../../src/operations/memory-update.ts';
import { memoryWrite } from '../../../src/operations/memory-write.ts';
import { operations } from '../../../src/operations/index.ts';
import { PassThrough } from 'node:stream';

const ID = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const names = (operation: (typeof operations)[number]): string[] => flagsOf(operation).map(({ name }) => name);

function invocation(words: readonly string[], lists: Invocation['lists'] = {}, stdin = ''): Invocation {
  const input = Object.assign(new PassThrough(), { isTTY: false });
  input.end(stdin);
  const sink = new PassThrough();
  return { env: {}, lang: 'en', stdout: sink, stderr: sink, stdin: input, words, lists };
}

describe('flagsOf', () => {
  it('has names that do not collide, and that no option of the program has', () => {
    for (const operation of operations) {
      const all = names(operation);
      expect(new Set(all).size, operation.name).to.equal(all.length);
      for (const name of ['json', 'url', 'token', 'data-dir', 'lang', 'help', 'yes']) expect(all, operation.name).not.to.include(name);
    }
  });

  it('has one for every top-level field but lists of objects', () => {
    for (const operation of operations) {
      const covered = new Set(flagsOf(operation).map(({ path }) => path[0]));
      const missing = Object.keys(operation.input.shape).filter((field) => !covered.has(field) && field !== 'items');
      expect(missing, operation.name).to.deep.equal([]);
    }
  });

  it('keeps the whole name of a condition beside a field of the same name', () => {
    expect(names(memorySearch)).to.include.members(['task-id', 'filter-task-id', 'created-gte', 'subject']);
    expect(names(memoryList)).to.include('task-id').and.not.include('filter-task-id');
  });
});

describe('inputOf', () => {
  const flags = flagsOf(memoryWrite);

  it('takes each text of a list by a flag of its own, with its commas', () => {
    const texts = ['and, well, that one', 'When does the train leave?'];
    expect(inputOf(flagsOf(memorySearch), {}, { queries: texts, 'why-not': [`${ID},${ID}`] })).to.deep.equal({
      queries: texts,
      why_not: [ID, ID],
    });
  });

  it('puts values where the schema has them, in their types', () => {
    const input = inputOf(
      flags,
      { importance: '0.5', turn: '7', pinned: true, wait: false, 'source-type': 'web' },
      { tags: ['a,b', 'c,,d'], metadata: ['n=3', 'who=Ana', 'ok=true', '{"deep":{"x":[1]}}'] },
    );
    expect(input).to.deep.equal({
      importance: 0.5,
      turn: 7,
      pinned: true,
      wait: false,
      source: { type: 'web' },
      tags: ['a', 'b', 'c,d'],
      metadata: { n: 3, who: 'Ana', ok: true, deep: { x: [1] } },
    });
  });

  it('takes a field away by an empty value where that is allowed', () => {
    expect(inputOf(flagsOf(memoryUpdate), { summary: '', content: '' }, {})).to.deep.equal({ summary: null, content: '' });
  });
});

describe('readInput', () => {
  it('joins the words of a text, and reads it from standard input for -', async () => {
    expect(await readInput(memorySearch, {}, invocation(['what', 'is', 'tea']))).to.deep.equal({ query: 'what is tea' });
    expect(await readInput(memoryWrite, {}, invocation(['-'], {}, '第一行\n第二行\n'))).to.deep.equal({ content: '第一行\n第二行' });
  });

  it('says in the words of the command line what does not fit', async () => {
    const fault = async (run: Promise<unknown>): Promise<string> => {
      const thrown: unknown = await run.catch((error: unknown) => error);
      expect(thrown).to.be.instanceOf(UsageError);
      return (thrown as UsageError).message;
    };
    expect(await fault(readInput(memorySearch, { 'top-k': '99' }, invocation(['x'])))).to.match(/^--top-k is not valid/);
    expect(await fault(readInput(memorySearch, {}, invocation([])))).to.equal('QUERY is required');
    expect(await fault(readInput(memoryUpdate, { content: 'x' }, invocation([ID, ID])))).to.equal('takes one MEMORY-ID');
    expect(await fault(readInput(memoryUpdate, {}, invocation([ID])))).to.match(/names nothing to change/);
  });

  it('names nested conditions by their flag', () => {
    const lines = faultLines([{ pointer: '/filter/created/gte', message: 'is wrong' }], flagsOf(memorySearch), 'query');
    expect(lines).to.deep.equal(['--created-gte is wrong']);
  });
});

describe('restCallOf', () => {
  it('puts the input into path, query or body as the binding says', () => {
    expect(restCallOf(memorySearch, { query: 'x', top_k: 3 })).to.deep.equal({
      method: 'POST',
      path: '/v1/memories/search',
      body: { query: 'x', top_k: 3 },
    });
    expect(restCallOf(memoryUpdate, { memory_id: ID, content: 'x' })).to.deep.equal({
      method: 'PATCH',
      path: `/v1/memories/${ID}`,
      body: { content: 'x' },
    });
    expect(restCallOf(memoryList, { limit: 2, filter: { tags: ['a b', 'c'], created: { gte: '2026-01-01T00:00:00Z' } } })).to.deep.equal({
      method: 'GET',
      path: '/v1/memories?tags=a+b&tags=c&created_gte=2026-01-01T00%3A00%3A00Z&limit=2',
    });
  });

  it('takes the binding with the id in its path, unless that cannot carry the rest', () => {
    expect(restCallOf(memoryForget, { memory_id: ID })).to.deep.equal({ method: 'DELETE', path: `/v1/memories/${ID}` });
    expect(restCallOf(memoryForget, { query: 'x', dry_run: true })).to.deep.equal({
      method: 'POST',
      path: '/v1/memories/forget',
      body: { query: 'x', dry_run: true },
    });
  });
});
