/** The command line against the composed service: every command, its exit codes, and imports and exports that are ended in the middle. */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { runCli, type CliRun, type CliSettings } from '../support/cli-run.ts';
import { eventually, MAIN, Program } from '../support/program.ts';
import { startHashedService, type HashedService } from '../support/service.ts';

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/;

describe('the command line on the composed service', function () {
  this.timeout(90_000);
  let service: HashedService;
  let folder: string;
  let env: Record<string, string>;

  before(async () => {
    service = await startHashedService({ RATE_LIMIT_PROFILE: 'bench' });
    folder = mkdtempSync(join(tmpdir(), 'hindsight-cli-'));
    env = { HINDSIGHT_URL: service.url, HINDSIGHT_TOKEN: await service.mint({ namespaces: ['**'] }), DATA_DIR: folder };
  });
  after(async () => {
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const cli = (args: readonly string[], settings: CliSettings = {}): Promise<CliRun> =>
    runCli(args, { ...settings, env: { ...env, ...settings.env } });
  const written = async (content: string, ...more: string[]): Promise<string> => {
    const { code, out, err } = await cli(['write', content, '--wait', ...more]);
    expect(code, err).to.equal(0);
    return ID.exec(out)?.[0] ?? '';
  };
  const count = async (namespace: string): Promise<number> => {
    await service.call('POST', '/v1/memories/search', env['HINDSIGHT_TOKEN'] ?? '', { query: 'x', namespaces: [namespace] });
    const { out } = await cli(['list', '--namespaces', namespace, '--limit', '200', '--json']);
    return (JSON.parse(out) as { items: unknown[] }).items.length;
  };

  it('writes, finds, reads, corrects and forgets', async () => {
    const id = await written('小王喜欢喝龙井茶，每天下午三点一杯。', '--kind', 'preference', '--tags', 'tea,习惯', '--metadata', 'cups=1');
    const found = await cli(['recall', '小王下午喝什么？']);
    expect(found.code).to.equal(0);
    expect(found.out)
      .to.match(/^0\.\d\d {2}小王喜欢喝龙井茶/m)
      .and.contain(id);
    const read = await cli(['get', id, '--lang', 'zh'], { lang: 'zh' });
    expect(read.out)
      .to.match(/^小王喜欢喝龙井茶/)
      .and.match(/标签 +tea, 习惯/)
      .and.match(/元数据 +\{"cups":1\}/);
    expect((await cli(['update', id, '--content', '小王改喝普洱茶了。'])).out).to.match(/^updated .* v2\n$/);
    expect((await cli(['history', id])).out).to.match(/^v2 {2}[\s\S]*普洱[\s\S]*v1 {2}[\s\S]*龙井/);
    expect((await cli(['list', '--tags', 'tea'])).out).to.contain(id);

    const refused = await cli(['forget', id]);
    expect([refused.code, refused.err]).to.deep.equal([
      2,
      'hindsight-es: nothing was forgotten: add --yes to forget without being asked\n',
    ]);
    expect(refused.out).to.match(/^would be forgotten: 1\n[\s\S]*普洱/);
    expect((await cli(['forget', id], { terminal: true, stdin: 'n\n' })).code).to.equal(1);
    expect((await cli(['get', id])).code).to.equal(0);
    expect((await cli(['forget', id], { terminal: true, stdin: 'y\n' })).code).to.equal(0);
    expect((await cli(['get', id])).code).to.equal(3);
  });

  it('forgets by condition what the dry run has shown', async () => {
    for (const n of [1, 2, 3]) await written(`Meeting ${n} was moved.`, '--subject', 'Moves');
    expect((await cli(['forget', '--subject', 'Moves', '--dry-run'])).out).to.match(/^would be forgotten: 3\n/);
    expect((await cli(['forget', '--subject', 'Moves', '--yes'])).out).to.match(/would be forgotten: 3[\s\S]*\nforgotten: 3\n$/);
    expect((await cli(['forget', '--subject', 'Moves', '--yes'])).out).to.equal('would be forgotten: 0\n');
    expect((await cli(['forget'])).code).to.equal(2);
  });

  it('prints with --json what the service answered, and problems on stderr', async () => {
    const { out } = await cli(['search', 'anything', '--json', '--top-k', '1']);
    expect(JSON.parse(out)).to.have.keys('hits', 'nothing_relevant', 'degraded', 'took_ms', 'trace_id');
    const missing = await cli(['get', '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', '--json']);
    expect([missing.code, missing.out]).to.deep.equal([3, '']);
    expect(JSON.parse(missing.err)).to.include({ code: 'ERR_MEMORY_NOT_FOUND', status: 404 });
  });

  it('tells how the service is and how much is remembered where', async () => {
    await written('Counted.', '--namespace', 'state.a');
    const stats = await eventually(
      async () => JSON.parse((await cli(['status', '--json', '--namespaces', 'state.a'])).out) as Record<string, unknown>,
      (answer) => answer['memories'] === 1,
    );
    expect(stats).to.deep.include({
      tenant: 't1',
      namespaces: [{ namespace: 'state.a', memories: 1 }],
      embedding_queue: { due: 0, dead: 0 },
      degraded: [],
    });
    const { out } = await cli(['status'], { lang: 'zh' });
    expect(out)
      .to.contain(service.url)
      .and.match(/引擎 +Elasticsearch \d/)
      .and.match(/state\.a +1/);
    expect((await cli(['status'], { env: { HINDSIGHT_URL: 'http://127.0.0.1:9' } })).err).to.contain('hindsight-es doctor');
  });

  it('reads a content from standard input', async () => {
    const { out } = await cli(['write', '-', '--json'], { stdin: 'The gate key hangs in the porch.\nThe porch light is broken.\n' });
    const { results } = JSON.parse(out) as { results: { memory_id: string }[] };
    expect((await cli(['get', results[0]?.memory_id ?? ''])).out).to.match(
      /^The gate key hangs in the porch\.\nThe porch light is broken\.\n\n/,
    );
  });

  it('leaves with a code that says what went wrong', async () => {
    const reader = await service.mint({ scopes: ['memory:read'] });
    expect((await cli(['write', 'x'], { env: { HINDSIGHT_TOKEN: reader } })).code).to.equal(4);
    const forged = await cli(['search', 'x', '--token', 'not.a.token']);
    expect([forged.code, forged.err]).to.satisfy(([code, err]: [number, string]) => code === 4 && err.includes('The token was rejected'));
    const away = await cli(['search', 'x'], { env: { HINDSIGHT_URL: 'http://127.0.0.1:9' } });
    expect([away.code, away.err]).to.satisfy(
      ([code, err]: [number, string]) => code === 5 && err.includes('cannot be reached (ECONNREFUSED)'),
    );
    expect((await cli(['search', 'x', '--url', 'ftp://x'])).code).to.equal(2);
    expect((await cli(['update', '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', '--content', 'x'])).code).to.equal(3);
    const id = await written('Versioned.');
    expect((await cli(['update', id, '--content', 'x', '--version', '7'])).code).to.equal(6);
  });

  it('sends a token from run.json to the service of that file alone', async () => {
    const asked: (string | undefined)[] = [];
    const other = createServer((req, res) => {
      asked.push(req.headers.authorization);
      res.writeHead(401).end();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const own = mkdtempSync(join(tmpdir(), 'hindsight-cli-'));
    try {
      writeFileSync(
        join(own, 'run.json'),
        JSON.stringify({ url: service.url, token: env['HINDSIGHT_TOKEN'], agent_token: 'x', pid: process.pid }),
      );
      const local = { HINDSIGHT_URL: '', HINDSIGHT_TOKEN: '', DATA_DIR: own };
      expect((await cli(['list'], { env: local })).code).to.equal(0);
      expect((await cli(['list', '--url', `http://127.0.0.1:${(other.address() as AddressInfo).port}`], { env: local })).code).to.equal(4);
      expect(asked).to.deep.equal([undefined]);
    } finally {
      other.close();
      rmSync(own, { recursive: true });
    }
  });

  it('imports rows with renamed fields, tells every fault by line and stores the others', async () => {
    const file = join(folder, 'rows.jsonl');
    const rows = [
      { message: { text: 'Row one is fine.' }, date: '2026-01-02T03:04:05Z', author: 'ann' },
      'not json',
      { message: { text: 'Row three is fine.' }, importance: 7 },
      { nothing: true },
      '',
      { message: { text: 'Row six is fine.' } },
    ];
    writeFileSync(file, rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n'));
    const args = [
      'import',
      file,
      '--map',
      'content=message.text',
      '--map',
      'occurred_at=date',
      '--extra',
      'metadata',
      '--namespace',
      'imp.rows',
      '--batch',
      '2',
    ];
    const { code, out, err } = await cli(args);
    expect([code, err]).to.deep.equal([1, '']);
    expect(out)
      .to.match(/^5 rows: .*stored 2/)
      .and.match(/3 faults, see .*rows\.jsonl\.faults\.jsonl\n$/);
    const faults = readFileSync(`${file}.faults.jsonl`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { line: number; pointer: string });
    expect(faults.map(({ line, pointer }) => [line, pointer])).to.deep.equal([
      [2, ''],
      [3, '/importance'],
      [4, '/content'],
    ]);
    const { items } = JSON.parse((await cli(['list', '--namespaces', 'imp.rows', '--json'])).out) as { items: Record<string, unknown>[] };
    expect(items.map(({ content }) => content)).to.have.members(['Row one is fine.', 'Row six is fine.']);
    expect(items.find(({ content }) => content === 'Row one is fine.')).to.deep.include({
      occurred_at: '2026-01-02T03:04:05.000Z',
      metadata: { author: 'ann', message: { text: 'Row one is fine.' } },
    });
    const again = await cli(args);
    expect([again.code, again.out]).to.deep.equal([1, out]);
    expect(await count('imp.rows')).to.equal(2);
  });

  it('stores each row once when it is killed in the middle and run again', async () => {
    const file = join(folder, 'many.jsonl');
    writeFileSync(file, Array.from({ length: 180 }, (_, i) => JSON.stringify({ content: `Crate ${i} holds ${i * 3} jars.` })).join('\n'));
    const args = ['import', file, '--namespace', 'imp.killed', '--batch', '4'];
    for (const after of [1, 3]) {
      const program = Program.main(args, env);
      const before = await count('imp.killed');
      await eventually(
        () => count('imp.killed'),
        (n) => n >= before + after * 4,
        30_000,
      );
      await program.kill();
    }
    const partly = await count('imp.killed');
    expect(partly).to.be.within(1, 179);
    const { code, out } = await cli(args);
    expect([code, out]).to.deep.equal([0, '180 rows: stored 180\n']);
    expect(await count('imp.killed')).to.equal(180);
    expect((await cli(args)).out).to.equal('180 rows: stored 180\n');
    expect(await count('imp.killed')).to.equal(180);
  });

  it('exports what import brings back: texts, times, tags, layer, kind, metadata and trust', async () => {
    await written(
      '过敏：花生。',
      '--namespace',
      'exp.a',
      '--kind',
      'constraint',
      '--tags',
      '健康',
      '--metadata',
      'n=1',
      '--occurred-at',
      '2025-05-04T09:30:00Z',
    );
    await written('A page said so.', '--namespace', 'exp.a', '--source-type', 'web', '--layer', 'episodic');
    const file = join(folder, 'backup.jsonl.gz');
    const { code, out } = await cli(['export', '--output', file, '--namespaces', 'exp.a']);
    expect([code, out]).to.deep.equal([0, `2 memories exported to ${file}\n`]);
    expect(existsSync(`${file}.part`)).to.equal(false);
    const before = JSON.parse((await cli(['list', '--namespaces', 'exp.a', '--json'])).out) as { items: Record<string, unknown>[] };

    expect((await cli(['import', file, '--json'])).out)
      .to.contain('"duplicate":2')
      .and.contain('"verified":true');
    const restored = await startHashedService({ SERVICE_SECRET: 'x1'.repeat(4) + 'abcdefghijklmnopqrstuvwxyz0123456789' });
    try {
      const other = { HINDSIGHT_URL: restored.url, HINDSIGHT_TOKEN: await restored.mint({ namespaces: ['**'] }) };
      const foreign = await cli(['import', file], { env: other });
      expect([foreign.code, foreign.out]).to.deep.equal([0, '2 rows: stored 2\n']);
      expect(foreign.err).to.match(/^! the manifest is not this service’s own/);
      const { items } = JSON.parse((await cli(['list', '--namespaces', 'exp.a', '--json'], { env: other })).out) as typeof before;
      expect(items.map((m) => (m['trust'] as { tier: string }).tier)).to.deep.equal(['external', 'external']);
      expect(items.every((m) => String(m['content']).startsWith('⟦ref '))).to.equal(true);
    } finally {
      await restored.close();
    }
    for (const { memory_id: id } of before.items) expect((await cli(['get', String(id)])).code).to.equal(0);
  });

  it('tells a file that was cut off or changed from a whole one, and takes it as external when told to', async () => {
    await written('Kept in the cut export.', '--namespace', 'exp.cut');
    await written('Lost in the cut export.', '--namespace', 'exp.cut');
    const whole = join(folder, 'whole.jsonl.gz');
    await cli(['export', '-o', whole, '--namespaces', 'exp.cut']);
    const bytes = readFileSync(whole);
    const lines = gunzipSync(bytes).toString('utf8').trimEnd().split('\n');
    const cuts: Record<string, [Buffer, RegExp]> = {
      'gzip.jsonl.gz': [bytes.subarray(0, bytes.length - 30), /was cut off/],
      'lines.jsonl': [Buffer.from(lines.slice(0, -1).join('\n')), /was cut off/],
      'changed.jsonl': [Buffer.from([lines[0], lines[1]?.replace('export', 'EXPORT'), ...lines.slice(2)].join('\n')), /was changed after/],
      'shorter.jsonl.gz': [gzipSync([lines[0], ...lines.slice(2)].join('\n')), /was changed after/],
    };
    for (const [name, [content, reason]] of Object.entries(cuts)) {
      const file = join(folder, name);
      writeFileSync(file, content);
      const { code, err } = await cli(['import', file]);
      expect(code, name).to.equal(1);
      expect(err, name).to.match(reason);
    }
    const taken = await cli(['import', join(folder, 'lines.jsonl'), '--untrusted']);
    expect([taken.code, taken.out]).to.deep.equal([0, '2 rows: stored 2\n']);
    const { items } = JSON.parse((await cli(['list', '--namespaces', 'exp.cut', '--trust', 'external', '--json'])).out) as {
      items: unknown[];
    };
    expect(items).to.have.length(2);
    expect((await cli(['import', whole, '--map', 'content=text'])).code).to.equal(2);
  });

  it('pipes an export into an import', async () => {
    await written('Piped along.', '--namespace', 'exp.pipe');
    const shell = spawn(
      'sh',
      ['-c', `"${process.execPath}" "${MAIN}" export --namespaces exp.pipe | "${process.execPath}" "${MAIN}" import -`],
      {
        env: { PATH: process.env['PATH'] ?? '', ...env },
      },
    );
    let out = '';
    shell.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')));
    const code = await new Promise((resolve) => shell.once('close', resolve));
    expect([code, out]).to.deep.equal([0, '1 rows: duplicate 1\n']);
  });

  it('keeps no file under the asked name when the service goes away in the middle of an export', async () => {
    const cut = gzipSync(`${JSON.stringify({ hindsight_export: { format: 1 } })}\n${JSON.stringify({ content: 'x'.repeat(4_000) })}\n`);
    const broken = createServer((_req, res) => {
      res.writeHead(200, { 'content-type': 'application/gzip' });
      res.write(cut.subarray(0, cut.length - 8), () => res.destroy());
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => broken.once('listening', resolve));
    const file = join(folder, 'broken.jsonl.gz');
    try {
      const { code, err } = await cli(['export', '-o', file, '--url', `http://127.0.0.1:${(broken.address() as AddressInfo).port}`]);
      expect(code).to.equal(5);
      expect(err).to.match(/broke off before its end; what came is in .*broken\.jsonl\.gz\.part: run it again/);
      expect(existsSync(file)).to.equal(false);
    } finally {
      broken.close();
    }
  });

  it('costs a cold search less than 400 ms beside the bare call', async () => {
    await written('The measured call finds this.');
    // processor time, which other programs on the machine do not change as they do the clock on the wall
    const tell = "process.on('exit',()=>{const c=process.cpuUsage();process.stderr.write(`cpu ${(c.user+c.system)/1000}\\n`)})";
    const cpu = async (args: readonly string[]): Promise<number> => {
      const program = new Program(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(tell)}`, ...args], env);
      expect((await program.exited).code, program.stderr).to.equal(0);
      return Number(/^cpu (\d+(?:\.\d+)?)$/m.exec(program.stderr)?.[1]);
    };
    const least = async (args: readonly string[]): Promise<number> => Math.min(await cpu(args), await cpu(args), await cpu(args));
    const bare = await least([
      '-e',
      'fetch(process.env.HINDSIGHT_URL+"/v1/memories/search",{method:"POST",headers:{authorization:"Bearer "+process.env.HINDSIGHT_TOKEN,"content-type":"application/json"},body:JSON.stringify({query:"measured call"})}).then((r)=>r.text())',
    ]);
    const cold = await least([MAIN, 'search', 'measured call']);
    process.stderr.write(`      cold search ${Math.round(cold)} ms of processor time, a bare fetch ${Math.round(bare)} ms\n`);
    expect(cold - bare).to.be.below(400);
  });
});
