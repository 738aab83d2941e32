/** Compiles the launcher and its guard once per engine and release of them, and puts together the command line of the Elasticsearch JVM. */
import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { access, copyFile, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { HindsightError } from '../../errors.ts';
import { locateAsset } from './asset.ts';
import type { EngineVersion } from './engine-version.ts';
import { jdkTool, type Jdk } from './java.ts';
import { moduleDescriptor } from './module-descriptor.ts';

const COMPILE_TIMEOUT_MS = 60_000;
const LAUNCHER = 'Launcher';
const GUARD = 'LoopbackGuard';

/**
 * The folder with the compiled launcher (classes) and the transport module with its guard (modules), built with the JDK's tools on the first call (about 3 s)
 * and kept in the cache under the hash of everything it is made of. Throws ERR_ENGINE_JAVA when that fails.
 */
export async function compileLauncher(cacheDir: string, engine: EngineVersion, home: string, jdk: Jdk): Promise<string> {
  const sources = [LAUNCHER, GUARD].map((name) => locateAsset(`${name}.java`));
  const descriptor = moduleDescriptor(engine, `hindsight.${GUARD}`);
  const hash = createHash('sha256').update(descriptor);
  for (const source of sources) hash.update(await readFile(source));
  const target = join(cacheDir, `launcher-${engine}-${hash.digest('hex').slice(0, 12)}`);
  if (await exists(target)) return target;
  const staging = `${target}.${randomUUID()}`;
  try {
    await build(staging, sources, descriptor, home, jdk);
    await rename(staging, target);
  } catch (error) {
    if (await exists(target)) return target; // another process was faster
    const detail = `The JDK at ${jdk.home} could not compile the launcher: install a complete JDK and set JAVA_HOME to it`;
    throw new HindsightError('ERR_ENGINE_JAVA', { params: { detail }, cause: error });
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return target;
}

/**
 * The guard takes the place of the plugin it extends, in the same module: a copy of the home's with one jar more and another class name.
 * It is no part of the class path, because Elasticsearch takes a plugin's class from the module's own loader only.
 */
async function build(folder: string, sources: readonly string[], descriptor: string, home: string, jdk: Jdk): Promise<void> {
  const run = (tool: 'javac' | 'jar', args: readonly string[]) =>
    promisify(execFile)(jdkTool(jdk, tool), args, { timeout: COMPILE_TIMEOUT_MS, env: {} });
  const transport = join(home, 'modules', 'transport-netty4');
  const module = join(folder, 'modules', 'transport-netty4');
  const [classes, guardClasses] = [join(folder, 'classes'), join(folder, 'guard')];
  for (const path of [classes, guardClasses, module]) await mkdir(path, { recursive: true });
  const jars = (await readdir(transport)).filter((name) => name.endsWith('.jar'));
  for (const jar of jars) await copyFile(join(transport, jar), join(module, jar));
  const classPath = [join(home, 'lib', '*'), join(transport, '*')].join(delimiter);
  // --release 17 lets the classes run on whichever JDK is chosen next time
  const compile = (source: string, to: string) =>
    run('javac', ['--release', '17', '-proc:none', '-nowarn', '-cp', classPath, '-d', to, source]);
  const [launcher, guard] = sources as [string, string];
  await Promise.all([compile(launcher, classes), compile(guard, guardClasses)]);
  await run('jar', ['--create', '--file', join(module, 'loopback-guard.jar'), '-C', guardClasses, '.']);
  await rm(guardClasses, { recursive: true });
  await writeFile(join(module, 'plugin-descriptor.properties'), descriptor);
}

export interface JvmOptions {
  readonly jdk: Jdk;
  readonly launcherDir: string;
  readonly home: string;
  readonly dataDir: string;
  readonly heapMb: number;
  readonly httpPort: number;
  /** File with the credential that every HTTP request must carry; undefined: anyone on this machine is answered. */
  readonly credentialFile: string | undefined;
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
    // else JNA unpacks its library under the user's home
    `-Djna.tmpdir=${join(options.dataDir, 'tmp')}`,
    '-Dfile.encoding=UTF-8',
    '-Dlog4j.shutdownHookEnabled=false', // else the lines of a clean close are lost
    '-Dlog4j2.disable.jmx=true',
    '-Dio.netty.noUnsafe=true',
    '--add-opens=java.base/java.io=ALL-UNNAMED',
    '--add-modules=jdk.incubator.vector', // Lucene's SIMD; without effect on a Java it does not know
  ];
  if (options.jdk.major >= 22) flags.push('--enable-native-access=ALL-UNNAMED');
  const classPath = [join(options.launcherDir, 'classes'), join(options.home, 'lib', '*')].join(delimiter);
  const settings = Object.entries(nodeSettings(options)).map(([name, value]) => `${name}=${value}`);
  return [...flags, '-cp', classPath, LAUNCHER, join(options.launcherDir, 'modules'), ...settings];
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
    ...(options.credentialFile === undefined ? {} : { 'hindsight.credential_file': options.credentialFile }),
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
