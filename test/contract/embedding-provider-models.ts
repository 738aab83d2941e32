/** Where the contract suites find the local models: the machine's cache, filled by the same code that fills it for a user. */
import { prepareArtifacts } from '../../src/elastic/local/artifacts.ts';
import { makeMultilingual } from '../../src/elastic/local/multilingual.ts';
import { engineCacheDir, testEngine } from '../support/engine.ts';

/** Directory with the ONNX files. Minutes on a machine without a cache, milliseconds after. */
export async function testModelsDir(): Promise<string> {
  const { modelsDir } = await prepareArtifacts({ cacheDir: engineCacheDir(), engine: testEngine(), models: true });
  return modelsDir;
}

/** Directory with the model of profile local-multilingual. A quarter of a minute and Python on a machine without it, milliseconds after. */
export function multilingualModelDir(): Promise<string> {
  return makeMultilingual({ cacheDir: engineCacheDir(), onProgress: () => undefined });
}
