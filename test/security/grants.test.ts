/** Property: whoever holds no grant on a namespace sees nothing of it and changes nothing in it, by any operation of any front end. */
import { expect } from 'chai';
import fc from 'fast-check';
import { SCOPES } from '../../src/domain/principal.ts';
import { operations } from '../../src/operations/index.ts';
import { mcpFrontEnd, restFrontEnd, type FrontEnd, type Input } from '../support/scenario-front-ends.ts';
import { storedState } from '../support/scenario-stored.ts';
import { startHashedService, type HashedService } from '../support/service.ts';

/** In every text of every victim's record, and nowhere else. */
const MARK = 'xylograph';
const TENANT = 't1';
const VICTIMS = ['user.victim', 'team.vault', 'vault'] as const;
/** None of them covers a victim's namespace, all of them come close. */
const NEAR_MISSES = [
  ...['team.vaulted', 'team.vault-2', 'team.vault.x', 'team.vault.**', 'team.vault.*', 'team.*.x', '*.vaults', 'team.v'],
  ...['user.victim2', 'user.victim.**', 'user.vic', '*.*.*', 'vault.**', 'vaults', 'shared.**', 'team'],
];
const RUNS = 400;
/** Trace of a search by the victim, for memory_recall_trace. */
const VICTIM_TRACE = 'c0ffee'.padEnd(32, '0');
/** What no front end but REST offers. */
const NO_TOOLS: ReadonlySet<string> = new Set(operations.filter(({ mcp }) => mcp.tool === 'never').map(({ name }) => name));

interface Attack {
  readonly front: 0 | 1;
  readonly who: { readonly tenant: string; readonly sub: string; readonly actor: 'user' | 'agent' | 'service' };
  readonly scopes: readonly string[];
  readonly namespaces: readonly string[] | undefined;
  readonly roles: readonly string[];
  readonly teams: readonly string[];
  readonly operation: string;
  readonly input: Input;
}

