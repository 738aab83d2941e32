/** X1, X2 (guard.md): addresses are the operator's and bounded, no redirect is followed, and a model's endpoint that misbehaves costs its part alone. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { loadConfig } from '../../src/config.ts';
import { boundedFetch } from '../../src/providers/embedding/bounded-fetch.ts';
import { fetchKeySet } from '../../src/gate/token-verifier-jwks.ts';
import type { EmbeddingFault } from '../support/embedding-server.ts';
import { startHashedService, type HashedService } from '../support/service.ts';

const LOCAL = { HINDSIGHT_LOCAL: 'true', DATA_DIR: '/nonexistent/x1' };
/** Every variable that names an address which the service asks. */
const ASKED = ['ELASTICSEARCH_URL', 'EMBEDDING_BASE_URL', 'LLM_BASE_URL', 'RERANK_URL', 'JWKS_URL', 'REDIS_URL'] as const;

describe('egress (X1, X2)', function () {
  this.timeout(120_000);

  it('X1: the operator’s addresses are http(s), without credentials in them, and on no host where a cloud keeps its own', () => {
    const bad = [
      ...[
        'file:///etc/passwd',
        'gopher://127.0.0.1:6379/_x',
        'ftp://models/x',
        'data:,x',
        'javascript:1',
        'http://',
        'http://user:pass@models/v1',
      ],
      ...[
        'http://169.254.169.254/latest',
        'http://0xa9fea9fe/',
        'http://2852039166/',
        'http://0251.0376.0251.0376/',
        'http://169.254.43518/',
      ],
      ...[
        'http://[::ffff:169.254.169.254]/',
        'http://[fe80::1]/',
        'http://[fd00:ec2::254]/',
        'http://metadata.google.internal/',
        'http://metadata.google.internal./',
      ],
    ];
    for (const name of ASKED)
      for (const url of bad) {
        let message = 'taken';
        try {
          loadConfig({ ...LOCAL, [name]: url });
        } catch (error) {
          message = (error as Error).message;
        }
        expect(message, `${name}=${url}`).to.include(`${name} must be`);
        expect(message, `${name}=${url}`).not.to.include('pass@');
      }
    // a model on the operator's own machine or network is what most have
    for (const url of ['http://127.0.0.1:11434/v1', 'http://localhost:8000/v1', 'http://10.1.2.3/v1', 'https://models.example/v1'])
      expect(loadConfig({ ...LOCAL, LLM_BASE_URL: url, LLM_MODEL: 'm' }).llm?.baseUrl, url).to.equal(url);
  });

  it('X1: no client follows a redirect', async () => {
    const trap: string[] = [];
    const refused = async (call: Promise<unknown>): Promise<void> => {
      const answered = await call.then(
        () => true,
        () => false,
      );
      expect(answered).to.equal(false);
    };
    const start = async (answer: RequestListener): Promise<{ url: string; close(): void }> => {
      const server = createServer(answer);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
      return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => void server.close() };
    };
    const inner = await start((request, response) => {
      trap.push(request.url ?? '');
      response.end('{"keys":[]}');
    });
    for (const status of [301, 302, 303, 307, 308]) {
      const outer = await start((_request, response) => void response.writeHead(status, { location: inner.url }).end());
      await refused(boundedFetch(1_000)(outer.url));
      await refused(boundedFetch(1_000)(outer.url, { method: 'POST', body: '{}' }));
      await refused(fetchKeySet(outer.url));
      outer.close();
    }
    inner.close();
    expect(trap).to.deep.equal([]);
  });

  describe('an embedding endpoint that misbehaves', () => {
    let service: HashedService;
    let alice: string;
    before(async () => {
      service = await startHashedService({ RATE_LIMIT_PROFILE: 'bench' });
      alice = await service.mint();
      await service.call('POST', '/v1/memories', alice, { content: 'The heron stands in the reeds.', wait: true });
    });
    after(() => service.close());

    const FAULTS: readonly EmbeddingFault[] = [
      ...(['wrong-dims', 'wrong-count', 'wrong-index', 'nan', 'infinite', 'zero', 'base64', 'not-json', 'too-large'] as const),
      ...(['redirect', 'hang', 'hang-body', 'down', 'status-500'] as const),
    ];
    it('X2: with any fault of it searches answer within bounds, by words alone, and say so', async () => {
      for (const [i, fault] of FAULTS.entries()) {
        service.embeddings.fail(fault);
        const startedAt = performance.now();
        const { status, body } = await service.call('POST', '/v1/memories/search', alice, { query: `where does heron number ${i} stand` });
        expect(status, `${fault}: ${JSON.stringify(body).slice(0, 200)}`).to.equal(200);
        // 2 s for the vector of a question, and what a busy machine adds
        expect(performance.now() - startedAt, fault).to.be.below(8_000);
        expect(body.degraded, fault).to.include('vector');
        expect(body.hits[0]?.content, fault).to.include('heron');
        const written = await service.call('POST', '/v1/memories', alice, { content: `A heron of the kind ${fault}, seen on day ${i}.` });
        expect([written.status, written.body.results[0].outcome], fault).to.deep.equal([200, 'stored']);
      }
      service.embeddings.heal();
      const healed = await service.call('POST', '/v1/memories/search', alice, { query: 'where do herons stand at last' });
      expect([healed.status, healed.body.degraded]).to.deep.equal([200, []]);
    });
  });
});
