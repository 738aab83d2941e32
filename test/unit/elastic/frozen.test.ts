/** An engine that takes connections and answers nothing, as one that was stopped or is thrashing: how long callers wait for it. */
import { expect } from 'chai';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { ANSWER, createClient, storeCall } from '../../../src/elastic/client.ts';
import { createRefresher } from '../../../src/elastic/refresher.ts';
import { rejection } from '../../support/rejection.ts';

describe('elastic: a frozen engine', function () {
  this.timeout(20_000);
  const sockets = new Set<Socket>();
  let server: Server;
  let url: string;
  before((done) => {
    server = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1', () => {
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      done();
    });
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  it('costs a read and the refresh before it five seconds and one try, half of what a write may take', async () => {
    const client = createClient({ url });
    try {
      const began = performance.now();
      const endedMs = async (call: Promise<unknown>): Promise<number> => {
        expect((await rejection(call)).code).to.equal('ERR_STORE_UNAVAILABLE');
        return performance.now() - began;
      };
      const write = storeCall(() => client.index({ index: 'i', document: {} })).catch(() => performance.now() - began);
      const [search, refresh] = await Promise.all([
        endedMs(storeCall(() => client.search({ index: 'i' }, ANSWER))),
        endedMs(createRefresher(client).refresh('i')),
      ]);
      for (const took of [search, refresh]) expect(took).to.be.within(4_900, 8_000);
      expect(await write).to.be.above(9_900);
    } finally {
      await client.close();
    }
  });
});
