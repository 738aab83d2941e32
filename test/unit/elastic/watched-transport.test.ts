/** What Elasticsearch is told about the call it serves, and what the metrics are told about Elasticsearch. */
import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient, RETRY, type StoreClient } from '../../../src/elastic/client.ts';
import { openTrace, traceparentOf } from '../../../src/telemetry/trace.ts';
import { withTrace } from '../../../src/telemetry/trace-context.ts';

describe('elastic/watched-transport', () => {
  let server: Server;
  let client: StoreClient;
  let seen: IncomingHttpHeaders[] = [];
  let calls: [call: string, outcome: string][] = [];
  let durations: number[] = [];
  let statuses: number[] = [];
  let silent = false;

  before(async () => {
    server = createServer((request, response) => {
      seen.push(request.headers);
      request.resume();
      if (silent) return;
      const status = statuses.shift() ?? 200;
      response.writeHead(status, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' });
      response.end(status === 200 ? '{}' : '{"error":{"type":"x"}}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = createClient({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      onCall: (call, outcome, durationMs) => {
        calls.push([call, outcome]);
        durations.push(durationMs);
      },
    });
  });
  beforeEach(() => {
    [seen, calls, durations, statuses, silent] = [[], [], [], [], false];
  });
  after(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });

  it('passes the trace on, and names the route or job that asks', async () => {
    const trace = openTrace();
    await withTrace(trace, '/v1/memories/{memory_id}', () => client.get({ index: 'a', id: '1' }));
    expect(seen[0]).to.include({ traceparent: traceparentOf(trace), 'x-opaque-id': 'hindsight-es /v1/memories/{memory_id}' });
  });

  it('says only who it is outside a call', async () => {
    await client.cluster.health();
    expect(seen[0]).to.include({ 'x-opaque-id': 'hindsight-es' }).and.not.to.have.property('traceparent');
  });

  it('keeps headers that a call gives itself', async () => {
    await client.get({ index: 'a', id: '1' }, { headers: { 'x-own': 'yes' } });
    expect(seen[0]).to.include({ 'x-own': 'yes', 'x-opaque-id': 'hindsight-es' });
  });

  it('tells the kind of every call', async () => {
    await client.search({ index: 'a' });
    await client.search({ pit: { id: 'p' } });
    await client.openPointInTime({ index: 'a', keep_alive: '1m' });
    await client.mget({ ids: ['1'], index: 'a' });
    await client.index({ index: 'a', document: {} });
    await client.bulk({ operations: [{ delete: { _index: 'a', _id: '1' } }] });
    await client.indices.refresh({ index: 'a' });
    await client.indices.putMapping({ index: 'a' });
    expect(calls.map(([call]) => call)).to.deep.equal(['search', 'scan', 'scan', 'get', 'write', 'bulk', 'refresh', 'admin']);
    expect(calls.every(([, outcome]) => outcome === 'ok')).to.equal(true);
    expect(Math.min(...durations)).to.be.above(0);
  });

  it('counts absence and conflict as answers, other refusals as failures, tries of one call as one', async () => {
    for (const status of [404, 409, 400, 503]) {
      statuses = [status];
      await client.update({ index: 'a', id: '1', doc: {} }).catch(() => undefined);
    }
    statuses = [503, 503];
    await client.search({ index: 'a' }, RETRY);
    expect(calls).to.deep.equal([
      ['write', 'ok'],
      ['write', 'ok'],
      ['write', 'failed'],
      ['write', 'failed'],
      ['search', 'ok'],
    ]);
  });

  it('tells a caller that went away from an engine that is', async () => {
    silent = true;
    const gone = new AbortController();
    const search = client.search({ index: 'a' }, { signal: gone.signal }).catch(() => undefined);
    while (seen.length === 0) await new Promise(setImmediate);
    gone.abort();
    await search;
    await client.search({ index: 'a' }, { requestTimeout: 20 }).catch(() => undefined);
    expect(calls).to.deep.equal([
      ['search', 'aborted'],
      ['search', 'failed'],
    ]);
  });
});
