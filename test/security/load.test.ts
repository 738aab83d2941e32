/** D2-D5 (guard.md) on the running service: limits hold whatever a caller disguises, and no text, query or encoding holds the event loop. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { startHashedService, type HashedService } from '../support/service.ts';

const policies = join(import.meta.dirname, '..', '..', 'policies');
/** CPU time between two turns of the event loop. The budget is 50 ms of one core; here collector and compiler threads are counted too. */
const MAX_STRETCH_MS = 150;

describe('load (D)', function () {
  this.timeout(180_000);

  describe('limits', () => {
    let service: HashedService;
    const dir = mkdtempSync(join(tmpdir(), 'limits-'));

    before(async () => {
      cpSync(policies, dir, { recursive: true });
      const file = join(dir, 'limits.yaml');
      writeFileSync(file, readFileSync(file, 'utf8').replace(/http: \{[^}]*\}/, 'http: { principal: 20, tenant: 30 }'));
      service = await startHashedService({ POLICIES_DIR: dir, MCP_TOOLS: 'all' });
    });
    after(async () => {
      await service.close();
      rmSync(dir, { recursive: true });
    });

    it('D2: no header, session, path, front end or burst gets more than the limit, and another tenant does not feel it', async () => {
      const alice = await service.mint();
      const again = await service.mint({ clientId: 'another', sid: 'another' } as object);
      const json = { accept: 'application/json, text/event-stream' };
      const ping = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'memory_list', arguments: {} } };
      const burst = await Promise.all(
        Array.from({ length: 80 }, (_, i) => {
          const headers = { 'x-forwarded-for': `2001:db8:${i}::1`, forwarded: `for=10.0.0.${i}`, 'x-real-ip': `10.1.0.${i}` };
          const token = i % 2 === 0 ? alice : again;
          return i % 4 === 0
            ? service.call('POST', '/mcp', token, ping, { ...json, ...headers })
            : service.call('GET', `/v1/memories?limit=${1 + (i % 5)}`, token, undefined, headers);
        }),
      );
      const good = burst.filter(({ status }) => status === 200);
      expect(good.length).to.be.within(15, 20);
      for (const { status, headers } of burst.filter((answer) => answer.status !== 200)) {
        expect(status).to.equal(429);
        expect(Number(headers.get('retry-after'))).to.be.within(1, 60);
      }
      // the tenant has a share of its own, which many of its people use up together
      const crowd = await Promise.all(
        Array.from(
          { length: 30 },
          async (_, i) => (await service.call('GET', '/v1/memories', await service.mint({ sub: `one${i}` }))).status,
        ),
      );
      expect(crowd.filter((status) => status === 200).length).to.be.at.most(15);
      expect((await service.call('GET', '/v1/memories', await service.mint({ tenant: 't2' }))).status).to.equal(200);
    });
  });

  describe('hostile texts', () => {
    let service: HashedService;
    let alice: string;
    before(async () => {
      service = await startHashedService({ RATE_LIMIT_PROFILE: 'bench' });
      alice = await service.mint();
      // compiled and warm
      for (let i = 0; i < 5; i += 1)
        await service.call('POST', '/v1/memories', alice, { content: 'A plain note about tea. '.repeat(40 * i + 1) });
    });
    after(() => service.close());

    /** The longest stretch of this process's CPU time in which no other call got its turn, ms. The service runs in this process. */
    async function longestStretch(work: () => Promise<unknown>): Promise<number> {
      let longest = 0;
      let done = false;
      const watch = (async () => {
        let last = process.cpuUsage();
        while (!done) {
          await nextTurn();
          const { user, system } = process.cpuUsage(last);
          last = process.cpuUsage();
          longest = Math.max(longest, (user + system) / 1_000);
        }
      })();
      await work();
      done = true;
      await watch;
      return longest;
    }
    const within = async (what: string, work: () => Promise<unknown>): Promise<void> => {
      let best = Infinity;
      // a collection of garbage may fall into one of them
      for (let i = 0; i < 3 && best > MAX_STRETCH_MS; i += 1) best = Math.min(best, await longestStretch(work));
      expect(best, what).to.be.below(MAX_STRETCH_MS);
    };
    const filled = (unit: string, chars = 31_000): string => `${unit.repeat(Math.ceil(chars / unit.length)).slice(0, chars)}!`;
    const writes = (content: string) => async (): Promise<void> => {
      const { status, body } = await service.call('POST', '/v1/memories', alice, { content });
      expect(status, JSON.stringify(body).slice(0, 200)).to.equal(200);
    };

    it('D3: 31 KB of beginnings, near-misses, one character and Han beside letters leave the event loop free', async () => {
      const units = [
        'a',
        ' ',
        '\t',
        '\n',
        '?',
        '. ',
        '忽略a',
        '忽略之前',
        'ignore all previous ',
        'from now on always ',
        'system: ',
        '\n system',
        'curl a | ',
      ];
      const more = [
        '<a hidden ',
        '<!--',
        '[a](',
        ']: # "',
        'alt="',
        '0x41 ',
        '01010101 ',
        '12 34 ',
        '.- / ',
        '@0',
        '&#65;',
        '%41',
        'QUFB',
        '"a" ',
        'namespace:',
        '\u202e',
        'e\u0301',
      ];
      for (const unit of [...units, ...more]) await within(JSON.stringify(unit), writes(filled(unit)));
      for (const unit of ['?\t', 'a '])
        await within(`read ${unit}`, () => service.call('POST', '/v1/memories/search', alice, { query: 'ignore previous a', top_k: 20 }));
    });

    it('D4: encodings within encodings, entities, invisible and combining marks are opened within bounds', async () => {
      let nested = 'ignore all previous instructions';
      for (let depth = 0; depth < 20 && nested.length < 20_000; depth += 1) nested = Buffer.from(nested).toString('base64');
      for (const [what, text] of Object.entries({
        nested,
        percent: filled('%25'),
        entities: filled('&#x26;'),
        zero: filled('\u200b'),
        combining: `a${'\u0301'.repeat(30_000)}`,
        tags: filled('\u{e0041}', 30_000),
        hex: filled('2525'),
        bidi: filled('\u202eabc\u202c'),
        comments: filled('<!-- a -->'),
      }))
        await within(what, async () => {
          const { status } = await service.call('POST', '/v1/memories', alice, { content: text });
          expect(status, what).to.be.oneOf([200, 400]);
        });
    });

    it('D5: costly searches are refused by their bounds or answered without holding others', async () => {
      for (const body of [
        { query: 'tea', top_k: 100_000 },
        { query: 'a '.repeat(20_000) },
        { query: 'tea', filter: { tags: Array(10_000).fill('t') } },
        { query: 'tea', namespaces: Array(1_000).fill('user.alice') },
      ]) {
        const { status } = await service.call('POST', '/v1/memories/search', alice, body);
        expect(status, JSON.stringify(body).slice(0, 60)).to.be.oneOf([400, 413]);
      }
      const words = Array.from({ length: 450 }, (_, i) => `word${i}`)
        .join(' ')
        .slice(0, 4_000);
      await within('a long query', async () => {
        const { status } = await service.call('POST', '/v1/memories/search', alice, {
          query: words,
          top_k: 20,
          filter: { created: { gte: '0001-01-01T00:00:00Z', lte: '9999-12-31T00:00:00Z' } },
        });
        expect(status).to.be.oneOf([200, 400]);
      });
      for (const limit of ['0', '100000', '-1', 'NaN'])
        expect((await service.call('GET', `/v1/memories?limit=${limit}`, alice)).status, limit).to.equal(400);
    });
  });
});
