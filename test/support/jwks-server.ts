/** A token issuer for tests: key pairs, signed tokens with any header and claims, and a key server that can misbehave. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type JWK, type JWTPayload } from 'jose';

export interface TestKey {
  readonly publicJwk: JWK;
  /** Signs the claims as given: nothing is added. */
  sign(claims: JWTPayload, header?: Readonly<Record<string, unknown>>): Promise<string>;
}

/** A key pair; `kid: undefined` publishes it without one. */
export async function testKey(alg: string, kid?: string, publishAlg = true): Promise<TestKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const publicJwk: JWK = {
    ...(await exportJWK(publicKey)),
    use: 'sig',
    ...(publishAlg ? { alg } : {}),
    ...(kid === undefined ? {} : { kid }),
  };
  return {
    publicJwk,
    sign: (claims, header = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg, typ: 'at+jwt', ...(kid === undefined ? {} : { kid }), ...header })
        .sign(privateKey, { crit: {} }),
  };
}

/** base64url of JSON: for tokens that no library would make. */
export const part = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

export interface JwksServer {
  readonly url: string;
  /** Requests so far. */
  readonly hits: () => number;
  /** What the next requests are answered with. */
  serve(keys: readonly JWK[]): void;
  serveWith(answer: (response: ServerResponse) => void): void;
  close(): Promise<void>;
}

export async function startJwksServer(keys: readonly JWK[] = []): Promise<JwksServer> {
  let hits = 0;
  const json =
    (rows: readonly JWK[]) =>
    (response: ServerResponse): void => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ keys: rows }));
    };
  let answer = json(keys);
  const server = createServer((_request, response) => {
    hits += 1;
    answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`,
    hits: () => hits,
    serve: (rows) => {
      answer = json(rows);
    },
    serveWith: (other) => {
      answer = other;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
