import { expect } from 'chai';
import type { AuditFacts, AuditTrail } from '../../../src/domain/audit.ts';
import { HindsightError } from '../../../src/errors.ts';
import { createAudit, type Audit } from '../../../src/operations/audit.ts';
import { callFacts, textHashes, type Hashing } from '../../../src/operations/audit-facts.ts';
import { ANSWERS } from '../../../src/operations/answers.ts';
import { operations } from '../../../src/operations/index.ts';
import type { AnyOperation } from '../../../src/operations/define.ts';
import { maskFields } from '../../../src/guard/secrets/mask-fields.ts';
import { loadSecretFinder } from '../../../src/guard/secrets/policy.ts';
import { principal } from '../../support/principals.ts';

const FIND = loadSecretFinder('policies/guard');

const HASHING: Hashing = { key: Buffer.alloc(32, 5), mask: (texts) => maskFields(FIND, texts, 'personal').value };
const ID = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const SECRET = 'xylograph';

interface Bench {
  readonly audit: Audit;
  readonly taken: { facts: AuditFacts; waiting: boolean }[];
  up: boolean;
}

function bench(append: () => Promise<void> = async () => undefined): Bench {
  const taken: Bench['taken'] = [];
  const self = { taken, up: true };
  const take = (facts: AuditFacts, waiting: boolean): Promise<void> => {
    taken.push({ facts, waiting });
    return append();
  };
  const trail: AuditTrail = {
    get up() {
      return self.up;
    },
    append: take,
    begin: (facts) => {
      const stored = take(facts, true);
      return { seq: taken.length, stored };
    },
    flush: async () => undefined,
    anchor: () => undefined,
    close: async () => undefined,
  };
  return Object.assign(self, { audit: createAudit({ trail, hashing: HASHING }) });
}

const named = (name: string): AnyOperation => operations.find((operation) => operation.name === name)!;
const call = (name: string, by = principal()) => ({ operation: named(name), principal: by, traceId: 'f'.repeat(32), tookMs: 3 });

