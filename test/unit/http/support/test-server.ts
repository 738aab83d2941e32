/** The real HTTP server on a free port, with test doubles for memory, tokens and limits behind it. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { HindsightError, type ErrorCode } from '../../../../src/errors.ts';
import { createHttpServer, type HttpServer } from '../../../../src/http/server.ts';
import type { HttpConfig } from '../../../../src/http/http-config.ts';
import type { Listening } from '../../../../src/http/listen.ts';
import type { MountedHandler } from '../../../../src/http/mount.ts';
import { operations } from '../../../../src/operations/index.ts';
import { createInvoke } from '../../../../src/operations/invoke.ts';
import { testAuditLog } from '../../../support/audit-store.ts';
import { principal } from '../../../support/principals.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { memoryDouble, type MemoryDouble } from './memory-double.ts';

export const TOKEN = 'good.token';
export const READER = 'reader.token';
export const ADMIN = 'admin.token';
export const KEYS_AWAY = 'keys.away';

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Parsed body of a JSON answer. */
  readonly json: Record<string, unknown>;
}

export interface RequestOptions {
  readonly token?: string | null;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
  /** Send without a Content-Length. */
  readonly chunked?: boolean;
}

export interface TestServer {
  readonly server: HttpServer;
  readonly listening: Listening;
  readonly memory: MemoryDouble;
  readonly logs: LogLine[];
  readonly requests: { method: string; route: string; status: number }[];
  readonly consumed: { operation: string; cost: number }[];
  readonly addresses: string[];
  /** Bucket that is used up. */
  refusing: string | undefined;
  ready: boolean;
  request(method: string, path: string, options?: RequestOptions): Promise<TestAnswer>;
  post(path: string, value: unknown, options?: RequestOptions): Promise<TestAnswer>;
  /** Bytes straight onto a connection; what came back until the server closed it or went silent. */
  raw(text: string): Promise<string>;
}

export async function startServer(options: { config?: Partial<HttpConfig>; mounts?: readonly MountedHandler[] } = {}): Promise<TestServer> {
  const memory = memoryDouble();
  const logs: LogLine[] = [];
  const log = (level: string) => (fields: object, message: string) => void logs.push({ level, message, ...fields });
  const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
  const limiter = {
    consume: async (_who: unknown, operation: string, cost: number) => {
      test.consumed.push({ operation, cost });
      if (test.refusing === operation) throw new HindsightError('ERR_RATE_LIMITED', { params: { seconds: 7 }, retryAfterSeconds: 7 });
      return { limit: 100, remaining: 100 - cost, resetSeconds: 30, windowSeconds: 60 };
    },
  };
  const addressLimiter = {
    coarse: async (address: string) => {
      test.addresses.push(address);
      if (test.refusing === 'address') throw new HindsightError('ERR_RATE_LIMITED', { params: { seconds: 7 }, retryAfterSeconds: 7 });
    },
  };
  const metrics = {
    operationDone: (_operation: string, _code: ErrorCode | 'OK', _durationMs: number) => undefined,
    requestDone: (method: string, route: string, status: number) => void test.requests.push({ method, route, status }),
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    render: async () => '# HELP up test\nup 1\n',
  };
  let now = 1_777_777_777_000;
  const clock = (): number => (now += 1);
  const server = createHttpServer({
    operations,
    invoke: createInvoke({ memory, instructions: INSTRUCTIONS, auditLog: testAuditLog(), limiter, clock, logger, metrics }),
    verifier: { verify },
    limiter: { ...limiter, ...addressLimiter },
    config: {
      hosts: ['127.0.0.1', 'localhost', '[::1]'],
      origins: ['https://page.example'],
      publicUrl: 'https://memory.example',
      prm: undefined,
      version: '0.0.0',
      ...options.config,
    },
    readiness: async () => test.ready,
    metrics,
    logger,
    clock,
    mounts: options.mounts ?? [],
  });
  const listening = await server.listen(0, '127.0.0.1');
  const test: TestServer = {
    server,
    listening,
    memory,
    logs,
    requests: [],
    consumed: [],
    addresses: [],
    refusing: undefined,
    ready: true,
    request: (method, path, given) => send(listening.port, method, path, given),
    post: (path, value, given = {}) => send(listening.port, 'POST', path, { ...given, body: JSON.stringify(value) }),
    raw: (text) => sendRaw(listening.port, text),
  };
  return test;
}

async function verify(token: string) {
  const scopes = ['memory:read', 'memory:write', 'memory:forget'];
  if (token === TOKEN) return principal({ scopes });
  if (token === READER) return principal({ scopes: ['memory:read'], sub: 'bob' });
  if (token === ADMIN) return principal({ scopes: [...scopes, 'memory:admin', 'memory:confirm', 'memory:reveal'], sub: 'root' });
  throw new HindsightError(token === KEYS_AWAY ? 'ERR_AUTH_KEYS_UNAVAILABLE' : 'ERR_AUTH_INVALID');
}

function send(port: number, method: string, path: string, options: RequestOptions = {}): Promise<TestAnswer> {
  const { token = TOKEN, headers = {}, body, chunked = false } = options;
  const all: Record<string, string | string[]> = {
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(body === undefined || chunked ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const req = httpRequest({ host: '127.0.0.1', port, method, path, headers: all, agent: false }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const isJson = /json/.test(res.headers['content-type'] ?? '') && text !== '';
        resolve({
          status: res.statusCode ?? 0,
          headers: res.headers,
          text,
          json: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
        });
      });
    });
    req.on('error', reject);
    if (chunked && body !== undefined) req.write(body);
    req.end(chunked ? undefined : body);
  });
}

function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setTimeout(2_000, () => socket.end());
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
    socket.write(text);
  });
}
