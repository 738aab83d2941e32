/** `npm test`: installs what is missing, then runs the suites on a real engine that the tests start themselves. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { build, checkNode, install, root } from './prepare.mjs';

checkNode();
await install();
await build(); // the command line and the stdio entry are tested as compiled programs
const args = process.argv.length > 2 ? process.argv.slice(2) : ['test/**/*.test.ts'];
const child = spawn(process.execPath, [join(root, 'node_modules', 'mocha', 'bin', 'mocha.js'), ...args], {
  cwd: root,
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
