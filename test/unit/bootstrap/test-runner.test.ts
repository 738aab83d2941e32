import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually, isThere } from '../../support/program.ts';
import { ALONE, LONGEST, planOf } from '../../support/run-plan.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const FILES = ['test/unit/a.test.ts', 'test/unit/b/c.test.ts', 'test/integration/crash.test.ts', 'test/security/access-ids.test.ts'];

describe('the plan of npm test', () => {
  it('has every file once: those that take longest first, those that measure durations alone', () => {
    const { together, alone, engine } = planOf(FILES, []);
    expect(together).to.deep.equal(['test/integration/crash.test.ts', 'test/unit/a.test.ts', 'test/unit/b/c.test.ts']);
    expect(alone).to.deep.equal(['test/security/access-ids.test.ts']);
    expect(engine).to.equal(true);
  });

  it('takes files, folders and globs, each file once, and starts no engine where none is used', () => {
    const chosen = (...patterns: string[]): readonly string[] => planOf(FILES, patterns).together;
    expect(chosen('test/unit')).to.deep.equal(['test/unit/a.test.ts', 'test/unit/b/c.test.ts']);
    expect(chosen('./test/unit/*.test.ts', 'test/unit/a.test.ts')).to.deep.equal(['test/unit/a.test.ts']);
    expect(chosen('test/**/c.test.ts')).to.deep.equal(['test/unit/b/c.test.ts']);
    expect(planOf(FILES, ['test/unit/**/*.test.ts'])).to.include({ engine: false });
    expect(() => planOf(FILES, ['test/unit/a.tests'])).to.throw('no test file matches test/unit/a.tests');
  });

  it('names files that are there', () => {
    const there = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' });
    expect(there.map((name) => `test/${name.replaceAll('\\', '/')}`)).to.include.members([...ALONE, ...LONGEST]);
    expect(LONGEST.filter((file) => ALONE.includes(file))).to.deep.equal([]);
  });
});

describe('a run of npm test', function () {
  this.timeout(60_000);
  const MEASURES = 'test/unit/text/one-line.test.ts';
  let root: string;
  let child: ChildProcess | undefined;
  let said = '';

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'hindsight-run-'));
    for (const file of ['run.ts', 'run-plan.ts', 'reporter.mjs', 'engine.ts', 'quick-java.ts'])
      cpSync(join(ROOT, 'test', 'support', file), join(root, 'test', 'support', file));
    cpSync(join(ROOT, '.mocharc.json'), join(root, '.mocharc.json'));
    for (const folder of ['src', 'node_modules']) symlinkSync(join(ROOT, folder), join(root, folder), 'dir');
    put('package.json', '{ "type": "module" }');
  });
  afterEach(() => {
    child?.kill('SIGKILL');
    rmSync(root, { recursive: true, force: true });
  });

  function put(file: string, text: string): void {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  /** A test that notes when it begins and ends, and its process. */
  const noting = (name: string, body: string): string =>
    `import { appendFileSync } from 'node:fs';
    const note = (what) => appendFileSync(${JSON.stringify(join(root, 'notes'))}, what + ' ${name} ' + process.pid + '\\n');
    describe('${name}', () => { it('notes', async () => { note('begin'); ${body}; note('end'); }); });`;
  const notes = (): string[] => (existsSync(join(root, 'notes')) ? readFileSync(join(root, 'notes'), 'utf8').trim().split('\n') : []);
  /** Resolves once all other files have begun. */
  const together = (count: number): string =>
    `const { readFileSync } = await import('node:fs');
    while (readFileSync(${JSON.stringify(join(root, 'notes'))}, 'utf8').split('begin').length <= ${count}) await new Promise((go) => setTimeout(go, 20))`;
  function start(): ChildProcess {
    const tsx = pathToFileURL(join(ROOT, 'node_modules', 'tsx', 'dist', 'loader.mjs')).href;
    said = '';
    child = spawn(process.execPath, ['--import', tsx, join(root, 'test', 'support', 'run.ts')], {
      cwd: root,
      env: { ...process.env, TEST_JOBS: '2' },
    });
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (said += text));
    return child;
  }

  it('has files side by side, then one that measures; it ends with all failures, their files where no test can be named, and one line', async () => {
    put('test/unit/a.test.ts', noting('a', together(2)));
    put('test/unit/b.test.ts', noting('b', together(2)));
    put('test/unit/c.test.ts', noting('c', "throw new Error('as it should')"));
    put('test/unit/dies.test.ts', noting('dies', "process.kill(process.pid, 'SIGKILL'); await new Promise(() => {})"));
    put('test/unit/gone.test.ts', "import './nothing-there.ts';");
    put(MEASURES, noting('measures', ''));
    expect((await once(start(), 'close'))[0]).to.equal(1);
    const order = notes().map((line) => line.split(' ').slice(0, 2).join(' '));
    expect(order.slice(0, 2)).to.have.members(['begin a', 'begin b']);
    expect(order.slice(-2)).to.deep.equal(['begin measures', 'end measures']);
    expect(order).to.have.length(8);
    expect(said.trimEnd()).to.match(/\n3 passed, 3 failed$/);
    expect(said.match(/passed, /g)).to.have.length(1);
    const list = said.slice(said.indexOf('3 failing'));
    expect(list).to.contain('as it should').and.contain('test/unit/dies.test.ts').and.contain('test/unit/gone.test.ts');
  });

  it('stops at an interrupt, and no process of it is left', async () => {
    const wait = 'await new Promise((go) => setTimeout(go, 60_000))';
    put('test/unit/a.test.ts', noting('a', wait));
    put('test/unit/b.test.ts', noting('b', wait));
    const run = start();
    await eventually(
      async () => notes().length,
      (length) => length === 2,
    );
    run.kill('SIGINT');
    expect((await once(run, 'close'))[0]).to.equal(130);
    for (const line of notes())
      await eventually(
        async () => isThere(Number(line.split(' ')[2])),
        (there) => !there,
      );
  });
});
