/** `npm test`: installs what is missing, then runs the suites on a real engine that the tests start themselves. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { build, checkNode, install, root } from './prepare.mjs';

checkNode();
await install();
await build(); // the command line and the stdio entry are tested as compiled programs
const args = process.argv.slice(2);
// a single file, and whatever says more than which files to run, is Mocha's own affair, in one process
const single = args.some((arg) => arg.startsWith('-')) || (args.length === 1 && args[0].endsWith('.ts') && !args[0].includes('*'));
const program = single
  ? [join(root, 'node_modules', 'mocha', 'bin', 'mocha.js')]
  : ['--import', 'tsx', join(root, 'test', 'support', 'run.ts')];
const child = spawn(process.execPath, [...program, ...args], { cwd: root, stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
