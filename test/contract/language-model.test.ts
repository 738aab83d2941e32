/** What every language model provider keeps to (port LanguageModel): the answer fits the schema or the call fails, in time, without the upstream's words. */
import { expect } from 'chai';
import { z } from 'zod';
import type { CompletionRequest, LanguageModel } from '../../src/domain/language-model.ts';
import { OpenAiLanguageModel } from '../../src/providers/llm/openai.ts';
import { LanguageModelRejected, LanguageModelUnavailable } from '../../src/providers/llm/provider.ts';
import { describeError } from '../../src/telemetry/redact.ts';
import { ChatServer, type ChatFault } from '../support/llm-server.ts';

const answer = { name: 'colour', schema: z.strictObject({ colour: z.enum(['red', 'green']), why: z.string() }) };
const GOOD = { colour: 'green', why: 'said so' } as const;

const providers: Readonly<Record<string, (baseUrl: string, apiKey?: string) => LanguageModel>> = {
  openai: (baseUrl, apiKey) => new OpenAiLanguageModel({ baseUrl, model: 'small', ...(apiKey === undefined ? {} : { apiKey }) }),
};

for (const [name, open] of Object.entries(providers)) {
  describe(`language model provider ${name}`, () => {
    let server: ChatServer;
    let model: LanguageModel;
    const ask = (more: Partial<CompletionRequest<z.output<typeof answer.schema>>> = {}): Promise<unknown> =>
      model.complete({ instructions: 'Name the colour.', input: '绿茶 \ud800', answer, timeoutMs: 1_500, ...more });
    const failure = (promise: Promise<unknown>): Promise<unknown> =>
      promise.then(
        () => undefined,
        (error: unknown) => error,
      );

    beforeEach(async () => {
      server = await ChatServer.start(() => GOOD);
      model = open(server.baseUrl);
    });
    afterEach(async () => {
      await model.close();
      await server.stop();
    });

    it('sends instructions and input apart, the schema, no tools, and answers with the object', async () => {
      expect(await ask({ maxOutputTokens: 77 })).to.deep.equal(GOOD);
      const [request] = server.requests;
      expect(request?.model).to.equal('small');
      expect(request?.messages.map(({ role }) => role)).to.deep.equal(['system', 'user']);
      expect(request?.messages[0]?.content)
        .to.match(/^Name the colour\./)
        .and.include('"additionalProperties":false');
      expect(request?.messages[1]?.content).to.equal('绿茶 \ufffd');
      expect(request).to.include({ temperature: 0, max_tokens: 77 }).and.not.have.any.keys('tools', 'tool_choice', 'functions');
      expect(request?.response_format?.json_schema?.schema).to.deep.include({ type: 'object', required: ['colour', 'why'] });
      expect(server.authorizations).to.deep.equal(['Bearer none']);
      await open(server.baseUrl, 'k-1').complete({ instructions: 'a', input: 'b', answer, timeoutMs: 1_500 });
      expect(server.authorizations.at(-1)).to.equal('Bearer k-1');
    });

    it('takes thoughts before the object and a fence around it, and nothing else', async () => {
      const json = JSON.stringify(GOOD);
      for (const said of [`<think>\nred? no\n</think>\n\n${json}`, `\`\`\`json\n${json}\n\`\`\``, `  ${json}\n`]) {
        server.backend = () => said;
        expect(await ask(), said).to.deep.equal(GOOD);
      }
      const others = ['', 'green', `Sure! ${json}`, `${json}${json}`, '[]', 'null', `<think>${json}`, `{"colour":"green"}`];
      const twisted = [{ ...GOOD, colour: 'blue' }, { ...GOOD, more: 1 }, { ...GOOD, why: 1 }, [GOOD]];
      for (const said of [...others, ...twisted, 'x'.repeat(200_000)]) {
        server.backend = () => said;
        expect(await failure(ask()), JSON.stringify(said).slice(0, 80)).to.be.instanceOf(LanguageModelRejected);
      }
    });

    it('asks once more when an answer cannot be used, and no more often', async () => {
      let asked = 0;
      server.backend = () => ((asked += 1) === 1 ? 'hm' : GOOD);
      expect(await ask()).to.deep.equal(GOOD);
      server.backend = () => 'hm';
      server.requests.length = 0;
      expect(await failure(ask())).to.be.instanceOf(LanguageModelRejected);
      expect(server.requests).to.have.length(2);
    });

    const rejected: readonly ChatFault[] = ['no-choices', 'cut-off', 'filtered', 'refusal', 'tool-call', 'not-json', 'status-400'];
    for (const fault of [...rejected, 'too-large'] as const) {
      it(`has no answer on ${fault}`, async () => {
        server.fail(fault);
        const error = await failure(ask());
        expect(error).to.be.instanceOf(LanguageModelRejected);
        expect(error).to.include({ code: 'ERR_LLM_ANSWER' });
        expect(JSON.stringify(describeError(error as Error))).not.to.contain('upstream words');
        server.heal();
        expect(await ask()).to.deep.equal(GOOD);
      });
    }

    const outages: readonly (readonly [ChatFault, number])[] = [
      ['down', 3],
      ['redirect', 3],
      ['status-401', 1],
      ['status-429', 3],
      ['status-500', 3],
      ['hang', 1],
      ['hang-body', 1],
    ];
    for (const [fault, requests] of outages) {
      it(`is unavailable on ${fault}, after ${requests === 1 ? 'one request' : 'two retries'} and in its time`, async () => {
        server.fail(fault);
        const begun = performance.now();
        const error = await failure(ask());
        expect(performance.now() - begun).to.be.below(4_000);
        expect(error).to.be.instanceOf(LanguageModelUnavailable);
        expect(error).to.include({ code: 'ERR_LLM_UNAVAILABLE' });
        expect(JSON.stringify(describeError(error as Error))).not.to.contain('upstream words');
        expect(server.requests).to.have.length(requests);
        server.heal();
        expect(await ask()).to.deep.equal(GOOD);
      });
    }

    it('gets over a short outage', async () => {
      server.fail('status-500', 2);
      expect(await ask()).to.deep.equal(GOOD);
      expect(server.requests).to.have.length(3);
    });

    it('finds out what the endpoint knows and remembers it', async () => {
      server.knows = (request) => request.response_format?.type !== 'json_schema';
      expect(await ask()).to.deep.equal(GOOD);
      server.requests.length = 0;
      expect(await ask()).to.deep.equal(GOOD);
      expect(server.requests.map((r) => r.response_format?.type)).to.deep.equal(['json_object']);
      // another model was put behind it
      server.knows = (request) => request.temperature === undefined && request.max_tokens === undefined;
      expect(await ask()).to.deep.equal(GOOD);
      expect(server.requests.at(-1)).to.include({ max_completion_tokens: 4_608 });
      server.knows = (request) => request.response_format === undefined;
      expect(await ask()).to.deep.equal(GOOD);
    });

    it('makes at most eight calls at once; the others wait their turn', async () => {
      const go = server.hold();
      const calls = Array.from({ length: 20 }, () => ask({ timeoutMs: 10_000 }));
      while (server.running < 8) await new Promise((resolve) => setImmediate(resolve));
      go();
      expect((await Promise.all(calls)).length).to.equal(20);
      expect(server.most).to.equal(8);
    });

    it('a call whose time is over while it waits for its turn leaves the queue', async () => {
      const go = server.hold();
      const calls = Array.from({ length: 8 }, () => ask({ timeoutMs: 10_000 }));
      const late = failure(ask({ timeoutMs: 100 }));
      expect(await late).to.be.instanceOf(LanguageModelUnavailable);
      go();
      await Promise.all(calls);
      expect(await ask()).to.deep.equal(GOOD);
      expect(server.requests).to.have.length(9);
    });

    it('ends with the caller’s reason when that goes away, and with close()', async () => {
      server.fail('hang');
      const caller = new AbortController();
      const gone = failure(ask({ signal: caller.signal }));
      caller.abort(new Error('gone'));
      expect(await gone).to.have.property('message', 'gone');
      expect(await failure(ask({ signal: caller.signal }))).to.have.property('message', 'gone');
      const pending = failure(ask({ timeoutMs: 10_000 }));
      await model.close();
      expect(await pending).to.be.instanceOf(LanguageModelUnavailable);
      expect(await failure(ask())).to.be.instanceOf(LanguageModelUnavailable);
    });

    it('asks nothing that is too long to be a question', async () => {
      expect(await failure(ask({ input: 'x'.repeat(64_001) }))).to.be.instanceOf(LanguageModelRejected);
      expect(server.requests).to.deep.equal([]);
    });
  });
}
