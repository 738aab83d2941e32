/** The doctor: each finding says what is wrong and what to do, also when the configuration cannot be read. */
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSocketServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkDisk, checkFiles, checkNode } from '../../../src/cli/doctor/machine.ts';
import { checkElasticsearch, checkEmbedding, checkRedis, checkService } from '../../../src/cli/doctor/services.ts';
import { loadConfig, type Config } from '../../../src/config.ts';
import { runCli } from '../../support/cli-run.ts';

describe('doctor', function () {
  this.timeout(30_000);
  let dataDir: string;
  const open: Server[] = [];
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'hindsight-doctor-'));
  });
  afterEach(() => {
    rmSync(dataDir, { recursive: true, force: true });
    for (const server of open.splice(0)) server.close();
  });

  const config = (env: Record<string, string> = {}): Config => loadConfig({ HINDSIGHT_LOCAL: 'true', DATA_DIR: dataDir, ...env });
  const listening = async (server: Server): Promise<number> => {
    open.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    return (server.address() as AddressInfo).port;
  };
  const answering = (status: number, body: object): Promise<number> =>
    listening(createServer((_req, res) => res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))));
  /** A Redis as far as PING and AUTH go. */
  const redisLike = (password: string | undefined): Promise<number> =>
    listening(
      createSocketServer((socket) => {
        let known = password === undefined;
        socket.on('data', (chunk) => {
          const text = chunk.toString('latin1');
          if (/AUTH/.test(text)) {
            known = password !== undefined && text.includes(`\r\n${password}\r\n`);
            socket.write(known ? '+OK\r\n' : '-WRONGPASS no\r\n');
          }
          socket.write(known ? '+PONG\r\n' : '-NOAUTH Authentication required.\r\n');
        });
      }),
    );

  it('knows an old Node and a full disk', async () => {
    expect(checkNode('18.20.0')).to.include({ health: 'fail' });
    expect(checkNode('20.19.0')).to.include({ health: 'ok' });
    expect((await checkDisk(join(dataDir, 'not', 'made', 'yet'))).health).to.be.oneOf(['ok', 'warn', 'fail']);
  });

  it('says how the multilingual model is made, where that profile is chosen', async () => {
    const models = async (profile: string): Promise<unknown> =>
      (await checkFiles(config({ EMBEDDING_PROFILE: profile, HINDSIGHT_CACHE_DIR: join(dataDir, 'empty') }))).find(
        ({ check }) => check === 'models',
      );
    expect(await models('local-multilingual')).to.deep.include({
      health: 'fail',
      fix: { en: 'run "npm run model:multilingual" once', zh: '请运行一次 “npm run model:multilingual”' },
    });
    expect(await models('local')).to.include({ health: 'warn' });
  });

  it('tells a cluster that is away, refuses, is too old or is something else', async () => {
    const health = async (env: Record<string, string>): Promise<string> => (await checkElasticsearch(config(env))).health;
    const at = (port: number): Record<string, string> => ({ ELASTICSEARCH_URL: `http://127.0.0.1:${port}` });
    expect(await health({})).to.equal('skip');
    expect(await health(at(9))).to.equal('fail');
    expect(await health(at(await answering(401, {})))).to.equal('fail');
    expect(await health(at(await answering(200, { version: { number: '8.15.3' } })))).to.equal('fail');
    expect(await health(at(await answering(200, { hello: 1 })))).to.equal('fail');
    for (const number of ['8.16.0', '8.19.9', '9.0.8'])
      expect(await health(at(await answering(200, { version: { number } })))).to.equal('ok');
  });

  it('asks Redis, with its password where there is one', async () => {
    const health = async (url: string | undefined): Promise<string> => (await checkRedis(url)).health;
    expect(await health(undefined)).to.equal('skip');
    expect(await health('redis://127.0.0.1:9')).to.equal('warn');
    expect(await health(`redis://127.0.0.1:${await redisLike(undefined)}`)).to.equal('ok');
    const port = await redisLike('p@ss');
    expect(await health(`redis://127.0.0.1:${port}`)).to.equal('fail');
    expect(await health(`redis://:wrong@127.0.0.1:${port}`)).to.equal('fail');
    expect(await health(`redis://:p%40ss@127.0.0.1:${port}`)).to.equal('ok');
  });

  it('asks an embedding endpoint, and none for the local models', async () => {
    const openai = (port: number): Config =>
      config({ EMBEDDING_PROFILE: 'openai', EMBEDDING_MODEL: 'm', EMBEDDING_BASE_URL: `http://127.0.0.1:${port}/v1` });
    expect(await checkEmbedding(config())).to.equal(undefined);
    expect(await checkEmbedding(openai(9))).to.include({ health: 'fail' });
    expect(await checkEmbedding(openai(await answering(401, {})))).to.include({ health: 'fail' });
    expect(await checkEmbedding(openai(await answering(200, { data: [] })))).to.include({ health: 'ok' });
  });

  it('tells a service that is down, not ready, or of another version', async () => {
    expect(await checkService(dataDir)).to.include({ health: 'warn' });
    const serving = async (ready: number, version: string): Promise<string> => {
      const port = await listening(
        createServer((req, res) => res.writeHead(req.url === '/readyz' ? ready : 200).end(JSON.stringify({ service: { version } }))),
      );
      writeFileSync(
        join(dataDir, 'run.json'),
        JSON.stringify({ url: `http://127.0.0.1:${port}`, token: 't', agent_token: 'a', pid: process.pid }),
      );
      return (await checkService(dataDir)).health;
    };
    expect(await serving(503, 'x')).to.equal('fail');
    expect(await serving(200, '0.0.1')).to.equal('warn');
    const { out } = await runCli(['doctor', '--json'], { env: { DATA_DIR: dataDir, HOME: dataDir } });
    const { checks } = JSON.parse(out) as { checks: { check: string; found: string }[] };
    expect(await serving(200, checks[0]?.found ?? '')).to.equal('ok');
  });

  it('examines everything without a service, in both languages, and fails with 1', async () => {
    const env = { DATA_DIR: dataDir, HOME: dataDir, ELASTICSEARCH_URL: 'http://127.0.0.1:9', PORT: String(await answering(200, {})) };
    const english = await runCli(['doctor'], { env });
    expect(english.code).to.equal(1);
    expect(english.out)
      .to.match(/^ok {4}Node /m)
      .and.match(/^fail {2}Elasticsearch +ELASTICSEARCH_URL cannot be reached\n +→ start it/m)
      .and.match(/^fail {2}port /m)
      .and.match(/^warn {2}service /m);
    expect((await runCli(['doctor'], { env, lang: 'zh' })).out).to.match(/→ 请启动它或更正地址/);
  });

  it('says what is wrong with the configuration and examines the rest', async () => {
    const { code, out } = await runCli(['doctor', '--json'], { env: { DATA_DIR: dataDir, HOME: dataDir, PORT: 'eighty' } });
    const { healthy, checks } = JSON.parse(out) as { healthy: boolean; checks: { check: string; health: string; found: string }[] };
    expect([code, healthy]).to.deep.equal([1, false]);
    expect(checks.find(({ check }) => check === 'configuration')).to.include({ health: 'fail' });
    expect(checks.find(({ check }) => check === 'configuration')?.found).to.contain('PORT');
    expect(checks.map(({ check }) => check)).to.include.members(['Node', 'Java', 'disk', 'Redis', 'service']);
  });
});