describe('operations/audit', () => {
  it('keeps ids, namespaces, verdicts, rules and keyed hashes, and no text of any field', () => {
    const input = {
      content: `The ${SECRET} is in the hall.`,
      namespace: 'team.sales',
      metadata: { memory_id: SECRET, namespace: SECRET, results: [{ memory_id: SECRET }] },
      tags: [SECRET],
      memory_id: SECRET,
    };
    const guard = { verdict: 'quarantine', rule_ids: ['bias@decoded', `a ${SECRET} b`], policy_revision: 'r' };
    const output = { results: [{ memory_id: ID, outcome: 'quarantined', guard, reason: SECRET, replaced: [SECRET] }] };
    const facts = { ...callFacts(input, output), ...textHashes(input, 'acme', HASHING) };
    expect(JSON.stringify(facts)).not.to.contain(SECRET);
    expect(facts).to.deep.include({
      memory_ids: [ID],
      namespaces: ['team.sales'],
      verdict: ['quarantine'],
      rule_ids: ['bias@decoded'],
      count: 1,
    });
    expect(facts.detail).to.deep.equal({ outcomes: { quarantined: 1 } });
  });

  it('makes the same hash of the same query in one tenant, another in another', () => {
    const of = (query: string, tenant: string) => textHashes({ query }, tenant, HASHING).query_hmac;
    expect(of('Where is it?', 'a')).to.equal(of('where  is it', 'a')).and.not.equal(of('Where is it?', 'b'));
    expect(of('Where is it?', 'a')).not.to.equal(textHashes({ content: 'Where is it?' }, 'a', HASHING).content_hmac);
    expect(textHashes({ namespace: 'user.ann' }, 'a', HASHING)).to.deep.equal({});
  });

  it('S4: makes one hash of texts that differ in masked values alone, so that it confirms no guess', () => {
    const hashes = (texts: object) => textHashes(texts as Record<string, unknown>, 'a', HASHING);
    const [key, otherKey] = ['AKIAZQ7XK3MWJ4TB6RYP', 'AKIAWM3KX7ZQR5TB2NVH'];
    const pairs: [object, object][] = [
      [{ content: 'the vault password is Granite#5180' }, { content: 'the vault password is Meadow#2931' }],
      [{ query: '我的手机号是13912345678' }, { query: '我的手机号是13887654378' }],
      [{ queries: ['who has', `the key ${key}`] }, { queries: ['who has', `the key ${otherKey}`] }],
      // cut in two over a title and its content
      [
        { title: `deploy ${key.slice(0, 12)}`, content: `${key.slice(12)} follows` },
        { title: `deploy ${otherKey.slice(0, 12)}`, content: `${otherKey.slice(12)} follows` },
      ],
    ];
    for (const [one, other] of pairs) expect(hashes(one), JSON.stringify(one)).to.deep.equal(hashes(other));
    expect(hashes({ content: 'the vault is green' })).not.to.deep.equal(hashes({ content: 'the vault is blue' }));
  });

  it('names the ids of every operation’s answer, each once, and one record for a whole batch', () => {
    for (const [name, answers] of Object.entries(ANSWERS)) {
      if (/audit/.test(name)) continue;
      for (const answer of answers) {
        const { memory_ids: ids = [] } = callFacts({}, answer as Record<string, unknown>);
        const there = new Set(JSON.stringify(answer).match(/"memory_id":"[0-9a-f-]{36}"/g) ?? []);
        expect(ids.length, name).to.be.at.least(there.size);
      }
    }
    const items = Array.from({ length: 500 }, (_v, i) => ({ memory_id: ID.slice(0, -3) + String(100 + i), outcome: 'stored' }));
    const { taken, audit } = bench();
    void audit.done(call('memory_import'), { results: items });
    expect(taken).to.have.length(1);
    expect(taken[0]!.facts).to.deep.include({ count: 500, detail: { outcomes: { stored: 500 } } });
    expect(taken[0]!.facts.memory_ids).to.have.length(500);
  });

  it('lets what changes something wait for its record, and a read not', async () => {
    const never = bench(() => new Promise(() => undefined));
    await never.audit.done(call('memory_search'), {});
    expect(never.taken[0]!.waiting).to.equal(false);
    for (const name of ['memory_write', 'memory_update', 'memory_forget', 'memory_import', 'memory_export', 'memory_confirm']) {
      let done = false;
      void never.audit.done(call(name), {}).then(() => (done = true));
      await Promise.resolve();
      expect([done, never.taken.at(-1)!.waiting], name).to.deep.equal([false, true]);
    }
  });

  describe('of a write that is recorded beside its storing', () => {
    const stored = (memoryId = ID, outcome = 'stored') => ({ results: [{ memory_id: memoryId, outcome, replaced: [] }] });
    const write = { ...call('memory_write'), input: { content: `The ${SECRET} is in the hall.` } };

    it('writes one record, ahead, and lets the answer wait for it', async () => {
      let open = (): void => undefined;
      const { audit, taken } = bench(() => new Promise((resolve) => (open = resolve)));
      const ahead = audit.ahead(write, stored());
      expect(taken.map(({ waiting }) => waiting)).to.deep.equal([true]);
      const { facts } = taken[0]!;
      expect(facts).to.deep.include({ operation: 'memory_write', outcome: 'ok', verdict: ['allow'], memory_ids: [ID], count: 1 });
      expect(facts.detail).to.deep.equal({ outcomes: { stored: 1 }, ahead: true });
      expect([facts.took_ms, facts.content_hmac?.length]).to.deep.equal([undefined, 43]);
      let done = false;
      const answering = audit.done({ ...write, ahead }, { ...stored(), trace_id: 'f'.repeat(32) }).then(() => (done = true));
      await new Promise((resolve) => setImmediate(resolve));
      expect([done, taken.length]).to.deep.equal([false, 1]);
      open();
      await answering;
    });

    it('writes a second one that names the first, with all memories of both, when something else came of it', async () => {
      const other = `${ID.slice(0, -1)}c`;
      for (const output of [stored(ID, 'failed'), stored(other, 'duplicate'), { results: [] }]) {
        const { audit, taken } = bench();
        const ahead = audit.ahead(write, stored());
        await audit.done({ ...write, ahead }, output);
        expect(taken.map(({ waiting }) => waiting)).to.deep.equal([true, true]);
        const { detail, memory_ids: ids, outcome } = taken[1]!.facts;
        expect([detail?.['corrects'], detail?.['ahead'], outcome, ids?.includes(ID)]).to.deep.equal([1, undefined, 'ok', true]);
      }
      const { audit, taken } = bench();
      const ahead = audit.ahead(write, stored());
      await audit.done({ ...write, ahead, answers: ['yes'] }, stored());
      expect(taken[1]!.facts.detail).to.deep.equal({ outcomes: { stored: 1 }, answers: ['yes'], corrects: 1 });
    });

    it('tells by a second one that the call failed, at once, and not that its own record was the reason', () => {
      const { audit, taken } = bench();
      const ahead = audit.ahead(write, stored());
      audit.failed({ ...write, ahead }, new HindsightError('ERR_STORE_UNAVAILABLE'));
      expect(taken.map(({ facts, waiting }) => [facts.outcome, facts.reason, facts.detail?.['corrects'], waiting])).to.deep.equal([
        ['ok', undefined, undefined, true],
        ['failed', 'ERR_STORE_UNAVAILABLE', 1, true],
      ]);
      expect(taken[1]!.facts.memory_ids).to.deep.equal([ID]);
      audit.failed({ ...write, ahead }, new HindsightError('ERR_AUDIT_UNAVAILABLE'));
      expect(taken[2]!.facts.detail).to.equal(undefined);
    });

    it('begins none for what does not wait for its record, and stops what cannot have one', () => {
      const { audit, taken } = bench();
      const note = { ...call('memory_write'), input: { content: 'Step one is done.', layer: 'working' } };
      expect(audit.ahead(note, stored())).to.equal(undefined);
      expect(taken).to.deep.equal([]);
      const away = bench();
      away.up = false;
      expect(() => away.audit.ahead(write, stored()))
        .to.throw(HindsightError)
        .with.property('code', 'ERR_AUDIT_UNAVAILABLE');
      expect(away.taken).to.deep.equal([]);
    });

    it('fails the answer, and nothing besides, when its record cannot be stored', async () => {
      const { audit } = bench(() => Promise.reject(new HindsightError('ERR_AUDIT_UNAVAILABLE')));
      const ahead = audit.ahead(write, stored());
      await new Promise((resolve) => setImmediate(resolve)); // an unhandled rejection would end the process
      const error: unknown = await audit.done({ ...write, ahead }, stored()).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(HindsightError).with.property('code', 'ERR_AUDIT_UNAVAILABLE');
    });
  });

  it('refuses changes while the log is away, and no reads', () => {
    const away = bench();
    away.up = false;
    expect(() => away.audit.admit(named('memory_write'), { content: 'Ana drinks tea.' }))
      .to.throw(HindsightError)
      .with.property('code', 'ERR_AUDIT_UNAVAILABLE');
    expect(() => away.audit.admit(named('memory_search'))).not.to.throw();
  });

  it('tells a denial once, whichever front end meets it again', () => {
    const { audit, taken } = bench();
    const error = new HindsightError('ERR_SCOPE_MISSING', { params: { scope: 'memory:write' } });
    audit.failed(call('memory_write'), error);
    audit.refused({ error, principal: principal(), traceId: 'a', method: 'POST', route: '/mcp' });
    expect(taken.map(({ facts }) => [facts.outcome, facts.verdict, facts.reason])).to.deep.equal([
      ['denied', ['deny'], 'ERR_SCOPE_MISSING'],
    ]);
  });

  it('spells CR, LF, escapes and bidi marks in what comes from outside', () => {
    const { audit, taken } = bench();
    const by = principal({ clientId: 'a\r\n{"level":"error"}\u001b[31m\u009b31m\u2028\u202e' + 'x'.repeat(500) });
    audit.failed(call('memory_get', by), new HindsightError('ERR_MEMORY_NOT_FOUND'));
    const { client_id: client = '' } = taken[0]!.facts;
    expect(client).to.match(/^a<U\+000D><U\+000A>\{"level":"error"\}<U\+001B>\[31m<U\+009B>31m<U\+2028><U\+202E>x+$/);
    expect(client.length).to.equal(256);
  });

  it('counts a flood of unknown callers instead of writing it down, and says how many', () => {
    const { audit, taken } = bench();
    const refuse = (): void => {
      const error = new HindsightError('ERR_AUTH_INVALID');
      audit.refused({ error, principal: undefined, traceId: 'a', method: 'GET', route: 'unknown' });
    };
    for (let i = 0; i < 1_000; i += 1) refuse();
    expect(taken).to.have.length(600);
    audit.minute();
    expect(taken.at(-1)!.facts).to.include({ record_type: 'gap', count: 400, tenant: '~service' });
    refuse();
    expect(taken).to.have.length(602);
    audit.refused({ error: new HindsightError('ERR_MEMORY_NOT_FOUND'), principal: principal(), traceId: 'a', method: 'GET', route: '/x' });
    expect(taken).to.have.length(602);
  });

  it('counts what the limits of a tenant refuse beyond 600 a minute, and writes its other refusals and other tenants’ down', () => {
    const { audit, taken } = bench();
    const limited = () => new HindsightError('ERR_RATE_LIMITED', { params: { seconds: 1 } });
    for (let i = 0; i < 500; i += 1) audit.failed(call('memory_search'), limited());
    for (let i = 0; i < 500; i += 1)
      audit.refused({ error: limited(), principal: principal(), traceId: 'a', method: 'POST', route: '/v1/memories/search' });
    expect(taken).to.have.length(600);
    audit.failed(call('memory_write'), new HindsightError('ERR_SCOPE_MISSING', { params: { scope: 'memory:write' } }));
    audit.failed(call('memory_search', principal({ tenant: 'zeta' })), limited());
    expect(taken).to.have.length(602);
    audit.minute();
    expect(taken.at(-1)!.facts).to.include({ record_type: 'gap', count: 400, tenant: principal().tenant, reason: 'ERR_RATE_LIMITED' });
    audit.minute();
    expect(taken).to.have.length(603);
  });
});
