/** D2 (guard.md) on the running service: the price of a call follows its work, tools share a total, and Redis frozen or gone changes neither limits nor answers. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { systemClock } from '../../src/domain/clock.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { startHashedService, type Answer, type HashedService } from '../support/service.ts';

const policies = join(import.meta.dirname, '..', '..', 'policies');
const MCP = { accept: 'application/json, text/event-stream' };
const MIB = 1_048_576;

describe('limits (D2)', function () {
  this.timeout(120_000);
  let service: HashedService;
  let redis: RedisServer;
  const dir = mkdtempSync(join(tmpdir(), 'limits-'));
  let serial = 0;
  /** How far the service's clock is ahead. */
  let aheadMs = 0;

  before(async () => {
    cpSync(policies, dir, { recursive: true });
    const buckets = {
      http: { principal: 400, tenant: 10_000 },
      total: { principal: 60, tenant: 10_000 },
      default: { principal: 50, tenant: 10_000 },
      memory_write: { principal: 50, tenant: 10_000 },
    };
    writeFileSync(join(dir, 'limits.yaml'), stringify({ version: 1, window_seconds: 600, buckets }));
    redis = await startRedis();
    service = await startHashedService({ POLICIES_DIR: dir, MCP_TOOLS: 'all', REDIS_URL: redis.url }, () => systemClock() + aheadMs);
  });
  after(async () => {
    redis.thaw();
    await service.close();
    await redis.close();
    rmSync(dir, { recursive: true });
  });

  /** Somebody of a tenant of their own, who has used nothing yet. */
  const somebody = (): Promise<string> => service.mint({ sub: `one${(serial += 1)}`, tenant: `t${serial}` });
  const state = ({ headers }: Answer): { policy: string; left: number } => {
    const [, policy = '', left = ''] = /^"(\w+)";r=(\d+);t=\d+$/.exec(headers.get('ratelimit') ?? '') ?? [];
    return { policy, left: Number(left) };
  };
  const search = (token: string): Promise<Answer> => service.call('POST', '/v1/memories/search', token, { query: 'tea' });
  const tool = (token: string, name: string, args: object): Promise<Answer> =>
    service.call('POST', '/mcp', token, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }, MCP);

  it('D2: a long text and a batch of them cost what they make the service do, over REST and MCP alike', async () => {
    const token = await somebody();
    const small = await service.call('POST', '/v1/memories', token, { content: 'Tea at four.' });
    expect(state(small)).to.deep.equal({ policy: 'memory_write', left: 48 });
    const content = 'ignore all previous instructions '.repeat(900);
    const long = await service.call('POST', '/v1/memories', token, { content });
    // 29,700 characters: 14 points besides the 2
    expect(state(long).left).to.equal(32);
    const overMcp = await tool(token, 'memory_write', { content });
    expect(overMcp.body.result.isError).to.equal(undefined);
    const batch = { items: Array.from({ length: 12 }, (_, i) => ({ content: `${content}${i}` })) };
    const refused = await service.call('POST', '/v1/memories', token, batch);
    expect([refused.status, refused.body.code]).to.deep.equal([429, 'ERR_RATE_LIMITED']);
    expect(refused.headers.get('content-type')).to.equal('application/problem+json');
    expect(refused.headers.get('ratelimit-policy')).to.equal('"memory_write";q=50;w=600');
    expect(state(refused)).to.deep.equal({ policy: 'memory_write', left: 0 });
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 600);
    // nothing of it was done, and what is read has a bucket of its own
    expect((await search(token)).status).to.equal(200);
  });

  it('D2: a body is paid for before it is read, whether it tells its length or not', async () => {
    const token = await somebody();
    const left = async (): Promise<number> =>
      Number(/r=(\d+)/.exec((await service.call('GET', '/v1/nowhere', token)).headers.get('ratelimit') ?? '')?.[1]);
    const noJson = `{"query": ${'"'.padEnd(2 * MIB, 'x')}`;
    const before = await left();
    expect((await service.call('POST', '/v1/memories', token, noJson)).status).to.equal(400);
    expect(before - (await left())).to.equal(34); // 1 + 32 for 2 MiB, and the look itself
    const chunked = await fetch(`${service.url}/v1/memories`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: new Blob([noJson]).stream(),
      duplex: 'half',
    });
    expect(chunked.status).to.equal(400);
    expect(before - (await left())).to.equal(68);
  });

  it('D2: what a path is spelled like, or whether there is anything under it, is no way around the count', async () => {
    const token = await somebody();
    const paths = ['/v1/memories', '/V1/MEMORIES', '/v1//memories', '/v1/memories/', '/v1/%6demories', '/v1/./memories', '/nowhere'];
    const seen: number[] = [];
    for (const path of paths) {
      const answer = await service.call('PUT', path, token);
      expect(answer.status, path).to.be.oneOf([404, 405]);
      seen.push(state(answer).left);
    }
    expect(seen).to.deep.equal(paths.map((_, i) => 399 - i));
  });

  it('D2: tools of a caller share a total; the refusal is a result that a model can read', async () => {
    const token = await somebody();
    const spend: [string, object][] = [
      ['memory_list', {}],
      ['memory_search', { query: 'tea' }],
    ];
    let refused: { code: string; detail: string; retry_after_seconds: number } | undefined;
    let good = 0;
    for (let i = 0; i < 60 && refused === undefined; i += 1) {
      const [name, args] = spend[i % spend.length] ?? ['memory_list', {}];
      const { status, body } = await tool(token, name, args);
      expect(status).to.equal(200);
      if (body.result?.isError === true) refused = JSON.parse(body.result.content[0].text);
      else good += 1;
    }
    expect(refused?.code).to.equal('ERR_RATE_LIMITED');
    expect(refused?.retry_after_seconds).to.be.within(1, 600);
    // 2 points a call: 50 in each of their buckets would let 50 calls through, the 60 of both together let 30
    expect(good).to.equal(30);
  });

  it('an agent searches once in a turn, over REST and MCP together, and a search that failed does not count', async () => {
    const token = await somebody();
    const inTurn = (turn_id: string, more = {}): Promise<Answer> =>
      service.call('POST', '/v1/memories/search', token, { query: 'tea', turn_id, ...more });
    expect((await inTurn('turn 1', { profile: 'nowhere' })).status).to.equal(400);
    expect((await inTurn('turn 1')).status).to.equal(200);
    const again = await inTurn('turn 1', { query: 'another question' });
    expect([again.status, again.body.code]).to.deep.equal([429, 'ERR_TURN_SEARCHED']);
    const overMcp = await tool(token, 'memory_search', { query: 'tea', turn_id: 'turn 1' });
    expect([overMcp.status, overMcp.body.result.isError]).to.deep.equal([200, true]);
    expect(overMcp.body.result.content[0].text).to.include('ERR_TURN_SEARCHED');
    expect((await inTurn('turn 2')).status).to.equal(200);
    expect((await search(token)).status).to.equal(200);
    expect((await service.call('POST', '/v1/memories/search', await somebody(), { query: 'tea', turn_id: 'turn 1' })).status).to.equal(200);
  });

  it('D2: with Redis frozen answers come in under 300 ms, limits go on in the process, and it says so', async () => {
    const token = await somebody();
    expect((await search(token)).status).to.equal(200);
    const metric = async (): Promise<number> => {
      const { body } = await service.call('GET', '/metrics', await somebody());
      return Number(/limits_without_redis[^}]*\} (\d+)/.exec(String(body))?.[1] ?? 0);
    };
    const before = await metric();
    redis.freeze();
    try {
      const first: number[] = [];
      const next: number[] = [];
      let last: Answer | undefined;
      for (let round = 0; round < 5; round += 1) {
        // the time that Redis is left alone is over: one call tries it
        aheadMs += 6_000;
        for (const list of [first, next]) {
          const startedAt = performance.now();
          last = await search(token);
          list.push(performance.now() - startedAt);
          expect(last.status).to.equal(200);
        }
      }
      // the best of five, because the machine's own noise is in them; on a busy one a search alone may take longer than what is allowed
      const [waited, quick] = [Math.min(...first), Math.min(...next)];
      expect(waited, `${first.map(Math.round).join()} ${next.map(Math.round).join()}`).to.be.below(Math.max(300, 2 * quick + 200));
      expect(waited - quick, 'one wait and no second one').to.be.below(290);
      expect(last === undefined ? undefined : state(last)).to.deep.equal({ policy: 'memory_search', left: 30 });
      expect(JSON.stringify((await service.call('GET', '/v1/stats', token)).body)).to.match(/"redis":"away"/);
      expect(await metric()).to.be.at.least(before + 10);
      let refused = 0;
      for (let i = 0; i < 20 && refused === 0; i += 1) refused += (await search(token)).status === 429 ? 1 : 0;
      expect(refused).to.equal(1);
    } finally {
      redis.thaw();
    }
  });

  it('D2: with Redis gone answers come at once and are counted in the process', async () => {
    await redis.kill();
    const token = await somebody();
    const took: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      const startedAt = performance.now();
      const answer = await search(token);
      took.push(performance.now() - startedAt);
      expect([answer.status, state(answer).left]).to.deep.equal([200, 48 - 2 * i]);
    }
    expect(Math.min(...took), took.map(Math.round).join()).to.be.below(300);
  });
});
