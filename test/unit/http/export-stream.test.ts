/** A file as an answer: streamed and compressed, broken off where it breaks, and stopped when nobody reads it any more. */
import { expect } from 'chai';
import { gunzipSync } from 'node:zlib';
import { ADMIN, READER, startServer, type TestServer } from './support/test-server.ts';

describe('http/routes: files', () => {
  let test: TestServer;
  before(async () => {
    test = await startServer();
  });
  after(() => test.listening.close());

  const fetchExport = (token: string, signal?: AbortSignal): Promise<Response> =>
    fetch(`http://127.0.0.1:${test.listening.port}/v1/export`, {
      headers: { authorization: `Bearer ${token}` },
      ...(signal === undefined ? {} : { signal }),
    });
  const answering = (lines: () => AsyncGenerator<string>): void => {
    test.memory.intercept = async () => lines();
  };

  it('is gzip under a name, line by line as it was given', async () => {
    answering(async function* () {
      yield 'one\n';
      yield '二\n';
    });
    const response = await fetchExport(ADMIN);
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.equal('application/gzip');
    expect(response.headers.get('content-disposition')).to.equal('attachment; filename="memories.jsonl.gz"');
    expect(gunzipSync(Buffer.from(await response.arrayBuffer())).toString('utf8')).to.equal('one\n二\n');
  });

  it('breaks the connection off when the lines break, so that no client takes the part for the whole', async () => {
    answering(async function* () {
      yield `${'x'.repeat(200_000)}\n`;
      throw new Error('the store went away');
    });
    const ended = await fetchExport(ADMIN)
      .then((response) => response.arrayBuffer())
      .then(
        () => 'whole',
        () => 'broken off',
      );
    expect(ended).to.equal('broken off');
  });

  it('stops asking for lines when the client leaves', async () => {
    let closed: (() => void) | undefined;
    const stopped = new Promise<void>((resolve) => (closed = resolve));
    answering(async function* () {
      try {
        // more than any buffer on the way takes: what compresses badly
        for (let i = 0; ; i += 1)
          yield `${Array.from({ length: 4_000 }, (_, j) => ((i * 7_919 + j * j * 31) % 65_521).toString(36)).join('')}\n`;
      } finally {
        closed?.();
      }
    });
    const abort = new AbortController();
    const response = await fetchExport(ADMIN, abort.signal);
    const reader = response.body?.getReader();
    await reader?.read();
    abort.abort();
    await stopped;
  });

  it('needs memory:admin', async () => {
    const refused = await fetchExport(READER);
    expect(refused.status).to.equal(403);
    expect(await refused.json()).to.include({ code: 'ERR_SCOPE_MISSING' });
  });
});
