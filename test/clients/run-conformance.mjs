/** Runs the protocol's own conformance suite against this service's MCP legs: `node test/clients/run-conformance.mjs`. */
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { installConformance } from './install-conformance.mjs';
import { startTokenProxy } from './token-proxy.mjs';

const REPOSITORY = join(import.meta.dirname, '..', '..');
const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';
/** Scenarios that LEGACY scores for a server; fewer means that the suite was not run whole. */
const LEGACY_SCENARIOS = 30;
const MODERN_SCENARIOS = [
  'server-stateless',
  'http-header-validation',
  'tools-list',
  ...[
    'basic-elicitation',
    'basic-sampling',
    'basic-list-roots',
    'request-state',
    'multiple-input-requests',
    'multi-round',
    'missing-input-response',
    'non-tool-request',
    'result-type',
    'unsupported-methods',
    'tampered-state',
    'capability-check',
    'ignore-extra-params',
    'validate-input',
  ].map((name) => `input-required-result-${name}`),
];
const TIMEOUT_MS = 120_000;

const { node, suite } = installConformance();

/** Names of the server scenarios that a revision requires. */
function requiredScenarios(revision) {
  const { stdout } = spawnSync(node, [suite, 'list', '--requirements', revision], { encoding: 'utf8' });
  const [, server = ''] = stdout.split('Server scenarios');
  return [...server.split('Client scenarios')[0].matchAll(/^ {2}- (\S+)$/gm)].map(([, name]) => name);
}

/** One scenario, run by the suite in a process of its own; a warning of it is not a failure, as in its own count. */
function run(scenario, revision, url) {
  return new Promise((resolve) => {
    const args = [suite, 'server', '--url', url, '--scenario', scenario, '--spec-version', revision];
    const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: TIMEOUT_MS });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk) => (output += chunk));
    child.once('close', (code) => resolve({ ok: code === 0, output }));
  });
}

const server = spawn(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'conformance-server.ts')], {
  cwd: REPOSITORY,
  stdio: ['pipe', 'pipe', 'inherit'],
});
const first = await new Promise((resolve, reject) => {
  server.stdout.setEncoding('utf8').once('data', resolve);
  server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
});
const { port, token } = JSON.parse(first);
const proxy = await startTokenProxy(port, token);

let passed = 0;
let failed = 0;
const legacy = requiredScenarios(LEGACY);
if (legacy.length !== LEGACY_SCENARIOS) {
  failed += 1;
  console.log(`FAILED: the suite names ${legacy.length} scenarios for ${LEGACY}, not ${LEGACY_SCENARIOS}`);
}
for (const [revision, scenarios] of [
  [LEGACY, legacy],
  [MODERN, MODERN_SCENARIOS],
])
  for (const scenario of scenarios) {
    const { ok, output } = await run(scenario, revision, `http://localhost:${proxy.port}/mcp`);
    const checks = /Passed: .*/.exec(output)?.[0] ?? '';
    console.log(`${ok ? 'ok    ' : 'FAILED'} ${revision} ${scenario} ${checks}`);
    if (ok) passed += 1;
    else {
      failed += 1;
      console.log(output);
    }
  }

proxy.close();
server.stdin.end();
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
