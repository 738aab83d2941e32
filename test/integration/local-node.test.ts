/** The managed local Elasticsearch for real: start, stop, death, restart, and who else may use its data directory. */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HindsightError } from '../../src/errors.ts';
import { basicHeader } from '../../src/elastic/local/credential.ts';
import { startLocalNode, type LocalNode } from '../../src/elastic/local/node.ts';
import { engineCacheDir, testEngine } from '../support/engine.ts';

const DEADLINE_MS = 60_000;

async function until(what: string, condition: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${DEADLINE_MS} ms: ${what}`);
    await delay(50);
  }
}

function start(dataDir: string, httpPort = 0): Promise<LocalNode> {
  return startLocalNode({
    cacheDir: engineCacheDir(),
    dataDir,
    engine: testEngine(),
    httpPort,
    javaHome: process.env['JAVA_HOME'],
    log: () => undefined,
  });
}

/** The parts of Elasticsearch's answers that these tests look at. */
interface Answer {
  readonly nodes: Record<string, { http: { bound_address: string[] }; settings: { path: { data: string[] } } }>;
  readonly hits: { hits: { _id: string }[] };
  readonly _source: { text: string };
}

async function send(node: LocalNode, method: string, path: string, body?: unknown): Promise<{ status: number; json: Answer }> {
  const headers = { 'content-type': 'application/json', ...(node.credential && { authorization: basicHeader(node.credential) }) };
  const response = await fetch(node.url + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  return { status: response.status, json: (await response.json()) as Answer };
}

/** Ports on which a process listens, from proc(5): its sockets' inodes looked up in the tables of the network. */
async function listeningPorts(pid: number): Promise<number[]> {
  const links = await Promise.all((await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8').catch(() => '')));
  const rows = tables.flatMap((table) => table.split('\n').map((line) => line.trim().split(/\s+/)));
  const own = rows.filter((row) => row[3] === '0A' && links.includes(`socket:[${row[9]}]`));
  return own.map((row) => Number.parseInt(row[1]?.split(':')[1] ?? '', 16));
}

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/_cluster/health`).then(
    () => true,
    () => false,
  );
}

async function failure(promise: Promise<unknown>): Promise<HindsightError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof HindsightError) return error;
  throw new Error(`expected a HindsightError, got ${String(error)}`);
}

