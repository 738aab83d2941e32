import { expect } from 'chai';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { whenClosed } from '../../../src/http/when-closed.ts';

/** One request to a server that hands its response to `use`. */
async function answered(use: (res: ServerResponse) => void): Promise<ServerResponse> {
  let seen: ServerResponse | undefined;
  const server = createServer((_req, res) => {
    seen = res;
    use(res);
    res.end('done');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).text();
  await new Promise((resolve) => server.close(resolve));
  if (seen === undefined) throw new Error('no request came');
  return seen;
}

describe('http/when-closed', () => {
  it('tells everybody once, in their order, from one listener', async () => {
    const told: number[] = [];
    let added = -1;
    const res = await answered((response) => {
      const before = response.listenerCount('close');
      for (let n = 0; n < 20; n += 1) whenClosed(response, () => told.push(n));
      added = response.listenerCount('close') - before;
    });
    expect(added).to.equal(1);
    expect(told).to.deep.equal(Array.from({ length: 20 }, (_, n) => n));
    whenClosed(res, () => told.push(99));
    expect(told.at(-1), 'at once where it is over').to.equal(99);
  });
});
