/** The stdio entry as a compiled program: it finds the service, starts one, survives its end, and says what is wrong. */
import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunFile } from '../../src/cli/run-file.ts';
import { EmbeddingServer, hashBackend } from '../support/embedding-server.ts';
import { acquireEngine } from '../support/engine.ts';
import { dropEverything, eventually, isThere } from '../support/program.ts';
import { freePort, HASH_DIMS } from '../support/service.ts';
import { StdioClient } from '../support/stdio-client.ts';

const NOTE = 'The kettle is on the second floor.';

describe('the stdio entry', function () {
  this.timeout(120_000);
  let engine: Awaited<ReturnType<typeof acquireEngine>>;
  let embeddings: EmbeddingServer;
  const clients: StdioClient[] = [];
  const services = new Set<number>();
  const prefix = `t${randomBytes(5).toString('hex')}`;
  const dataDir = mkdtempSync(join(tmpdir(), 'hindsight-stdio-'));
  let env: Record<string, string>;

  before(async () => {
    engine = await acquireEngine();
    embeddings = await EmbeddingServer.start(hashBackend(HASH_DIMS));
    env = {
      DATA_DIR: dataDir,
      ELASTICSEARCH_URL: engine.url,
      ELASTICSEARCH_INDEX_PREFIX: prefix,
      EMBEDDING_PROFILE: 'openai',
      EMBEDDING_BASE_URL: embeddings.baseUrl,
      EMBEDDING_MODEL: 'hashed-words',
      PORT: String(await freePort()),
    };
  });
  afterEach(async () => {
    for (const { program } of clients.splice(0)) await program.kill();
  });
  after(async () => {
    for (const pid of services) if (isThere(pid)) process.kill(pid, 'SIGKILL');
    await embeddings.stop();
    await dropEverything(engine.url, prefix);
    await engine.release();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const start = (args: readonly string[] = [], more: Record<string, string> = {}): StdioClient => {
    const client = new StdioClient(args, { ...env, ...more });
    clients.push(client);
    return client;
  };
  const runFile = (): RunFile => {
    const run = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as RunFile;
    services.add(run.pid);
    return run;
  };
  /** Gone, and nobody at its address any more: the last threads of a killed process still hold its sockets for a moment. */
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    const { pid, url } = runFile();
    process.kill(pid, signal);
    const { hostname: host, port } = new URL(url);
    const answers = (): Promise<boolean> =>
      new Promise((resolve) => {
        const socket = connect(Number(port), host);
        socket.once('connect', () => resolve(true)).once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'));
        socket.once('connect', () => socket.destroy());
      });
    await eventually(
      async () => isThere(pid) || (await answers()),
      (there) => !there,
    );
  };

  it('starts one service for two clients that come at once, answers both at once, and leaves it running', async () => {
    const [one, two] = [start(), start()];
    await Promise.all([one.hello(), two.hello()]);
    const listed = await Promise.all([one, two].map((client) => client.ask('tools/list')));
    for (const { result } of listed) expect(result.tools.map(({ name }: { name: string }) => name)).to.include('memory_write');
    const starts = [one, two].flatMap(({ program }) => program.stderr.match(/starting one in the background/g) ?? []);
    expect(starts).to.have.length(1);
    expect([one, two].map(({ program }) => program.stderr).join('')).to.match(/hindsight-es: the service is ready at http/);
    const { pid } = runFile();
    for (const client of [one, two]) expect((await client.leave()).code).to.equal(0);
    expect(isThere(pid)).to.equal(true);
  });

  it('writes, searches, gets and reports a fault, with nothing but JSON-RPC on stdout', async () => {
    const client = start();
    await client.hello();
    const written = await client.call('memory_write', { content: NOTE, wait: true });
    const id = written.result.structuredContent.results[0].memory_id;
    const found = await client.call('memory_search', { query: 'kettle floor' });
    expect(found.result.structuredContent.hits[0].memory_id).to.equal(id);
    expect((await client.call('memory_get', { memory_id: id })).result.structuredContent.content).to.contain(NOTE);
    expect((await client.call('memory_get', { memory_id: 'none' })).result.isError).to.equal(true);
    client.program.child.stdin?.write('no json\n');
    await client.program.until(() => client.messages.some(({ error }) => error?.code === -32700));
    client.program.child.stdin?.write('{"jsonrpc":"2.0"}\n');
    await client.program.until(() => client.messages.some(({ id, error }) => id === null && error?.code === -32600));
    const { code, tookMs } = await client.leave();
    expect(code).to.equal(0);
    expect(tookMs).to.be.below(1_000);
  });

  it('answers initialize within a second of its start, the best of three', async () => {
    const took: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      const client = start();
      took.push(await client.hello());
      expect((await client.leave()).code).to.equal(0);
    }
    expect(Math.min(...took)).to.be.below(1_000);
  });

  it('answers what was piped in before stdin ended', async () => {
    const client = start();
    const message = { jsonrpc: '2.0', id: 7, method: 'tools/list' };
    client.program.child.stdin?.end(JSON.stringify(message));
    expect((await client.program.exited).code).to.equal(0);
    expect(client.messages.map(({ id }) => id)).to.deep.equal([7]);
  });

  it('finds the service again after it was stopped and came back on another port', async () => {
    const client = start();
    await client.hello();
    const before = runFile();
    await stop('SIGTERM');
    const other = start([], { PORT: String(await freePort()) });
    await other.hello();
    await other.ask('tools/list');
    expect(runFile().url).to.not.equal(before.url);
    expect((await client.call('memory_search', { query: 'kettle' })).result.structuredContent.hits).to.have.length.above(0);
  });

  it('starts the service again when it was killed', async () => {
    const client = start();
    await client.hello();
    await client.ask('tools/list');
    await stop('SIGKILL');
    expect((await client.ask('tools/list')).result.tools).to.have.length.above(4);
    expect(client.program.stderr).to.contain('starting one in the background');
    runFile();
  });

  it('tells which token the service refused and where it came from', async () => {
    const { url } = runFile();
    const wrong = start(['--url', `${url}/mcp`], { HINDSIGHT_TOKEN: 'wrong' });
    const { error } = await wrong.ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    });
    expect(error.code).to.equal(-32001);
    expect(error.message).to.match(/^401: the service at \S+ rejected the token .*it came from HINDSIGHT_TOKEN/);
    const elsewhere = start(['--url', `http://127.0.0.1:${await freePort()}`, '--token', 'any']);
    expect((await elsewhere.ask('tools/list')).error.message).to.match(/cannot be reached: start it, or correct HINDSIGHT_URL/);
  });

  it('takes over the lock and the note of a starter that died', async () => {
    await stop('SIGTERM');
    writeFileSync(join(dataDir, 'start.lock'), '999999999 x');
    writeFileSync(join(dataDir, 'starting.json'), JSON.stringify({ pid: 999_999_999, log_from: 0 }));
    const client = start();
    await client.hello();
    expect((await client.ask('tools/list')).result.tools).to.have.length.above(4);
    runFile();
  });

  it('joins a start whose own starter has left', async () => {
    await stop('SIGTERM');
    const first = start();
    await first.hello();
    await first.program.until(() => first.program.stderr.includes('starting one in the background'));
    await first.program.kill();
    const second = start();
    await second.hello();
    expect((await second.ask('tools/list')).result.tools).to.have.length.above(4);
    expect(second.program.stderr).to.not.contain('starting one in the background');
    runFile();
  });

  it('says why the service did not start, and starts none with --no-start', async () => {
    await stop('SIGTERM');
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    const client = start(['--port', String(port)]);
    await client.hello();
    expect((await client.ask('tools/list')).error.message).to.match(
      new RegExp(`^The service could not be started: Port ${port} is in use.* \\(log: .*service\\.log\\)$`),
    );
    taken.close();
    const idle = start(['--no-start']);
    await idle.hello();
    expect((await idle.ask('tools/list')).error.message).to.match(
      /^No service is running on .*: start one with "hindsight-es serve --local"/,
    );
  });
});
