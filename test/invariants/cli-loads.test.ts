/** What a command of the command line loads: a cold call is mostly the reading of modules, so each one that is not needed is waited for. */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OPERATION_LOADERS } from '../../src/cli/operation-loaders.ts';
import { commandName } from '../../src/cli/operation-command.ts';
import { operations } from '../../src/operations/index.ts';

const root = join(import.meta.dirname, '..', '..');

interface Loads {
  readonly code: number | null;
  readonly out: string;
  /** Packages of node_modules, sorted. */
  readonly packages: readonly string[];
  /** Files of src. */
  readonly files: readonly string[];
}

function loadsOf(args: readonly string[]): Loads {
  const dir = mkdtempSync(join(tmpdir(), 'hs-loads-'));
  try {
    const list = join(dir, 'modules');
    const hook = join(root, 'test', 'support', 'loaded-modules.mjs');
    const { status, stdout } = spawnSync(process.execPath, ['--import', 'tsx', '--import', hook, ...args], {
      cwd: root,
      env: { PATH: process.env['PATH'], DATA_DIR: dir, LOADED_MODULES: list },
      encoding: 'utf8',
    });
    const urls = readFileSync(list, 'utf8').split('\n');
    const packages = urls.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []);
    const files = urls.flatMap((url) => /\/src\/([^?]+\.ts)/.exec(url)?.[1] ?? []);
    return { code: status, out: stdout, packages: [...new Set(packages)].sort(), files: [...new Set(files)] };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const ofOperations = ({ files }: Loads): string[] => files.filter((file) => file.startsWith('operations/memory-'));

describe('the commands that are derived from operations', () => {
  it('are found by the very names that the registry gives them', async () => {
    const byHand = new Set(['import', 'export', 'keys']);
    const wanted = operations.flatMap((operation) => {
      const names = [commandName(operation), ...(operation.cli?.aliases ?? [])];
      return names.filter((name) => !byHand.has(name)).map((name) => [name, operation.name]);
    });
    const found = await Promise.all([...OPERATION_LOADERS].map(async ([name, load]) => [name, (await load()).name]));
    expect(found).to.have.deep.members(wanted);
  });

  it('load no package but the schema library', () => {
    const names = JSON.stringify([...OPERATION_LOADERS.keys()]);
    const script = `const { findCommand } = await import('./src/cli/commands.ts');
      for (const name of ${names}) console.log((await (await findCommand(name, 'en')).help('en')).split('\\n')[0]);`;
    const loads = loadsOf(['--input-type=module', '-e', script]);
    expect(loads.code).to.equal(0);
    expect(loads.out.trim().split('\n')).to.have.length(OPERATION_LOADERS.size);
    expect(loads.packages).to.deep.equal(['zod']);
  });

  it('load the one operation that they call, and nothing of the service’s inside', () => {
    const loads = loadsOf(['src/main.ts', 'search', 'tea', '--url', 'http://127.0.0.1:1']);
    expect(loads.code, 'the service is away').to.equal(5);
    expect(loads.packages).to.deep.equal(['zod']);
    expect(ofOperations(loads)).to.deep.equal(['operations/memory-search.ts']);
    const rooms = new Set(loads.files.map((file) => file.split('/')[0]));
    expect([...rooms]).to.have.members(['main.ts', 'cli', 'config', 'domain', 'errors.ts', 'http', 'operations', 'text']);
    expect(loads.files.filter((file) => file.startsWith('http/'))).to.have.members(['http/binding.ts', 'http/query.ts']);
  });
});
