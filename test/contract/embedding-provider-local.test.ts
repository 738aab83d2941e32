/** What only profile `local` must prove: its thread never takes the process down, whenever the process ends. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
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
});
