import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { overview } from '../../src/cli/commands.ts';
import { CONFIG_VARIABLES } from '../../src/config.ts';
import { SCOPES } from '../../src/domain/principal.ts';
import { startHashedService, type HashedService } from '../support/service.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const URL_IN_README = 'http://127.0.0.1:8420';
const TSX = pathToFileURL(join(ROOT, 'node_modules', 'tsx', 'dist', 'loader.mjs')).href;

/** Code after `<!-- test: NAME -->`, by name. */
const blocks = new Map(
  [...README.matchAll(/<!-- test: ([\w -]+) -->\s+```(\w+)\n([\s\S]*?)```/g)].map(([, name = '', language = '', code = '']) => [
    name,
    { language, code },
  ]),
);
const block = (name: string): string => {
  const found = blocks.get(name);
  if (found === undefined) throw new Error(`README has no block ${name}`);
  return found.code;
};

const bearer = z.string().regex(/^Bearer (AGENT_TOKEN|\$\{input:hindsight-token\})$/);
const one = <T extends z.ZodType>(server: T) => z.strictObject({ 'hindsight-es': server });
const stdio = z.strictObject({ command: z.string(), args: z.array(z.string()), env: z.record(z.string(), z.string()).optional() });
const http = z.strictObject({ type: z.literal('http'), url: z.url(), headers: z.strictObject({ Authorization: bearer }) });
/** The shape each client documents for its configuration. */
const SHAPES = {
  'claude-code': z.strictObject({ mcpServers: one(http) }),
  cursor: z.strictObject({ mcpServers: one(http.omit({ type: true })) }),
  vscode: z.strictObject({
    servers: one(http),
    inputs: z.array(
      z.strictObject({
        type: z.literal('promptString'),
        id: z.literal('hindsight-token'),
        description: z.string(),
        password: z.literal(true),
      }),
    ),
  }),
  'claude-desktop': z.strictObject({ mcpServers: one(stdio) }),
  'mcp-remote': z.strictObject({ mcpServers: one(stdio) }),
  codex: z.strictObject({ mcp_servers: one(z.strictObject({ url: z.url(), http_headers: z.strictObject({ Authorization: bearer }) })) }),
  'openai-api': z.strictObject({
    type: z.literal('mcp'),
    server_label: z.string(),
    server_url: z.url(),
    authorization: z.string(),
    require_approval: z.literal('never'),
  }),
};

