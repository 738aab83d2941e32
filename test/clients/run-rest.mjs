/**
 * What others make of the REST contract: lints the OpenAPI document of a running service (redocly) and lets a fuzzer derive calls from
 * it (schemathesis): `node test/clients/run-rest.mjs`. Needs Python 3 with venv.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installRestTools } from './install-rest-tools.mjs';

const REPOSITORY = join(import.meta.dirname, '..', '..');
const FUZZ_SECONDS = 120;
const LINT_TIMEOUT_MS = 120_000;
/** Beyond its own budget the fuzzer finishes what it began. */
const FUZZ_TIMEOUT_MS = (FUZZ_SECONDS + 120) * 1_000;
/** MCP has clients and a conformance suite of its own; /sse is a stream without end. */
const NOT_REST = '^/(mcp|sse|messages)$';
/**
 * Rules between fields (memory_id or filter), conditional headers and repeated Idempotency-Keys are not told by JSON Schema: calls that
 * fit it may still be refused. A write that the guard holds back has an id, and its reader none: it is not there for anybody but a reviewer.
 */
const CHECKS_LEFT_OUT = 'positive_data_acceptance,ensure_resource_availability';
const SEED = 20_260_501;

const { redocly, schemathesis } = installRestTools();
const dir = mkdtempSync(join(tmpdir(), 'hindsight-rest-'));

/** Exit code and output of a program; the token stands in no argument list that others could read. */
function run(command, args, timeout) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'], timeout });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk) => (output += chunk));
    child.once('error', (error) => resolve({ ok: false, output: error.message }));
    child.once('close', (code) => resolve({ ok: code === 0, output }));
  });
}

let passed = 0;
let failed = 0;
function count(title, ok, output) {
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${title}`);
  if (ok) passed += 1;
  else {
    failed += 1;
    console.log(output);
  }
}

const server = spawn(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'rest-server.ts')], {
  cwd: REPOSITORY,
  stdio: ['pipe', 'pipe', 'inherit'],
});
const ended = new Promise((resolve) => server.once('exit', resolve));
try {
  const first = await new Promise((resolve, reject) => {
    server.stdout.setEncoding('utf8').once('data', resolve);
    server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
  const { url, token } = JSON.parse(first);

  const document = join(dir, 'openapi.json');
  const answer = await fetch(`${url}/openapi.json`, { headers: { authorization: `Bearer ${token}` } });
  writeFileSync(document, JSON.stringify(await answer.json(), null, 2));
  const lint = await run(process.execPath, [redocly, 'lint', document, '--config', join(REPOSITORY, 'redocly.yaml')], LINT_TIMEOUT_MS);
  count('redocly finds nothing to say about the OpenAPI document', lint.ok, lint.output);

  // read by schemathesis from its working directory
  // what is too large is refused as such before it is looked at
  const refusals = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429, 431];
  const settings = [
    `headers = { Authorization = "Bearer ${token}" }`,
    '[checks]',
    `negative_data_rejection.expected-statuses = ${JSON.stringify(refusals)}`,
  ];
  writeFileSync(join(dir, 'schemathesis.toml'), `${settings.join('\n')}\n`, { mode: 0o600 });
  const fuzz = await run(
    schemathesis,
    [
      ...['run', document, '--url', url, '--exclude-path-regex', NOT_REST, '--seed', String(SEED)],
      ...['--phases', 'examples,coverage,fuzzing,stateful', '--max-examples', '25', '--max-time', String(FUZZ_SECONDS)],
      ...['--checks', 'all', '--exclude-checks', CHECKS_LEFT_OUT, '--request-timeout', '20', '--continue-on-failure', '--warnings', 'off'],
    ],
    FUZZ_TIMEOUT_MS,
  );
  const cases = Number(/(\d+) generated/.exec(fuzz.output)?.[1] ?? 0);
  count(`schemathesis finds no 5xx and no answer beside the contract in ${cases} calls`, fuzz.ok && cases >= 500, fuzz.output);
} finally {
  server.stdin.end();
  await ended;
  rmSync(dir, { recursive: true, force: true });
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
