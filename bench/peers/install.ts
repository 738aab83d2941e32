/** Installs peers from the package registries the machine's own pip and npm are set up for, each into a folder of its own. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { progress } from '../support/progress.ts';
import { PeerUnavailable } from './peer.ts';

const INSTALL_TIMEOUT_MS = 600_000;
/** Versions every peer of the catalogue runs on. */
const PYTHON_NAMES = ['python3.11', 'python3.12', 'python3.13', 'python3'];
const PYTHON_TEST = 'import ensurepip, sqlite3, sys, venv; assert sys.version_info >= (3, 10); sqlite3.connect(":memory:")';
/** Some builds of Python leave SQLite's extensions out, which sqlite-vec is one of. */
const EXTENSIONS_TEST = `${PYTHON_TEST}.enable_load_extension(True)`;

export interface PythonPackage {
  /** Name of the peer's folder. */
  readonly id: string;
  /** Package whose version is reported. */
  readonly main: string;
  /** Further requirements, as pip takes them. */
  readonly others?: readonly string[];
  readonly sqliteExtensions?: true;
}

/** A virtual environment with the package; its python and the installed version. Kept: a second call costs nothing. */
export async function installPython(work: string, wanted: PythonPackage): Promise<{ python: string; version: string }> {
  const folder = join(work, `python-${wanted.id}`);
  const python = join(folder, 'bin', 'python');
  const done = join(folder, 'installed');
  const requirements = [wanted.main, ...(wanted.others ?? [])];
  if (!existsSync(done) || readFileSync(done, 'utf8') !== requirements.join(' ')) {
    const base = await findPython(wanted.sqliteExtensions === true);
    progress(`${wanted.id}: installing ${requirements.join(', ')}`);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(work, { recursive: true });
    await run(base, ['-m', 'venv', folder], `${wanted.id}: no virtual environment`);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...requirements];
    await run(python, pip, `pip could not install ${wanted.main}`);
    writeFileSync(done, requirements.join(' '));
  }
  const ask = `import importlib.metadata as m; print(m.version("${wanted.main}"))`;
  return { python, version: (await run(python, ['-c', ask], `${wanted.main} is not there`)).trim() };
}

/** The package under `work`/npm; its folder and version. */
export async function installNpm(work: string, name: string): Promise<{ folder: string; version: string }> {
  const root = join(work, 'npm');
  const folder = join(root, 'node_modules', ...name.split('/'));
  if (!existsSync(join(folder, 'package.json'))) {
    progress(`installing ${name}`);
    mkdirSync(root, { recursive: true });
    await run('npm', ['install', '--prefix', root, '--no-save', '--no-audit', '--no-fund', name], `npm could not install ${name}`);
  }
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { folder, version };
}

/** The first Python on the PATH that can do what is needed. */
async function findPython(sqliteExtensions: boolean): Promise<string> {
  for (const name of PYTHON_NAMES)
    for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
      const path = join(folder, name);
      if (!existsSync(path)) continue;
      const works = await run(path, ['-c', sqliteExtensions ? EXTENSIONS_TEST : PYTHON_TEST], '').then(
        () => true,
        () => false,
      );
      if (works) return path;
    }
  throw new PeerUnavailable(
    `there is no Python 3.10 or newer with venv${sqliteExtensions ? ' and loadable SQLite extensions' : ''} on the PATH`,
  );
}

function run(file: string, args: readonly string[], failure: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(file, args, { timeout: INSTALL_TIMEOUT_MS, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new PeerUnavailable(`${failure}: ${error.killed === true ? 'timed out' : lastLine(stderr)}`));
    });
  });
}

/** The line that tells what went wrong, without addresses and folders. */
export function lastLine(text: string): string {
  const line = text.trimEnd().split('\n').at(-1) ?? '';
  return line.replace(/\S*:\/\/\S+|(?<![\w.])\/[\w./-]+/g, '…').slice(0, 200);
}
