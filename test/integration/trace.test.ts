/** One trace id ties a call, its log lines, its requests to Elasticsearch and to the embedder together, whichever front end it came by. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { composeService, type Service } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { EmbeddingServer, hashBackend } from '../support/embedding-server.ts';
import { acquireEngine } from '../support/engine.ts';
import { dropEverything, eventually } from '../support/program.ts';
import { freePort, HASH_DIMS } from '../support/service.ts';

interface Seen {
  readonly path: string;
  readonly trace: string | undefined;
  readonly origin: unknown;
}

const traceId = (traceparent: unknown): string | undefined => /^00-([0-9a-f]{32})-/.exec(String(traceparent))?.[1];

describe('one trace through the whole service', function () {
  this.timeout(120_000);
  const prefix = `t${randomBytes(5).toString('hex')}`;
  const dataDir = mkdtempSync(join(tmpdir(), 'hindsight-trace-'));
  const seen: Seen[] = [];
  const lines: Record<string, unknown>[] = [];
  let engine: Awaited<ReturnType<typeof acquireEngine>>;
  let proxy: Server;
  let embeddings: EmbeddingServer;
  let service: Service;

  before(async () => {
    engine = await acquireEngine();
    const { hostname, port } = new URL(engine.url);
    proxy = createServer((incoming, outgoing) => {
      const { headers, method, url: path = '' } = incoming;
      seen.push({ path, trace: traceId(headers['traceparent']), origin: headers['x-opaque-id'] });
      const upstream = httpRequest({ hostname, port, method, path, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      incoming.pipe(upstream.on('error', () => outgoing.destroy()));
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    embeddings = await EmbeddingServer.start(hashBackend(HASH_DIMS));
    const config = loadConfig({
      HINDSIGHT_LOCAL: 'true',
      ELASTICSEARCH_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      ELASTICSEARCH_INDEX_PREFIX: prefix,
      DATA_DIR: dataDir,
      PORT: String(await freePort()),
      EMBEDDING_PROFILE: 'openai',
      EMBEDDING_BASE_URL: embeddings.baseUrl,
      EMBEDDING_MODEL: 'hashed-words',
    });
    const sink = new Writable({ write: (chunk: Buffer, _encoding, done) => (lines.push(JSON.parse(String(chunk))), done()) });
    service = await composeService(config, { clock: systemClock, logger: createLogger(config, sink), onProgress: () => undefined });
  });
  after(async () => {
    await service.close();
    await embeddings.stop();
    proxy.closeAllConnections();
    proxy.close();
    await dropEverything(engine.url, prefix);
    await engine.release();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const post = (path: string, body: object, trace: string): Promise<Response> =>
    fetch(service.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.localTokens!.user}`,
        'content-type': 'application/json',
        traceparent: `00-${trace}-00f067aa0ba902b7-01`,
      },
      body: JSON.stringify(body),
    });
  const from = (trace: string): Seen[] => seen.filter((call) => call.trace === trace);

  it('reaches Elasticsearch and the embedder from a REST call, under the span of this service', async () => {
    const trace = randomBytes(16).toString('hex');
    const answer = await post('/v1/memories/search', { query: 'where the spare key lies' }, trace);
    expect(answer.status).to.equal(200);
    expect(from(trace).some(({ path }) => path.includes('/_search'))).to.equal(true);
    expect(new Set(from(trace).map(({ origin }) => origin))).to.deep.equal(new Set(['hindsight-es /v1/memories/search']));
    expect(embeddings.traceparents.at(-1)).to.equal(answer.headers.get('traceparent'));
  });

  it('reaches them from an MCP session too, call by call', async () => {
    const traces = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')] as const;
    let trace: string = traces[0];
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', service.url), {
      requestInit: { headers: { authorization: `Bearer ${service.localTokens!.agent}` } },
      fetch: (url, init) => {
        const headers = new Headers(init?.headers);
        headers.set('traceparent', `00-${trace}-00f067aa0ba902b7-01`);
        return fetch(url, { ...init, headers });
      },
    });
    const client = new Client({ name: 'trace-test', version: '1' });
    // the SDK's own type of a transport is looser than this project's compiler options
    await client.connect(transport);
    for (trace of traces) await client.callTool({ name: 'memory_search', arguments: { query: `where it lies ${trace}` } });
    await client.close();
    for (const each of traces) {
      expect(from(each).some(({ path, origin }) => path.includes('/_search') && origin === 'hindsight-es /mcp')).to.equal(true);
      expect(embeddings.traceparents.map(traceId)).to.include(each);
    }
  });

  it('stands in every log line of a call, also where the line was written far from the front end', async () => {
    const trace = randomBytes(16).toString('hex');
    embeddings.fail('status-401');
    await post('/v1/memories/search', { query: 'while the embedder is away' }, trace);
    embeddings.heal();
    const line = lines.find(({ msg }) => msg === 'search is degraded');
    expect(line).to.include({ part: 'vector', trace_id: trace });
  });

  it('is a trace of its own for each run of a job', async () => {
    const trace = randomBytes(16).toString('hex');
    const before = embeddings.traceparents.length;
    const written = await post('/v1/memories', { kind: 'fact', content: 'The spare key lies under the third pot.' }, trace);
    expect(written.status).to.be.oneOf([200, 201]);
    const run = await eventually(
      async () => embeddings.traceparents.slice(before).map(traceId)[0],
      (id) => id !== undefined,
    );
    expect(run).to.not.equal(trace);
    const origins = new Set(from(run!).map(({ origin }) => origin));
    expect(origins.size, [...origins].join()).to.equal(1);
    expect([...origins][0]).to.match(/^hindsight-es embed/);
  });

  it('puts a duration of each kind of call into the metrics', async () => {
    const page = await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${service.localTokens!.user}` } });
    const text = await page.text();
    for (const call of ['search', 'write', 'refresh', 'admin'])
      expect(text, call).to.match(new RegExp(`hindsight_elasticsearch_duration_seconds_count\\{call="${call}",outcome="ok"\\} [1-9]`));
  });

  it('shows nothing but ok or unavailable on /readyz', async () => {
    const answer = await fetch(`${service.url}/readyz`);
    expect([answer.status, await answer.json()]).to.deep.equal([200, { status: 'ok' }]);
    expect(seen.filter(({ path }) => path.startsWith(`/_cluster/health/${prefix}`)).map(({ origin }) => origin)).to.deep.equal([
      'hindsight-es /readyz',
    ]);
  });
});
