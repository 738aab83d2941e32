import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { boundedFetch, ResponseTooLarge } from '../../../../src/providers/embedding/bounded-fetch.ts';

describe('boundedFetch', () => {
  let server: Server;
  let url: string;
  let sent = 0;

  before(async () => {
    server = createServer((request, response) => {
      const bytes = Number(request.url?.slice(1));
      if (request.headers['x-declare'] !== undefined) response.setHeader('content-length', bytes);
      response.statusCode = bytes === 7 ? 429 : 200;
      sent = 0;
      const more = (): void => {
        while (sent < bytes) {
          const chunk = Math.min(1_000, bytes - sent);
          sent += chunk;
          if (!response.write('x'.repeat(chunk))) {
            response.once('drain', more);
            return;
          }
        }
        response.end();
      };
      more();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  });

  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => undefined,
      (error: unknown) => error,
    );

  it('gives status, headers and the whole body of a response within the limit', async () => {
    const response = await boundedFetch(5_000)(`${url}/5000`);
    expect((await response.text()).length).to.equal(5_000);
    const refused = await boundedFetch(5_000)(`${url}/7`, { headers: { 'x-declare': 'yes' } });
    expect([refused.status, refused.headers.get('content-length'), await refused.text()]).to.deep.equal([429, '7', 'xxxxxxx']);
  });

  it('refuses a response that declares more than the limit', async () => {
    expect(await errorOf(boundedFetch(4_999)(`${url}/5000`, { headers: { 'x-declare': 'yes' } }))).to.be.instanceOf(ResponseTooLarge);
  });

  it('stops reading a response that turns out larger than the limit', async () => {
    const total = 100_000_000;
    expect(await errorOf(boundedFetch(10_000)(`${url}/${String(total)}`))).to.be.instanceOf(ResponseTooLarge);
    expect(sent).to.be.lessThan(total / 2);
  });
});
