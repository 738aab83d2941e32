/** guard.md scenarios N1-N5, N7 and N8 against the composed service on a real engine: nobody leaves his tenant or his namespaces. */
import { expect } from 'chai';
import { importJWK, SignJWT, type JWK } from 'jose';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashBackend } from '../support/embedding-server.ts';
import { mcpFrontEnd, restFrontEnd, type CallResult, type FrontEnd } from '../support/scenario-front-ends.ts';
import { storedRecords, storedState } from '../support/scenario-stored.ts';
import { HASH_DIMS, startHashedService, type Answer, type HashedService } from '../support/service.ts';

/** N1. */
const ESCAPES: readonly unknown[] = [
  ...['*', 't2*', '?', 't1,t2', 't1 OR t2', '_all', '-t1', '<t2-{now/d}>', '.kibana', '../t2', 't1/../t2', 't1%2F..%2Ft2', 't1%00t2'],
  ...['t1\u0000t2', 't1 ', ' t1', 't1.', 't1..t2', 't1/', 't1\n', '', 'a'.repeat(300), Array(7).fill('a').join('.'), 'team:1'],
  ...[null, ['t1', 't2'], { t1: true }, 7, true],
];
/** N2. */
const LOOKALIKES: readonly string[] = ['T2', 'ｔ２', 'т2', 't2\u0301', 't\u200b2', 'caf\u00e9', 'cafe\u0301', 'ıt', 'İt', 'ﬁ', 't\u00ad2'];

