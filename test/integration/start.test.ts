/** A local start from nothing to its end, as child processes of the compiled program on the managed engine. */
import { expect } from 'chai';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, isThere, outcome, Program, serveLocal, type Running } from '../support/program.ts';
import { freePort } from '../support/service.ts';

const TEA = '小王喜欢喝龙井茶，每天下午三点一杯。';

describe('a local start', function () {
  this.timeout(180_000);
  let folder: string;
  let dataDir: string;
  let port: number;
  let service: Running;
  let teaId: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hindsight-start-'));
    dataDir = join(folder, 'data');
    port = await freePort();
    mkdirSync(join(folder, 'home'));
    service = await serveLocal(dataDir, port, { HOME: join(folder, 'home') });
  });
  after(async () => {
    // a service that is killed leaves its Elasticsearch a moment in which that still writes
    service.program.child.kill('SIGTERM');
    await service.program.exited;
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
  });

  it('leaves its address, both tokens and its pid in run.json for the owner alone', () => {
    expect(service.run).to.have.all.keys('url', 'token', 'agent_token', 'pid');
    expect(service.run).to.include({ url: `http://127.0.0.1:${port}`, pid: service.program.pid });
    expect(statSync(join(dataDir, 'run.json')).mode & 0o777).to.equal(0o600);
    expect(statSync(dataDir).mode & 0o777).to.equal(0o700);
  });

  it('prints the address, an MCP configuration and two curl calls, but no token where no terminal is', () => {
    const { stdout, stderr } = service.program;
    expect(stdout).to.include(`ready at ${service.run.url}`).and.include('"mcpServers"').and.include('/v1/memories/search');
    for (const token of [service.run.token, service.run.agent_token]) expect(stdout + stderr).not.to.include(token);
  });

  it('logs JSON lines alone where no terminal is, the steps of the start among them', () => {
    const lines = service.program.stderr.trim().split('\n');
    const parsed = lines.map((line) => JSON.parse(line) as { phase?: string; msg: string });
    expect(parsed.filter((line) => line.msg.startsWith('ready in')).map((line) => line.phase)).to.have.members([
      'engine',
      'models',
      'schema',
    ]);
  });

  it('writes and searches with the printed calls', async () => {
    const written = await service.call('POST', '/v1/memories', { content: TEA, wait: true });
    expect(written.body).to.have.nested.property('results[0].outcome', 'stored');
    teaId = written.body.results[0].memory_id;
    const found = await service.call('POST', '/v1/memories/search', { query: 'What does 小王 drink in the afternoon?', top_k: 3 });
    expect(found.status).to.equal(200);
    expect(JSON.stringify(found.body)).to.include(teaId).and.include('龙井茶');
  });

  it('gives the agent token read, write and forget, and no administration', async () => {
    expect((await service.call('GET', '/v1/memories', undefined, service.run.agent_token)).status).to.equal(200);
    expect((await service.call('GET', '/metrics', undefined, service.run.agent_token)).status).to.equal(403);
  });

  it('accepts a token minted for another tenant, which sees nothing of this one', async () => {
    const minting = Program.main(['token', '--data-dir', dataDir, '--tenant', 'acme', '--sub', 'alice', '--actor', 'user', '--ttl', '600']);
    expect((await minting.exited).code).to.equal(0);
    const alice = minting.stdout.trim();
    expect(minting.stdout).to.match(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    expect((await service.call('GET', `/v1/memories/${teaId}`, undefined, alice)).status).to.equal(404);
    const written = await service.call('POST', '/v1/memories', { content: 'Alice prefers oolong.', wait: true }, alice);
    expect(written.body).to.have.nested.property('results[0].outcome', 'stored');
    const mine = await service.call('GET', `/v1/memories/${written.body.results[0].memory_id}`);
    expect(mine.status).to.equal(404);
  });

  it('refuses a second service on the same data directory, and one on the same port', async () => {
    const second = await outcome(['serve', '--local', '--data-dir', dataDir, '--port', String(await freePort())]);
    expect(second).to.deep.equal({
      code: 1,
      said: `hindsight-es: A service is already running on this data directory (pid ${service.program.pid}): stop it or set DATA_DIR`,
    });
    const other = await outcome(['serve', '--local', '--data-dir', join(folder, 'other'), '--port', String(port)]);
    expect(other).to.deep.equal({
      code: 1,
      said: `hindsight-es: Port ${port} is in use: stop the program that holds it or set PORT to another one`,
    });
    expect((await service.call('GET', `/v1/memories/${teaId}`)).status).to.equal(200);
  });

  it('answers 503 while a killed engine is away, starts it again and works on', async () => {
    process.kill(service.engine.pid, 'SIGKILL');
    const away = await eventually(
      () => service.call('POST', '/v1/memories/search', { query: '龙井茶' }),
      (answer) => answer.status !== 200,
    );
    expect(away.status).to.equal(503);
    expect(away.headers.get('retry-after')).to.match(/^\d+$/);
    expect(away.body).to.include({ code: 'ERR_STORE_UNAVAILABLE' });
    expect((await service.call('POST', '/v1/memories', { content: 'written while it is away' })).status).to.equal(503);
    const back = await eventually(
      () => service.call('POST', '/v1/memories/search', { query: '龙井茶' }),
      (answer) => answer.status === 200,
    );
    expect(JSON.stringify(back.body)).to.include(teaId);
    const again = await eventually(
      async () => service.program.logged('local elasticsearch is up again')[0],
      (line) => line !== undefined,
    );
    expect(again?.['pid']).to.be.a('number').and.not.equal(service.engine.pid);
    // the audit log looks for the store again after a second
    const written = await eventually(
      () => service.call('POST', '/v1/memories', { content: '小李喜欢喝咖啡。', wait: true }),
      (answer) => answer.status === 200,
    );
    expect(written.body).to.have.nested.property('results[0].outcome', 'stored');
  });

  it('leaves nothing in the home folder, where the ONNX runtime would keep a device id for its reports', () => {
    expect(readdirSync(join(folder, 'home'), { recursive: true })).to.deep.equal([]);
  });

  it('stops cleanly on SIGTERM: exit code 0, no engine and no run.json left; Ctrl-C that npm passes on is one', async () => {
    const engine = service.program.logged('local elasticsearch is up again')[0]?.['pid'] as number;
    expect(isThere(engine)).to.equal(true);
    service.program.child.kill('SIGTERM');
    service.program.child.kill('SIGTERM');
    expect(await service.program.exited).to.deep.equal({ code: 0, signal: null });
    expect(isThere(engine)).to.equal(false);
    expect(existsSync(join(dataDir, 'run.json'))).to.equal(false);
  });

  it('keeps data and tokens over a second start', async () => {
    const first = service.run;
    service = await serveLocal(dataDir, port);
    const kept = await service.call('GET', `/v1/memories/${teaId}`, undefined, first.token);
    expect(kept.status).to.equal(200);
    expect(JSON.stringify(kept.body)).to.include(TEA);
    const found = await service.call('POST', '/v1/memories/search', { query: '下午喝什么茶' });
    expect(JSON.stringify(found.body)).to.include(teaId);
  });

  it('leaves at once when it is stopped half-way, and the next start is not in its way', async () => {
    service.program.child.kill('SIGTERM');
    await service.program.exited;
    const early = Program.main(['serve', '--local', '--data-dir', dataDir, '--port', String(port)]);
    await early.until(() => early.stderr.includes('starting Elasticsearch'));
    early.child.kill('SIGTERM');
    expect(await early.exited).to.deep.equal({ code: 143, signal: null });
    service = await serveLocal(dataDir, port);
    expect((await service.call('GET', `/v1/memories/${teaId}`)).status).to.equal(200);
  });
});
