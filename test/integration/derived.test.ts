/** What others read of a stored summary once one of its sources is gone from them, over REST on a real engine. */
import { expect } from 'chai';
import { SCOPES } from '../../src/domain/principal.ts';
import { eventually } from '../support/program.ts';
import { startHashedService, type Answer, type HashedService } from '../support/service.ts';

describe('a stored summary in a team’s namespace', function () {
  this.timeout(120_000);
  let service: HashedService;
  let ann: string;
  let bob: string;
  let nth = 0;
  before(async () => (service = await startHashedService({ RATE_LIMIT_PROFILE: 'bench' })));
  after(() => service.close());

  /** Two shared memories of Ann's and their summary, which Bob can read. `by`: who stores it. */
  async function summarized(by: 'ann' | 'bob' = 'ann'): Promise<{ ids: string[]; summary: string }> {
    const namespaces = [`team.t${(nth += 1)}`];
    const scopes = [...SCOPES, 'memory:share'];
    ann = await service.mint({ sub: 'ann', namespaces, scopes });
    bob = await service.mint({ sub: 'bob', namespaces, scopes });
    const ids: string[] = [];
    for (const content of ['The safe code of the archive is on the red card.', 'The archive moved to the second floor in March.']) {
      const body = { content, namespace: namespaces[0], visibility: 'shared', admission: 'keep' };
      ids.push((await call('POST', '/v1/memories', ann, body)).results[0].memory_id);
    }
    const made = await call('POST', '/v1/summaries', by === 'ann' ? ann : bob, { namespace: namespaces[0], store: true });
    const summary = made.results[0].memory_id as string;
    expect((await call('GET', `/v1/memories/${summary}`, bob)).content).to.contain('red card');
    return { ids, summary };
  }

  async function call(method: string, path: string, token: string, body?: unknown, status = 200): Promise<Answer['body']> {
    const answer = await service.call(method, path, token, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
    return answer.body;
  }

  /** Nothing that they can ask for has these words. */
  async function gone(summary: string, token = bob): Promise<void> {
    await call('GET', `/v1/memories/${summary}`, token, undefined, 404);
    const statuses = [undefined, { status: ['active', 'conflict', 'superseded', 'archived'] }];
    for (const filter of statuses) {
      const { hits } = await call('POST', '/v1/memories/search', token, { query: 'safe code red card archive', filter });
      expect(JSON.stringify(hits)).not.to.contain('red card');
    }
  }

  it('is read by nobody once a source is deleted, and again when it is brought back', async () => {
    const { ids, summary } = await summarized();
    await call('DELETE', `/v1/memories/${ids[0]}`, ann);
    await gone(summary);
    await call('POST', `/v1/memories/${ids[0]}/restore`, ann, {});
    expect((await call('GET', `/v1/memories/${summary}`, bob)).status).to.equal('active');
  });

  for (const by of ['ann', 'bob'] as const)
    it(`of ${by}’s is read by nobody once Ann makes a source private, nor brought back before that is shared again`, async () => {
      const { ids, summary } = await summarized(by);
      await call('PATCH', `/v1/memories/${ids[0]}`, ann, { visibility: 'private' });
      for (const token of [bob, await service.mint({ sub: 'carol', namespaces: [`team.t${nth}`], scopes: SCOPES })])
        await gone(summary, token);
      const back = await call('POST', `/v1/memories/${summary}/restore`, by === 'ann' ? ann : bob, {});
      expect(back.outcome).to.equal('unchanged');
      await gone(summary);
      await call('PATCH', `/v1/memories/${ids[0]}`, ann, { visibility: 'shared' });
      expect((await call('GET', `/v1/memories/${summary}`, bob)).status).to.equal('active');
    });

  it('ends with a source that is to end sooner, and is in doubt when one says something else', async () => {
    const { ids, summary } = await summarized();
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    await call('PATCH', `/v1/memories/${ids[1]}`, ann, { expires_at });
    expect((await call('GET', `/v1/memories/${summary}`, bob)).expires_at).to.equal(expires_at);
    await call('PATCH', `/v1/memories/${ids[1]}`, ann, { content: 'The archive moved to the third floor in March.' });
    const { versions } = await call('GET', `/v1/memories/${summary}/history`, bob);
    expect(versions[0].changes.map(({ field }: { field: string }) => field)).to.deep.equal(['reason']);
    expect(JSON.stringify(versions[0].changes)).to.contain('something else');
  });

  it('that somebody keeps to themself goes as well once a source is made private, and comes back when it is shared', async () => {
    const { ids } = await summarized();
    const own = await keptByBob('Summed up: the safe code is on the red card.', ids[0]);
    await call('PATCH', `/v1/memories/${ids[0]}`, ann, { visibility: 'private' });
    await gone(own);
    await call('PATCH', `/v1/memories/${ids[0]}`, ann, { visibility: 'shared' });
    expect((await call('GET', `/v1/memories/${own}`, bob)).status).to.equal('active');
  });

  it('is in doubt a moment after a source has got a newer value, whoever keeps it', async () => {
    await summarized();
    const slot = { kind: 'fact', subject: 'archive', topic: 'address', namespace: `team.t${nth}`, visibility: 'shared', layer: 'semantic' };
    const old = (await call('POST', '/v1/memories', ann, { ...slot, content: 'The archive is kept in Rome.' })).results[0].memory_id;
    const own = await keptByBob('Summed up: the archive is kept in Rome.', old);
    const [newer] = (await call('POST', '/v1/memories', ann, { ...slot, content: 'The archive is kept in Oslo.' })).results;
    expect(newer).to.include({ outcome: 'replaced' });
    const { status, reason } = await eventually(
      () => call('GET', `/v1/memories/${own}`, bob),
      (found) => found.reason !== undefined,
      20_000,
    );
    expect([status, reason]).to.deep.equal(['active', 'possibly outdated: a memory that it sums up says something else by now']);
  });

  async function keptByBob(content: string, parent: string | undefined): Promise<string> {
    const item = { content, kind: 'summary', visibility: 'private', namespace: `team.t${nth}`, admission: 'keep' };
    const { results } = await call('POST', '/v1/memories', bob, { ...item, source: { type: 'agent', parents: [parent] } });
    return results[0].memory_id as string;
  }
});
