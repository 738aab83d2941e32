/** `npm start`: a fresh clone becomes a running local service; everything after that is `serve --local` of the compiled program. */
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { build, checkNode, install, root } from './prepare.mjs';

checkNode();
await install();
await build();
const main = join(root, 'dist', 'main.js');
process.argv = [process.argv[0], main, 'serve', '--local', ...process.argv.slice(2)];
await import(pathToFileURL(main).href);
