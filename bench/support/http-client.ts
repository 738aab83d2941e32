/** A plain keep-alive HTTP client: the same code asks the service and Elasticsearch, so that neither side of a comparison has a faster client. */
import { Agent, request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface HttpCall {
  readonly method: string;
  readonly path: string;
  /** JSON text, sent as it is. */
  readonly body?: string | Buffer | undefined;
  readonly headers?: OutgoingHttpHeaders;
}

export class HttpClient {
  readonly #agent: Agent;
  readonly #url: URL;
  readonly #headers: OutgoingHttpHeaders;

  /** `connections`: how many calls may run at once; one connection each, kept open. */
  constructor(baseUrl: string, headers: OutgoingHttpHeaders = {}, connections = 1) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
    this.#url = new URL(baseUrl);
    this.#headers = headers;
  }

  /** The whole answer, whatever its status. Rejects when the connection breaks. */
  send({ method, path, body, headers = {} }: HttpCall): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        {
          agent: this.#agent,
          host: this.#url.hostname,
          port: this.#url.port,
          method,
          path,
          headers: {
            ...this.#headers,
            ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString('utf8') }),
          );
        },
      );
      request.on('error', reject);
      request.end(body);
    });
  }

  /** The parsed answer; an Error with status and the answer's first characters unless it is 2xx. */
  async json<T>(call: HttpCall): Promise<T> {
    const answer = await this.send(call);
    if (answer.status < 200 || answer.status > 299)
      throw new Error(`${call.method} ${call.path.split('?')[0]}: ${answer.status} ${answer.text.slice(0, 300)}`);
    return JSON.parse(answer.text) as T;
  }

  close(): void {
    this.#agent.destroy();
  }
}
