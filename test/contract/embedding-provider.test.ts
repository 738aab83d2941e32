/** The contract of every embedding provider, run against the real models in process and behind an OpenAI-compatible endpoint. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { createEmbeddingProvider, type EmbeddingOptions } from '../../src/providers/embedding/create.ts';
import {
  EmbeddingRejected,
  EmbeddingUnavailable,
  type EmbeddingProvider,
  type VectorSpace,
} from '../../src/providers/embedding/provider.ts';
import { EmbeddingServer, localBackend } from '../support/embedding-server.ts';
import { multilingualModelDir, testModelsDir } from './embedding-provider-models.ts';

interface Harness {
  readonly name: string;
  /** Dimensions of the space that serves Chinese (and Chinese over English), and of the one that serves English. */
  readonly dims: { readonly zh: number; readonly en: number };
  /** Capital letters make no difference. */
  readonly uncased: boolean;
  /** Provider options for the two. */
  open(): Promise<{ readonly zh: EmbeddingOptions; readonly en: EmbeddingOptions; close(): Promise<void> }>;
}

const HARNESSES: readonly Harness[] = [
  {
    name: 'local',
    dims: { zh: 512, en: 384 },
    uncased: true,
    open: async () => {
      const options: EmbeddingOptions = { profile: 'local', modelsDir: await testModelsDir() };
      return { zh: options, en: options, close: async () => undefined };
    },
  },
  {
    name: 'local-multilingual',
    dims: { zh: 384, en: 384 },
    uncased: false,
    open: async () => {
      const options: EmbeddingOptions = { profile: 'local-multilingual', modelsDir: await multilingualModelDir() };
      return { zh: options, en: options, close: async () => undefined };
    },
  },
  {
    name: 'openai',
    dims: { zh: 512, en: 384 },
    uncased: true,
    open: async () => {
      const models = createEmbeddingProvider({ profile: 'local', modelsDir: await testModelsDir() });
      const server = await EmbeddingServer.start(localBackend(models));
      const base = { profile: 'openai', baseUrl: server.baseUrl } as const;
      return {
        zh: { ...base, model: 'bge-small-zh' },
        en: { ...base, model: 'e5-small', prefix: { query: 'query: ', passage: 'passage: ' }, calibration: { offset: 0.64, scale: 0.3 } },
        close: async () => {
          await server.stop();
          await models.close();
        },
      };
    },
  },
];

const cosine = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0);
const norm = (a: Float32Array): number => Math.sqrt(cosine(a, a));
const failure = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.fail('the call should have failed'),
    (error: unknown) => error,
  );

