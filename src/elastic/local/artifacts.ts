/** Puts the Elasticsearch home and the local models into the cache, once per machine: the first step of a local start. */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HindsightError } from '../../errors.ts';
import { locateAsset } from './asset.ts';
import { withCacheLock } from './cache-lock.ts';
import type { EngineVersion } from './engine-version.ts';
import { selectJdk } from './java.ts';
import { runMaven } from './maven.ts';
import { MODELS_VERSION, unpackModels } from './models.ts';
import { moduleDescriptor, TRANSPORT_PLUGIN } from './module-descriptor.ts';
import { isComplete, writeStamp } from './stamp.ts';

const NEEDED_BYTES = 500e6;

export interface Progress {
  readonly phase: string;
  readonly message: string;
  /** The phase is over. */
  readonly done?: true;
}

export interface PrepareOptions {
  readonly cacheDir: string;
  readonly engine: EngineVersion;
  /** False leaves the embedding models out (a run with vectors from elsewhere). */
  readonly models: boolean;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly javaHome?: string | undefined;
  /** Environment for Maven and Java; the process's own by default. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface Artifacts {
  /** An Elasticsearch home: lib, config, modules, plugins. */
  readonly elasticsearchHome: string;
  /** Holds `<model>.onnx` and `<model>-tokenizer.json`; empty or absent when no models were asked for. */
  readonly modelsDir: string;
}

/**
 * Makes sure that the engine's home (41 MB) and the models (59 MB) are in the cache and returns where; at once when
 * they are. What is missing comes from one Maven call and appears by an atomic rename; what is damaged is built again.
 * Throws ERR_ENGINE_JAVA, ERR_ENGINE_MAVEN or ERR_ENGINE_DISK, each one sentence that says what to do.
 */
export function prepareArtifacts(options: PrepareOptions): Promise<Artifacts> {
  return prepare(options, true);
}

/** The models alone (for an Elasticsearch of the user's own); resolves to where they lie. Errors as prepareArtifacts. */
export async function prepareModels(options: Omit<PrepareOptions, 'engine' | 'models'>): Promise<string> {
  const { modelsDir } = await prepare({ ...options, engine: '8.19.9', models: true }, false);
  return modelsDir;
}

async function prepare(options: PrepareOptions, home: boolean): Promise<Artifacts> {
  const elasticsearchHome = join(options.cacheDir, `elasticsearch-${options.engine}`);
  const modelsDir = join(options.cacheDir, `models-${MODELS_VERSION}`);
  const missing = async (): Promise<{ engine: boolean; models: boolean }> => ({
    engine: home && !(await isComplete(elasticsearchHome)),
    models: options.models && !(await isComplete(modelsDir)),
  });
  const before = await missing();
  if (!before.engine && !before.models) return { elasticsearchHome, modelsDir };

  await mkdir(options.cacheDir, { recursive: true });
  const report = (message: string): void => options.onProgress?.({ phase: 'fetch', message });
  const onWait = (pid: number): void => report(`waiting for process ${pid}, which is preparing the same cache`);
  await withCacheLock(join(options.cacheDir, 'prepare.lock'), onWait, async () => {
    const needed = await missing();
    if (needed.engine || needed.models) await build(options, needed, { elasticsearchHome, modelsDir }, report);
  });
  options.onProgress?.({ phase: 'fetch', message: 'ready', done: true });
  return { elasticsearchHome, modelsDir };
}

async function build(
  options: PrepareOptions,
  needed: { engine: boolean; models: boolean },
  target: Artifacts,
  report: (message: string) => void,
): Promise<void> {
  await requireSpace(options.cacheDir);
  // the models need Maven's Java alone
  const jdk = needed.engine ? await selectJdk(options.engine, options) : undefined;
  await removeLeftovers(options.cacheDir);
  const staging = await mkdtemp(join(options.cacheDir, 'staging-'));
  try {
    const [engineJars, modelJars, home, models] = ['engine-jars', 'model-jars', 'home', 'models'].map((name) => join(staging, name)) as [
      string,
      string,
      string,
      string,
    ];
    const wanted = [needed.engine ? `Elasticsearch ${options.engine}` : '', needed.models ? 'the embedding models' : ''];
    report(`fetching ${wanted.filter(Boolean).join(' and ')} with Maven`);
    await runMaven({
      pomPath: locateAsset('pom.xml'),
      logPath: join(options.cacheDir, 'maven.log'),
      properties: {
        'elasticsearch.version': options.engine,
        'models.version': MODELS_VERSION,
        engineDir: engineJars,
        modelsDir: modelJars,
        skipEngine: String(!needed.engine),
        skipModels: String(!needed.models),
      },
      env: options.env === undefined || jdk === undefined ? options.env : { JAVA_HOME: jdk.home, ...options.env },
      onProgress: report,
    });
    if (needed.engine) {
      await layOutHome(engineJars, home, options.engine);
      await publish(home, target.elasticsearchHome);
    }
    if (needed.models) {
      report('unpacking the embedding models');
      await mkdir(models);
      await unpackModels(modelJars, models);
      await publish(models, target.modelsDir);
    }
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** The layout that boots: netty and its transport are a module with its own class loader, everything else is on the class path. */
async function layOutHome(jarFolder: string, home: string, engine: EngineVersion): Promise<void> {
  const transport = join(home, 'modules', 'transport-netty4');
  const lib = join(home, 'lib');
  for (const folder of [transport, lib, join(home, 'config'), join(home, 'plugins')]) await mkdir(folder, { recursive: true });
  for (const jar of await readdir(jarFolder)) {
    const folder = jar.startsWith('netty-') || jar.startsWith('transport-netty4') ? transport : lib;
    await rename(join(jarFolder, jar), join(folder, jar));
  }
  await writeFile(join(transport, 'plugin-descriptor.properties'), moduleDescriptor(engine, TRANSPORT_PLUGIN));
}

/** Stamps the folder and moves it into place; what stood there (damaged, or it would not be rebuilt) goes first. */
export async function publish(folder: string, target: string): Promise<void> {
  await writeStamp(folder);
  const aside = `${target}.${randomUUID()}.old`;
  await rename(target, aside).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rename(folder, target);
  await rm(aside, { recursive: true, force: true });
}

/** Folders that a killed run left behind; safe under the lock. */
export async function removeLeftovers(cacheDir: string): Promise<void> {
  for (const name of await readdir(cacheDir)) {
    if (name.startsWith('staging-') || name.endsWith('.old')) await rm(join(cacheDir, name), { recursive: true, force: true });
  }
}

export async function requireSpace(cacheDir: string): Promise<void> {
  const { bavail, bsize } = await statfs(cacheDir);
  if (bavail * bsize >= NEEDED_BYTES) return;
  const detail = `Only ${Math.round((bavail * bsize) / 1e6)} MB are free at ${cacheDir}: free 500 MB there and start again`;
  throw new HindsightError('ERR_ENGINE_DISK', { params: { detail } });
}
