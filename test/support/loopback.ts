/** A server on loopback for a test's other end: begun on a free port, ended with its open connections. */
import type { Server } from 'node:http';

export async function listen(server: Server, port = 0): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
}

export async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
