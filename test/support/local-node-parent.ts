/** A process of its own that starts a local node and then waits: the test kills it to see whether the node follows. */
import { startLocalNode } from '../../src/elastic/local/node.ts';
import { engineCacheDir, testEngine } from './engine.ts';

const dataDir = process.argv[2];
if (dataDir === undefined) throw new Error('usage: local-node-parent <data directory>');
const node = await startLocalNode({
  cacheDir: engineCacheDir(),
  dataDir,
  engine: testEngine(),
  javaHome: process.env['JAVA_HOME'],
  log: () => undefined,
});
process.stdout.write(`${JSON.stringify({ url: node.url, pid: node.pid() })}\n`);
