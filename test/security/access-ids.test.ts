/** Foreign, forbidden and absent ids answer alike, in every word (N5) and in time (L7): whoever guesses ids learns nothing from the answer. */
import { expect } from 'chai';
import { SCOPES } from '../../src/domain/principal.ts';
import { createUuidV7 } from '../../src/memory/uuid.ts';
import { startHashedService, type HashedService } from '../support/service.ts';

/** L7 of the threat model. */
const SAMPLES = 200;
/**
 * Share of pairs in which the foreign id took longer than the absent one; 0.5 = no difference. With 200 samples on either side a share
 * beyond 0.62 is four standard errors off.
 */
const SEPARABLE = 0.62;

describe('ids of others', function () {
  this.timeout(240_000);
  let service: HashedService;
  let thief: string;
  const newId = createUuidV7(Date.now);
  const classes: Record<string, string> = {};

  before(async () => {
    service = await startHashedService({ RATE_LIMIT_PROFILE: 'bench' });
    thief = await service.mint({ sub: 'eve', scopes: SCOPES, actor: 'user', namespaces: ['team.eve.**', 'team.both'] });
    const write = async (tenant: string, namespace: string, visibility: string): Promise<string> => {
      const owner = await service.mint({ tenant, sub: 'owner', namespaces: ['**'] });
      // as long as a memory can be: what takes longest to read
      const content = 'The owner keeps this to himself, at length. '.repeat(700);
      const { body } = await service.call('POST', '/v1/memories', owner, { content, namespace, visibility, wait: true });
      return body.results[0].memory_id;
    };
    classes['another tenant'] = await write('t2', 'team.eve.x', 'shared');
    classes['another namespace'] = await write('t1', 'team.owner', 'shared');
    classes['another’s own namespace'] = await write('t1', 'user.owner', 'private');
    classes['private to another'] = await write('t1', 'team.both', 'private');
    await service.call('POST', '/v1/memories', thief, { content: 'Eve has one of her own.', wait: true });
  });
  after(() => service.close());

  const CALLS: readonly (readonly [string, string, object?])[] = [
    ['GET', ''],
    ['GET', '?raw=true'],
    ['GET', '/history'],
    ['PATCH', '', { content: 'taken' }],
    ['PATCH', '', { invalid: true }],
    ['DELETE', ''],
    ['DELETE', '?dry_run=true'],
  ];

  it('N5 answer word for word like an id that was never given', async () => {
    const strip = (text: string, id: string): string =>
      text.replaceAll(id, 'ID').replace(/"trace_id":"[^"]*"|urn:hindsight-es:trace:[0-9a-f]+/g, '');
    const headersOf = (headers: Headers): string[] =>
      [...headers].flatMap(([name, value]) => (/^(?:date|traceparent|x-request-id|ratelimit)/.test(name) ? [] : [`${name}: ${value}`]));
    for (const [method, rest, body] of CALLS) {
      const ask = async (id: string): Promise<unknown> => {
        const answer = await service.call(method, `/v1/memories/${id}${rest}`, thief, body);
        return [answer.status, headersOf(answer.headers), strip(JSON.stringify(answer.body), id)];
      };
      const absent = await ask(newId());
      expect((absent as unknown[])[0]).to.equal(404);
      for (const [what, id] of Object.entries(classes)) expect(await ask(id), `${method} ${rest} ${what}`).to.deep.equal(absent);
    }
    for (const list of ['confirmations', 'quarantine'])
      for (const decision of ['approve', 'reject']) {
        const ask = async (id: string): Promise<unknown> => {
          const path = `/v1/${list}/${id}/${decision}`;
          const answer = await service.call('POST', path, thief, { content_hash: 'A'.repeat(43) });
          return [answer.status, strip(JSON.stringify(answer.body), id)];
        };
        const absent = await ask(newId());
        for (const [what, id] of Object.entries(classes)) expect(await ask(id), `${list} ${what}`).to.deep.equal(absent);
      }
    for (const list of ['confirmations', 'quarantine']) {
      const ask = async (id: string): Promise<unknown> => {
        const answer = await service.call('GET', `/v1/${list}?memory_id=${id}`, thief);
        return [answer.status, headersOf(answer.headers), strip(JSON.stringify(answer.body), id)];
      };
      const none = await ask(newId());
      expect((none as unknown[])[2]).to.include('"items":[]');
      for (const [what, id] of Object.entries(classes)) expect(await ask(id), `${list} ${what}`).to.deep.equal(none);
    }
    const search = { query: 'the owner keeps this to himself' };
    for (const [path, naming] of [
      ['/v1/memories', (id: string) => ({ content: 'x', source: { type: 'agent', parents: [id] } })],
      ['/v1/memories', (id: string) => ({ items: [{ content: 'x', source: { type: 'agent', parents: [id] } }] })],
      ['/v1/feedback', (id: string) => ({ memory_ids: [id], verdict: 'useful' })],
      ['/v1/memories/forget', (id: string) => ({ memory_id: id })],
      ['/v1/memories/search', (id: string) => ({ ...search, why_not: [id] })],
    ] as const) {
      const ask = async (id: string): Promise<unknown> => {
        const answer = await service.call('POST', path, thief, naming(id));
        return [answer.status, strip(JSON.stringify(answer.body), id).replace(/"took_ms":[0-9.]+/, '')];
      };
      const none = await ask(newId());
      for (const [what, id] of Object.entries(classes)) expect(await ask(id), `${path} ${what}`).to.deep.equal(none);
    }
    for (const [method, rest, body] of [
      ['POST', '/restore', {}],
      ['POST', '/reveal', {}],
    ] as const) {
      const ask = async (id: string): Promise<unknown> => {
        const answer = await service.call(method, `/v1/memories/${id}${rest}`, thief, body);
        return [answer.status, strip(JSON.stringify(answer.body), id)];
      };
      const none = await ask(newId());
      expect((none as unknown[])[0], rest).to.equal(404);
      for (const [what, id] of Object.entries(classes)) expect(await ask(id), `${rest} ${what}`).to.deep.equal(none);
    }
  });

  for (const [what, pathOf] of [
    ['read', (id: string) => `/v1/memories/${id}`],
    ['asked for among the confirmations', (id: string) => `/v1/confirmations?memory_id=${id}`],
  ] as const)
    it(`L7 take the time of an id that was never given, ${what}: 200 samples of each do not tell them apart`, async () => {
      const timeOf = async (id: string): Promise<number> => {
        const from = performance.now();
        await service.call('GET', pathOf(id), thief);
        return performance.now() - from;
      };
      // nothing to read in this tenant's index, and what takes longest to read
      const kinds = ['absent', 'another tenant', 'private to another'] as const;
      const times = Object.fromEntries(kinds.map((kind) => [kind, [] as number[]])) as Record<(typeof kinds)[number], number[]>;
      for (let round = -10; round < SAMPLES; round += 1)
        // each kind comes first, second and last, so that load from outside falls on all
        for (let turn = 0; turn < kinds.length; turn += 1) {
          const kind = kinds[(round + 10 + turn) % kinds.length] ?? 'absent';
          const took = await timeOf(classes[kind] ?? newId());
          if (round >= 0) times[kind].push(took);
        }
      const shareLonger = (kind: 'another tenant' | 'private to another'): number => {
        let longer = 0;
        for (const a of times[kind]) for (const b of times.absent) longer += a > b ? 1 : a === b ? 0.5 : 0;
        return Number((longer / SAMPLES ** 2).toFixed(3));
      };
      const shares = { tenant: shareLonger('another tenant'), private: shareLonger('private to another') };
      for (const [whose, share] of Object.entries(shares))
        expect(share, `${whose} ${JSON.stringify(shares)}`).to.be.within(1 - SEPARABLE, SEPARABLE);
    });
});
