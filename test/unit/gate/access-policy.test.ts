import { expect } from 'chai';
import fc from 'fast-check';
import { DEFAULT_STATUSES, STATUSES } from '../../../src/domain/memory.ts';
import type { Action, ScopedFields } from '../../../src/domain/scope.ts';
import { HindsightError } from '../../../src/errors.ts';
import { allowsNamespace, scopeFor, type Reach } from '../../../src/gate/access-policy.ts';
import { principal, type PrincipalOptions } from '../../support/principals.ts';
import { matches } from '../../support/query-interpreter.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');

const record = (fields: Partial<ScopedFields> = {}): ScopedFields => ({
  tenant: 'acme',
  doc_type: 'memory',
  namespace: 'user.ann',
  owner: principal().owner,
  visibility: 'private',
  status: 'active',
  ...fields,
});

const read = (options: PrincipalOptions, reach: Reach = 'granted') =>
  scopeFor({ principal: principal(options), action: 'read', reach, nowMs: NOW });

const codeOf = (f: () => unknown): string => {
  try {
    f();
  } catch (error) {
    if (error instanceof HindsightError) return error.code;
    throw error;
  }
  return 'none';
};

describe('access policy', () => {
  it('lets a token without namespaces read its own and the shared ones, and write only its own', () => {
    const p = principal();
    expect(['user.ann', 'shared.docs', 'shared', 'user.bob', 'team.x'].map((n) => allowsNamespace(p, 'read', n))).to.deep.equal([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(['user.ann', 'shared.docs', 'shared', 'user.bob'].map((n) => allowsNamespace(p, 'write', n))).to.deep.equal([
      true,
      false,
      false,
      false,
    ]);
  });

  it('asks for memory:share to change a shared namespace, even under **', () => {
    const without = principal({ namespaces: ['**'] });
    const withShare = principal({ namespaces: ['**'], scopes: ['memory:read', 'memory:write', 'memory:share'] });
    expect(allowsNamespace(without, 'write', 'shared.docs')).to.equal(false);
    expect(allowsNamespace(without, 'write', 'team.x')).to.equal(true);
    expect(allowsNamespace(withShare, 'write', 'shared.docs')).to.equal(true);
  });

  it('bounds every right by namespaces[], own excepted', () => {
    const p = principal({ namespaces: ['team.x.**'], scopes: ['memory:read', 'memory:write', 'memory:share', 'memory:admin'] });
    expect(['user.ann', 'team.x.a', 'team.x', 'team.xy.a', 'shared.docs'].map((n) => allowsNamespace(p, 'read', n))).to.deep.equal([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('refuses a named namespace outside the grant with ERR_NAMESPACE_FORBIDDEN', () => {
    expect(codeOf(() => read({}, ['user.bob']))).to.equal('ERR_NAMESPACE_FORBIDDEN');
    expect(codeOf(() => read({}, ['user.ann', 'user.bob']))).to.equal('ERR_NAMESPACE_FORBIDDEN');
    expect(codeOf(() => read({}, ['user.ann']))).to.equal('none');
  });

  it('looks in own and readable shared namespaces by default, also for a token that may read everything', () => {
    const scope = read({ namespaces: ['**'] }, 'default');
    expect(scope.permits(record())).to.equal(true);
    expect(scope.permits(record({ namespace: 'shared.docs', visibility: 'shared' }))).to.equal(true);
    expect(scope.permits(record({ namespace: 'team.x', visibility: 'shared' }))).to.equal(false);
    expect(read({ namespaces: ['**'] }, 'granted').permits(record({ namespace: 'team.x', visibility: 'shared' }))).to.equal(true);
  });

  it('shows private records to their owner alone', () => {
    const scope = read({ sub: 'bob', namespaces: ['**'] });
    expect(scope.permits(record({ namespace: 'team.x' }))).to.equal(false);
    expect(scope.permits(record({ namespace: 'team.x', visibility: 'shared' }))).to.equal(true);
  });

  it('lets only the owner, or memory:admin, forget a shared record', () => {
    const foreign = record({ namespace: 'team.x', visibility: 'shared', owner: 'somebody' });
    const forget = (scopes: readonly string[]) =>
      scopeFor({ principal: principal({ namespaces: ['**'], scopes }), action: 'forget', reach: 'granted', nowMs: NOW });
    expect(forget(['memory:forget']).permits(foreign)).to.equal(false);
    expect(forget(['memory:forget', 'memory:admin']).permits(foreign)).to.equal(true);
  });

  it('gives a principal without the scope of the action a filter that matches nothing', () => {
    const scope = read({ scopes: ['memory:admin'], namespaces: ['**'] });
    expect(scope.permits(record())).to.equal(false);
    expect(scope.filter).to.deep.include({ match_none: {} });
  });

  it('hides what has expired, from the millisecond on', () => {
    const scope = read({});
    expect(scope.permits(record({ expires_at: new Date(NOW + 1).toISOString() }))).to.equal(true);
    expect(scope.permits(record({ expires_at: new Date(NOW).toISOString() }))).to.equal(false);
  });

  it('compiles the whole mandatory filter of a search', () => {
    expect(read({ namespaces: ['team.a-b.**', 'team.*.notes', 'team.c'] }).filter).to.deep.equal([
      { term: { tenant: 'acme' } },
      { term: { doc_type: 'memory' } },
      {
        bool: {
          should: [
            { terms: { namespace: ['user.ann', 'team.c'] } },
            { prefix: { namespace: { value: 'team.a-b.' } } },
            { regexp: { namespace: { value: 'team\\.[^.]+\\.notes', flags: 'NONE' } } },
          ],
          minimum_should_match: 1,
        },
      },
      { bool: { should: [{ term: { visibility: 'shared' } }, { term: { owner: principal().owner } }], minimum_should_match: 1 } },
      { terms: { status: [...DEFAULT_STATUSES] } },
      {
        bool: {
          should: [
            { bool: { must_not: [{ exists: { field: 'expires_at' } }] } },
            { range: { expires_at: { gt: '2026-03-01T12:00:00.000Z' } } },
          ],
          minimum_should_match: 1,
        },
      },
    ]);
  });
});

const segment = fc.constantFrom('a', 'ab', 'a-b', 'shared', 'user', 'team', 'ann', 'x_1');
const namespace = fc.array(segment, { minLength: 1, maxLength: 4 }).map((s) => s.join('.'));
const pattern = fc.oneof(
  fc.constant('**'),
  namespace,
  fc
    .tuple(fc.array(fc.oneof(segment, fc.constant('*')), { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([s, open]) => s.join('.') + (open ? '.**' : '')),
);
const action = fc.constantFrom<Action>('read', 'write', 'forget', 'share');
const scopes = fc.subarray(['memory:read', 'memory:write', 'memory:forget', 'memory:share', 'memory:admin']);
const who = fc.record({
  sub: fc.constantFrom('ann', 'bob'),
  scopes,
  namespaces: fc.option(fc.array(pattern, { maxLength: 3 }), { nil: undefined }),
});
const reach: fc.Arbitrary<Reach> = fc.oneof(
  fc.constant<Reach>('default'),
  fc.constant<Reach>('granted'),
  fc.array(namespace, { maxLength: 3 }),
);
const anyRecord: fc.Arbitrary<ScopedFields> = fc
  .record({
    tenant: fc.constantFrom('acme', 'other'),
    doc_type: fc.constant('memory' as const),
    namespace: fc.oneof(namespace, fc.constantFrom('user.ann', 'user.bob', 'shared.a')),
    owner: fc.constantFrom(principal({ sub: 'ann' }).owner, principal({ sub: 'bob' }).owner),
    visibility: fc.constantFrom('private' as const, 'shared' as const),
    status: fc.constantFrom(...STATUSES),
    expires_at: fc.option(fc.integer({ min: -2, max: 2 }), { nil: undefined }),
  })
  .map(({ expires_at, ...rest }) => (expires_at === undefined ? rest : { ...rest, expires_at: new Date(NOW + expires_at).toISOString() }));

describe('access policy, for any principal, action, reach and record', () => {
  it('the filter selects exactly what permits() allows', () => {
    let allowed = 0;
    fc.assert(
      fc.property(who, action, reach, fc.subarray([...STATUSES]), anyRecord, (options, act, where, statuses, doc) => {
        let scope;
        try {
          scope = scopeFor({ principal: principal(options), action: act, reach: where, statuses, nowMs: NOW });
        } catch (error) {
          expect((error as HindsightError).code).to.equal('ERR_NAMESPACE_FORBIDDEN');
          return;
        }
        const byFilter = scope.filter.every((clause) => matches(clause, doc as unknown as Record<string, unknown>));
        expect(byFilter).to.equal(scope.permits(doc));
        if (byFilter) allowed += 1;
      }),
      { numRuns: 3000 },
    );
    expect(allowed, 'the property met no permitted record').to.be.greaterThan(5);
  });

  it('nothing outside the tenant, the grant or the statuses is ever permitted', () => {
    fc.assert(
      fc.property(who, action, anyRecord, (options, act, doc) => {
        const p = principal(options);
        const scope = scopeFor({ principal: p, action: act, reach: 'granted', nowMs: NOW });
        if (!scope.permits(doc)) return;
        expect(doc.tenant).to.equal(p.tenant);
        expect(allowsNamespace(p, act, doc.namespace)).to.equal(true);
        expect(doc.owner === p.owner || doc.visibility === 'shared').to.equal(true);
        expect(DEFAULT_STATUSES).to.include(doc.status);
      }),
      { numRuns: 2000 },
    );
  });
});
