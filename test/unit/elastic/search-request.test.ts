import { expect } from 'chai';
import fc from 'fast-check';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '../../../src/elastic/client.ts';
import { searchJson, sendSearch } from '../../../src/elastic/search-request.ts';

const vector = fc.array(
  fc.integer({ min: -10_000_000, max: 10_000_000 }).map((n) => n / 1e7),
  { minLength: 1, maxLength: 40 },
);

describe('elastic/search-request', () => {
  it('spells what JSON spells, whatever texts stand beside the vectors', () => {
    fc.assert(
      fc.property(vector, vector, fc.string(), (first, second, text) => {
        const knn = (query_vector: number[]) => ({ knn: { field: 'v', query_vector, filter: [{ term: { tenant: text } }], k: 3 } });
        const body = {
          query: { bool: { should: [{ match: { t: text } }, { dis_max: { queries: [knn(first), knn(second)] } }] } },
          size: 2,
        };
        const before = structuredClone(body);
        expect(JSON.parse(searchJson(body))).to.deep.equal(JSON.parse(JSON.stringify(body)));
        expect(body).to.deep.equal(before);
      }),
    );
  });

  it('takes a text that looks like its own mark for a text', () => {
    const body = { a: '"query_vector":"here"', knn: { query_vector: [0.5, -0.25] }, query_vector: 'here' };
    expect(() => JSON.parse(searchJson({ a: body.a, knn: body.knn }))).not.to.throw();
    expect(JSON.parse(searchJson({ a: body.a, knn: body.knn }))).to.deep.equal({ a: body.a, knn: body.knn });
  });

  it('asks as the client does: path, options in the query string, media type of the version', async () => {
    const seen: { url: string; type: string; body: string }[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        const url = new URL(request.url ?? '', 'http://x');
        url.searchParams.sort();
        seen.push({ url: String(url), type: `${request.headers['content-type']} ${request.headers.accept}`, body });
        response.writeHead(200, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' });
        response.end('{"took":1,"hits":{"hits":[]}}');
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = createClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    try {
      const body = { size: 3, include_named_queries_score: true, query: { match_all: {} } };
      for (const index of ['a', ['a', 'b+c']]) {
        const several = Array.isArray(index) ? { ignore_unavailable: true } : {};
        expect(await sendSearch(client, index, body)).to.deep.equal({ took: 1, hits: { hits: [] } });
        await client.search({ index, allow_partial_search_results: false, ...several, ...body });
      }
      expect(seen[0]).to.deep.equal(seen[1]);
      expect(seen[2]).to.deep.equal(seen[3]);
    } finally {
      await client.close();
      server.closeAllConnections();
      server.close();
    }
  });
});
