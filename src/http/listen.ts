/** Node's HTTP server around the app: time-outs, parser faults, and an end that lets running calls finish. */
import { createServer, STATUS_CODES, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type Koa from 'koa';
import { HindsightError } from '../errors.ts';
import type { RequestState } from './request-state.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

/** Above the idle time-out of common proxies (60 s), so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** To receive a request; answers may take longer. */
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 15_000;
const TIMEOUT_CHECK_MS = 5_000;
const MAX_HEADER_BYTES = 16_384;
const DRAIN_TIMEOUT_MS = 10_000;
const DRAIN_CHECK_MS = 50;

export interface Listening {
  readonly port: number;
  /** Stops accepting, waits up to 10 s for running calls, then cuts what is left. */
  close(): Promise<void>;
}

export function listen(app: Koa<RequestState>, port: number, host: string): Promise<Listening> {
  const handle = app.callback();
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    (req, res) => void handle(req, res),
  );
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => answerParserFault(error, socket));
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? new HindsightError('ERR_PORT_IN_USE', { params: { port }, cause: error }) : error);
    });
    server.listen(port, host, () => resolve({ port: (server.address() as AddressInfo).port, close: () => drain(server, sockets) }));
  });
}

function drain(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    // a kept-alive connection that turns idle after close() would hold the server until its own time-out
    const idle = setInterval(() => server.closeIdleConnections(), DRAIN_CHECK_MS);
    const deadline = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT_MS);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(deadline);
      resolve();
    });
    server.closeIdleConnections();
    // to Node a connection that clients opened ahead and never used counts as busy
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  });
}

/** Requests that Node's parser refuses never reach the app; they get a bare problem and a closed connection. */
function answerParserFault(error: NodeJS.ErrnoException, socket: Socket): void {
  // after a first response on this connection, bytes written here could be taken for part of it
  if (!socket.writable || error.code === 'ECONNRESET' || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const title = STATUS_CODES[status] ?? 'Error';
  const body = JSON.stringify({ type: 'about:blank', title, status });
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'Connection: close',
    'Content-Type: application/problem+json',
    ...Object.entries(SECURITY_HEADERS).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
