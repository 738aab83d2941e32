import { errors, type DiagnosticResult } from '@elastic/elasticsearch';
import { expect } from 'chai';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient, engineVersion, mapStoreError, RETRY, storeCall } from '../../../src/elastic/client.ts';
import { HindsightError } from '../../../src/errors.ts';

const answer = (statusCode: number, type: string, reason = 'why') =>
  new errors.ResponseError({
    statusCode,
    body: { error: { type, reason, root_cause: [{ type, reason }] } },
    headers: {},
    meta: { request: { params: { body: 'secret memory' } } },
    warnings: null,
  } as unknown as DiagnosticResult);

describe('elastic/client', () => {
  let server: Server;
  let url: string;
  let status = 200;
  let body = '{}';
  let calls = 0;
  let headers: Record<string, string> = { 'x-elastic-product': 'Elasticsearch' };
  let seen: (string | undefined)[] = [];
  before((done) => {
    server = createServer((request, response) => {
      calls += 1;
      seen.push(request.headers.authorization);
      request.resume();
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    }).listen(0, '127.0.0.1', () => {
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      done();
    });
  });
  beforeEach(() => {
    status = 200;
    body = '{}';
    calls = 0;
    seen = [];
    headers = { 'x-elastic-product': 'Elasticsearch' };
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('maps overload, gateway answers and missing shards to unavailable, the rest to rejected', () => {
    for (const code of [429, 502, 503, 504]) expect(mapStoreError(answer(code, 'x')).code, String(code)).to.equal('ERR_STORE_UNAVAILABLE');
    expect(mapStoreError(answer(500, 'no_shard_available_action_exception')).code).to.equal('ERR_STORE_UNAVAILABLE');
    for (const code of [400, 401, 403, 404, 409, 500])
      expect(mapStoreError(answer(code, 'x')).code, String(code)).to.equal('ERR_STORE_REJECTED');
    expect(mapStoreError(new errors.ConnectionError('refused')).code).to.equal('ERR_STORE_UNAVAILABLE');
    expect(mapStoreError(new errors.TimeoutError('slow')).code).to.equal('ERR_STORE_UNAVAILABLE');
    expect(mapStoreError(new errors.DeserializationError('html', '<')).code).to.equal('ERR_STORE_REJECTED');
    expect(mapStoreError(new TypeError('bug')).code).to.equal('ERR_INTERNAL');
    const ours = new HindsightError('ERR_BUSY');
    expect(mapStoreError(ours)).to.equal(ours);
  });

  it('keeps type and status as cause, but neither the request nor anything quoted from it', () => {
    const reasons = [
      `failed to parse field [x] of type [date] in document with id 'a'. Preview of field's value: 'secret memory'`,
      'For input string: "secret memory"',
    ];
    for (const reason of reasons) {
      const { cause, message } = mapStoreError(answer(400, 'document_parsing_exception', reason));
      expect((cause as Error).message).to.match(/^elasticsearch answered 400 document_parsing_exception: /);
      expect(JSON.stringify([message, (cause as Error).message, Object.entries(cause as object)])).not.to.include('secret');
    }
  });

  it('sends a call twice more only when told that it may be', async () => {
    const client = createClient({ url });
    status = 503;
    const failed = async (call: () => Promise<unknown>): Promise<unknown> =>
      storeCall(call).catch((error: unknown) => (error as HindsightError).code);
    expect(await failed(() => client.index({ index: 'i', document: {} }))).to.equal('ERR_STORE_UNAVAILABLE');
    expect(calls).to.equal(1);
    expect(await failed(() => client.count({ index: 'i' }, RETRY))).to.equal('ERR_STORE_UNAVAILABLE');
    expect(calls).to.equal(4);
    await client.close();
  });

  it('times out as unavailable', async () => {
    const slow = createServer(() => undefined).listen(0, '127.0.0.1');
    await new Promise((resolve) => slow.once('listening', resolve));
    const client = createClient({ url: `http://127.0.0.1:${(slow.address() as AddressInfo).port}`, requestTimeoutMs: 50 });
    const code = await storeCall(() => client.count({ index: 'i' })).catch((error: unknown) => (error as HindsightError).code);
    expect(code).to.equal('ERR_STORE_UNAVAILABLE');
    await client.close();
    slow.closeAllConnections();
    slow.close();
  });

  it('rejects an answer that is not from Elasticsearch', async () => {
    headers = {};
    const client = createClient({ url });
    const code = await storeCall(() => client.count({ index: 'i' })).catch((error: unknown) => (error as HindsightError).code);
    expect(code).to.equal('ERR_STORE_REJECTED');
    await client.close();
  });

  it('authenticates by API key or by name and password', async () => {
    for (const options of [{ apiKey: 'k' }, { username: 'u', password: 'p' }, {}]) {
      const client = createClient({ url, ...options });
      await client.count({ index: 'i' });
      await client.close();
    }
    expect(seen).to.deep.equal(['ApiKey k', `Basic ${Buffer.from('u:p').toString('base64')}`, undefined]);
  });

  it('tells the lowest version of a mixed cluster', async () => {
    body = JSON.stringify({ nodes: { a: { version: '9.0.8' }, b: { version: '8.19.9' }, c: { version: '8.19.10' } } });
    const client = createClient({ url });
    expect(await engineVersion(client)).to.equal('8.19.9');
    await client.close();
  });
});
