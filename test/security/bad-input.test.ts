/** The bad input of the wire contract, sent to the composed service over REST and MCP: refused with a pointer, and nothing stored. */
import { expect } from 'chai';
import { storedState } from '../support/scenario-stored.ts';
import { startHashedService, type Answer, type HashedService } from '../support/service.ts';

const ABSENT = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const MIB = 1_048_576;
/** Nothing of the inside: no stack, no file, no word of the engine, no value that was sent. */
const INSIDE = /\bat .*\.(?:ts|js)\b|node_modules|elasticsearch|_exception|illegal_argument|SyntaxError|ZodError|SECRET/i;

interface Bad {
  readonly body: string;
  readonly code: string;
  /** Of the first fault. */
  readonly at: string;
  readonly status?: number;
}

const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const fits = (value: unknown, at: string): Bad => ({ body: JSON.stringify(value), code: 'ERR_REQUEST_INVALID', at });
const json = (body: string, at = ''): Bad => ({ body, code: 'ERR_REQUEST_JSON', at });

/** Bodies of a write. */
const WRITES: Readonly<Record<string, Bad>> = {
  'no JSON': json('content=SECRET'),
  'cut off': json('{"content":"SECRET"'),
  'single quotes': json("{'content':'SECRET'}"),
  'a trailing comma': json('{"content":"SECRET",}'),
  'two values': json('{"content":"SECRET"}{"content":"SECRET"}'),
  'a comment': json('{"content":"SECRET"/* */}'),
  'a byte order mark': json('\ufeff{"content":"SECRET"}'),
  empty: json(''),
  blanks: json('   '),
  NaN: json('{"content":"SECRET","importance":NaN}'),
  Infinity: json('{"content":"SECRET","importance":Infinity}'),
  '1e400': json('{"content":"SECRET","importance":1e400}', '/importance'),
  'a key twice': json('{"content":"SECRET","content":"other"}'),
  'a key twice, escaped': json('{"content":"SECRET","c\\u006fntent":"other"}'),
  'a prototype key': json('{"content":"SECRET","__proto__":{"a":1}}'),
  'a deep prototype key': json('{"content":"SECRET","metadata":{"constructor":{"a":1}}}', '/metadata'),
  'deep JSON': json(`{"content":"SECRET","metadata":{"a":${deep(100)}}}`, '/metadata'),
  'very deep JSON': json(`{"content":"SECRET","metadata":${deep(50_000)}}`, '/metadata'),
  'a raw control character': json('{"content":"SEC\nRET"}'),
  null: { body: 'null', code: 'ERR_REQUEST_INVALID', at: '' },
  'an array': fits([{ content: 'SECRET' }], ''),
  'a string': fits('SECRET', ''),
  'a number': fits(7, ''),
  'no content': fits({ title: 'SECRET' }, '/content'),
  'empty content': fits({ content: '' }, '/content'),
  'blank content': fits({ content: ' \n\u3000' }, '/content'),
  'a blank tag': fits({ content: 'x', tags: [' '] }, '/tags/0'),
  'content of another type': fits({ content: { text: 'SECRET' } }, '/content'),
  'NUL in content': fits({ content: 'SEC\0RET' }, '/content'),
  'a lone surrogate in content': fits({ content: 'SECRET \ud800' }, '/content'),
  'a lone surrogate in a tag': fits({ content: 'x', tags: ['ok', 'SECRET\udfff'] }, '/tags/1'),
  'NUL in the subject': fits({ content: 'x', subject: '\0' }, '/subject'),
  'NUL in the source': fits({ content: 'x', source: { type: 'web', uri: 'https://a/\0' } }, '/source/uri'),
  'too long content': fits({ content: 'x'.repeat(32_001) }, '/content'),
  'too long a title': fits({ content: 'x', title: 'x'.repeat(129) }, '/title'),
  'too many tags': fits({ content: 'x', tags: Array(33).fill('t') }, '/tags'),
  'too long a tag': fits({ content: 'x', tags: ['t'.repeat(65)] }, '/tags/0'),
  'an unknown field': fits({ content: 'x', SECRET_field: 1 }, ''),
  'a field of the server': fits({ content: 'x', trust_tier: 5, created_at: '2026-01-01T00:00:00Z' }, ''),
  'a memory_id of its own': fits({ content: 'x', memory_id: ABSENT }, ''),
  'an unknown field in the source': fits({ content: 'x', source: { type: 'web', trust: 5 } }, '/source'),
  'an unknown kind': fits({ content: 'x', kind: 'SECRET' }, '/kind'),
  'an unknown layer': fits({ content: 'x', layer: 'SECRET' }, '/layer'),
  'working memory without a session': fits({ content: 'x', layer: 'working' }, '/session_id'),
  'a field that working memory does not take': fits({ content: 'x', layer: 'working', session_id: 's', tags: ['a'] }, '/tags'),
  'a task state of no session': fits({ content: 'x', state: { step: 1 } }, '/state'),
  'a task state that is a list': fits({ content: 'x', layer: 'working', session_id: 's', state: [1] }, '/state'),
  'a slot with a name in words': fits({ layer: 'working', session_id: 's', state: { 'SECRET name': 1 } }, '/state'),
  'a task state over 16 KB': fits({ layer: 'working', session_id: 's', state: { a: 'x'.repeat(16_384) } }, '/state'),
  'importance over 1': fits({ content: 'x', importance: 1.01 }, '/importance'),
  'importance in words': fits({ content: 'x', importance: 'high' }, '/importance'),
  'a date in words': fits({ content: 'x', occurred_at: 'yesterday' }, '/occurred_at'),
  'a date that is none': fits({ content: 'x', occurred_at: '2026-02-30T00:00:00Z' }, '/occurred_at'),
  'a date without zone': fits({ content: 'x', occurred_at: '2026-02-03T00:00:00' }, '/occurred_at'),
  'a negative life': fits({ content: 'x', ttl_seconds: -1 }, '/ttl_seconds'),
  'an endless life': fits({ content: 'x', ttl_seconds: 1e15 }, '/ttl_seconds'),
  'a fraction of a turn': fits({ content: 'x', turn: 1.5 }, '/turn'),
  'a huge turn': fits({ content: 'x', turn: 1e300 }, '/turn'),
  'a bad parent': fits({ content: 'x', source: { type: 'agent', parents: ['SECRET'] } }, '/source/parents/0'),
  'vectors of no space': fits({ content: 'x', vectors: { nowhere: [1] } }, '/vectors'),
  'metadata that is no object': fits({ content: 'x', metadata: [1] }, '/metadata'),
  'items beside content': fits({ content: 'x', items: [{ content: 'y' }] }, '/content'),
  'no items': fits({ items: [] }, '/items'),
  'too many items': fits({ items: Array(501).fill({ content: 'x' }) }, '/items'),
  'items of another type': fits({ items: { 0: { content: 'x' } } }, '/items'),
};

