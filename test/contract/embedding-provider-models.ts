/** Where the contract suites find the two local models: the machine's cache, filled by the same code that fills it for `npm start`. */
import { prepareArtifacts } from '../../src/elastic/local/artifacts.ts';
import { engineCacheDir, testEngine } from '../support/engine.ts';

/** Directory with the ONNX files. Minutes on a machine without a cache, milliseconds after. */
export async function testModelsDir(): Promise<string> {
  const { modelsDir } = await prepareArtifacts({ cacheDir: engineCacheDir(), engine: testEngine(), models: true });
  return modelsDir;
}
