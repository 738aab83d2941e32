/** L6: who did what can be answered for, by nobody but those who may ask, and not be changed unnoticed; on the running service. */
import type { Client } from '@elastic/elasticsearch';
import { expect } from 'chai';
import { createClient } from '../../src/elastic/client.ts';
import type { AuditRecord } from '../../src/domain/audit.ts';
import { startHashedService, type Answer, type HashedService } from '../support/service.ts';

const SECRET = 'xylograph-4711';

describe('L6: the audit log', function () {
  this.timeout(120_000);
  let service: HashedService;
  let client: Client;
  let index: string;
  let user: string;
  let auditor: string;

  before(async () => {
    service = await startHashedService();
    client = createClient({ url: service.engineUrl });
    index = `${service.prefix}-audit`;
    user = await service.mint({ sub: 'alice' });
    auditor = await service.mint({ sub: 'carol', scopes: ['memory:audit'] });
  });
  after(async () => {
    await client.close();
    await service.close();
  });

  const audit = async (query = '', token = auditor): Promise<Answer> => service.call('GET', `/v1/audit${query}`, token);
  const records = async (query = ''): Promise<AuditRecord[]> => (await audit(query)).body.records;
  const verify = async (): Promise<Answer['body']> => (await service.call('GET', '/v1/audit/verify', auditor)).body;
  const write = (content: string, token = user): Promise<Answer> => service.call('POST', '/v1/memories', token, { content });
  const all = async (): Promise<AuditRecord[]> => {
    await client.indices.refresh({ index });
    const found = await client.search<AuditRecord>({ index, size: 1_000, sort: [{ at: 'asc' }, { seq: 'asc' }] });
    return found.hits.hits.flatMap(({ _source }) => _source ?? []);
  };

  it('has actor, tenant, trace, verdict and policy revision of every write, read and denial', async () => {
    const written = await write(`The ${SECRET} stands in the hall.`);
    expect(written.status, JSON.stringify(written.body)).to.equal(200);
    const id = written.body.results[0].memory_id as string;
    const read = await service.call('POST', '/v1/memories/search', user, { query: `Where is the ${SECRET}?` });
    const denied = await service.call('GET', '/v1/quarantine', user);
    expect(denied.status).to.equal(403);
    const about = async (traceId: string): Promise<AuditRecord> => (await records(`?trace_id=${traceId}`))[0]!;

    const [write_, read_, denied_] = [
      await about(written.body.trace_id),
      await about(read.body.trace_id),
      await about(denied.body.trace_id),
    ];
    for (const record of [write_, read_, denied_]) {
      expect(record).to.include({ tenant: 't1', actor: 'user' });
      expect(record.policy_revision).to.match(/^[0-9a-f]{64}$/);
      expect(record.owner).to.match(/^[0-9a-f]{32}$/);
    }
    expect(write_).to.deep.include({ operation: 'memory_write', outcome: 'ok', verdict: ['allow'], memory_ids: [id] });
    expect(write_.detail).to.deep.equal({ outcomes: { stored: 1 }, ahead: true });
    expect(read_).to.deep.include({ operation: 'memory_search', outcome: 'ok', verdict: ['allow'], memory_ids: [id] });
    expect(denied_).to.deep.include({ operation: 'memory_quarantine', outcome: 'denied', verdict: ['deny'], reason: 'ERR_SCOPE_MISSING' });
    expect((await records(`?memory_id=${id}`)).map(({ operation }) => operation)).to.have.members(['memory_write', 'memory_search']);
  });

  it('has what was refused before any operation, of callers nobody knows too', async () => {
    expect((await service.call('GET', '/v1/memories', 'no.such.token')).status).to.equal(401);
    const refusals = async (): Promise<AuditRecord[]> => (await all()).filter(({ record_type: type }) => type === 'refusal');
    await until(async () => (await refusals()).length > 0);
    expect((await refusals()).at(-1)).to.deep.include({
      tenant: '~service',
      outcome: 'denied',
      reason: 'ERR_AUTH_INVALID',
      verdict: ['deny'],
    });
  });

  it('holds no content, no query, no token and no secret, only ids and keyed hashes', async () => {
    const text = JSON.stringify(await all());
    for (const secret of [SECRET, 'hall', 'no.such.token', user]) expect(text).not.to.contain(secret);
    const [search] = await records('?operation=memory_search');
    expect(search?.query_hmac).to.match(/^[A-Za-z0-9_-]{43}$/);
    const hashes: (string | undefined)[] = [];
    for (const password of ['Granite#5180', 'Meadow#2931']) {
      const { trace_id: trace } = (await write(`The vault password is ${password}`)).body;
      hashes.push((await records(`?trace_id=${trace}`))[0]?.content_hmac);
    }
    expect(hashes[0], 'a hash of the text as given would tell a guess from the truth').to.be.a('string').and.equal(hashes[1]);
  });

  it('takes nothing of a request’s headers and path but ids that look like ones', async () => {
    const hostile = { traceparent: '00-","outcome":"ok', 'user-agent': 'x","outcome":"ok', 'x-request-id': `${SECRET}","level":"fatal` };
    const denied = await service.call('GET', '/v1/quarantine?%0d%0a%1b[31m=1', user, undefined, hostile);
    expect([denied.status, denied.body.trace_id.length]).to.deep.equal([400, 32]);
    const [record] = await records(`?trace_id=${denied.body.trace_id}`);
    expect(record === undefined || record.outcome === 'failed').to.equal(true);
    const text = JSON.stringify(await all());
    for (const part of ['outcome\\":', '[31m', 'fatal', SECRET]) expect(text).not.to.contain(part);
  });

  it('is read with memory:audit alone, and by a tenant’s own people', async () => {
    expect((await audit('', user)).status).to.equal(403);
    const other = await service.mint({ tenant: 't2', sub: 'mallory', scopes: ['memory:audit'] });
    const seen = (await audit('', other)).body.records as AuditRecord[];
    expect(seen.filter(({ tenant }) => tenant !== 't2')).to.deep.equal([]);
    const page = (await audit('?limit=1')).body;
    expect(page.next_cursor).to.be.a('string');
    expect((await audit(`?limit=1&cursor=${encodeURIComponent(page.next_cursor)}`, other)).body.code).to.equal('ERR_CURSOR_INVALID');
    const next = (await audit(`?limit=1&cursor=${encodeURIComponent(page.next_cursor)}`)).body;
    expect(next.records[0].hash).not.to.equal(page.records[0].hash);
  });

  it('verify says that all is well, and where a record was edited, deleted or cut off', async () => {
    await service.restart(); // signs off, so that the end of the chain is known
    expect(await verify()).to.include({ intact: true, fault_count: 0 });
    const mine = (await all()).filter(({ tenant }) => tenant === 't1');
    const chain = mine[0]!.chain;
    const own = mine.filter((record) => record.chain === chain);
    const [middle, last] = [own[2]!, own.at(-1)!];
    const idOf = ({ seq }: AuditRecord): string => `${chain}.${seq}`;
    const put = (record: AuditRecord): Promise<unknown> => client.index({ index, id: idOf(record), document: record, refresh: true });
    const found = async (): Promise<string[]> => {
      const report = await verify();
      return (report.faults as { kind: string; seq: number }[]).map(({ kind, seq }) => `${kind} ${seq}`);
    };

    await put({ ...middle, owner: 'f'.repeat(32) });
    expect(await found()).to.deep.equal([`edited ${middle.seq}`]);
    await client.delete({ index, id: idOf(middle), refresh: true });
    expect(await found()).to.deep.equal([`missing ${middle.seq}`]);
    await put(middle);
    expect(await found()).to.deep.equal([]);
    await client.delete({ index, id: idOf(last), refresh: true });
    expect(await found()).to.deep.equal([`truncated ${last.seq}`]);
    await put(last);
    expect(await verify()).to.include({ intact: true });
  });

  it('while it cannot be written, writes stop with nothing stored, and reads go on and say so', async () => {
    const blocked = (on: boolean): Promise<unknown> => client.indices.putSettings({ index, settings: { 'index.blocks.write': on } });
    const search = (): Promise<Answer> => service.call('POST', '/v1/memories/search', user, { query: 'anything' });
    await blocked(true);
    try {
      expect((await search()).status).to.equal(200); // its record is the first that cannot be stored
      await until(async () => (await search()).body.degraded.includes('audit'));
      expect((await search()).headers.get('degraded')).to.equal('audit');
      const refused = await write('The gazebo was painted green.');
      expect([refused.status, refused.body.code]).to.deep.equal([503, 'ERR_AUDIT_UNAVAILABLE']);
      expect(
        (await service.call('GET', '/v1/memories', user)).body.items.map(({ content }: { content: string }) => content),
      ).not.to.include('The gazebo was painted green.');
    } finally {
      await blocked(false);
    }
    await until(async () => (await write('The gazebo was painted blue.')).status === 200);
    expect((await search()).body.degraded).to.deep.equal([]);
    expect((await records('?outcome=failed')).map(({ reason }) => reason)).to.include('ERR_AUDIT_UNAVAILABLE');
    expect(await verify()).to.include({ intact: true });
  });

  async function until(holds: () => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + 30_000;
    while (!(await holds())) if (performance.now() > deadline) throw new Error('did not come true within 30 s');
  }
});
