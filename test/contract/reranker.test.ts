/** What every cross-encoder keeps to (port Reranker): a score for each document in order, in time, or a failure without the upstream's words. */
import { expect } from 'chai';
import type { Rerank, Reranker } from '../../src/domain/reranker.ts';
import { HttpReranker } from '../../src/providers/rerank/http.ts';
import { RerankUnavailable } from '../../src/providers/rerank/provider.ts';
import { describeError } from '../../src/telemetry/redact.ts';
import { RerankServer, type RerankFault } from '../support/rerank-server.ts';

type Options = Partial<ConstructorParameters<typeof HttpReranker>[0]>;

const providers: Readonly<Record<string, (url: string, more?: Options) => Reranker>> = {
  http: (url, more) => new HttpReranker({ url, timeoutMs: 1_500, clock: () => 0, ...more }),
};

/** Characters in common with the question, of ten. */
const common = (query: string, text: string): number => [...new Set(text)].filter((char) => query.includes(char)).length / 10;
const DOCUMENTS = ['咖啡', '绿茶 \ud800', 'tea and more tea'];

for (const [name, open] of Object.entries(providers)) {
  describe(`reranker ${name}`, () => {
    let server: RerankServer;
    let reranker: Reranker;
    const ask = (more: Partial<Rerank> = {}, by = reranker): Promise<readonly number[]> =>
      by.rerank({ query: '绿茶', documents: DOCUMENTS, ...more });
    const failure = (promise: Promise<unknown>): Promise<unknown> =>
      promise.then(
        () => undefined,
        (error: unknown) => error,
      );

    beforeEach(async () => {
      server = await RerankServer.start(common);
      reranker = open(server.baseUrl);
    });
    afterEach(async () => {
      await reranker.close();
      await server.stop();
    });

    it('sends model, question, documents and top_n, and gives the scores in the order of the documents', async () => {
      reranker = open(server.baseUrl, { model: 'rr-1', apiKey: 'k-1' });
      expect(await ask()).to.deep.equal([0, 0.2, 0]);
      expect(server.requests).to.deep.equal([
        { model: 'rr-1', query: '绿茶', documents: ['咖啡', '绿茶 \ufffd', 'tea and more tea'], top_n: 3 },
      ]);
      expect(server.authorizations).to.deep.equal(['Bearer k-1']);
    });

    it('sends no model and no key where none is set, to the endpoint itself or to what it stands behind', async () => {
      for (const url of [server.baseUrl, `${server.baseUrl}/`, `${server.baseUrl}/rerank`])
        expect(await ask({}, open(url))).to.have.length(3);
      expect(server.requests[0]).to.not.have.property('model');
      expect(server.authorizations).to.deep.equal([undefined, undefined, undefined]);
    });

    it('understands each form of the answer, and remembers which request the endpoint takes', async () => {
      for (const form of ['results', 'data', 'texts'] as const) {
        server.form = form;
        expect(await ask(), form).to.deep.equal([0, 0.2, 0]);
      }
      const before = server.requests.length;
      expect(await ask()).to.deep.equal([0, 0.2, 0]);
      expect(server.requests.length - before).to.equal(1);
      expect(server.requests.at(-1)).to.deep.equal({ query: '绿茶', texts: ['咖啡', '绿茶 \ufffd', 'tea and more tea'] });
    });

    const faults: readonly RerankFault[] = [
      ...(['down', 'redirect', 'status-400', 'status-401', 'status-429', 'status-500', 'not-json', 'too-large'] as const),
      ...(['no-results', 'wrong-index', 'twice', 'left-out', 'words'] as const),
    ];
    for (const fault of faults) {
      it(`fails on ${fault} without the endpoint’s words, and works again after it`, async () => {
        server.fail(fault);
        const error = (await failure(ask())) as Error;
        expect(error).to.be.instanceOf(RerankUnavailable);
        expect(JSON.stringify(describeError(error))).to.not.match(/upstream words|绿茶/);
        server.fail(undefined);
        expect(await ask()).to.have.length(3);
      });
    }

    for (const fault of ['hang', 'hang-body'] as const) {
      it(`gives up on ${fault} when its time is over`, async () => {
        server.fail(fault);
        expect(await failure(ask({}, open(server.baseUrl, { timeoutMs: 60 })))).to.be.instanceOf(RerankUnavailable);
      });
    }

    it('rests after three failures in a row, and asks again after ten seconds', async () => {
      let nowMs = 1_000;
      reranker = open(server.baseUrl, { clock: () => nowMs });
      server.fail('status-500');
      for (let i = 0; i < 5; i += 1) expect(await failure(ask())).to.be.instanceOf(RerankUnavailable);
      expect(server.requests).to.have.length(3);
      server.fail(undefined);
      nowMs += 9_999;
      expect(await failure(ask())).to.be.instanceOf(RerankUnavailable);
      nowMs += 1;
      expect(await ask()).to.have.length(3);
    });

    it('ends with the caller’s reason when the caller goes away, and counts that as no failure', async () => {
      server.fail('hang');
      for (let i = 0; i < 3; i += 1) {
        const abort = new AbortController();
        const pending = ask({ signal: abort.signal });
        abort.abort(new Error('gone'));
        expect(await failure(pending)).to.have.property('message', 'gone');
      }
      server.fail(undefined);
      expect(await ask()).to.have.length(3);
    });

    it('fails what is pending when it is closed, and everything after', async () => {
      server.fail('hang');
      const pending = failure(ask());
      await reranker.close();
      expect(await pending).to.be.instanceOf(RerankUnavailable);
      expect(await failure(ask())).to.be.instanceOf(RerankUnavailable);
    });
  });
}
