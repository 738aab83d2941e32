/** A TCP proxy in front of a server, which can be cut, made to hang, or made to lose answers: an outage without touching the server. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type Fault =
  | 'cut' // connections are closed at once
  | 'hang' // requests go nowhere and are not answered
  | 'lose-answers'; // requests arrive, their answers do not

export interface TcpProxy {
  readonly url: string;
  /** Also breaks the connections that are open. */
  fail(fault: Fault): void;
  heal(): void;
  close(): Promise<void>;
}

export async function startTcpProxy(targetUrl: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(targetUrl);
  const sockets = new Set<Socket>();
  let fault: Fault | undefined;
  const drop = (): void => sockets.forEach((socket) => socket.destroy());

  const server = createServer((client) => {
    if (fault === 'cut') {
      client.destroy();
      return;
    }
    const upstream = connect(Number(port), hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (chunk) => {
      if (fault !== 'hang') upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (fault === undefined) client.write(chunk);
      else if (fault === 'lose-answers') client.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail: (kind) => {
      fault = kind;
      if (kind === 'cut') drop();
    },
    heal: () => {
      fault = undefined;
      drop();
    },
    close: async () => {
      drop();
      server.close();
      await once(server, 'close');
    },
  };
}
