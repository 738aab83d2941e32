/** The thin REST client of the command line: plain node:http, because loading fetch alone costs 20 ms of a cold call. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';

export interface RestCall {
  readonly method: string;
  /** With the query string. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RestAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** The body exactly as it came. */
  readonly text: string;
}

/** The service did not answer, or broke off in the middle of it. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** The service answered with a problem. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;
  readonly code: string | undefined;
  /** The problem document as it came. */
  readonly text: string;
  readonly faults: readonly { readonly pointer: string; readonly message: string }[];
  readonly retryAfterSeconds: number | undefined;

  constructor({ status, text, headers }: RestAnswer) {
    const problem = parsed(text);
    super(typeof problem['detail'] === 'string' ? problem['detail'] : `The service answered with status ${status}`);
    this.status = status;
    this.text = text;
    this.code = typeof problem['code'] === 'string' ? problem['code'] : undefined;
    this.faults = Array.isArray(problem['errors']) ? (problem['errors'] as Refused['faults']) : [];
    const after = Number(headers['retry-after']);
    this.retryAfterSeconds = Number.isFinite(after) ? after : undefined;
  }
}

/** Longer than the 10 s of a write that waits; the service itself bounds its work well below. */
const ANSWER_TIMEOUT_MS = 120_000;

export interface RestClient {
  readonly url: string;
  /** Throws Unreachable, and Refused for every status from 400 on. */
  call(call: RestCall): Promise<RestAnswer>;
  /** The response once its head is there; its body is the caller's to read. Throws as call. */
  open(call: RestCall): Promise<IncomingMessage>;
}

export function createRestClient(url: string, token: string | undefined): RestClient {
  const open = (call: RestCall): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const target = new URL(url + call.path);
      const body = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
      const request = (target.protocol === 'https:' ? httpsRequest : httpRequest)(target, {
        method: call.method,
        // one call a process, mostly: a kept connection would only hold the end up
        agent: false,
        timeout: ANSWER_TIMEOUT_MS,
        headers: {
          accept: 'application/json, application/problem+json, application/gzip',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
          ...call.headers,
        },
      });
      request.on('error', (error) => reject(unreachable(url, error)));
      request.on('timeout', () => request.destroy(new Error(`no answer within ${ANSWER_TIMEOUT_MS / 1_000} s`)));
      request.on('response', resolve);
      request.end(body);
    });
  return {
    url,
    open: async (call) => {
      const response = await open(call);
      const status = response.statusCode ?? 0;
      if (status >= 400) throw new Refused({ status, headers: response.headers, text: await textOf(response, url) });
      return response;
    },
    async call(call) {
      const response = await this.open(call);
      return { status: response.statusCode ?? 0, headers: response.headers, text: await textOf(response, url) };
    },
  };
}

async function textOf(response: IncomingMessage, url: string): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch (error) {
    throw unreachable(url, error as Error);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function unreachable(url: string, cause: NodeJS.ErrnoException): Unreachable {
  // a refused connection to localhost comes as an AggregateError without a message of its own
  const reason = cause.code ?? cause.message;
  return new Unreachable(`The service at ${url} cannot be reached (${reason})`, { cause });
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
