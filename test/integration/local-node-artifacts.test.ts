/** The real cache: engine home and embedding models, fetched by Maven when this machine has not got them yet. */
import { expect } from 'chai';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { prepareArtifacts, type Artifacts } from '../../src/elastic/local/artifacts.ts';
import { engineCacheDir, testEngine } from '../support/engine.ts';

describe('prepared artifacts', function () {
  this.timeout(600_000);
  const options = { cacheDir: engineCacheDir(), engine: testEngine(), models: true, javaHome: process.env['JAVA_HOME'] };
  let artifacts: Artifacts;

  before(async () => {
    artifacts = await prepareArtifacts(options);
  });

  it('hold the server on the class path and netty in its module', async () => {
    const lib = await readdir(join(artifacts.elasticsearchHome, 'lib'));
    const transport = await readdir(join(artifacts.elasticsearchHome, 'modules', 'transport-netty4'));
    expect(lib).to.include(`elasticsearch-${testEngine()}.jar`);
    expect(lib.filter((name) => name.startsWith('netty-'))).to.deep.equal([]);
    expect(transport).to.include.members([`transport-netty4-${testEngine()}.jar`, 'plugin-descriptor.properties']);
  });

  it('hold both embedding models with their tokenizers', async () => {
    const sizes = await Promise.all(
      ['e5-small-v2-q.onnx', 'e5-small-v2-q-tokenizer.json', 'bge-small-zh-v1.5-q.onnx', 'bge-small-zh-v1.5-q-tokenizer.json'].map(
        async (name) => (await stat(join(artifacts.modelsDir, name))).size,
      ),
    );
    expect(sizes).to.deep.equal([34_014_367, 711_396, 24_010_842, 439_125]);
  });

  it('are not prepared a second time', async () => {
    const messages: string[] = [];
    expect(await prepareArtifacts({ ...options, onProgress: ({ message }) => messages.push(message) })).to.deep.equal(artifacts);
    expect(messages).to.deep.equal([]);
  });
});
