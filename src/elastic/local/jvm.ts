/** Compiles the launcher once per engine and release of it, and puts together the command line of the Elasticsearch JVM. */
import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { HindsightError } from '../../errors.ts';
import { locateAsset } from './asset.ts';
import type { EngineVersion } from './engine-version.ts';
import { jdkTool, type Jdk } from './java.ts';

const COMPILE_TIMEOUT_MS = 60_000;
const LAUNCHER = 'Launcher';

/**
 * The folder with the compiled launcher, built by javac on the first call (about 1.5 s) and kept in the cache under the
 * source's hash. Throws ERR_ENGINE_JAVA when javac fails.
 */
export async function compileLauncher(cacheDir: string, engine: EngineVersion, home: string, jdk: Jdk): Promise<string> {
  const source = locateAsset(`${LAUNCHER}.java`);
  const hash = createHash('sha256')
    .update(await readFile(source))
    .digest('hex')
    .slice(0, 12);
  const target = join(cacheDir, `launcher-${engine}-${hash}`);
  if (await exists(join(target, `${LAUNCHER}.class`))) return target;
  const staging = `${target}.${randomUUID()}`;
  await mkdir(staging, { recursive: true });
  try {
    // --release 17 lets the class run on whichever JDK is chosen next time
    const args = ['--release', '17', '-proc:none', '-nowarn', '-cp', join(home, 'lib', '*'), '-d', staging, source];
    await promisify(execFile)(jdkTool(jdk, 'javac'), args, { timeout: COMPILE_TIMEOUT_MS, env: {} });
    await rename(staging, target);
  } catch (error) {
    if (await exists(join(target, `${LAUNCHER}.class`))) return target; // another process was faster
    const detail = `The JDK at ${jdk.home} could not compile the launcher: install a complete JDK and set JAVA_HOME to it`;
    throw new HindsightError('ERR_ENGINE_JAVA', { params: { detail }, cause: error });
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return target;
}

export interface JvmOptions {
  readonly jdk: Jdk;
  readonly launcherDir: string;
  readonly home: string;
  readonly dataDir: string;
  readonly heapMb: number;
  readonly httpPort: number;
}

/** Arguments of `java` for one local node. Pure. */
export function jvmArguments(options: JvmOptions): string[] {
  const flags = [
    `-Xms${Math.min(256, options.heapMb)}m`,
    `-Xmx${options.heapMb}m`,
    '-XX:+UseG1GC',
    '-XX:+ExitOnOutOfMemoryError', // a half-dead node is worse than a restarted one
    `-XX:ErrorFile=${join(options.dataDir, 'logs', 'jvm-crash-%p.log')}`,
    '-XX:-UsePerfData',
    '-Djava.awt.headless=true',
    '-Dfile.encoding=UTF-8',
    '-Dlog4j.shutdownHookEnabled=false', // else the lines of a clean close are lost
    '-Dlog4j2.disable.jmx=true',
    '-Dio.netty.noUnsafe=true',
    '--add-opens=java.base/java.io=ALL-UNNAMED',
    '--add-modules=jdk.incubator.vector', // Lucene's SIMD; without effect on a Java it does not know
  ];
  if (options.jdk.major >= 22) flags.push('--enable-native-access=ALL-UNNAMED');
  const classPath = [options.launcherDir, join(options.home, 'lib', '*')].join(delimiter);
  const settings = Object.entries(nodeSettings(options)).map(([name, value]) => `${name}=${value}`);
  return [...flags, '-cp', classPath, LAUNCHER, ...settings];
}

function nodeSettings(options: JvmOptions): Record<string, string> {
  return {
    'path.home': options.home,
    'path.data': join(options.dataDir, 'elasticsearch'),
    'path.logs': join(options.dataDir, 'logs'),
    'path.repo': join(options.dataDir, 'snapshots'),
    'cluster.name': 'hindsight-es',
    'node.name': 'local',
    'node.roles': 'master,data,ingest',
    'discovery.type': 'single-node',
    'network.host': '127.0.0.1',
    'http.port': String(options.httpPort),
    'transport.port': '0', // any free one: nobody else joins
    'cluster.max_shards_per_node': '5000', // 300 tenants with several indices each
    'action.auto_create_index': 'false', // a typo must not create an index
    // Percentages would make a big, well-filled disk read-only with tens of GB free.
    'cluster.routing.allocation.disk.watermark.low': '1gb',
    'cluster.routing.allocation.disk.watermark.high': '750mb',
    'cluster.routing.allocation.disk.watermark.flood_stage': '500mb',
    'logger.level': 'INFO',
  };
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
