/** What profile `openai` makes of an endpoint that fails or lies; the server is real, the vectors are hashes. */
import { expect } from 'chai';
import { OpenAiEmbeddingProvider, openAiSpace, type OpenAiEmbeddingOptions } from '../../src/providers/embedding/openai.ts';
import { EmbeddingRejected, EmbeddingUnavailable } from '../../src/providers/embedding/provider.ts';
import { describeError } from '../../src/telemetry/redact.ts';
import { EmbeddingServer, hashBackend, type EmbeddingFault } from '../support/embedding-server.ts';

const DIMS = 32;
const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('embedding provider openai on a bad endpoint', () => {
  let server: EmbeddingServer;
  let provider: OpenAiEmbeddingProvider;
  const open = (options: Partial<OpenAiEmbeddingOptions> = {}): OpenAiEmbeddingProvider =>
    new OpenAiEmbeddingProvider({ baseUrl: server.baseUrl, model: 'hash', dims: DIMS, timeoutMs: 500, ...options });
  const embed = (texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> =>
    provider.embed(`hash_${String(DIMS)}`, texts, 'passage', signal);

  beforeEach(async () => {
    server = await EmbeddingServer.start(hashBackend(DIMS));
    provider = open();
  });

  afterEach(async () => {
    await provider.close();
    await server.stop();
  });

  it('sends the model, plain floats and a placeholder key when there is none', async () => {
    await embed(['绿茶', 'green\ud800 tea']);
    expect(server.requests).to.deep.equal([
      { model: 'hash', input: ['绿茶', 'green\ufffd tea'], encoding_format: 'float', authorization: 'Bearer none' },
    ]);
    await open({ apiKey: 'k-1' }).embed('hash_32', ['x'], 'query');
    expect(server.requests.at(-1)?.authorization).to.equal('Bearer k-1');
  });

  it('puts the configured prefix before the texts of its kind', async () => {
    const prefixed = open({ prefix: { query: 'query: ' } });
    await prefixed.embed('hash_32', ['a'], 'query');
    await prefixed.embed('hash_32', ['a'], 'passage');
    expect(server.requests.map((request) => request.input)).to.deep.equal([['query: a'], ['a']]);
  });

  it('sends batches of at most 64', async () => {
    expect(await embed(Array.from({ length: 130 }, (_x, i) => `text ${String(i)}`))).to.have.length(130);
    expect(server.requests.map((request) => request.input.length)).to.deep.equal([64, 64, 2]);
  });

  it('does not know its space before it has asked for the dimension', async () => {
    const unknown = open({ dims: undefined as never });
    expect(() => unknown.spaces).to.throw(EmbeddingUnavailable);
    expect(await errorOf(unknown.embed('hash_32', ['x'], 'query'))).to.be.instanceOf(EmbeddingUnavailable);
    await unknown.ready();
    expect(unknown.spaces).to.deep.equal([
      {
        name: 'hash_32',
        field: 'vec_hash_32',
        modelId: 'hash',
        dims: 32,
        calibration: { offset: 0.2, scale: 0.6, generic: true },
        knnBoost: 400,
      },
    ]);
  });

  it('finds out at the start that the endpoint has another dimension than configured', async () => {
    expect(await errorOf(open({ dims: 33 }).ready())).to.include({
      code: 'ERR_EMBEDDING_REJECTED',
      detail: 'the vector has 32 dimensions, not 33',
    });
  });

  const rejected: readonly (readonly [EmbeddingFault, number | undefined])[] = [
    ['nan', 1],
    ['infinite', 1],
    ['zero', 1],
    ['status-400', undefined],
  ];
  for (const [fault, textIndex] of rejected) {
    it(`rejects the texts for good on ${fault}, in one request and without the upstream's words`, async () => {
      server.fail(fault);
      const error = await errorOf(embed(['first', 'second']));
      expect(error).to.be.instanceOf(EmbeddingRejected);
      expect(error).to.include({ textIndex });
      expect(JSON.stringify(describeError(error as Error))).to.not.contain('upstream words');
      expect(server.requests).to.have.length(1);
      server.heal();
      expect(await embed(['first', 'second'])).to.have.length(2);
    });
  }

  it('counts the guilty text over the whole call, not within its batch', async () => {
    const texts = Array.from({ length: 70 }, (_x, i) => `text ${String(i)}`);
    const call = embed(texts);
    // The fault spoils the last vector of an answer: let the first batch pass.
    while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    server.fail('nan');
    expect(await errorOf(call)).to.include({ code: 'ERR_EMBEDDING_REJECTED', textIndex: 69 });
  });

  const outages: readonly (readonly [EmbeddingFault, number])[] = [
    ['down', 1],
    ['hang', 1],
    ['hang-body', 1],
    ['redirect', 1],
    // Faults of the whole answer say nothing about a text: rejected, a sick endpoint would turn the backlog into dead letters.
    ['wrong-dims', 1],
    ['base64', 1],
    ['wrong-count', 1],
    ['wrong-index', 1],
    ['not-json', 1],
    ['too-large', 1],
    ['status-401', 1],
    ['status-429', 3],
    ['status-500', 3],
  ];
  for (const [fault, requests] of outages) {
    it(`is unavailable on ${fault} after ${requests === 1 ? 'one request' : 'two retries'}`, async () => {
      server.fail(fault);
      const error = await errorOf(embed(['a text']));
      expect(error).to.be.instanceOf(EmbeddingUnavailable);
      expect(JSON.stringify(describeError(error as Error))).to.not.contain('upstream words');
      expect(server.requests).to.have.length(requests);
    });
  }

  it('is unavailable when nothing listens, and works again when something does', async () => {
    const { port } = server;
    await server.stop();
    expect(await errorOf(embed(['a text']))).to.be.instanceOf(EmbeddingUnavailable);
    expect(await errorOf(provider.ready())).to.be.instanceOf(EmbeddingUnavailable);
    server = await EmbeddingServer.start(hashBackend(DIMS), port);
    await provider.ready();
    expect(await embed(['a text'])).to.have.length(1);
  });

  for (const fault of ['status-429', 'status-500'] as const) {
    it(`gets over two answers of ${fault}`, async () => {
      server.fail(fault, 2);
      expect(await embed(['a text'])).to.have.length(1);
      expect(server.requests).to.have.length(3);
    });
  }

  it('stops the request, and the wait between two tries, when the caller aborts', async () => {
    provider = open({ timeoutMs: 15_000 });
    for (const fault of ['hang', 'status-429'] as const) {
      server.fail(fault);
      const before = server.requests.length;
      const abort = new AbortController();
      const call = errorOf(embed(['a text'], abort.signal));
      while (server.requests.length === before) await new Promise((resolve) => setImmediate(resolve));
      abort.abort('gone');
      expect(await call).to.equal('gone');
      expect(server.requests).to.have.length(before + 1);
    }
  });

  it('fails a call that hangs when it is closed', async () => {
    provider = open({ timeoutMs: 15_000 });
    server.fail('hang');
    const call = errorOf(embed(['a text']));
    while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await provider.close();
    expect(await call).to.be.instanceOf(EmbeddingUnavailable);
  });
});

describe('openAiSpace', () => {
  it('makes another space of another model and of another dimension', () => {
    const name = (model: string, dims: number): string => openAiSpace({ model }, dims).name;
    expect(name('text-embedding-3-small', 1536)).to.equal('text_embedding_3_small_1536');
    expect(name('text-embedding-3-small', 512)).to.equal('text_embedding_3_small_512');
    expect(name('BAAI/bge-m3', 1024)).to.equal('baai_bge_m3_1024');
    const long = 'sentence-transformers/paraphrase-multilingual-mpnet-base-v2';
    expect(name(long, 768)).to.match(/^[a-z0-9_]{40}$/);
    expect(name(long, 768)).to.not.equal(name(`${long}-x`, 768));
    expect(name('模型', 8)).to.match(/^[0-9a-f]{8}_8$/);
  });

  it('knows the e5 family by its name, whose cosines crowd near 1', () => {
    const offset = (model: string): number => openAiSpace({ model }, 8).calibration.offset;
    for (const model of ['intfloat/multilingual-e5-large', 'e5-base-v2', 'Multilingual-E5-small:latest'])
      expect(offset(model)).to.equal(0.66);
    for (const model of ['bge-m3', 'text-embedding-3-small', 'e5-mistral-7b-instruct', 'e50', 'size5']) expect(offset(model)).to.equal(0.2);
    expect(openAiSpace({ model: 'e5-base', calibration: { offset: 0.1, scale: 0.5 }, knnBoost: 3 }, 8)).to.deep.include({
      calibration: { offset: 0.1, scale: 0.5 },
      knnBoost: 3,
    });
  });
});