describe('namespaces and tenants (N)', function () {
  this.timeout(120_000);
  let service: HashedService;
  let fronts: readonly FrontEnd[];
  let open: string;

  before(async () => {
    service = await startHashedService({ MCP_TOOLS: 'all' });
    fronts = [restFrontEnd(service), mcpFrontEnd(service)];
    open = await service.mint({ namespaces: ['**'] });
    await service.call('POST', '/v1/memories', open, { content: 'The first of its tenant.', wait: true });
  });
  after(async () => {
    await Promise.all(fronts.map((front) => front.close()));
    await service.close();
  });

  const idOf = ({ body }: Answer): string => body.results[0].memory_id;
  const refused = (result: CallResult, pointer: string, what: string): void => {
    if (result.ok) throw new Error(`${what} was taken: ${JSON.stringify(result.output)}`);
    expect(result.code, what).to.equal('ERR_REQUEST_INVALID');
    if (result.status !== undefined) expect(result.status, what).to.equal(400);
    expect(result.problem.errors[0].pointer, what).to.match(new RegExp(`^${pointer}`));
    expect(JSON.stringify(result.problem), what).not.to.match(/elasticsearch|index_not_found|\bat .*\.ts\b|_exception/i);
  };

  it('N1, N2 refuse every namespace outside the grammar wherever one can be named, and store nothing', async () => {
    const before = await storedState(service);
    for (const value of [...ESCAPES, ...LOOKALIKES]) {
      for (const front of fronts) {
        const what = `${front.name} ${JSON.stringify(value)}`;
        refused(await front.call(open, 'memory_write', { content: 'x', namespace: value }), '/namespace', what);
        refused(await front.call(open, 'memory_search', { query: 'x', namespaces: [value] }), '/namespaces', what);
        refused(
          await front.call(open, 'memory_forget', { filter: { tags: ['x'] }, namespaces: [value], dry_run: true }),
          '/namespaces',
          what,
        );
        // in a query string a comma stands between names
        if (typeof value === 'string' && !value.includes(','))
          refused(await front.call(open, 'memory_list', { namespaces: ['t1', value] }), '/namespaces', what);
        // there is no namespace among the filter's fields, and an owner is no way around the scope
        refused(await front.call(open, 'memory_search', { query: 'x', filter: { namespace: value } }), '/filter', what);
      }
      const batch = await service.call('POST', '/v1/memories', open, { items: [{ content: 'x', namespace: value }] });
      expect(batch.body.results[0], JSON.stringify(value)).to.deep.include({ outcome: 'invalid', memory_id: null });
      if (typeof value !== 'string' || value === '' || value.includes('/')) continue;
      const path = await service.call('GET', `/v1/memories/${encodeURIComponent(value)}`, open);
      expect(path.status, value).to.equal(400);
    }
    expect(await storedState(service)).to.deep.equal(before);
  });

  it('N1, N2 refuse a token whose namespaces are no patterns, although it is signed', async () => {
    const jwk = JSON.parse(readFileSync(join(service.config.dataDir, 'issuer.jwk'), 'utf8')) as JWK & { kid: string };
    const key = await importJWK(jwk, 'ES256');
    const { issuer, audience } = service.config.auth.localIssuer ?? { issuer: '', audience: '' };
    const signed = (namespaces: unknown): Promise<string> =>
      new SignJWT({ sub: 'alice', tenant: 't1', scope: 'memory:read', actor: 'user', namespaces })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: jwk.kid })
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(key);
    expect((await service.call('GET', '/v1/memories', await signed(['team.**', '*', 'a.*.c']))).status).to.equal(200);
    const patterns = [
      't2*',
      '***',
      '**.a',
      'a.**.b',
      'a.*b',
      '.*',
      'team.',
      '.',
      'T2',
      'a b',
      '(a|b)',
      '[a-z]',
      '<t2-{now/d}>',
      '../t2',
      'ｔ２',
      '',
    ];
    for (const bad of [...patterns.map((pattern) => ['t1', pattern]), '**', { 0: '**' }, [null], [['**']], 7]) {
      const { status, body } = await service.call('GET', '/v1/memories', await signed(bad));
      expect([status, body.code], JSON.stringify(bad)).to.deep.equal([401, 'ERR_AUTH_INVALID']);
    }
  });

  it('N3 ends a prefix at a separator, for names and patterns alike', async () => {
    const victims = ['acme', 'acme.x', 'acme-evil', 'acme-evil.x', 'team.1', 'team.10', 'team.1.x', 'team.1-x', 'sharedx.y', 'user.alicex'];
    const ids = new Map<string, string>();
    for (const namespace of victims)
      ids.set(
        namespace,
        idOf(
          await service.call('POST', '/v1/memories', open, {
            content: `A note of the place ${namespace}.`,
            namespace,
            visibility: 'shared',
          }),
        ),
      );
    const reach: Readonly<Record<string, readonly string[]>> = {
      acme: ['acme'],
      'acme.**': ['acme.x'],
      'acme-evil': ['acme-evil'],
      'team.1': ['team.1'],
      'team.*': ['team.1', 'team.10', 'team.1-x'],
      'team.1.*': ['team.1.x'],
      'team.**': ['team.1', 'team.10', 'team.1-x', 'team.1.x'],
      'shared.**': [],
      '*': ['acme', 'acme-evil'],
      'user.alice.**': [],
      '*.x': ['acme.x', 'acme-evil.x'],
    };
    const state = await storedState(service, victims);
    for (const [pattern, visible] of Object.entries(reach)) {
      const token = await service.mint({ sub: 'alice', scopes: ['memory:read', 'memory:write', 'memory:forget'], namespaces: [pattern] });
      for (const namespace of victims) {
        const seen = visible.includes(namespace);
        for (const front of fronts) {
          const what = `${front.name} ${pattern} -> ${namespace}`;
          const id = ids.get(namespace) ?? '';
          expect((await front.call(token, 'memory_get', { memory_id: id })).ok, what).to.equal(seen);
          expect((await front.call(token, 'memory_history', { memory_id: id })).ok, what).to.equal(seen);
          const list = await front.call(token, 'memory_list', { namespaces: [namespace] });
          const search = await front.call(token, 'memory_search', { query: `note of the place ${namespace}`, namespaces: [namespace] });
          for (const result of [list, search]) {
            if (seen)
              expect(result.ok && [...(result.output.items ?? result.output.hits)].map((r) => r.memory_id), what).to.deep.equal([id]);
            else expect(!result.ok && result.code, what).to.equal('ERR_NAMESPACE_FORBIDDEN');
          }
          if (seen) continue;
          expect((await front.call(token, 'memory_update', { memory_id: id, content: 'taken over' })).ok, what).to.equal(false);
          expect((await front.call(token, 'memory_forget', { memory_id: id })).ok, what).to.equal(false);
          expect((await front.call(token, 'memory_write', { content: 'planted', namespace })).ok, what).to.equal(false);
        }
      }
    }
    expect(await storedState(service, victims)).to.deep.equal(state);
  });

  it('N4 takes the tenant from the token alone: body, query, header and _meta change nothing', async () => {
    const here = await service.mint({ sub: 'nora' });
    const there = await service.mint({ tenant: 't2', sub: 'nora' });
    const foreign = idOf(await service.call('POST', '/v1/memories', there, { content: 'The treasure of the second tenant.' }));
    const headers = { 'x-tenant': 't2', 'x-tenant-id': 't2', tenant: 't2', 'x-forwarded-user': 'nora', 'x-namespace': '**' };
    const before = await storedState(service);
    for (const [path, body] of [
      ['/v1/memories', { content: 'x', tenant: 't2' }],
      ['/v1/memories', { content: 'x', owner: 'nora' }],
      ['/v1/memories/search', { query: 'treasure', tenant: 't2' }],
      ['/v1/memories/search', { query: 'treasure', filter: { tenant: 't2' } }],
      ['/v1/memories/forget', { filter: { tags: ['x'], tenant: 't2' }, dry_run: true }],
      ['/v1/memories?tenant=t2', { content: 'x' }],
    ] as const)
      expect((await service.call('POST', path, here, body)).status, path + JSON.stringify(body)).to.equal(400);
    for (const query of [
      'tenant=t2',
      'tenant=t1&tenant=t2',
      'filter.tenant=t2',
      'limit=1&limit=2',
      'namespaces=user.nora&namespaces=user.nora%00',
    ])
      expect((await service.call('GET', `/v1/memories?${query}`, here)).status, query).to.equal(400);
    for (const body of [
      '{"content":"x","namespace":"user.nora","namespace":"user.bob"}',
      '{"content":"x","\\u006eamespace":"user.nora","namespace":"user.bob"}',
      '{"content":"x","source":{"type":"agent","type":"user"}}',
    ])
      expect((await service.call('POST', '/v1/memories', here, body)).body.code, body).to.equal('ERR_REQUEST_JSON');
    expect(await storedState(service)).to.deep.equal(before);

    const search = await service.call('POST', '/v1/memories/search', here, { query: 'treasure of the second tenant' }, headers);
    expect([search.status, search.body.hits]).to.deep.equal([200, []]);
    expect((await service.call('GET', `/v1/memories/${foreign}`, here, undefined, headers)).status).to.equal(404);
    const meta = { tenant: 't2', sub: 'nora', namespaces: ['**'], 'hindsight-es/tenant': 't2' };
    const rpc = (name: string, args: object): Promise<Answer> =>
      service.call(
        'POST',
        '/mcp',
        here,
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: meta } },
        { ...headers, accept: 'application/json, text/event-stream' },
      );
    const found = await rpc('memory_search', { query: 'treasure of the second tenant' });
    expect(JSON.stringify(found.body)).to.contain('nothing_relevant').and.not.to.contain(foreign);
    expect(JSON.stringify((await rpc('memory_get', { memory_id: foreign })).body)).to.contain('ERR_MEMORY_NOT_FOUND');
    await rpc('memory_write', { content: 'Written with a lying _meta.' });
    const [record] = (await storedRecords(service, 'user.nora')).filter((r) => r['content'] === 'Written with a lying _meta.');
    expect(record).to.include({ tenant: 't1', namespace: 'user.nora' });
  });

  it('N5 gives an id, a parent, a cursor or a plan of another tenant or person no effect', async () => {
    const owner = await service.mint({ tenant: 't2', sub: 'olga' });
    const thieves = [
      await service.mint({ sub: 'olga', namespaces: ['**'] }),
      await service.mint({ tenant: 't2', sub: 'pit', namespaces: ['**'] }),
    ];
    const ids: string[] = [];
    for (const n of [1, 2, 3])
      ids.push(idOf(await service.call('POST', '/v1/memories', owner, { content: `Olga hides box ${n}.`, tags: ['box'], wait: true })));
    const [id = ''] = ids;
    const page = await service.call('GET', '/v1/memories?tags=box&limit=1', owner);
    const plan = await service.call('POST', '/v1/memories/forget', owner, { filter: { tags: ['box'] }, dry_run: true });
    const { owner: mark } = (await service.call('GET', `/v1/memories/${id}`, owner)).body;
    const state = await storedState(service, ['user.olga']);
    for (const thief of thieves) {
      for (const front of fronts) {
        for (const [operation, input, code] of [
          ['memory_get', { memory_id: id }, 'ERR_MEMORY_NOT_FOUND'],
          ['memory_history', { memory_id: id }, 'ERR_MEMORY_NOT_FOUND'],
          ['memory_update', { memory_id: id, content: 'empty box' }, 'ERR_MEMORY_NOT_FOUND'],
          ['memory_update', { memory_id: id, version: 1, invalid: true }, 'ERR_MEMORY_NOT_FOUND'],
          ['memory_update', { memory_id: id, restore_version: 1 }, 'ERR_MEMORY_NOT_FOUND'],
          ['memory_forget', { memory_id: id }, 'ERR_MEMORY_NOT_FOUND'],
          ['memory_forget', { plan: plan.body.plan }, 'ERR_PLAN_INVALID'],
          ['memory_list', { filter: { tags: ['box'] }, cursor: page.body.next_cursor, limit: 1 }, 'ERR_CURSOR_INVALID'],
          ['memory_write', { content: 'derived', source: { type: 'agent', parents: [id] } }, 'ERR_MEMORY_NOT_FOUND'],
          ['memory_write', { content: 'derived', supersedes: [id] }, 'ERR_REQUEST_INVALID'],
          ['memory_get', { memory_id: `${id}@1` }, 'ERR_REQUEST_INVALID'],
          ['memory_get', { memory_id: id.toUpperCase() }, 'ERR_REQUEST_INVALID'],
        ] as const) {
          const result = await front.call(thief, operation, input);
          expect(result.ok ? 'taken' : result.code, `${front.name} ${operation} ${JSON.stringify(input)}`).to.equal(code);
        }
        const byOwner = await front.call(thief, 'memory_list', { namespaces: ['user.olga'], filter: { owner: mark } });
        expect(byOwner.ok && byOwner.output.items).to.deep.equal([]);
        const dry = await front.call(thief, 'memory_forget', { namespaces: ['user.olga'], filter: { owner: mark }, dry_run: true });
        expect(dry.ok && dry.output.count).to.equal(0);
      }
    }
    expect(await storedState(service, ['user.olga'])).to.deep.equal(state);
    expect((await service.call('GET', '/v1/memories?tags=box', owner)).body.items).to.have.length(3);
  });

  it('N7, N8 finds one’s own nearest among thousands of nearer ones of others, with scores that others cannot move', async () => {
    const query = 'Which kettle whistles in the kitchen?';
    const mine = await service.mint({ sub: 'quinn' });
    const contents = ['The kettle is red.', 'A kettle boils.', 'My kettle leaks.', 'Some kettle sings.', 'The whistle is brass.'];
    const own = new Set<string>();
    for (const content of contents) own.add(idOf(await service.call('POST', '/v1/memories', mine, { content, wait: true })));
    const [record] = await storedRecords(service, 'user.quinn');
    const [space] = record?.['spaces_ready'] as [string];

    interface Found {
      readonly memory_id: string;
      readonly explain: {
        readonly engine_score: number;
        readonly signals: readonly { readonly signal: string; readonly raw: number | null }[];
      };
    }
    // one time for all questions: recency has no part in what changes
    const askedAt = new Date().toISOString();
    const search = async (): Promise<Found[]> => {
      const { body } = await service.call('POST', '/v1/memories/search', mine, { query, top_k: 20, explain: true, asked_at: askedAt });
      return body.hits;
    };
    const rawOf = ({ explain }: Found, name: string): number => explain.signals.find(({ signal }) => signal === name)?.raw ?? NaN;
    const scores = (hits: readonly Found[]): Map<string, number[]> =>
      new Map(hits.map((hit) => [hit.memory_id, [rawOf(hit, 'lexical'), rawOf(hit, 'vector')]]));
    const alone = await search();
    expect(new Set(alone.map((hit) => hit.memory_id))).to.deep.equal(own);

    // more than k of the knn clause (1,000), each with the query's own vector: a filter after the search would leave nothing
    const [vector] = await hashBackend(HASH_DIMS)('', [query]);
    const crowd = async (tenant: string): Promise<void> => {
      const token = await service.mint({ tenant, sub: 'crowd' });
      for (let from = 0; from < 1_200; from += 400) {
        const items = Array.from({ length: 400 }, (_, i) => ({
          content: `Neighbour number ${from + i}.`,
          vectors: { [space]: vector },
          admission: 'keep',
        }));
        const { body } = await service.call('POST', '/v1/memories', token, { items });
        expect(body.results.every((r: { outcome: string; settled: boolean }) => r.outcome === 'stored' && r.settled)).to.equal(true);
      }
    };
    const expectOwn = async (): Promise<Found[]> => {
      const hits = await search();
      expect(new Set(hits.map((hit) => hit.memory_id))).to.deep.equal(own);
      for (const { explain } of hits) expect(explain.signals.find(({ signal }) => signal === 'vector')?.raw).to.be.a('number');
      return hits;
    };
    await crowd('t2');
    const later = scores(await expectOwn());
    // the vector's part is what remains of the engine's score, a float: its last digits are noise
    for (const [id, parts] of scores(alone)) parts.forEach((part, i) => expect(later.get(id)?.[i]).to.be.closeTo(part, 0.002));
    await crowd('t1');
    await expectOwn();
  });
});
