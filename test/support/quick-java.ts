/** A Java for engines that live for seconds or minutes: the machine's own, told to compile quickly and not a second time for speed. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jdkTool, selectJdk } from '../../src/elastic/local/java.ts';
import { testEngine } from './engine.ts';

/**
 * A folder to be JAVA_HOME, which goes when this process does; undefined where there are no shell scripts. An engine on it is up after 3.9 s of
 * processor time where it took 8.3 to 9, and three heavy suites of `npm test` cost it 63 s where it took 98 (8.19.9 on Java 17).
 */
export async function quickJavaHome(): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined;
  const jdk = await selectJdk(testEngine(), { javaHome: process.env['JAVA_HOME'] });
  const home = mkdtempSync(join(tmpdir(), 'hindsight-es-java-'));
  process.once('exit', () => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, 'bin'));
  symlinkSync(join(jdk.home, 'release'), join(home, 'release'));
  for (const tool of ['javac', 'jar'] as const) symlinkSync(jdkTool(jdk, tool), jdkTool({ home }, tool));
  const java = `'${jdkTool(jdk, 'java').replaceAll("'", "'\\''")}'`;
  writeFileSync(jdkTool({ home }, 'java'), `#!/bin/sh\nexec ${java} -XX:TieredStopAtLevel=1 "$@"\n`, { mode: 0o755 });
  return home;
}
