/** The user's confirmation of a bulk forget, on each leg: asked where the client can ask, bound to the call where the client keeps the state. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ElicitRequestSchema, type ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { expect } from 'chai';
import { ANN, BOB, clientTransport, connectClient, EVE, failureOf, send, startMcp, type McpServer } from './support/mcp-server.ts';
import { HindsightError } from '../../../src/errors.ts';
import { processUsedStates, type UsedStates } from '../../../src/mcp/used-states.ts';
import { modern, modernHeaders } from './support/modern-request.ts';

const FORGET = { name: 'memory_forget', arguments: { plan: 'signed-plan' } };
const FORMS = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
const YES = { forget: { action: 'accept', content: { confirm: true } } };

describe('mcp: confirmation', () => {
  let server: McpServer;
  beforeEach(async () => {
    server = await startMcp();
  });
  afterEach(() => server.close());

  const forgotten = (): number => server.memory.calls.length;

  describe('by elicitation in a session', () => {
    async function forgetWith(answer: ElicitResult): Promise<{ isError: unknown; asked: number; text: string }> {
      const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
      let asked = 0;
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        asked += 1;
        expect(params.message).to.match(/Forget 2 memories, .*忘掉 2 条/);
        return answer;
      });
      await client.connect(clientTransport(server, ANN));
      const result = await client.callTool(FORGET);
      await client.close();
      return { isError: result.isError, asked, text: (result.content as { text: string }[])[0]?.text ?? '' };
    }

    it('forgets after a plain yes alone', async () => {
      expect(await forgetWith({ action: 'accept', content: { confirm: true } })).to.include({ isError: undefined, asked: 1 });
      expect(forgotten()).to.equal(1);
      for (const no of [
        { action: 'accept', content: { confirm: false } },
        { action: 'accept', content: {} },
        { action: 'decline' },
        { action: 'cancel' },
      ]) {
        const { isError, text } = await forgetWith(no as ElicitResult);
        expect(isError).to.equal(true);
        expect(text).to.contain('ERR_NOT_CONFIRMED');
      }
      expect(forgotten()).to.equal(1);
    });

    it('takes an error of the client for a no', async () => {
      const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
      client.setRequestHandler(ElicitRequestSchema, () => Promise.reject(new Error('no window')));
      await client.connect(clientTransport(server, ANN));
      expect((await client.callTool(FORGET)).isError).to.equal(true);
      expect(forgotten()).to.equal(0);
      await client.close();
    });

    it('asks for no dry run, no single memory and no search', async () => {
      const client = await connectClient(server, ANN, true);
      const calls = [{ dry_run: true, filter: { kind: ['fact'] } }, { memory_id: '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b' }];
      for (const args of calls) expect((await client.callTool({ name: 'memory_forget', arguments: args })).isError).to.equal(undefined);
      await client.close();
    });
  });

  it('leaves a client that cannot ask with the dry run and its plan', async () => {
    const client = await connectClient(server, ANN);
    expect((await client.callTool(FORGET)).isError).to.equal(undefined);
    await client.close();
    expect((await ask({}, { meta: {} })).result.resultType).to.equal('complete');
    expect(
      (await ask({}, { meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } } } })).result.resultType,
    ).to.equal('complete');
    expect(forgotten()).to.equal(3);
  });

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers freely
  async function ask(params: object, options: { token?: string; meta?: object; call?: object } = {}): Promise<any> {
    const { token = ANN, meta = FORMS, call = FORGET } = options;
    const body = modern('tools/call', { ...call, ...params }, meta);
    return (await send(server, body, { token, headers: modernHeaders(body) })).message;
  }
  const question = async (): Promise<string> => (await ask({})).result.requestState;

  describe('by input_required in revision 2026-07-28', () => {
    it('asks first, and forgets when the call comes again with a yes', async () => {
      const { result } = await ask({});
      expect(result).to.include({ resultType: 'input_required' });
      expect(result.inputRequests.forget).to.have.property('method', 'elicitation/create');
      expect(result.inputRequests.forget.params.requestedSchema.required).to.deep.equal(['confirm']);
      expect(forgotten()).to.equal(0);
      const done = await ask({ requestState: result.requestState, inputResponses: YES });
      expect(done.result).to.include({ resultType: 'complete' });
      expect(done.result.isError).to.equal(undefined);
      expect(forgotten()).to.equal(1);
    });

    it('takes a no for an answer, and asks again for what is none', async () => {
      const no = await send(
        server,
        modern('tools/call', { ...FORGET, requestState: await question(), inputResponses: { forget: { action: 'decline' } } }, FORMS),
        {
          headers: modernHeaders(modern('tools/call', FORGET, FORMS)),
        },
      );
      expect(failureOf(no)).to.include({ code: 'ERR_NOT_CONFIRMED' });
      for (const inputResponses of [undefined, {}, { other: YES.forget }, { forget: 1 }, { forget: { content: { confirm: true } } }])
        expect((await ask({ requestState: await question(), inputResponses })).result.resultType).to.equal('input_required');
      expect((await ask({ inputResponses: YES })).result.resultType, 'an answer without its question').to.equal('input_required');
      expect(forgotten()).to.equal(0);
    });

    it('takes a state once, also from two calls at a time', async () => {
      const requestState = await question();
      const answers = await Promise.all([1, 2, 3].map(() => ask({ requestState, inputResponses: YES })));
      expect(answers.filter(({ error }) => error !== undefined)).to.have.length(2);
      expect((await ask({ requestState, inputResponses: YES })).error.code).to.equal(-32602);
      expect(forgotten()).to.equal(1);
    });

    it('takes a state once of all processes that share what was used, and of none while that cannot be told', async () => {
      const used = processUsedStates(() => server.time.nowMs);
      let away = false;
      const usedStates: UsedStates = {
        take: async (...call) => {
          if (away) throw new HindsightError('ERR_GUARD_UNAVAILABLE');
          return used.take(...call);
        },
      };
      const here = server;
      const [one, two] = await Promise.all([startMcp({ usedStates }), startMcp({ usedStates })]);
      try {
        server = one;
        const requestState = await question();
        expect((await ask({ requestState, inputResponses: YES })).result.resultType).to.equal('complete');
        server = two;
        expect((await ask({ requestState, inputResponses: YES })).error.code, 'a replay at the other').to.equal(-32602);
        const later = await question();
        away = true;
        const refused = await ask({ requestState: later, inputResponses: YES });
        expect(JSON.stringify(refused)).to.contain('ERR_GUARD_UNAVAILABLE').and.not.to.contain('"complete"');
        expect([one, two].map(({ memory }) => memory.calls.length)).to.deep.equal([1, 0]);
        away = false;
        expect((await ask({ requestState: later, inputResponses: YES })).result.resultType, 'it was not used up').to.equal('complete');
      } finally {
        server = here;
        await Promise.all([one.close(), two.close()]);
      }
    });

    it('takes a state from its owner, for its call, within ten minutes alone', async () => {
      const refused = async (params: object, options: Parameters<typeof ask>[1] = {}): Promise<void> => {
        expect((await ask({ inputResponses: YES, ...params }, options)).error).to.include({ code: -32602 });
      };
      for (const token of [BOB, EVE]) await refused({ requestState: await question() }, { token });
      await refused({ requestState: await question() }, { call: { name: 'memory_forget', arguments: { plan: 'another-plan' } } });
      await refused({ requestState: `${await question()}A` });
      for (const requestState of ['', 'a.b', 7, null, 'x'.repeat(70_000)]) await refused({ requestState });
      const late = await question();
      server.time.nowMs += 10 * 60_000;
      await refused({ requestState: late });
      await refused({ inputResponses: [], requestState: await question() });
      expect(forgotten()).to.equal(0);
    });

    it('goes on with a state over a refreshed token of the same person', async () => {
      const done = await ask({ requestState: await question(), inputResponses: YES }, { token: `${ANN}/2` });
      expect(done.result.resultType).to.equal('complete');
    });
  });
});