describe('grants', function () {
  this.timeout(180_000);
  let service: HashedService;
  let fronts: readonly [FrontEnd, FrontEnd];
  let ids: readonly string[];
  let owner: string;
  let plan: string;
  let session: readonly string[];
  let cursor: string;

  before(async () => {
    service = await startHashedService({ MCP_TOOLS: 'all', RATE_LIMIT_PROFILE: 'bench' });
    fronts = [restFrontEnd(service), mcpFrontEnd(service)];
    const victim = await service.mint({ tenant: TENANT, sub: 'victim', namespaces: ['team.vault', 'vault'] });
    const made: string[] = [];
    for (const namespace of VICTIMS) {
      for (const visibility of ['private', 'shared']) {
        const content = `The ${MARK} of the victim in ${namespace}, ${visibility}.`;
        const fields = { subject: MARK, title: MARK, tags: [MARK], session_id: MARK, metadata: { note: MARK }, kind: 'fact', wait: true };
        const { body } = await service.call('POST', '/v1/memories', victim, { content, namespace, visibility, ...fields });
        made.push(body.results[0].memory_id);
      }
    }
    for (const namespace of VICTIMS) {
      await service.call('POST', `/v1/sessions/${MARK}/turns`, victim, { namespace, role: 'user', content: `The ${MARK}.` });
      await service.call('PUT', `/v1/sessions/${MARK}/state`, victim, { namespace, state: { note: MARK } });
    }
    session = await sessionOf();
    // with a history to look into
    await service.call('PATCH', `/v1/memories/${made[0]}`, victim, { content: `The ${MARK} was moved.` });
    ids = made;
    owner = (await service.call('GET', `/v1/memories/${made[0]}`, victim)).body.owner;
    const filter = { tags: [MARK] };
    plan = (await service.call('POST', '/v1/memories/forget', victim, { namespaces: VICTIMS, filter, dry_run: true })).body.plan;
    cursor = (await service.call('GET', `/v1/memories?tags=${MARK}&limit=1`, victim)).body.next_cursor;
    const traced = { traceparent: `00-${VICTIM_TRACE}-${'1'.repeat(16)}-00` };
    const { body: seen } = await service.call('POST', '/v1/memories/search', victim, { query: `the ${MARK}`, namespaces: VICTIMS }, traced);
    expect([seen.hits.length > 0, seen.trace_id]).to.deep.equal([true, VICTIM_TRACE]);
    expect(plan.length > 0 && cursor.length > 0).to.equal(true);
  });
  after(async () => {
    await Promise.all(fronts.map((front) => front.close()));
    await service.close();
  });

  /** What working memory holds of the victim. */
  async function sessionOf(): Promise<string[]> {
    const victim = await service.mint({ tenant: TENANT, sub: 'victim', namespaces: ['team.vault', 'vault'] });
    const found: string[] = [];
    for (const place of VICTIMS) {
      const { body: said } = await service.call('GET', `/v1/sessions/${MARK}/turns?namespace=${place}`, victim);
      const { body: held } = await service.call('GET', `/v1/sessions/${MARK}/state?namespace=${place}`, victim);
      expect([said.turns.length, held.slots.length]).to.deep.equal([1, 1]);
      found.push(JSON.stringify([said.turns, held.state]));
    }
    return found;
  }

  const namespace = fc.constantFrom<string>(...VICTIMS);
  const namespaces = fc.option(fc.uniqueArray(namespace, { minLength: 1, maxLength: 3 }), { nil: undefined, freq: 1 });
  const id = fc.nat({ max: 5 }).map((i) => ids[i] ?? '');
  const filter = fc.oneof(
    fc.constant({ tags: [MARK] }),
    fc.constant({ subject: MARK }),
    fc.constant({ session_id: MARK }),
    fc.constant({ kind: ['fact'] }),
    fc.constant({ status: ['active', 'superseded', 'forgotten', 'candidate'] }),
    fc.constant(undefined).map(() => ({ owner })),
  );
  const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined, freq: 1 });
  const version = maybe(fc.constantFrom(1, 2));

  const INPUTS: Readonly<Record<string, fc.Arbitrary<Input>>> = {
    memory_write: fc.oneof(
      fc.record({
        content: fc.constant('A planted text.'),
        namespace: maybe(namespace),
        source: maybe(id.map((parent) => ({ type: 'agent', parents: [parent] }))),
      }),
      fc.record({
        layer: fc.constant('working'),
        session_id: fc.constant(MARK),
        namespace: maybe(namespace),
        content: fc.constant('A planted turn.'),
        state: maybe(fc.constant({ planted: true })),
      }),
    ),
    memory_search: fc.record({
      query: fc.constantFrom(MARK, `the ${MARK} of the victim`, '*', 'namespace:team.vault'),
      namespaces,
      filter: maybe(filter),
      include_superseded: maybe(fc.constant(true)),
      as_of: maybe(fc.constant(undefined).map(() => new Date().toISOString())),
      explain: maybe(fc.boolean()),
      top_k: fc.constant(20),
    }),
    memory_context: fc.record({
      query: fc.constantFrom(MARK, `the ${MARK} of the victim`),
      namespaces,
      session_id: maybe(fc.constant(MARK)),
      effort: maybe(fc.constantFrom('low', 'high')),
      lang: maybe(fc.constantFrom('zh', 'en')),
    }),
    memory_get: fc.record({ memory_id: id }),
    memory_list: fc.record({ namespaces, filter: maybe(filter), cursor: maybe(fc.constant(undefined).map(() => cursor)) }),
    memory_history: fc.record({ memory_id: id }),
    memory_update: fc.record({ memory_id: id, version, content: maybe(fc.constant('Overwritten.')), invalid: fc.constant(true) }),
    memory_restore: fc.record({ memory_id: id, version }),
    memory_feedback: fc.record({ memory_ids: fc.tuple(id), verdict: fc.constantFrom('useful', 'wrong', 'outdated', 'cited') }),
    memory_forget: fc.oneof(
      fc.record({ memory_id: id, dry_run: maybe(fc.boolean()) }),
      fc.record({ namespaces, filter, dry_run: fc.boolean() }),
      fc.record({ namespaces, query: fc.constant(MARK), min_score: fc.constant(0), dry_run: fc.boolean() }),
      fc.constant(undefined).map(() => ({ plan })),
    ),
    memory_reveal: fc.record({ memory_id: id }),
    // of their own tenant an administrator deletes them by right
    memory_keys_delete: fc.record({ tenant: fc.constant('nobody') }),
    memory_namespace: fc.record({ namespace }),
    memory_collect: fc.record({ namespace, collect: fc.constant('off') }),
    // the victim's session, by its very id
    memory_turns_add: fc.record({
      session_id: fc.constant(MARK),
      namespace: maybe(namespace),
      role: fc.constantFrom('user', 'assistant'),
      content: fc.constant('A planted turn.'),
    }),
    memory_turns: fc.record({ session_id: fc.constant(MARK), namespace: maybe(namespace), dropped: maybe(fc.constant(true)) }),
    memory_state_set: fc.record({ session_id: fc.constant(MARK), namespace: maybe(namespace), state: fc.constant({ planted: true }) }),
    memory_state: fc.record({ session_id: fc.constant(MARK), namespace: maybe(namespace) }),
    memory_stats: fc.record({ namespaces }),
    memory_export: fc.record({ namespaces, filter: maybe(filter) }),
    memory_import: fc.record({ items: fc.tuple(fc.record({ content: fc.constant('A planted text.'), namespace })) }),
    memory_audit: fc.record({ memory_id: maybe(id), owner: maybe(fc.constant(undefined).map(() => owner)), limit: fc.constant(200) }),
    memory_audit_verify: fc.constant({}),
    memory_summarize: fc.record({
      namespace: maybe(namespace),
      query: maybe(fc.constant(MARK)),
      created: maybe(fc.constant({ gte: '2020-01-01T00:00:00Z' })),
      store: maybe(fc.boolean()),
    }),
    memory_recall_trace: fc.constant({ trace_id: VICTIM_TRACE }),
    memory_instructions: fc.constant({ lang: 'en' }),
    memory_confirmations: fc.record({ limit: fc.constant(100) }),
    memory_quarantine: fc.record({ limit: fc.constant(100) }),
    memory_confirm: fc.record({ memory_id: id, decision: fc.constantFrom('approve', 'reject'), content_hash: fc.constant('A'.repeat(43)) }),
    memory_release: fc.record({ memory_id: id, decision: fc.constantFrom('approve', 'reject'), content_hash: fc.constant('A'.repeat(43)) }),
  };

  /** A person of the same tenant, or somebody of the same name in another one. */
  const who = fc.oneof(
    fc.record({
      tenant: fc.constant(TENANT),
      sub: fc.constantFrom('eve', 'victim2', 'vault'),
      actor: fc.constantFrom('user', 'agent', 'service'),
    }),
    fc.record({ tenant: fc.constant('t2'), sub: fc.constantFrom('victim', 'eve'), actor: fc.constantFrom('user', 'agent') }),
  ) as fc.Arbitrary<Attack['who']>;
  const attack: fc.Arbitrary<Attack> = fc
    .record({
      front: fc.constantFrom(0, 1),
      who,
      // all of them, or any few
      scopes: fc.oneof(fc.constant(SCOPES), fc.subarray([...SCOPES])),
      namespaces: fc.option(fc.subarray(NEAR_MISSES, { maxLength: 4 }), { nil: undefined, freq: 1 }),
      // names that would be something elsewhere
      roles: fc.subarray(['admin', 'owner', 'operator', '*', 'victim']),
      teams: fc.subarray(['vault', 'victim', '*', '**', 'vault.**']),
      attempt: fc.constantFrom(...Object.keys(INPUTS)).chain((operation) => INPUTS[operation]!.map((input) => ({ operation, input }))),
    })
    .map(({ attempt, ...rest }) => ({ ...rest, ...attempt }));

  it('covers every operation there is', () => {
    expect(Object.keys(INPUTS).sort()).to.deep.equal(operations.map(({ name }) => name).sort());
  });

  it('without one, nothing is seen and nothing is changed', async () => {
    const state = await storedState(service, VICTIMS, TENANT);
    const answered = new Set<string>();
    const property = fc.asyncProperty(
      attack,
      async ({ front, who: caller, scopes, namespaces: patterns, roles, teams, operation, input: raw }) => {
        const token = await service.mint({ ...caller, scopes, namespaces: patterns, roles, teams });
        const input = Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== undefined));
        const result = await fronts[NO_TOOLS.has(operation) ? 0 : front].call(token, operation, input);
        const text = JSON.stringify(result.ok ? result.output : result.problem);
        // what somebody asked is for an auditor who may reveal, and is a person
        const opens = ['memory:audit', 'memory:reveal'].every((scope) => scopes.includes(scope)) && caller.actor === 'user';
        if (operation !== 'memory_recall_trace' || caller.tenant !== TENANT || !opens) expect(text).not.to.contain(MARK);
        // the mark of an owner is made from issuer and subject, so a namesake in another tenant has the same
        // who holds memory:audit may know of his tenant who touched or asked for which memory (ids that his own people sent, then); what it
        // says he may not, and of another tenant nothing
        const auditor =
          operation === 'memory_audit' ||
          (operation === 'memory_recall_trace' && caller.tenant === TENANT && scopes.includes('memory:audit'));
        if (operation === 'memory_audit' && result.ok)
          for (const record of result.output.records) expect(record.tenant ?? caller.tenant).to.equal(caller.tenant);
        if (caller.tenant === TENANT && !auditor) expect(text).not.to.contain(owner);
        if (!auditor) for (const found of ids) expect(text).not.to.contain(found);
        if (result.ok) {
          expect(result.output.forgotten ?? 0).to.equal(0);
          if (caller.tenant === TENANT)
            for (const item of [...(result.output.items ?? []), ...(result.output.hits ?? [])])
              expect(VICTIMS).not.to.include(item.namespace);
          answered.add(operation);
        }
      },
    );
    // one call that forgetting answers, whatever chance draws
    const input = { filter: { tags: [MARK] }, dry_run: true };
    const own: Attack = {
      front: 0,
      who: { tenant: TENANT, sub: 'eve', actor: 'user' },
      scopes: [...SCOPES],
      namespaces: undefined,
      roles: [],
      teams: [],
      operation: 'memory_forget',
      input,
    };
    await fc.assert(property, { numRuns: RUNS, examples: [[own]] });
    expect(await storedState(service, VICTIMS, TENANT)).to.deep.equal(state);
    expect(await sessionOf()).to.deep.equal(session);
    // the property is not kept by refusing everything
    expect([...answered]).to.include.members(['memory_write', 'memory_search', 'memory_list', 'memory_forget']);
  });

  it('with one, the same calls find and change: the property holds for the missing grant alone', async () => {
    const friend = await service.mint({ tenant: TENANT, sub: 'friend', namespaces: ['team.vault'] });
    for (const front of fronts) {
      const found = await front.call(friend, 'memory_search', { query: MARK, namespaces: ['team.vault'] });
      const listed = await front.call(friend, 'memory_list', { namespaces: ['team.vault'], filter: { tags: [MARK] } });
      const got = await front.call(friend, 'memory_get', { memory_id: ids[3] });
      // the shared one of the two
      expect(found.ok && found.output.hits.map((hit: { memory_id: string }) => hit.memory_id)).to.deep.equal([ids[3]]);
      expect(listed.ok && listed.output.items.map((item: { memory_id: string }) => item.memory_id)).to.deep.equal([ids[3]]);
      expect(got.ok && got.output.content).to.contain(MARK);
      const changed = await front.call(friend, 'memory_update', { memory_id: ids[3], content: `The ${MARK}, seen by ${front.name}.` });
      // somebody else's: a proposal
      expect(changed.ok && changed.output.outcome).to.equal('conflict');
    }
  });
});
