/** Signs of life of a call that takes long, on every leg; the clock's ticks are given by hand. */
import { expect } from 'chai';
import { ANN, call, connectClient, initialize, openSession, send, startMcp, until, type McpServer } from './support/mcp-server.ts';
import { modern, modernHeaders } from './support/modern-request.ts';

const SEARCH = { name: 'memory_search', arguments: { query: 'tea' } };

describe('mcp/progress', () => {
  let server: McpServer;
  /** Running timers of one second: those of calls. */
  const timers = new Set<() => void>();
  let release: () => void;

  beforeEach(async () => {
    timers.clear();
    server = await startMcp({
      every: (ms, run) => {
        if (ms === 1_000) timers.add(run);
        return () => timers.delete(run);
      },
    });
  });
  afterEach(() => server.close());

  /** Lets the next call wait for `release`. */
  function hold(): void {
    const held = new Promise<void>((resolve) => (release = resolve));
    server.memory.intercept = async () => {
      await held;
      return { hits: [], nothing_relevant: true, degraded: [], took_ms: 1 };
    };
  }
  const tick = async (): Promise<void> => {
    await until(() => timers.size === 1);
    for (const run of timers) run();
  };
  const events = (text: string): { method?: string; params?: object; result?: { structuredContent: object } }[] =>
    [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data) as object);

  it('tells every second that the call goes on, with and without a session, in the order of time', async () => {
    for (const session of [undefined, await openSession(server)]) {
      hold();
      const body = call('memory_search', { query: 'tea' });
      const answer = send(server, { ...body, params: { ...SEARCH, _meta: { progressToken: 'p' } } }, { session });
      for (let n = 0; n < 2; n += 1) await tick();
      release();
      const told = events((await answer).text);
      expect(told.slice(0, 2).map(({ params }) => params)).to.deep.equal([
        { progressToken: 'p', progress: 1, message: 'memory_search: 1 s' },
        { progressToken: 'p', progress: 2, message: 'memory_search: 2 s' },
      ]);
      expect(told[2]?.result?.structuredContent).to.include({ nothing_relevant: true });
      await until(() => timers.size === 0);
    }
  });

  it('turns an answer of 2026-07-28 into a stream once it takes long, and leaves a quick one as it is', async () => {
    const body = modern('tools/call', SEARCH, { progressToken: 7 });
    const quick = await send(server, body, { headers: modernHeaders(body) });
    expect(quick.headers.get('content-type')).to.contain('application/json');
    hold();
    const answer = send(server, body, { headers: modernHeaders(body) });
    await tick();
    release();
    const { headers, text } = await answer;
    expect(headers.get('content-type')).to.contain('text/event-stream');
    const [progress, result, ...rest] = events(text);
    expect(progress).to.deep.include({ method: 'notifications/progress' });
    expect(progress?.params).to.deep.equal({ progressToken: 7, progress: 1, message: 'memory_search: 1 s' });
    expect(result?.result).to.include({ resultType: 'complete' });
    expect(result?.result?.structuredContent).to.include({ nothing_relevant: true });
    expect(rest).to.deep.equal([]);
    expect(timers.size).to.equal(0);
  });

  it('ends a stream whose call fails with the error', async () => {
    let fail: (error: Error) => void = () => undefined;
    server.memory.intercept = () => new Promise((_, reject) => (fail = reject));
    const body = modern('tools/call', SEARCH, { progressToken: 'p' });
    const answer = send(server, body, { headers: modernHeaders(body) });
    await tick();
    fail(new Error('secret text'));
    const { text } = await answer;
    expect(text).to.contain('ERR_INTERNAL').and.to.not.contain('secret text');
  });

  it('starts no timer for a call without a token', async () => {
    hold();
    const bodies = [call('memory_search', { query: 'tea' }), modern('tools/call', SEARCH)];
    const answers = bodies.map((body, i) => send(server, body, i === 0 ? {} : { headers: modernHeaders(body) }));
    await until(() => server.memory.calls.length === 2);
    expect(timers.size).to.equal(0);
    release();
    await Promise.all(answers);
  });

  it('reaches the handler of the SDK’s own client', async () => {
    hold();
    const client = await connectClient(server, ANN);
    const heard: number[] = [];
    const answer = client.callTool(SEARCH, undefined, { onprogress: ({ progress }) => heard.push(progress) });
    await tick();
    await until(() => heard.length === 1);
    release();
    expect((await answer).isError).to.equal(undefined);
    expect((await send(server, initialize({}))).status).to.equal(200);
    await client.close();
  });
});