describe('bad input on the composed service', function () {
  this.timeout(120_000);
  let service: HashedService;
  let token: string;
  let known: string;

  before(async () => {
    service = await startHashedService({ MCP_TOOLS: 'all' });
    token = await service.mint();
    const { body } = await service.call('POST', '/v1/memories', token, { content: 'The one good memory.', wait: true });
    known = body.results[0].memory_id;
  });
  after(() => service.close());

  const expectRefused = (answer: Answer, { code, at, status = 400 }: Omit<Bad, 'body'>, what: string): void => {
    const text = JSON.stringify(answer.body);
    expect(answer.status, `${what}: ${text}`).to.equal(status);
    expect(answer.headers.get('content-type'), what).to.equal('application/problem+json');
    expect(answer.body.code, `${what}: ${text}`).to.equal(code);
    if (status === 400) expect(answer.body.errors?.[0]?.pointer, `${what}: ${text}`).to.match(new RegExp(`^${at}(?:/|$)`));
    expect(text, what).not.to.match(INSIDE);
    expect(text.length, what).to.be.lessThan(4_000);
  };
  const unchanged = async (work: () => Promise<void>): Promise<void> => {
    const before = await storedState(service);
    await work();
    expect(await storedState(service)).to.deep.equal(before);
  };
  /** A tool call as raw text, so that it may hold what no client would send. */
  const rpc = (name: string, args: string): Promise<Answer> =>
    service.call('POST', '/mcp', token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`, {
      accept: 'application/json, text/event-stream',
    });

  it('of a write is refused with a pointer to the field over REST, and nothing is stored', () =>
    unchanged(async () => {
      for (const [what, bad] of Object.entries(WRITES)) {
        // the fields' own schema looks at items one by one, so a bad field there is the item's fault
        expectRefused(await service.call('POST', '/v1/memories', token, bad.body), bad, what);
      }
    }));

  it('of a write is refused over MCP as a result that can be read or a protocol error, and nothing is stored', () =>
    unchanged(async () => {
      for (const [what, { body, code }] of Object.entries(WRITES)) {
        if (body.trim() === '' || what === 'two values' || what === 'a byte order mark') continue; // not one argument value
        const answer = await rpc('memory_write', body);
        const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
        expect(text, what).not.to.match(INSIDE);
        const data = /^data: (.+)$/m.exec(text)?.[1] ?? text;
        const message = JSON.parse(data) as {
          error?: { data?: { code?: string } };
          result?: { isError?: boolean; content: { text: string }[] };
        };
        if (message.result === undefined) {
          expect(message.error?.data?.code, `${what}: ${text}`).to.be.oneOf([code, 'ERR_REQUEST_JSON', 'ERR_REQUEST_INVALID']);
          expect(answer.status, what).to.equal(400);
        } else {
          expect(message.result.isError, `${what}: ${text}`).to.equal(true);
          const said = JSON.parse(message.result.content[0]?.text ?? '{}') as { code: string; errors: { pointer: string }[] };
          expect(said.code, what).to.equal('ERR_REQUEST_INVALID');
          expect(said.errors[0]?.pointer, what).to.be.a('string');
        }
      }
    }));

  it('of a batch spoils its own item alone, by pointer, and the others are stored', async () => {
    const before = await storedState(service);
    const bad = Object.values(WRITES)
      .filter(({ body, code }) => code === 'ERR_REQUEST_INVALID' && !body.includes('"items"'))
      .map(({ body, at }) => ({ value: JSON.parse(body) as unknown, at }));
    const items = [{ content: 'First good item.' }, ...bad.map(({ value }) => value), { content: 'Last good item.' }];
    const { status, body } = await service.call('POST', '/v1/memories', token, { items });
    expect(status).to.equal(200);
    const [first, ...rest] = body.results;
    const last = rest.pop();
    expect([first.outcome, last.outcome]).to.deep.equal(['stored', 'stored']);
    for (const [i, result] of rest.entries()) {
      const what = JSON.stringify(bad[i]?.value).slice(0, 80);
      expect(result, what).to.deep.include({ outcome: 'invalid', memory_id: null });
      expect(result.errors[0].pointer, what).to.match(new RegExp(`^/items/${i + 1}${bad[i]?.at ?? ''}(?:/|$)`));
      expect(JSON.stringify(result), what).not.to.match(INSIDE);
    }
    const names = ({ memory_id: id }: { memory_id: string }): RegExp => new RegExp(`/${id} `);
    // claims on texts stand beside the memories
    const added = (await storedState(service)).filter((doc) => !before.includes(doc) && !/-slots\//.test(doc));
    expect(added.filter((doc) => names(first).test(doc) || names(last).test(doc))).to.have.length(2);
    expect(added).to.have.length(2);
  });

  it('of reads and changes is refused with a pointer, and nothing changes', () =>
    unchanged(async () => {
      const one = `/v1/memories/${known}`;
      const cases: readonly (readonly [method: string, path: string, body: unknown, at: string])[] = [
        ['POST', '/v1/memories/search', {}, '/query'],
        ['POST', '/v1/memories/search', { query: '' }, '/query'],
        ['POST', '/v1/memories/search', { query: '  ' }, '/query'],
        ['POST', '/v1/memories/search', { query: 'x\0' }, '/query'],
        ['POST', '/v1/memories/search', { query: '\ud83d' }, '/query'],
        ['POST', '/v1/memories/search', { query: 'x'.repeat(4_001) }, '/query'],
        ['POST', '/v1/memories/search', { query: 'x', size: -1 }, ''],
        ['POST', '/v1/memories/search', { query: 'x', top_k: -1 }, '/top_k'],
        ['POST', '/v1/memories/search', { query: 'x', weights: { vector: -1 } }, '/weights'],
        ['POST', '/v1/memories/search', { query: 'x', filter: { colour: ['SECRET'] } }, '/filter'],
        ['POST', '/v1/memories/search', { query: 'x', filter: { tags: Array(33).fill('x') } }, '/filter/tags'],
        ['POST', '/v1/memories/search', { query: 'x', namespaces: Array(51).fill('a') }, '/namespaces'],
        ['POST', '/v1/memories/search', { query: 'x', namespaces: [] }, '/namespaces'],
        ['GET', '/v1/memories?limit=-1', undefined, '/limit'],
        ['GET', '/v1/memories?limit=SECRET', undefined, '/limit'],
        ['GET', '/v1/memories?SECRET=1', undefined, ''],
        ['GET', '/v1/memories?tags=%ff', undefined, '/tags'],
        ['GET', '/v1/memories?tags=%00', undefined, '/tags'],
        ['GET', '/v1/memories?created_gte=SECRET', undefined, '/created_gte'],
        ['GET', '/v1/memories/SECRET', undefined, '/memory_id'],
        ['GET', `/v1/memories/${known}%00`, undefined, '/memory_id'],
        ['GET', '/v1/memories/%ff', undefined, '/memory_id'],
        ['GET', `/v1/memories/${known}?raw=SECRET`, undefined, '/raw'],
        ['PATCH', one, {}, ''],
        ['PATCH', one, { content: '' }, '/content'],
        ['PATCH', one, { content: null }, '/content'],
        ['PATCH', one, { content: 'x\0' }, '/content'],
        ['PATCH', one, { importance: 2 }, '/importance'],
        ['PATCH', one, { namespace: 'user.bob' }, ''],
        ['PATCH', one, { owner: 'me' }, ''],
        ['PATCH', one, { status: 'active' }, ''],
        ['PATCH', one, { memory_id: ABSENT, content: 'x' }, '/memory_id'],
        ['PATCH', one, { version: 0, content: 'x' }, '/version'],
        ['PATCH', one, { version: -1, content: 'x' }, '/version'],
        ['PATCH', one, { expires_at: 'SECRET' }, '/expires_at'],
        ['PATCH', one, { tags: 'SECRET' }, '/tags'],
        ['POST', '/v1/memories/forget', { memory_id: known, filter: { tags: ['x'] } }, '/filter'],
        ['POST', '/v1/memories/forget', { mode: 'erase', memory_id: known }, '/mode'],
        ['POST', '/v1/memories/forget', { memory_id: 'SECRET' }, '/memory_id'],
        ['POST', '/v1/memories/forget', { filter: { tags: ['x'] }, dry_run: 'yes' }, '/dry_run'],
        ['DELETE', `${one}?dry_run=SECRET`, undefined, '/dry_run'],
        ['DELETE', `${one}?mode=erase`, undefined, '/mode'],
      ];
      for (const [method, path, body, at] of cases) {
        const answer = await service.call(method, path, token, body);
        expectRefused(answer, { code: 'ERR_REQUEST_INVALID', at }, `${method} ${path} ${JSON.stringify(body)?.slice(0, 80)}`);
      }
      for (const [body, code] of [
        [{}, 'ERR_FORGET_TARGET'],
        [{ filter: {}, dry_run: true }, 'ERR_FORGET_TARGET'],
        [{ filter: { metadata: {} }, dry_run: true }, 'ERR_FORGET_TARGET'],
        [{ plan: 'SECRET' }, 'ERR_PLAN_INVALID'],
        [{ plan: 'a.b' }, 'ERR_PLAN_INVALID'],
      ] as const) {
        const { status, body: said } = await service.call('POST', '/v1/memories/forget', token, body);
        expect([status, said.code], JSON.stringify(body)).to.deep.equal([400, code]);
      }
      const never = await service.call('DELETE', `/v1/memories/${ABSENT}`, token);
      expect([never.status, never.body.code]).to.deep.equal([404, 'ERR_MEMORY_NOT_FOUND']);
    }));

  it('that is too large is refused by its size: 1 MiB, 8 MiB for writes and MCP', () =>
    unchanged(async () => {
      const filled = (bytes: number): string => `{"query":"x","pad":"${'x'.repeat(bytes - 22)}"}`;
      for (const [path, limit] of [
        ['/v1/memories/search', MIB],
        ['/v1/memories/forget', MIB],
        ['/v1/memories', 8 * MIB],
      ] as const) {
        const over = await service.call('POST', path, token, filled(limit + 1));
        expectRefused(over, { code: 'ERR_REQUEST_TOO_LARGE', at: '', status: 413 }, path);
        const within = await service.call('POST', path, token, filled(limit - 1));
        expectRefused(within, { code: 'ERR_REQUEST_INVALID', at: '' }, path);
      }
      const mcp = await service.call('POST', '/mcp', token, filled(8 * MIB + 1), { accept: 'application/json, text/event-stream' });
      expect([mcp.status, mcp.body.error.data.code]).to.deep.equal([413, 'ERR_REQUEST_TOO_LARGE']);
    }));
});
