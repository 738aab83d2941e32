/** Puts MCP clients that others wrote into the cache directory, once; none of them is a dependency of this package. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** One npm folder for all, and one Python environment each: versions 1 and 2 of `mcp` exclude each other. */
const NODE_PACKAGES = ['@modelcontextprotocol/client@2.4.0', 'mcp-remote@0.15.1', '@modelcontextprotocol/inspector@2.12.0'];
const PYTHON_PACKAGES = { mcp1: ['mcp==1.30.0'], mcp2: ['mcp==2.3.0'], fastmcp: ['fastmcp==4.2.3'] };

/** Folder of the npm packages, and the interpreter of each Python environment. */
export function installClients() {
  const cache = process.env.HINDSIGHT_CACHE_DIR ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'hindsight-es');
  const dir = join(cache, 'mcp-clients');
  const node = join(dir, 'node');
  once(node, NODE_PACKAGES, () => {
    // the inspector asks for a newer Node than may run here, and is started with one
    run('npm', ['install', '--no-audit', '--no-fund', '--loglevel', 'error', '--prefix', node, ...NODE_PACKAGES]);
  });
  const python = {};
  for (const [name, packages] of Object.entries(PYTHON_PACKAGES)) {
    const venv = join(dir, name);
    once(venv, packages, () => {
      run('python3', ['-m', 'venv', '--clear', venv]);
      run(join(venv, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', ...packages]);
    });
    python[name] = join(venv, 'bin', 'python');
  }
  return { modules: join(node, 'node_modules'), python };
}

/** A list of the same packages beside them means that they are all there. */
function once(folder, packages, install) {
  const mark = join(folder, 'installed.txt');
  const wanted = packages.join('\n');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return;
  mkdirSync(folder, { recursive: true });
  install();
  writeFileSync(mark, wanted);
}

function run(command, args) {
  execFileSync(command, args, { stdio: ['ignore', 2, 2] });
}
