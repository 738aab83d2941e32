/** G1 (guard.md): attacks written through each channel of the composed service, over REST and over MCP, and asked for by an agent with default options. */
import { join } from 'node:path';
import { expect } from 'chai';
import { endToEnd, endToEndFigures } from '../../bench/guard/end-to-end.ts';
import { overMcp, overRest, type FrontEnd } from '../../bench/guard/front-ends.ts';
import { CHANNELS, readRows } from '../../bench/guard/rows.ts';
import { HttpClient } from '../../bench/support/http-client.ts';
import { startHashedService, type HashedService } from '../support/service.ts';

const texts = join(import.meta.dirname, '..', 'policies', 'texts');
/** Rows of each channel and language; the whole sets run in bench:guard. */
const EACH = 3;
const attacks = [...readRows(join(texts, 'attacks.jsonl')), ...readRows(join(texts, 'attacks-2.jsonl'))];
const rows = CHANNELS.flatMap((channel) =>
  ['en', 'zh'].flatMap((lang) => attacks.filter((row) => row.channel === channel && row.lang === lang).slice(-EACH)),
);
const SCOPES = ['memory:read', 'memory:write', 'memory:forget'];

describe('attacks end to end', function () {
  this.timeout(120_000);
  let service: HashedService;
  const clients: HttpClient[] = [];

  before(async () => {
    service = await startHashedService({ RATE_LIMIT_PROFILE: 'bench' });
  });
  after(async () => {
    for (const client of clients) client.close();
    await service.close();
  });

  const rest = (token: string): FrontEnd => {
    const client = new HttpClient(service.url, { authorization: `Bearer ${token}` }, 4);
    clients.push(client);
    return overRest(client);
  };

  for (const name of ['REST', 'MCP'] as const)
    it(`G1 from a page, a document, a tool, an import or an agent comes back as data alone, over ${name}`, async () => {
      const [userToken, agentToken] = [
        await service.mint({ scopes: [...SCOPES, 'memory:admin'], namespaces: ['**'] }),
        await service.mint({ actor: 'agent', scopes: SCOPES, clientId: 'desk', namespaces: ['**'] }),
      ];
      const [user, agent] = [rest(userToken), rest(agentToken)];
      const parties =
        name === 'REST'
          ? { user, agent }
          : { user: await overMcp(service.url, userToken, user), agent: await overMcp(service.url, agentToken, agent) };
      const outcomes = await endToEnd(rows, parties, `attacks-${name.toLowerCase()}`);
      const { channels, faults } = endToEndFigures(rows, outcomes);
      if (name === 'MCP') for (const party of Object.values(parties)) await party.close();
      expect([...outcomes.values()].map(({ outcome }) => outcome)).not.to.include.members(['lost', 'failed', 'invalid']);
      expect(faults).to.equal(0);
      for (const channel of CHANNELS) {
        expect(channels[channel]?.attack_success.rows, channel).to.equal(2 * EACH);
        if (channel !== 'user') expect(channels[channel]?.attack_success.hits, channel).to.equal(0);
      }
      // the test looks at something: attacks that the rules do not see are recalled, inside the envelope
      expect([...outcomes.values()].some(({ recalled, instruction }) => recalled && !instruction)).to.equal(true);
    });
});
