/** What the machine has: Node, Java, Maven, the files in the cache, disk and port; needs no service. */
import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../../config.ts';
import { assertNodeVersion } from '../../config/node-version.ts';
import { MODELS_VERSION } from '../../elastic/local/models.ts';
import { multilingualFolder } from '../../elastic/local/multilingual-folder.ts';
import { selectJdk } from '../../elastic/local/java.ts';
import { isComplete } from '../../elastic/local/stamp.ts';
import { assertPortFree } from '../port.ts';
import { isAlive, readRunFile } from '../run-file.ts';
import { finding, type Finding } from './check.ts';

const MAVEN_TIMEOUT_MS = 20_000;
/** The service stops taking writes long before: Elasticsearch's flood stage is 95 %. */
const LITTLE_BYTES = 2e9;
const FETCH_BYTES = 500e6;

export function checkNode(version: string = process.versions.node): Finding {
  try {
    assertNodeVersion(version);
    return finding('Node', 'ok', version);
  } catch {
    return finding('Node', 'fail', version, { en: 'install Node 20.19 or newer', zh: '请安装 Node 20.19 或更新版本' });
  }
}

export async function checkJava({ elasticsearch, engine }: Config): Promise<Finding> {
  if (elasticsearch.url !== undefined) return notNeeded('Java');
  try {
    const jdk = await selectJdk(engine.version, { javaHome: engine.javaHome });
    return finding('Java', 'ok', `${jdk.version} (${jdk.home})`);
  } catch (error) {
    return finding('Java', 'fail', { en: 'no JDK that fits', zh: '没有合适的 JDK' }, (error as Error).message);
  }
}

/** Needed once: when engine and models are in the cache it only has to be there for the next version. */
export async function checkMaven(config: Config): Promise<Finding> {
  const version = await mavenVersion();
  if (version !== undefined) return finding('Maven', 'ok', version);
  const fetched = (await missingParts(config)).every((folder) => folder === multilingualFolder(config.cacheDir));
  return finding(
    'Maven',
    fetched ? 'skip' : 'fail',
    fetched ? { en: 'not found, not needed any more', zh: '未找到，但已不再需要' } : { en: 'not found', zh: '未找到' },
    {
      en: 'it fetches the engine and the models: apt install maven, or brew install maven',
      zh: '用于下载引擎和模型：apt install maven，或 brew install maven',
    },
  );
}

function mavenVersion(): Promise<string | undefined> {
  return new Promise((resolve) => {
    const command = process.platform === 'win32' ? 'mvn.cmd' : 'mvn';
    execFile(command, ['-v'], { timeout: MAVEN_TIMEOUT_MS, shell: process.platform === 'win32' }, (error, stdout) => {
      resolve(error === null ? (/Apache Maven (\d[\w.-]*)/.exec(stdout)?.[1] ?? 'found') : undefined);
    });
  });
}

export async function checkFiles(config: Config): Promise<readonly Finding[]> {
  const missing = await missingParts(config);
  const part = (name: string, folder: string, needed: boolean): Finding => {
    if (!needed) return notNeeded(name);
    if (!missing.includes(folder)) return finding(name, 'ok', folder);
    if (folder === multilingualFolder(config.cacheDir))
      return finding(
        name,
        'fail',
        { en: 'not made yet', zh: '尚未生成' },
        { en: 'run "npm run model:multilingual" once', zh: '请运行一次 “npm run model:multilingual”' },
      );
    return finding(
      name,
      'warn',
      { en: 'not fetched yet', zh: '尚未下载' },
      { en: 'the first "serve --local" fetches it with Maven', zh: '第一次 “serve --local” 会用 Maven 下载' },
    );
  };
  return [
    part('engine files', engineFolder(config), config.elasticsearch.url === undefined),
    part('models', modelsFolder(config), config.embedding.profile !== 'openai'),
  ];
}

async function missingParts(config: Config): Promise<readonly string[]> {
  const folders = [
    ...(config.elasticsearch.url === undefined ? [engineFolder(config)] : []),
    ...(config.embedding.profile === 'openai' ? [] : [modelsFolder(config)]),
  ];
  const complete = await Promise.all(folders.map((folder) => isComplete(folder)));
  return folders.filter((_folder, i) => complete[i] !== true);
}

const engineFolder = ({ cacheDir, engine }: Config): string => join(cacheDir, `elasticsearch-${engine.version}`);
const modelsFolder = ({ cacheDir, embedding }: Config): string =>
  embedding.profile === 'local-multilingual' ? multilingualFolder(cacheDir) : join(cacheDir, `models-${MODELS_VERSION}`);

export async function checkDisk(folder: string): Promise<Finding> {
  // the folder may be still to be made: its nearest parent lies on the same disk
  for (let at = folder; ; at = dirname(at)) {
    const space = await statfs(at).catch(() => undefined);
    if (space === undefined && dirname(at) !== at) continue;
    if (space === undefined) return finding('disk', 'warn', { en: 'cannot be read', zh: '无法读取' });
    const free = space.bavail * space.bsize;
    const found = { en: `${(free / 1e9).toFixed(1)} GB free at ${folder}`, zh: `${folder} 剩余 ${(free / 1e9).toFixed(1)} GB` };
    const health = free < FETCH_BYTES ? 'fail' : free < LITTLE_BYTES ? 'warn' : 'ok';
    return finding(
      'disk',
      health,
      found,
      health === 'ok'
        ? undefined
        : {
            en: 'free some space, or set DATA_DIR and HINDSIGHT_CACHE_DIR to another disk',
            zh: '请腾出空间，或把 DATA_DIR 和 HINDSIGHT_CACHE_DIR 设到其他磁盘',
          },
    );
  }
}

export async function checkPort({ dataDir, port, host }: Config): Promise<Finding> {
  const run = readRunFile(dataDir);
  if (run !== undefined && (await isAlive(run)))
    return finding('port', 'ok', { en: `${run.url}, the running service`, zh: `${run.url}，正在运行的服务` });
  try {
    await assertPortFree(port, host);
    return finding('port', 'ok', { en: `${port} is free`, zh: `${port} 空闲` });
  } catch {
    return finding(
      'port',
      'fail',
      { en: `${host}:${port} cannot be listened on`, zh: `无法监听 ${host}:${port}` },
      { en: 'stop the program that holds it, or set PORT', zh: '请停止占用它的程序，或设置 PORT' },
    );
  }
}

function notNeeded(check: string): Finding {
  return finding(check, 'skip', { en: 'not needed with this configuration', zh: '当前配置不需要' });
}
