/** What `npm start` and `npm test` do before anything else: check Node, install packages, build. Plain JavaScript without dependencies. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Prints one sentence and ends with exit code 1. */
export function fail(sentence) {
  process.stderr.write(`hindsight-es: ${sentence}\n`);
  process.exit(1);
}

export function say(line) {
  process.stderr.write(`${line}\n`);
}

/** Node >= 20.19, else one sentence. */
export function checkNode(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    fail(`Node ${version} is too old: install Node 20.19 or newer (for example with "nvm install 22") and run the command again.`);
}

/** `npm ci` when node_modules does not belong to this package-lock.json. */
export async function install() {
  const stamp = join(root, 'node_modules', '.hindsight-lock');
  const want = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === want) return;
  await step('installing packages (npm ci)', npm(), ['ci', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error']);
  writeFileSync(stamp, want);
}

/** `tsc` when a source file is newer than the last build. */
export async function build() {
  const stamp = join(root, 'dist', '.built');
  const newest = Math.max(
    newestIn(join(root, 'src')),
    ...['tsconfig.json', 'tsconfig.build.json', 'package-lock.json'].map((f) => statSync(join(root, f)).mtimeMs),
  );
  if (existsSync(stamp) && statSync(stamp).mtimeMs > newest) return;
  await step('building', process.execPath, [
    join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
    '-p',
    join(root, 'tsconfig.build.json'),
  ]);
  writeFileSync(stamp, '');
}

function newestIn(folder) {
  return Math.max(
    0,
    ...readdirSync(folder, { withFileTypes: true }).map((e) =>
      e.isDirectory() ? newestIn(join(folder, e.name)) : statSync(join(folder, e.name)).mtimeMs,
    ),
  );
}

/** npm as it was called, so that the user's own version does the work. */
function npm() {
  return process.env.npm_execpath ?? (process.platform === 'win32' ? 'npm.cmd' : 'npm');
}

/** Runs a command, its output to stderr, with a line of progress every five seconds. */
export async function step(title, command, args, env = process.env) {
  const started = performance.now();
  const seconds = () => ((performance.now() - started) / 1000).toFixed(0);
  say(`- ${title} …`);
  const tick = setInterval(() => say(`  ${title}: ${seconds()} s`), 5_000);
  const script = command.endsWith('.js') || command.endsWith('.cjs');
  const code = await new Promise((resolve) => {
    const child = spawn(script ? process.execPath : command, script ? [command, ...args] : args, {
      cwd: root,
      env,
      stdio: ['ignore', 2, 2],
    });
    child.on('error', (error) => {
      say(String(error.message));
      resolve(1);
    });
    child.on('exit', (exitCode, signal) => resolve(signal ? 1 : exitCode));
  });
  clearInterval(tick);
  if (code !== 0) fail(`${title} did not succeed (exit code ${code}); the reason stands above.`);
  say(`  ${title}: done in ${seconds()} s`);
}
