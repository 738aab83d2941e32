/** Finds the JDKs on the machine and chooses the one that runs the managed Elasticsearch best. */
import { execFile } from 'node:child_process';
import { readFile, readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { HindsightError } from '../../errors.ts';
import { ENGINE_FACTS, type EngineVersion } from './engine-version.ts';

const PROBE_TIMEOUT_MS = 20_000;

/** Folders that hold one JDK per entry, on Linux and macOS. */
export const JDK_FOLDERS: readonly string[] = ['/usr/lib/jvm', '/usr/java', '/opt/java', '/Library/Java/JavaVirtualMachines'];

export interface Jdk {
  readonly home: string;
  /** As the JDK spells it, for example 17.0.15. */
  readonly version: string;
  readonly major: number;
  /** False for a runtime without javac, which can't build the launcher. */
  readonly hasCompiler: boolean;
}

export interface JavaSearch {
  /** Usually the value of JAVA_HOME; taken first when it is new enough. */
  readonly javaHome?: string | undefined;
  /** Environment for looking up `java`; the process's own by default. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly folders?: readonly string[] | undefined;
}

/** Path of a tool of the JDK, with the platform's suffix. */
export function jdkTool(jdk: Pick<Jdk, 'home'>, tool: 'java' | 'javac' | 'jar'): string {
  return join(jdk.home, 'bin', process.platform === 'win32' ? `${tool}.exe` : tool);
}

/** Java's major version: 8 for "1.8.0_392", 17 for "17.0.15"; undefined for anything else. */
export function javaMajor(version: string): number | undefined {
  const match = /^(?:1\.)?(\d+)/.exec(version);
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

/** Every Java installation that could be found, each once, `javaHome` first; an empty list when there is none. */
export async function findJdks(search: JavaSearch = {}): Promise<Jdk[]> {
  const homes: string[] = [];
  if (search.javaHome) homes.push(search.javaHome);
  const onPath = await javaProperties('java', search.env);
  const pathHome = onPath.get('java.home');
  if (pathHome) homes.push(pathHome);
  for (const folder of search.folders ?? JDK_FOLDERS) {
    const entries = await readdir(folder).catch(() => []);
    for (const entry of entries.sort()) homes.push(join(folder, entry), join(folder, entry, 'Contents', 'Home'));
  }
  const found = new Map<string, Jdk>();
  for (const home of homes) {
    const real = await realpath(home).catch(() => undefined);
    if (real === undefined || found.has(real)) continue;
    const jdk = await readJdk(real, search.env);
    if (jdk) found.set(real, jdk);
  }
  return [...found.values()];
}

/**
 * The JDK to use: `javaHome` when it fits, else one with SIMD support for this engine, else the oldest that fits
 * (the closest to what the engine was tested on). Throws ERR_ENGINE_JAVA with one sentence that says what to install.
 */
export function chooseJdk(jdks: readonly Jdk[], engine: EngineVersion, javaHome?: string): Jdk {
  const { minJava, simdJava } = ENGINE_FACTS[engine];
  const fitting = jdks.filter((jdk) => jdk.major >= minJava && jdk.hasCompiler);
  const named = javaHome === undefined ? undefined : fitting.find((jdk) => jdk.home === javaHome);
  const rank = (jdk: Jdk): number => (simdJava.includes(jdk.major) ? 0 : jdk.major);
  const best = named ?? fitting.toSorted((a, b) => rank(a) - rank(b))[0];
  if (best) return best;
  throw new HindsightError('ERR_ENGINE_JAVA', { params: { detail: `${whyNone(jdks, engine)}: ${whatToInstall(minJava)}` } });
}

/** findJdks and chooseJdk in one step. */
export async function selectJdk(engine: EngineVersion, search: JavaSearch = {}): Promise<Jdk> {
  const real = search.javaHome ? await realpath(search.javaHome).catch(() => undefined) : undefined;
  return chooseJdk(await findJdks(search), engine, real);
}

function whyNone(jdks: readonly Jdk[], engine: EngineVersion): string {
  const { minJava } = ENGINE_FACTS[engine];
  const newest = jdks.toSorted((a, b) => b.major - a.major)[0];
  if (!newest) return `No JDK was found, and the local Elasticsearch ${engine} needs JDK ${minJava} or newer`;
  if (newest.major >= minJava) return `Java ${newest.version} at ${newest.home} is a runtime without the compiler (javac)`;
  return `The local Elasticsearch ${engine} needs JDK ${minJava} or newer, and the newest found is ${newest.version} at ${newest.home}`;
}

function whatToInstall(minJava: number): string {
  return (
    `install one (Debian and Ubuntu: apt install openjdk-${minJava}-jdk-headless; macOS: brew install openjdk@21; ` +
    'Windows: winget install EclipseAdoptium.Temurin.21.JDK), set JAVA_HOME to it, or set ELASTICSEARCH_URL to use your own cluster'
  );
}

async function readJdk(home: string, env: JavaSearch['env']): Promise<Jdk | undefined> {
  const java = jdkTool({ home }, 'java');
  if (!(await isFile(java))) return undefined;
  const release = await readFile(join(home, 'release'), 'utf8').catch(() => '');
  const version = /^JAVA_VERSION="([^"]+)"/m.exec(release)?.[1] ?? (await javaProperties(java, env)).get('java.version');
  const major = version === undefined ? undefined : javaMajor(version);
  if (version === undefined || major === undefined) return undefined;
  return { home, version, major, hasCompiler: await isFile(jdkTool({ home }, 'javac')) };
}

/** The system properties that a `java` prints about itself; empty when it can't be run. */
function javaProperties(command: string, env: JavaSearch['env']): Promise<Map<string, string>> {
  return new Promise((resolve) => {
    const options = { timeout: PROBE_TIMEOUT_MS, ...(env === undefined ? {} : { env }) };
    execFile(command, ['-XshowSettings:properties', '-version'], options, (_error, _stdout, stderr) => {
      const properties = new Map<string, string>();
      for (const line of stderr.split('\n')) {
        const match = /^\s+([\w.]+) = (.*)$/.exec(line.trimEnd());
        if (match?.[1] !== undefined && match[2] !== undefined) properties.set(match[1], match[2]);
      }
      resolve(properties);
    });
  });
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (info) => info.isFile(),
    () => false,
  );
}
