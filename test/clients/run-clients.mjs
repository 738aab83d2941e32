/** Runs MCP clients that others wrote against the real service, on a real engine: `node test/clients/run-clients.mjs`. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { build } from '../../src/bootstrap/prepare.mjs';
import { installClients } from './install-clients.mjs';
import { installConformance } from './install-conformance.mjs';

const HERE = import.meta.dirname;
const REPOSITORY = join(HERE, '..', '..');
const PATIENCE_MS = 170_000;

const { modules, python } = installClients();
const { node: newNode } = installConformance();
await build(); // the stdio entry is the compiled program

const service = spawn(process.execPath, ['--import', 'tsx', join(HERE, 'service.ts')], {
  cwd: REPOSITORY,
  stdio: ['pipe', 'pipe', 'inherit'],
});
const first = await new Promise((resolve, reject) => {
  service.stdout.setEncoding('utf8').once('data', resolve);
  service.once('exit', (code) => reject(new Error(`the service ended with ${code}`)));
});
const { url, token, reader } = JSON.parse(first);
const env = {
  ...process.env,
  MCP_URL: `${url}/mcp`,
  SSE_URL: `${url}/sse`,
  TOKEN: token,
  READER: reader,
  NODE: process.execPath,
  MAIN: join(REPOSITORY, 'dist', 'main.js'),
  MODULES: modules,
  PYTHONDONTWRITEBYTECODE: '1',
};

let passed = 0;
let failed = 0;

function count(line) {
  console.log(line);
  if (line.startsWith('ok ')) passed += 1;
  if (line.startsWith('FAILED')) failed += 1;
}

/** Output of a program, and its exit code. */
function run(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: HERE, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: PATIENCE_MS });
    let output = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => (output += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk) => (errors += chunk));
    child.once('close', (code) => resolve({ code, output, errors }));
  });
}

/** A script that prints a line for each check; one that prints fewer than it has was cut short. */
async function suite(name, checks, command, args) {
  const { code, output, errors } = await run(command, args);
  const lines = output.split('\n').filter((line) => line !== '');
  lines.forEach(count);
  const done = lines.filter((line) => line.startsWith('ok ')).length;
  if (code !== 0 || (done < checks && !output.includes('FAILED')))
    count(`FAILED ${name}: ${done} of ${checks} checks, exit code ${code}\n${errors.slice(-2_000)}`);
}

/** The Inspector's command line, one call each; `expected` judges its JSON. */
async function inspector(check, args, expected) {
  const cli = join(modules, '@modelcontextprotocol', 'inspector', 'clients', 'launcher', 'build', 'index.js');
  const authorization = `Authorization: Bearer ${token}`;
  const { code, output, errors } = await run(newNode, [
    cli,
    '--cli',
    `${url}/mcp`,
    '--transport',
    'http',
    '--header',
    authorization,
    ...args,
  ]);
  let holds = false;
  try {
    holds = code === 0 && expected(JSON.parse(output));
  } catch {
    // not JSON: told below
  }
  count(
    holds ? `ok     inspector: ${check}` : `FAILED inspector: ${check}: exit code ${code}\n${output.slice(0, 600)}${errors.slice(0, 600)}`,
  );
}

try {
  await Promise.all([
    suite('node', 132, process.execPath, [join(HERE, 'node-clients.mjs')]),
    (async () => {
      await suite('python mcp 1', 21, python.mcp1, ['python-mcp1.py']);
      await suite('python mcp 2', 42, python.mcp2, ['python-mcp2.py']);
      await suite('fastmcp', 28, python.fastmcp, ['python-fastmcp.py']);
    })(),
  ]);
  await inspector('tools/list', ['--method', 'tools/list', '--strict'], ({ tools }) => tools.length >= 5);
  const write = ['--method', 'tools/call', '--tool-name', 'memory_write', '--tool-arg', 'content=The kettle is red.', 'wait=true'];
  await inspector('write', write, (result) => result.structuredContent.results[0].memory_id !== undefined);
  const search = ['--method', 'tools/call', '--tool-name', 'memory_search', '--tool-arg', 'query=red kettle'];
  await inspector('search finds it', search, (result) => JSON.stringify(result.structuredContent.hits).includes('kettle'));
} finally {
  service.stdin.end();
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