for (const harness of HARNESSES) {
  describe(`embedding provider ${harness.name}`, function () {
    this.timeout(60_000);
    let options: Awaited<ReturnType<Harness['open']>>;
    let zh: EmbeddingProvider;
    let en: EmbeddingProvider;
    let zhSpace: VectorSpace;
    let enSpace: VectorSpace;

    before(async function () {
      this.timeout(600_000);
      options = await harness.open();
      zh = createEmbeddingProvider(options.zh);
      en = createEmbeddingProvider(options.en);
      await Promise.all([zh.ready(), en.ready()]);
      const { dims } = harness;
      zhSpace = zh.spaces.find((space) => space.dims === dims.zh) as VectorSpace;
      enSpace = en.spaces.find((space) => space.dims === dims.en) as VectorSpace;
    });

    after(async () => {
      await Promise.all([zh.close(), en.close()]);
      await options.close();
    });

    const passages = (count: number): string[] =>
      Array.from({ length: count }, (_x, i) => `第${i}条记录：会议改到了周${'一二三四五'[i % 5]}`);

    it('gives vectors of the declared dimension and of length 1', async () => {
      for (const [provider, space] of [
        [zh, zhSpace],
        [en, enSpace],
      ] as const) {
        for (const kind of ['query', 'passage'] as const) {
          const vectors = await provider.embed(space.name, ['我喜欢喝绿茶', 'I prefer green tea', '42'], kind);
          expect(vectors.map((v) => v.length)).to.deep.equal([space.dims, space.dims, space.dims]);
          for (const vector of vectors) expect(norm(vector)).to.be.closeTo(1, 1e-3);
        }
      }
    });

    it('gives a text the same vector each time and in any company', async () => {
      const [alone] = await zh.embed(zhSpace.name, ['我的航班是周五上午十点'], 'passage');
      const [, among] = await zh.embed(zhSpace.name, ['短', '我的航班是周五上午十点', 'a much longer text '.repeat(30)], 'passage');
      expect([...(among ?? [])]).to.deep.equal([...(alone ?? [])]);
    });

    it('keeps the order of the texts over several batches', async () => {
      const texts = passages(150);
      const vectors = await zh.embed(zhSpace.name, texts, 'passage');
      expect(vectors).to.have.length(150);
      for (const i of [0, 63, 64, 149]) {
        const [single] = await zh.embed(zhSpace.name, [texts[i] ?? ''], 'passage');
        expect(cosine(vectors[i] ?? new Float32Array(), single ?? new Float32Array())).to.be.closeTo(1, 1e-5);
      }
    });

    const closer = async (
      provider: EmbeddingProvider,
      space: VectorSpace,
      query: string,
      related: string,
      unrelated: string,
    ): Promise<void> => {
      const [q] = await provider.embed(space.name, [query], 'query');
      const [near, far] = await provider.embed(space.name, [related, unrelated], 'passage');
      const cosines = [near, far].map((v) => cosine(q ?? new Float32Array(), v ?? new Float32Array()));
      expect(cosines[0]).to.be.greaterThan((cosines[1] ?? 1) + 0.03);
      const [unitNear = 0, unitFar = 1] = cosines.map((c) =>
        Math.min(1, Math.max(0, (c - space.calibration.offset) / space.calibration.scale)),
      );
      expect(unitNear).to.be.within(0, 1).and.greaterThan(unitFar);
    };

    it('puts related Chinese texts closer than unrelated ones', async () => {
      await closer(zh, zhSpace, '她对什么食物过敏？', '王芳吃花生会起疹子，不能碰坚果', '服务器每天凌晨两点备份数据库');
      await closer(zh, zhSpace, '数据库什么时候备份', '服务器每天凌晨两点备份数据库', '王芳吃花生会起疹子，不能碰坚果');
    });

    it('puts related English texts closer than unrelated ones', async () => {
      await closer(
        en,
        enSpace,
        'What is she allergic to?',
        'Maria cannot eat peanuts, they give her a rash',
        'The backup job runs at 2 am every night',
      );
      await closer(
        en,
        enSpace,
        'When do backups run?',
        'The backup job runs at 2 am every night',
        'Maria cannot eat peanuts, they give her a rash',
      );
    });

    it('finds an English memory for a Chinese question', async () => {
      await closer(zh, zhSpace, '他养了什么宠物？', 'He has a dog and two cats at home', 'The invoice was paid in March');
    });

    it('tells texts apart that differ in a capitalised Latin name only', async () => {
      const [a, b, lower] = await zh.embed(zhSpace.name, ['客户联系人是 Alice', '客户联系人是 Bob', '客户联系人是 alice'], 'passage');
      expect(cosine(a ?? new Float32Array(), b ?? new Float32Array())).to.be.lessThan(0.95);
      const same = cosine(a ?? new Float32Array(), lower ?? new Float32Array());
      expect(same).to.be.closeTo(1, harness.uncased ? 1e-5 : 0.05);
    });

    it('lets a query overtake passages that wait', async () => {
      const order: string[] = [];
      const slow = zh.embed(zhSpace.name, passages(300), 'passage').then(() => order.push('passages'));
      await zh.embed(zhSpace.name, ['会议是哪天？'], 'query').then(() => order.push('query'));
      await slow;
      expect(order).to.deep.equal(['query', 'passages']);
    });

    it('rejects an aborted call with the reason of its signal and serves the next one', async () => {
      const abort = new AbortController();
      const reason = new Error('the caller has gone');
      let done = false;
      const whole = zh.embed(zhSpace.name, passages(200), 'passage').then(() => (done = true));
      const left = failure(zh.embed(zhSpace.name, passages(200), 'passage', abort.signal));
      abort.abort(reason);
      expect(await left).to.equal(reason);
      expect(done).to.equal(false);
      await whole;
      expect(await zh.embed(zhSpace.name, ['还在吗'], 'query')).to.have.length(1);
      expect(await failure(zh.embed(zhSpace.name, ['太晚了'], 'query', AbortSignal.abort(reason)))).to.equal(reason);
    });

    it('gives no vectors for no texts', async () => {
      expect(await zh.embed(zhSpace.name, [], 'query')).to.deep.equal([]);
    });

    it('embeds the beginning of a very long text', async () => {
      const [long, head] = await zh.embed(zhSpace.name, ['项目计划书'.repeat(60_000), '项目计划书'.repeat(1_000)], 'passage');
      expect(norm(long ?? new Float32Array())).to.be.closeTo(1, 1e-3);
      expect(cosine(long ?? new Float32Array(), head ?? new Float32Array())).to.be.closeTo(1, 1e-4);
      const [words] = await en.embed(enSpace.name, ['word '.repeat(100_000)], 'passage');
      expect(norm(words ?? new Float32Array())).to.be.closeTo(1, 1e-3);
    });

    it('embeds emoji, control characters, lone surrogates and other scripts', async () => {
      const texts = ['😀🎉👨‍👩‍👧', 'a\u0000b\u0007c', '\ud800 half', 'мир', 'مرحبا', '한국어', '[SEP] [CLS]', '<s> </s> <pad>', '…', '\u200b'];
      const vectors = await zh.embed(zhSpace.name, texts, 'passage');
      for (const vector of vectors) expect(norm(vector)).to.be.closeTo(1, 1e-3);
    });

    it('refuses a blank text for good and says which one', async () => {
      for (const blank of ['', ' \n\t']) {
        const error = await failure(zh.embed(zhSpace.name, ['有内容', blank], 'passage'));
        expect(error).to.be.instanceOf(EmbeddingRejected);
        expect(error).to.include({ code: 'ERR_EMBEDDING_REJECTED', retryable: false, textIndex: 1 });
      }
    });

    it('routes every text and every query to spaces that it has', () => {
      fc.assert(
        fc.property(fc.string({ unit: 'binary' }), (text) => {
          const names = zh.spaces.map((space) => space.name);
          for (const chosen of [zh.spacesForText(text), zh.spacesForQuery(text)]) {
            expect(chosen).to.not.be.empty;
            expect(names).to.include.members([...chosen]);
          }
        }),
      );
    });

    it('names spaces and fields as Elasticsearch takes them', () => {
      for (const space of [...zh.spaces, ...en.spaces]) {
        expect(space.name).to.match(/^[a-z0-9_]{1,40}$/);
        expect(space.field).to.equal(`vec_${space.name}`);
        expect(space.knnBoost).to.be.greaterThan(0);
      }
    });

    it('can be asked for readiness again', async () => {
      await zh.ready();
    });

    it('fails what is pending and what comes later when it is closed', async () => {
      const provider = createEmbeddingProvider(options.zh);
      await provider.ready();
      const space = provider.spaces.find((candidate) => candidate.dims === harness.dims.zh)?.name ?? '';
      const pending = failure(provider.embed(space, passages(100), 'passage'));
      await provider.close();
      for (const error of [await pending, await failure(provider.embed(space, ['后来'], 'query'))]) {
        expect(error).to.be.instanceOf(EmbeddingUnavailable);
        expect(error).to.include({ code: 'ERR_EMBEDDING_UNAVAILABLE', retryable: true });
      }
      await provider.close();
    });

    it('lets the process end by itself after close', async () => {
      const script = `
        const { createEmbeddingProvider } = await import(${JSON.stringify(new URL('../../src/providers/embedding/create.ts', import.meta.url).href)});
        const provider = createEmbeddingProvider(${JSON.stringify(options.zh)});
        await provider.ready();
        const [vector] = await provider.embed(provider.spaces[0].name, ['你好'], 'query');
        await provider.close();
        process.stdout.write(String(vector.length));`;
      const args = ['--import', 'tsx', '--input-type=module', '-e', script];
      // A handle left open would keep the child alive until the time-out kills it, which rejects.
      const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 30_000 });
      expect(stdout).to.equal(String(harness.dims.zh));
    });
  });
}
