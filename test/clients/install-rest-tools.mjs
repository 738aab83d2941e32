/** Puts the OpenAPI linter and the API fuzzer into the cache directory, once; none of them is a dependency of this package. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const REDOCLY = '@redocly/cli@2.77.0';
const SCHEMATHESIS = 'schemathesis==4.32.5';

/** The linter's entry for Node, and the fuzzer's command. */
export function installRestTools() {
  const cache = process.env.HINDSIGHT_CACHE_DIR ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'hindsight-es');
  const linter = join(cache, 'redocly');
  once(linter, REDOCLY, () => run('npm', ['install', '--no-audit', '--no-fund', '--loglevel', 'error', '--prefix', linter, REDOCLY]));
  const fuzzer = join(cache, 'schemathesis');
  once(fuzzer, SCHEMATHESIS, () => {
    run('python3', ['-m', 'venv', fuzzer]);
    run(join(fuzzer, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', SCHEMATHESIS]);
  });
  return {
    redocly: join(linter, 'node_modules', '@redocly', 'cli', 'bin', 'cli.js'),
    schemathesis: join(fuzzer, 'bin', 'schemathesis'),
  };
}

/** What is installed stands in a file beside it; a folder without it is from an attempt that broke off. */
function once(folder, what, install) {
  const mark = join(folder, 'installed.txt');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === what) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  install();
  writeFileSync(mark, what);
}

function run(command, args) {
  execFileSync(command, args, { stdio: ['ignore', 2, 2] });
}
