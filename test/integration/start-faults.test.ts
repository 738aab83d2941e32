/** What keeps the service from starting: one sentence that says what to do, and an exit code that is not 0. */
import { expect } from 'chai';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { createServer as createHttpServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddingServer, hashBackend } from '../support/embedding-server.ts';
import { openAiSpace } from '../../src/providers/embedding/openai.ts';
import { acquireEngine } from '../support/engine.ts';
import { dropEverything, outcome, Program, REPOSITORY } from '../support/program.ts';
import { freePort } from '../support/service.ts';
import { randomPrefix } from '../support/store.ts';

describe('a start that cannot succeed', function () {
  this.timeout(60_000);
  let folder: string;
  let port: number;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hindsight-faults-'));
    port = await freePort();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const serve = (env: Record<string, string> = {}, ...args: string[]): Promise<{ code: number | null; said: string }> =>
    outcome(['serve', ...args], { DATA_DIR: join(folder, 'data'), PORT: String(port), ...env });

  it('says that Node is too old before anything else is looked at', async () => {
    const prepare = join(REPOSITORY, 'src', 'bootstrap', 'prepare.mjs');
    const check = new Program(process.execPath, ['-e', `import(${JSON.stringify(prepare)}).then((m) => m.checkNode('20.18.3'))`], {});
    expect((await check.exited).code).to.equal(1);
    expect(check.stderr).to.match(/^hindsight-es: Node 20\.18\.3 is too old: install Node 20\.19 or newer[^\n]*\n$/);
  });

  it('names Maven and how to install it when there is none', async () => {
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    symlinkSync(process.execPath, join(bin, 'node'));
    const { code, said } = await serve({ PATH: bin, HINDSIGHT_CACHE_DIR: join(folder, 'cache') }, '--local');
    expect(code).to.equal(1);
    // a machine whose JDK is on the PATH alone, and so out of reach here, is told that first
    expect(said).to.match(/^hindsight-es: (Maven \(mvn\) was not found|No JDK was found)[^\n]*: install [^\n]*ELASTICSEARCH_URL[^\n]*$/);
  });

  it('says how the multilingual model is made when its profile is chosen without it', async () => {
    const env = { EMBEDDING_PROFILE: 'local-multilingual', HINDSIGHT_CACHE_DIR: join(folder, 'cache') };
    const { code, said } = await serve(env, '--local');
    expect(code).to.equal(1);
    expect(said).to.match(
      /^hindsight-es: The multilingual model is not in [^\n]*: run "npm run model:multilingual" once, then start again$/,
    );
  });

  it('names the port that another program holds', async () => {
    const other: Server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const taken = String((other.address() as AddressInfo).port);
    expect(await serve({ PORT: taken }, '--local')).to.deep.equal({
      code: 1,
      said: `hindsight-es: Port ${taken} is in use: stop the program that holds it or set PORT to another one`,
    });
    other.close();
  });

  it('names the Elasticsearch that cannot be reached', async () => {
    const dead = await freePort();
    const { code, said } = await serve({ ELASTICSEARCH_URL: `http://127.0.0.1:${dead}` }, '--local');
    expect(code).to.equal(1);
    expect(said).to.match(
      new RegExp(
        `^hindsight-es: Elasticsearch at http://127.0.0.1:${dead} cannot be reached: connect ECONNREFUSED[^\n]*check ELASTICSEARCH_URL[^\n]*$`,
      ),
    );
  });

  it('tells another web server from Elasticsearch', async () => {
    const web = createHttpServer((_req, res) => res.writeHead(404).end('nothing here')).listen(0, '127.0.0.1');
    await new Promise((resolve) => web.once('listening', resolve));
    const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    const { code, said } = await serve({ ELASTICSEARCH_URL: url }, '--local');
    web.close();
    expect(code).to.equal(1);
    expect(said).to.include(`Elasticsearch at ${url} cannot be reached: what answers there is not Elasticsearch (status 404)`);
  });

  it('refuses local mode on an address that others can reach', async () => {
    expect(await serve({ HOST: '0.0.0.0' }, '--local')).to.deep.equal({
      code: 1,
      said: 'hindsight-es: Refusing to start: HOST must be a loopback address in local mode, because anyone with a local token is believed',
    });
    expect(existsSync(join(folder, 'data'))).to.equal(false);
  });

  it('refuses to run without a token issuer and keys outside local mode', async () => {
    const { code, said } = await serve();
    expect(code).to.equal(1);
    for (const part of [
      'Refusing to start',
      'JWKS_URL, JWT_ISSUER, JWT_AUDIENCE must be set',
      'serve --local',
      'SERVICE_SECRET',
      'MASTER_KEY',
    ])
      expect(said).to.include(part);
  });

  it('names every value of the configuration that is wrong', async () => {
    const { code, said } = await serve({ PORT: '99999', LOG_LEVEL: 'loud' }, '--local');
    expect(code).to.equal(1);
    expect(said).to.match(/^hindsight-es: The configuration is not valid: PORT must be [^\n]*; LOG_LEVEL must be [^\n]*$/);
  });

  it('names the data directory that cannot be used', async () => {
    writeFileSync(join(folder, 'file'), '');
    const dataDir = join(folder, 'file', 'data');
    for (const args of [['serve', '--local'], ['token']])
      expect(await outcome(args, { DATA_DIR: dataDir, PORT: String(port) })).to.deep.equal({
        code: 1,
        said: `hindsight-es: The data directory ${dataDir} cannot be used (a part of the path is a file): give this user access to it or set DATA_DIR to another one`,
      });
  });

  it('names the key file that is damaged or that others may read', async () => {
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    const damage = { 'master.key': 'short', 'service.secret': '', 'issuer.jwk': '{"kty":"EC"' };
    for (const [name, text] of Object.entries(damage)) {
      writeFileSync(join(dataDir, name), text, { mode: 0o600 });
      const { code, said } = await serve({}, '--local');
      expect(code, name).to.equal(1);
      expect(said, name).to.match(/^hindsight-es: Refusing to start: [^\n]*damaged: restore [^\n]* new ones? made$/);
      rmSync(join(dataDir, name));
    }
    writeFileSync(join(dataDir, 'service.secret'), 'x'.repeat(44), { mode: 0o600 });
    chmodSync(join(dataDir, 'service.secret'), 0o644);
    expect((await serve({}, '--local')).said).to.match(/others may read or write it: run chmod 600 /);
  });

  describe('over an embedding endpoint and an Elasticsearch', () => {
    let engine: Awaited<ReturnType<typeof acquireEngine>>;
    let embeddings: EmbeddingServer;
    let prefix: string;

    beforeEach(async () => {
      engine = await acquireEngine();
      embeddings = await EmbeddingServer.start(hashBackend(16));
      prefix = randomPrefix();
    });
    afterEach(async () => {
      await embeddings.stop();
      await dropEverything(engine.url, prefix);
      await engine.release();
    });

    const env = (more: Record<string, string> = {}): Record<string, string> => ({
      ELASTICSEARCH_URL: engine.url,
      ELASTICSEARCH_INDEX_PREFIX: prefix,
      EMBEDDING_PROFILE: 'openai',
      EMBEDDING_BASE_URL: embeddings.baseUrl,
      EMBEDDING_MODEL: 'hashed-words',
      ...more,
    });

    it('says that the endpoint makes vectors of another dimension', async () => {
      expect(await serve(env({ EMBEDDING_DIMS: '24' }), '--local')).to.deep.equal({
        code: 1,
        said:
          'hindsight-es: The configuration is not valid: the embedding endpoint answers, but not as configured: ' +
          'the vector has 16 dimensions, not 24; check EMBEDDING_MODEL and EMBEDDING_DIMS',
      });
    });

    it('says that the endpoint is needed once while its dimension is unknown', async () => {
      embeddings.fail('down');
      const { code, said } = await serve(env(), '--local');
      expect(code).to.equal(1);
      expect(said).to.include('the dimension is unknown: start it, or set EMBEDDING_DIMS');
    });

    it('names the index and the field whose vectors are of another dimension', async () => {
      const { field } = openAiSpace({ model: 'hashed-words' }, 16);
      const index = `${prefix}-mem-${'0'.repeat(20)}-g1`;
      const made = await fetch(`${engine.url}/${index}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ mappings: { properties: { [field]: { type: 'dense_vector', dims: 24 } } } }),
      });
      expect(made.status).to.equal(200);
      const { code, said } = await serve(env(), '--local');
      expect(code).to.equal(1);
      expect(said).to.match(
        new RegExp(
          `^hindsight-es: The index ${index} does not fit this version: ${field} holds vectors of 24 dimensions and [^\n]* makes 16: [^\n]*$`,
        ),
      );
    });
  });
});
