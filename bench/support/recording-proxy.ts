/** An HTTP proxy between the service and Elasticsearch that keeps what passes: how the benches learn the very requests the service sends. */
import { Agent, createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RecordedCall {
  readonly method: string;
  /** Path and query string. */
  readonly path: string;
  readonly contentType: string | undefined;
  readonly accept: string | undefined;
  readonly body: string;
}

export class RecordingProxy {
  /** Calls since the last clear(), oldest first. */
  readonly calls: RecordedCall[] = [];
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #target: URL;

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((request, response) => void this.#pass(request, response).catch(() => response.destroy()));
  }

  static async start(target: string): Promise<RecordingProxy> {
    const proxy = new RecordingProxy(target);
    await new Promise<void>((resolve, reject) => proxy.#server.once('error', reject).listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Forgets what was recorded and returns it. */
  clear(): RecordedCall[] {
    return this.calls.splice(0);
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
    this.#agent.destroy();
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { method = 'GET', url = '/', headers } = incoming;
    this.calls.push({ method, path: url, contentType: headers['content-type'], accept: headers.accept, body: body.toString('utf8') });
    await new Promise<void>((resolve, reject) => {
      const upstream = httpRequest(
        {
          agent: this.#agent,
          host: this.#target.hostname,
          port: this.#target.port,
          method,
          path: url,
          headers: { ...headers, host: this.#target.host },
        },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(outgoing);
          answer.on('end', resolve).on('error', reject);
        },
      );
      upstream.on('error', reject);
      upstream.end(body);
    });
  }
}
