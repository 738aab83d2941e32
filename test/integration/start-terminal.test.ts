/** The start as a person sees it: the program on a pseudo-terminal, made by util-linux script or by Python. */
import { expect } from 'chai';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { RunFile } from '../../src/cli/run-file.ts';
import { EmbeddingServer, hashBackend } from '../support/embedding-server.ts';
import { acquireEngine } from '../support/engine.ts';
import { dropEverything, MAIN, Program } from '../support/program.ts';
import { freePort } from '../support/service.ts';
import { randomPrefix } from '../support/store.ts';

const CTRL_C = '\u0003';

function onTerminal(args: readonly string[], env: Readonly<Record<string, string>>): Program {
  const command = [process.execPath, MAIN, ...args];
  const hasScript = (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'script')));
  if (process.platform === 'linux' && hasScript)
    return new Program('script', ['-qec', `exec ${command.map((word) => `'${word}'`).join(' ')}`, '/dev/null'], env);
  const code = 'import pty, sys, os; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';
  return new Program('python3', ['-c', code, ...command], env);
}

describe('a start at a terminal', function () {
  this.timeout(120_000);
  let folder: string;
  let env: Record<string, string>;
  let embeddings: EmbeddingServer;
  let engine: Awaited<ReturnType<typeof acquireEngine>>;
  let prefix: string;
  let terminal: Program;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hindsight-terminal-'));
    engine = await acquireEngine();
    embeddings = await EmbeddingServer.start(hashBackend(16));
    prefix = randomPrefix();
    env = {
      DATA_DIR: folder,
      PORT: String(await freePort()),
      ELASTICSEARCH_URL: engine.url,
      ELASTICSEARCH_INDEX_PREFIX: prefix,
      EMBEDDING_PROFILE: 'openai',
      EMBEDDING_BASE_URL: embeddings.baseUrl,
      EMBEDDING_MODEL: 'hashed-words',
    };
    terminal = onTerminal(['serve', '--local'], env);
    await terminal.until(() => terminal.stdout.includes('Stop with Ctrl-C'));
  });
  after(async () => {
    await terminal.kill();
    await embeddings.stop();
    await dropEverything(engine.url, prefix);
    await engine.release();
    rmSync(folder, { recursive: true, force: true });
  });

  const runFile = (): RunFile => JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as RunFile;

  it('prints both tokens, the agent token inside the MCP configuration', () => {
    const run = runFile();
    const screen = terminal.stdout.replaceAll('\r', '');
    expect(screen).to.include(`\n${run.token}\n`).and.include(`\n${run.agent_token}\n`);
    const config = JSON.parse(/MCP client configuration:\n(\{[\s\S]*?\n\})\n/.exec(screen)?.[1] ?? '') as object;
    expect(config).to.deep.equal({
      mcpServers: { 'hindsight-es': { type: 'http', url: `${run.url}/mcp`, headers: { Authorization: `Bearer ${run.agent_token}` } } },
    });
  });

  it('prints curl calls that work as they stand', async () => {
    const screen = terminal.stdout.replaceAll('\r', '');
    const calls = [...screen.matchAll(/^curl [^\n]*\\\n[^\n]*$/gm)].map(([call]) => call);
    expect(calls).to.have.length(2);
    const answers: string[] = [];
    for (const call of calls) {
      const shell = new Program('bash', ['-c', call], {});
      expect((await shell.exited).code, shell.stderr).to.equal(0);
      answers.push(shell.stdout);
    }
    expect(JSON.parse(answers[0] ?? '')).to.have.nested.property('results[0].outcome', 'stored');
    expect(JSON.parse(answers[1] ?? ''))
      .to.have.property('hits')
      .with.length(1);
    expect(answers[1]).to.include('龙井茶');
  });

  it('shows the steps, and keeps the log in a file', () => {
    expect(terminal.stdout)
      .to.match(/- engine: ready in [\d.]+ s/)
      .and.match(/- models: loading openai embeddings/);
    expect(terminal.stdout).not.to.include('"level"');
    const log = join(folder, 'logs', 'service.log');
    expect(statSync(log).mode & 0o777).to.equal(0o600);
    expect(readFileSync(log, 'utf8')).to.include('"msg":"service is up"').and.not.include(runFile().token);
  });

  it('stops on Ctrl-C with a line', async () => {
    terminal.child.stdin?.write(CTRL_C);
    expect(await terminal.exited).to.deep.equal({ code: 0, signal: null });
    expect(terminal.stdout).to.match(/- stopping[^\n]*\n[\s\S]*- stopped/);
    expect(existsSync(join(folder, 'run.json'))).to.equal(false);
  });
});
