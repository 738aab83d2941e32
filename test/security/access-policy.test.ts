/** policies/access.yaml against the running service, over REST and MCP: rights by role, team and namespace, each apart, and a damaged file that starts nothing. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { SCOPES } from '../../src/domain/principal.ts';
import type { HindsightError } from '../../src/errors.ts';
import { mcpFrontEnd, restFrontEnd, type FrontEnd } from '../support/scenario-front-ends.ts';
import { storedState } from '../support/scenario-stored.ts';
import { startHashedService, type HashedService } from '../support/service.ts';

const RULES = `version: 1
without_namespaces: ['**']
rules:
  - { namespaces: [shared.**], rights: [read] }
  - { namespaces: ['team.{team}', 'team.{team}.**'], rights: [read, write] }
  - { roles: [lead], namespaces: ['team.{team}.**'], rights: [share, forget] }
  - { roles: [curator], teams: [docs], namespaces: [shared.**], rights: [write, share] }
`;
const PLACES = ['team.red.plan', 'team.blue.plan', 'shared.docs'] as const;

describe('access by role and team', function () {
  this.timeout(120_000);
  let dir: string;
  let service: HashedService;
  let fronts: readonly FrontEnd[];
  const ids: Record<string, string> = {};

  const policies = (access: string): string => {
    cpSync(join(import.meta.dirname, '..', '..', 'policies'), dir, { recursive: true });
    writeFileSync(join(dir, 'access.yaml'), access);
    return dir;
  };
  const mint = (sub: string, roles: readonly string[], teams: readonly string[], more = {}): Promise<string> =>
    service.mint({ sub, roles, teams, scopes: SCOPES, ...more });

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'policies-'));
    service = await startHashedService({ POLICIES_DIR: policies(RULES), MCP_TOOLS: 'all' });
    fronts = [restFrontEnd(service), mcpFrontEnd(service)];
    const makers = { 'team.red.plan': ['lead', 'red'], 'team.blue.plan': ['lead', 'blue'], 'shared.docs': ['curator', 'docs'] } as const;
    for (const namespace of PLACES) {
      const [role, team] = makers[namespace];
      const maker = await mint('maker', [role], [team]);
      const written = await service.call('POST', '/v1/memories', maker, { content: `The plan of ${namespace}.`, namespace, wait: true });
      expect(written.status, JSON.stringify(written.body)).to.equal(200);
      ids[namespace] = written.body.results[0].memory_id;
    }
  });
  after(async () => {
    await Promise.all(fronts.map((front) => front.close()));
    await service.close();
    rmSync(dir, { recursive: true });
  });

  it('shows a namespace by every tool to who may read it and by none to others', async () => {
    const readers: readonly (readonly [string, readonly string[], readonly string[], readonly string[]])[] = [
      ['nobody', [], [], ['shared.docs']],
      ['red', [], ['red'], ['team.red.plan', 'shared.docs']],
      ['both', [], ['red', 'blue'], [...PLACES]],
      ['star', ['lead'], ['*', 're', 'red.plan', 'Red'], ['shared.docs']],
    ];
    for (const [sub, roles, teams, visible] of readers) {
      const token = await mint(sub, roles, teams);
      for (const front of fronts)
        for (const namespace of PLACES) {
          const what = `${front.name} ${sub} ${namespace}`;
          const seen = visible.includes(namespace);
          const memory_id = ids[namespace];
          const byId = await front.call(token, 'memory_get', { memory_id });
          expect(byId.ok, what).to.equal(seen);
          expect((await front.call(token, 'memory_history', { memory_id })).ok, what).to.equal(seen);
          const listed = await front.call(token, 'memory_list', { namespaces: [namespace] });
          const found = await front.call(token, 'memory_search', { query: `plan of ${namespace}`, namespaces: [namespace] });
          for (const answer of [listed, found])
            if (seen) expect(answer.ok && (answer.output.items ?? answer.output.hits)[0].memory_id, what).to.equal(memory_id);
            else expect(!answer.ok && answer.code, what).to.equal('ERR_NAMESPACE_FORBIDDEN');
        }
      const everything = JSON.stringify([
        (await service.call('GET', '/v1/memories', token)).body,
        (await service.call('GET', '/v1/stats', token)).body,
        (await service.call('POST', '/v1/memories/search', token, { query: 'the plan', top_k: 20 })).body,
        (await service.call('GET', '/v1/export', token)).body,
      ]);
      for (const namespace of PLACES) if (!visible.includes(namespace)) expect(everything, sub).not.to.contain(ids[namespace]);
    }
  });

  it('grants writing, forgetting and sharing apart', async () => {
    const member = await mint('member', [], ['red']);
    const lead = await mint('boss', ['lead'], ['red']);
    const curator = await mint('member', ['curator'], ['docs']);
    const pretender = await mint('member', ['curator'], ['red']);
    for (const front of fronts) {
      const write = (token: string, more: object) => front.call(token, 'memory_write', { content: `Noted by ${front.name}.`, ...more });
      const visible = async (token: string, more: object): Promise<unknown> => {
        const answer = await write(token, more);
        if (!answer.ok) return answer.code;
        return (await service.call('GET', `/v1/memories/${answer.output.results[0].memory_id}`, token)).body.visibility;
      };
      // without the right to share a memory is its owner's alone, and asking for more is refused
      expect(await visible(member, { namespace: 'team.red.plan' })).to.equal('private');
      // a field that the tool does not show
      if (front.name === 'REST')
        expect(await visible(member, { namespace: 'team.red.plan', visibility: 'shared' })).to.equal('ERR_NAMESPACE_FORBIDDEN');
      expect(await visible(lead, { namespace: 'team.red.plan' })).to.equal('shared');
      expect(await visible(member, { namespace: 'team.blue.plan' })).to.equal('ERR_NAMESPACE_FORBIDDEN');
      expect(await visible(member, { namespace: 'shared.docs' })).to.equal('ERR_NAMESPACE_FORBIDDEN');
      expect(await visible(pretender, { namespace: 'shared.docs' })).to.equal('ERR_NAMESPACE_FORBIDDEN');
      expect(await visible(curator, { namespace: 'shared.docs' })).to.equal('shared');

      const mine = await write(member, { namespace: 'team.red.plan' });
      const memory_id = mine.ok && mine.output.results[0].memory_id;
      const share = await fronts[0]!.call(member, 'memory_update', { memory_id, visibility: 'shared' });
      expect(share.ok ? 'shared' : share.code).to.equal('ERR_NAMESPACE_FORBIDDEN');
      // seen, so that the refusal may say why
      const forget = await front.call(member, 'memory_forget', { memory_id });
      expect(forget.ok ? 'forgotten' : forget.code).to.equal('ERR_NAMESPACE_FORBIDDEN');
      const promoted = await mint('member', ['lead'], ['red']);
      expect((await fronts[0]!.call(promoted, 'memory_update', { memory_id, visibility: 'shared' })).ok).to.equal(true);
      expect((await front.call(promoted, 'memory_forget', { memory_id })).ok).to.equal(true);
    }
  });

  it('N6 takes effect with the next token: who left the team sees and changes nothing more, his own memories there included', async () => {
    const inside = await mint('leaver', ['lead'], ['red']);
    const { body } = await service.call('POST', '/v1/memories', inside, {
      content: 'The plan of the leaver.',
      namespace: 'team.red.plan',
      wait: true,
    });
    const { memory_id } = body.results[0];
    const outside = await mint('leaver', ['lead'], ['blue']);
    const state = await storedState(service, ['team.red.plan']);
    for (const front of fronts) {
      for (const [operation, input] of [
        ['memory_get', { memory_id }],
        ['memory_history', { memory_id }],
        ['memory_update', { memory_id, content: 'taken along' }],
        ['memory_forget', { memory_id }],
      ] as const) {
        const answer = await front.call(outside, operation, input);
        expect(answer.ok ? 'taken' : answer.code, operation).to.equal('ERR_MEMORY_NOT_FOUND');
      }
    }
    expect(await storedState(service, ['team.red.plan'])).to.deep.equal(state);
  });

  it('bounds all of it by the namespaces of the token, own excepted', async () => {
    const bound = await mint('bound', ['lead'], ['red', 'blue'], { namespaces: ['team.blue.**'] });
    expect((await service.call('GET', `/v1/memories/${ids['team.blue.plan']}`, bound)).status).to.equal(200);
    for (const namespace of ['team.red.plan', 'shared.docs'] as const)
      expect((await service.call('GET', `/v1/memories/${ids[namespace]}`, bound)).status).to.equal(404);
    expect((await service.call('POST', '/v1/memories', bound, { content: 'Mine.' })).status).to.equal(200);
  });

  it('starts nothing on an access policy that is damaged, empty or missing', async () => {
    for (const text of ['', 'rules: []', `${RULES}  - { namespaces: ['*'], rights: [everything] }\n`, '\tno yaml']) {
      writeFileSync(join(dir, 'access.yaml'), text);
      const error: unknown = await startHashedService({ POLICIES_DIR: dir }).then(
        (started) => started.close(),
        (thrown: unknown) => thrown,
      );
      expect((error as HindsightError | undefined)?.code, text).to.equal('ERR_CONFIG_INVALID');
    }
    rmSync(join(dir, 'access.yaml'));
    const error: unknown = await startHashedService({ POLICIES_DIR: dir }).then(
      (started) => started.close(),
      (thrown: unknown) => thrown,
    );
    expect((error as HindsightError | undefined)?.message).to.contain('access.yaml cannot be read');
  });
});
