import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { DEFAULT_STATUSES, STATUSES } from '../../../src/domain/memory.ts';
import { matchesPattern } from '../../../src/domain/namespace.ts';
import { RIGHTS } from '../../../src/domain/principal.ts';
import type { Action, ScopedFields } from '../../../src/domain/scope.ts';
import { HindsightError } from '../../../src/errors.ts';
import { accessPolicySchema, type AccessPolicy } from '../../../src/gate/access-grants.ts';
import { allowsNamespace, mayShare, scopeFor, type Reach } from '../../../src/gate/access-policy.ts';
import { loadPolicy } from '../../../src/policy.ts';
import { ACCESS_NOW as NOW, action, anyRecord, reach, who } from '../../support/access-arbitraries.ts';
import { principal, SHIPPED_ACCESS, type PrincipalOptions } from '../../support/principals.ts';
import { matches } from '../../support/query-interpreter.ts';

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

/** The rules, read as the file's comment words them, without the compiled grants. */
function ruleGrants({ access, roles = [], teams = [] }: PrincipalOptions, right: Action, namespace: string): boolean {
  return (access ?? SHIPPED_ACCESS).rules.some((rule) => {
    if (!rule.rights.includes(right) || rule.roles?.some((role) => roles.includes(role)) === false) return false;
    if (rule.teams?.some((team) => teams.includes(team)) === false) return false;
    const theirs = rule.teams === undefined ? teams : teams.filter((team) => rule.teams?.includes(team));
    return rule.namespaces.some((row) =>
      row.includes('{team}')
        ? theirs.filter((team) => /^[a-z0-9][a-z0-9_-]*$/.test(team)).some((team) => matchesPattern(namespace, row.replace('{team}', team)))
        : matchesPattern(namespace, row),
    );
  });
}

describe('access policy, by role and team', () => {
  const access: AccessPolicy = {
    version: 1,
    without_namespaces: ['**'],
    rules: [
      { namespaces: ['shared.**'], rights: ['read'] },
      { namespaces: ['team.{team}', 'team.{team}.**'], rights: ['read', 'write'] },
      { roles: ['lead'], teams: ['a'], namespaces: ['team.a.**'], rights: ['forget', 'share'] },
      { roles: ['curator'], namespaces: ['shared.**'], rights: ['write', 'share'] },
    ],
  };
  const all = ['memory:read', 'memory:write', 'memory:forget', 'memory:share', 'memory:admin'];
  const rights = (options: PrincipalOptions, place: string): string =>
    RIGHTS.filter((right) => allowsNamespace(principal({ access, scopes: all, ...options }), right, place)).join(' ');

  it('grants read, write, forget and share apart', () => {
    expect(rights({}, 'shared.x')).to.equal('read');
    expect(rights({}, 'team.a.x')).to.equal('');
    expect(rights({ teams: ['a'] }, 'team.a.x')).to.equal('read write');
    expect(rights({ teams: ['a'] }, 'team.b.x')).to.equal('');
    expect(rights({ teams: ['a'], roles: ['lead'] }, 'team.a.x')).to.equal('read write forget share');
    expect(rights({ teams: ['b'], roles: ['lead'] }, 'team.a.x')).to.equal('');
    expect(rights({ teams: ['b'], roles: ['lead'] }, 'team.b.x')).to.equal('read write');
    expect(rights({ roles: ['curator'] }, 'shared.x')).to.equal('read write share');
  });

  it('grants the own namespace whatever the rules say, and nothing else without a rule', () => {
    const none = { version: 1, without_namespaces: ['**'], rules: [] } as const;
    expect(rights({ access: none }, 'user.ann')).to.equal('read write forget share');
    for (const place of ['shared', 'shared.x', 'team.a', 'user.bob']) expect(rights({ access: none }, place)).to.equal('');
  });

  it('never reaches past the namespaces of the token', () => {
    expect(rights({ teams: ['a'], roles: ['lead', 'curator'], namespaces: ['shared.x'] }, 'team.a.x')).to.equal('');
    expect(rights({ teams: ['a'], roles: ['lead', 'curator'], namespaces: ['shared.x'] }, 'shared.x')).to.equal('read write share');
  });

  it('takes a team for {team} only where its name is one plain segment', () => {
    for (const team of ['*', '**', 'a.b', 'a.**', '', 'A', 'ａ', 'a b', '{team}'])
      for (const place of ['team.a', 'team.a.b', 'team.a.b.c']) expect(rights({ teams: [team] }, place), team).to.equal('');
  });

  it('lets nobody share where the right is missing, whatever the scope', () => {
    const p = (options: PrincipalOptions) => principal({ access, scopes: all, ...options });
    expect(mayShare(p({ teams: ['a'] }), 'team.a.x')).to.equal(false);
    expect(mayShare(p({ teams: ['a'], roles: ['lead'] }), 'team.a.x')).to.equal(true);
    expect(mayShare(p({ teams: ['a'], roles: ['lead'], scopes: ['memory:write'] }), 'team.a.x')).to.equal(false);
    expect(mayShare(p({}), 'user.ann')).to.equal(true);
  });

  it('ships with a policy that leaves all to the token', () => {
    const shipped = loadPolicy(join(import.meta.dirname, '..', '..', '..', 'policies', 'access.yaml'), accessPolicySchema);
    expect(shipped).to.deep.equal(SHIPPED_ACCESS);
  });

  it('refuses a policy with an unknown right, a pattern outside the grammar or a right named twice', () => {
    const rule = { namespaces: ['**'], rights: ['read'] };
    const parse = (more: object) => accessPolicySchema.safeParse({ version: 1, without_namespaces: [], rules: [{ ...rule, ...more }] });
    expect(parse({}).success).to.equal(true);
    for (const bad of [
      { rights: ['admin'] },
      { rights: [] },
      { rights: ['read', 'read'] },
      { namespaces: [] },
      { namespaces: ['team.{team}x'] },
      { namespaces: ['t*'] },
      { namespaces: ['{role}.**'] },
      { roles: [] },
      { tenants: ['acme'] },
    ])
      expect(parse(bad).success, JSON.stringify(bad)).to.equal(false);
  });
});

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
        if (doc.namespace === p.ownNamespace) return;
        const bounds = options.namespaces ?? options.access.without_namespaces;
        expect(bounds.some((row) => matchesPattern(doc.namespace, row))).to.equal(true);
        expect(ruleGrants(options, act, doc.namespace)).to.equal(true);
        expect(p.scopes.has(`memory:${act}`)).to.equal(true);
      }),
      { numRuns: 2000 },
    );
  });
});