describe('managed local Elasticsearch', function () {
  this.timeout(180_000);
  let dataDir: string;
  let node: LocalNode;
  const log = (): Promise<string> => readFile(join(dataDir, 'logs', 'elasticsearch.log'), 'utf8');

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'hindsight-es-node,'));
    node = await start(dataDir);
    await send(node, 'PUT', '/notes', {
      settings: { number_of_replicas: 0 },
      mappings: { properties: { v: { type: 'dense_vector', dims: 3 } } },
    });
    await send(node, 'PUT', '/notes/_doc/1?refresh=true', { text: 'kept', v: [1, 0, 0] });
  });

  after(async () => {
    await node.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('runs the version that was asked for, on loopback alone', async () => {
    expect(node.version).to.equal(testEngine());
    const { json } = await send(node, 'GET', '/_nodes/_local/http,settings');
    const [info] = Object.values(json.nodes);
    expect(info?.http.bound_address).to.deep.equal([new URL(node.url).host]);
    expect(info?.settings.path.data).to.deep.equal([join(dataDir, 'elasticsearch')]);
  });

  it('answers no request without the credential of its data directory, and says nothing of what it holds', async () => {
    const { url, credential } = node;
    const wrong = [
      {},
      { authorization: basicHeader({ username: 'hindsight', password: 'x'.repeat(43) }) },
      { authorization: basicHeader({ username: 'other', password: credential!.password }) },
      { authorization: `Bearer ${credential!.password}` },
      { authorization: basicHeader(credential!).toLowerCase() },
    ];
    for (const headers of wrong)
      for (const [method, path, body] of [
        ['GET', '/notes/_search', undefined],
        ['GET', '/no-such-route/at/all', undefined],
        ['OPTIONS', '/notes', undefined],
        ['POST', '/_bulk', '{"index":{"_index":"notes"}}\n{"text":"x"}\n'],
        ['POST', '/notes/_search?x=%ZZ', '{broken'],
        ['DELETE', '/notes', undefined],
      ] as const) {
        const answer = await fetch(url + path, {
          method,
          headers: { 'content-type': 'application/x-ndjson', ...headers },
          ...(body && { body }),
        });
        expect(answer.status, `${method} ${path}`).to.equal(401);
        expect(answer.headers.get('www-authenticate')).to.equal('Basic realm="hindsight-es"');
        expect(await answer.text()).not.to.contain('notes');
      }
    expect((await send(node, 'GET', '/notes/_count')).json).to.deep.include({ count: 1 });
  });

  it('keeps the credential in a file that its owner alone can read, and out of its command line, settings and log', async () => {
    const { credential } = node;
    const file = join(dataDir, 'engine-credential');
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    expect((await readFile(file, 'utf8')).trim()).to.equal(`hindsight:${credential!.password}`);
    const { json } = await send(node, 'GET', '/_nodes');
    expect(JSON.stringify(json)).not.to.contain(credential!.password).and.not.to.contain('credential_file');
    expect(await log()).not.to.contain(credential!.password);
  });

  if (process.platform === 'linux')
    it('listens on its HTTP port alone', async () => {
      expect(await listeningPorts(node.pid()!)).to.deep.equal([Number(new URL(node.url).port)]);
    });

  it('has JNA unpack its library in the data directory, not under the home of the user', async () => {
    // the file comes and goes within the start, so its folder's time is what is left to see
    const { birthtimeMs, mtimeMs } = await stat(join(dataDir, 'tmp'));
    // version 9 calls the system through the JDK alone
    if (testEngine() === '8.19.9') expect(mtimeMs).to.be.above(birthtimeMs);
    const underHome = await stat(join(homedir(), '.cache', 'JNA')).catch(() => undefined);
    expect(underHome?.mtimeMs ?? 0).to.be.below(birthtimeMs);
  });

  it('searches text and vectors', async () => {
    const { json } = await send(node, 'POST', '/notes/_search', {
      query: { bool: { should: [{ match: { text: 'kept' } }, { knn: { field: 'v', query_vector: [1, 0, 0], k: 1 } }] } },
    });
    expect(json.hits.hits[0]?._id).to.equal('1');
  });

  it('does not create an index because of a mistyped name', async () => {
    const { status } = await send(node, 'PUT', '/nots/_doc/1', { text: 'x' });
    expect(status).to.equal(404);
  });

  it('has a snapshot repository folder in the data directory', async () => {
    const { status } = await send(node, 'PUT', '/_snapshot/own', { type: 'fs', settings: { location: 'own' } });
    expect(status).to.equal(200);
  });

  it('refuses a second start on the same data directory and names the process that is in the way', async () => {
    const error = await failure(start(dataDir));
    expect(error.code).to.equal('ERR_ALREADY_RUNNING');
    expect(error.message).to.contain(`pid ${process.pid}`);
    expect(await answers(node.url)).to.equal(true);
  });

  it('comes back on the same url with its data after a kill -9', async () => {
    const before = node.pid();
    const seen: string[] = [];
    node.onDown(() => seen.push('down'));
    node.onUp(() => seen.push('up'));
    process.kill(before!, 'SIGKILL');
    await until('the node is up again', () => seen.includes('up'));
    expect(seen).to.deep.equal(['down', 'up']);
    expect(node.pid()).to.be.a('number').and.not.equal(before);
    const { json } = await send(node, 'GET', '/notes/_doc/1');
    expect(json._source.text).to.equal('kept');
    expect((await fetch(`${node.url}/notes/_doc/1`)).status).to.equal(401);
  });

  it('closes cleanly on stop, does not restart, and starts again with its data', async () => {
    const { url } = node;
    await node.stop();
    expect(node.pid()).to.equal(undefined);
    expect(await answers(url)).to.equal(false);
    expect((await log()).trimEnd()).to.match(/Node - closed$/);
    node = await start(dataDir);
    const { json } = await send(node, 'GET', '/notes/_doc/1');
    expect(json._source.text).to.equal('kept');
  });
});

describe('managed local Elasticsearch without its usual surroundings', function () {
  this.timeout(180_000);
  let dataDir: string;

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'hindsight-es-node-'));
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  it('closes cleanly when the process that started it is killed with -9, and its data directory is free at once for the next', async () => {
    const script = fileURLToPath(new URL('../support/local-node-parent.ts', import.meta.url));
    const parent = spawn(process.execPath, ['--import', 'tsx', script, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
    const line = await new Promise<string>((resolve, reject) => {
      createInterface(parent.stdout)
        .once('line', resolve)
        .once('close', () => reject(new Error('the parent said nothing')));
    });
    const { url } = JSON.parse(line) as { url: string };
    expect(await answers(url)).to.equal(true);
    parent.kill('SIGKILL');
    const next = await start(dataDir); // waits for the orphan to let go of the lock
    expect(await answers(url)).to.equal(false);
    await next.stop();
    const log = await readFile(join(dataDir, 'logs', 'elasticsearch.log'), 'utf8');
    expect(log.match(/Node - closed$/gm)).to.have.length(2);
  });

  it('says that the port is taken when another program holds it', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const { port } = holder.address() as { port: number };
    try {
      const error = await failure(start(dataDir, port));
      expect(error.code).to.equal('ERR_ENGINE_START');
      expect(error.message).to.contain(`Port ${port}`).and.contain('is in use');
    } finally {
      holder.close();
    }
  });
});