describe('README', function () {
  this.timeout(60_000);
  let service: HashedService;
  let home: string;
  let agentToken: string;

  before(async () => {
    service = await startHashedService();
    home = mkdtempSync(join(tmpdir(), 'hindsight-readme-'));
    mkdirSync(join(home, '.hindsight-es'));
    agentToken = await service.mint({ actor: 'agent', scopes: ['memory:read', 'memory:write', 'memory:forget'] });
    const file = { url: service.url, token: await service.mint({ scopes: [...SCOPES] }), agent_token: agentToken, pid: process.pid };
    writeFileSync(join(home, '.hindsight-es', 'run.json'), JSON.stringify(file), { mode: 0o600 });
  });
  after(async () => {
    await service.close();
    rmSync(home, { recursive: true, force: true });
  });

  /** Output of a program in the home directory that holds run.json. */
  async function output(command: string, args: readonly string[]): Promise<string> {
    const { stdout } = await run(command, args, { cwd: home, env: { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8' } });
    return stdout;
  }
  const local = (code: string): string => code.replaceAll(URL_IN_README, service.url);

  it('has every snippet and configuration that is tested here, and no other', () => {
    const configs = Object.keys(SHAPES).map((name) => `config ${name}`);
    expect([...blocks.keys()]).to.have.members([
      'sh',
      'context',
      'context-block',
      'working',
      'held-back',
      'python',
      'ts',
      'cli',
      ...configs,
    ]);
  });

  it('writes and searches with curl', async () => {
    const said = await output('bash', ['-ec', local(block('sh'))]);
    const [written, found] = said.split(/(?<=\})(?=\{"hits")/).map((text) => JSON.parse(text));
    expect(written.results[0]).to.include({ outcome: 'stored' });
    expect(found.hits[0].content).to.contain('龙井茶');
    expect(found.hits[0].explain.signals).to.be.an('array').that.is.not.empty;
  });

  it('keeps turns and state of a session', async () => {
    const said = await output('bash', ['-ec', local(block('working'))]);
    const [added, written, turns, state] = said.split(/(?<=\})(?=\{)/).map((text) => JSON.parse(text));
    expect(added).to.include({ outcome: 'stored', turns: 1 });
    expect(written.results[0]).to.include({ outcome: 'stored', memory_id: null });
    expect(turns.turns).to.have.length(2);
    expect(state.state).to.deep.equal({ city: '苏州', step: 1 });
  });

  it('gets the block that it shows for a prompt, in both languages', async () => {
    // ids, boundaries and the day of writing differ from run to run
    const steady = (text: string): string =>
      text
        .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
        .replace(/ref [0-9a-f]{12}/g, 'ref B')
        .replace(/\b20\d\d-\d\d-\d\d\b/g, (day) => (day === '2026-05-04' ? day : 'DAY'));
    const said = await output('bash', ['-ec', local(block('context'))]);
    expect(steady(said)).to.equal(steady(block('context-block')));
  });

  it('has a sensitive order wait for a person', async () => {
    const said = await output('bash', ['-ec', local(block('held-back'))]);
    const [written, waiting] = said.split(/(?<=\})(?=\{"items")/).map((text) => JSON.parse(text));
    expect(written.results[0]).to.include({ outcome: 'pending' });
    expect(waiting.items.map((item: { memory_id: string }) => item.memory_id)).to.deep.equal([written.results[0].memory_id]);
  });

  it('writes and searches with Python', async () => {
    writeFileSync(join(home, 'snippet.py'), block('python'));
    expect(await output('python3', ['snippet.py'])).to.match(/^0\.\d\d {2}Ana prefers green tea in the morning\.$/m);
  });

  it('writes and searches with TypeScript', async () => {
    writeFileSync(join(home, 'snippet.mts'), block('ts'));
    expect(await output(process.execPath, ['--import', TSX, 'snippet.mts'])).to.match(/^0\.\d\d 李明对花生过敏，点餐时要避开花生酱。$/m);
  });

  it('writes, searches, exports and imports from a terminal', async () => {
    const program = `hindsight-es() { "${process.execPath}" --import "${TSX}" "${join(ROOT, 'src', 'main.ts')}" "$@"; }`;
    const said = await output('bash', ['-ec', `${program}\n${block('cli')}`]);
    expect(said).to.contain('"hits":').and.contain('green tea');
    expect(existsSync(join(home, 'backup.jsonl.gz'))).to.equal(true);
  });

  for (const [name, shape] of Object.entries(SHAPES))
    it(`configures ${name} in the shape it documents`, async () => {
      const found = blocks.get(`config ${name}`);
      const code = found?.code ?? '';
      const toml = ['-c', 'import json, sys, tomllib; print(json.dumps(tomllib.loads(sys.argv[1])))', code];
      const config: unknown = JSON.parse(found?.language === 'toml' ? await output('python3', toml) : code);
      expect(shape.safeParse(config).error).to.equal(undefined);
      // what it names is there: the service's endpoint with this header, or the program's command
      const url = /"(http:\/\/127[^"]+)"/.exec(code)?.[1];
      if (url !== undefined) {
        const answer = await fetch(local(url), {
          method: 'POST',
          headers: {
            authorization: `Bearer ${agentToken}`,
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
        });
        expect([answer.status, await answer.text()].join()).to.match(/^200,.*memory_search/s);
      }
      if (name === 'claude-desktop') expect(await overview('en')).to.match(/^ {2}mcp /m);
    });

  it('names only scripts, variables and files that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
    for (const [, script = ''] of README.matchAll(/npm run ([\w:]+)/g)) expect(scripts, script).to.have.property(script);
    for (const [, target = ''] of README.matchAll(/\]\((?!https?:|#)([^)]+)\)/g))
      expect(existsSync(join(ROOT, target)), target).to.equal(true);
    const known = new Set(CONFIG_VARIABLES.map(({ name }) => name));
    const ofTests = ['TEST_JOBS', 'TEST_ELASTICSEARCH_URL', 'TEST_SLOWEST'];
    const others = ['HINDSIGHT_URL', 'HINDSIGHT_TOKEN', 'OLLAMA_HOST', 'TOKEN', 'AGENT_TOKEN', 'ACCESS_TOKEN', ...ofTests];
    const named = [...README.matchAll(/`(?:[^`]* )?([A-Z][A-Z]*(?:_[A-Z]+)+)(?==|`)/g)].map(([, name = '']) => name);
    expect(named).to.include.members(['ELASTICSEARCH_URL', 'EMBEDDING_BASE_URL', 'CORS_ORIGINS']);
    expect(named.filter((name) => !known.has(name) && !others.includes(name) && !name.startsWith('ERR_'))).to.deep.equal([]);
  });
});
