/** What only profile `local` must prove: its thread never takes the process down, whenever the process ends. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMON_OF_BGE_SMALL_ZH } from '../../src/providers/embedding/common-direction.ts';
import { LocalEmbeddingProvider } from '../../src/providers/embedding/local.ts';
import { EmbeddingUnavailable } from '../../src/providers/embedding/provider.ts';
import { testModelsDir } from './embedding-provider-models.ts';

describe('embedding provider local in its thread', function () {
  this.timeout(60_000);
  let modelsDir: string;

  before(async function () {
    this.timeout(600_000);
    modelsDir = await testModelsDir();
  });

  /** Runs `body` in a process of its own with `provider` at hand; rejects on any exit code but 0. */
  const inProcess = async (body: string): Promise<string> => {
    const module = new URL('../../src/providers/embedding/local.ts', import.meta.url).href;
    const script = `
      const { LocalEmbeddingProvider } = await import(${JSON.stringify(module)});
      const provider = new LocalEmbeddingProvider({ modelsDir: ${JSON.stringify(modelsDir)} });
      const text = 'project plan report '.repeat(400);
      ${body}`;
    const { stderr } = await promisify(execFile)(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      timeout: 30_000,
    });
    return stderr;
  };

  it('lets the process exit with its own code while a text is being computed', async () => {
    const stderr = await inProcess(`
      await provider.ready();
      provider.embed('en', Array(50).fill(text), 'passage').catch(() => undefined);
      setTimeout(() => process.exit(0), 60);`);
    expect(stderr).to.equal('');
  });

  for (const ms of [20, 250]) {
    it(`lets the process exit with its own code ${String(ms)} ms into the start`, async () => {
      const stderr = await inProcess(`
        provider.ready().catch(() => undefined);
        setTimeout(() => process.exit(0), ${String(ms)});`);
      expect(stderr).to.equal('');
    });
  }

  it('can be closed in the middle of a text again and again', async () => {
    const stderr = await inProcess(`
      for (let i = 0; i < 4; i += 1) {
        const next = new LocalEmbeddingProvider({ modelsDir: ${JSON.stringify(modelsDir)} });
        if (i > 0) await next.ready();
        const call = next.embed('en', [text, text], 'passage').then(() => 'done', (error) => error.code);
        await new Promise((resolve) => setTimeout(resolve, 20 * i));
        await next.close();
        if ((await call) !== 'ERR_EMBEDDING_UNAVAILABLE') throw new Error('closed, but ' + (await call));
      }`);
    expect(stderr).to.equal('');
  });

  it('names the model file that is missing', async () => {
    const provider = new LocalEmbeddingProvider({ modelsDir: '/nonexistent' });
    const error: unknown = await provider.ready().catch((e: unknown) => e);
    expect(error).to.be.instanceOf(EmbeddingUnavailable);
    expect(((error as Error).cause as Error).message).to.equal('the model file /nonexistent/bge-small-zh-v1.5-q.onnx is missing');
    await provider.close();
  });

  it('takes out of zh queries what everyday sentences of both languages have in common, and leaves memories alone', async () => {
    const { mean, share } = COMMON_OF_BGE_SMALL_ZH;
    const lines = readFileSync(join(import.meta.dirname, '..', 'support', 'common-sentences.txt'), 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    const provider = new LocalEmbeddingProvider({ modelsDir });
    try {
      await provider.ready();
      const vectors = await provider.embed('zh', lines, 'passage');
      const made = mean.map((_, i) => vectors.reduce((sum, vector) => sum + (vector[i] ?? 0), 0) / vectors.length);
      const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0);
      expect(dot(made, mean) / Math.sqrt(dot(made, made) * dot(mean, mean))).to.be.above(0.995);
      expect(Math.sqrt(dot(mean, mean))).to.be.closeTo(Math.sqrt(dot(made, made)), 0.02);

      const [text = ''] = lines;
      const [query] = await provider.embed('zh', [text], 'query');
      const [passage] = vectors;
      if (query === undefined || passage === undefined) throw new Error('there is no vector');
      expect(dot(query, query)).to.be.closeTo(1, 1e-4);
      const rest = passage.map((x, i) => x - share * (mean[i] ?? 0));
      expect(dot(query, rest) / Math.sqrt(dot(rest, rest))).to.be.above(0.9999);
      const [english] = await provider.embed('en', [lines.at(-1) ?? ''], 'query');
      expect(dot(english ?? new Float32Array(), english ?? new Float32Array())).to.be.closeTo(1, 1e-4);
    } finally {
      await provider.close();
    }
  });
});
