/** What others read of a stored summary once one of its sources is gone from them, over REST on a real engine. */
import { expect } from 'chai';
import { SCOPES } from '../../src/domain/principal.ts';
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
