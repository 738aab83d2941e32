/** Any access policy, caller, reach and record: for properties that hold for all of them. */
import fc from 'fast-check';
import { STATUSES } from '../../src/domain/memory.ts';
import { RIGHTS } from '../../src/domain/principal.ts';
import type { Action, ScopedFields } from '../../src/domain/scope.ts';
import type { AccessPolicy } from '../../src/gate/access-grants.ts';
import type { Reach } from '../../src/gate/access-policy.ts';
import { principal, SHIPPED_ACCESS } from './principals.ts';

/** The time that expiries lie around. */
export const ACCESS_NOW = Date.parse('2026-03-01T12:00:00.000Z');

const segment = fc.constantFrom('a', 'ab', 'a-b', 'shared', 'user', 'team', 'ann', 'x_1');
const namespace = fc.array(segment, { minLength: 1, maxLength: 4 }).map((s) => s.join('.'));
const pattern = fc.oneof(
  fc.constant('**'),
  namespace,
  fc
    .tuple(fc.array(fc.oneof(segment, fc.constant('*')), { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([s, open]) => s.join('.') + (open ? '.**' : '')),
);
const names = fc.subarray(['a', 'ann', '*', 'x.y', 'editor']);
const teamPattern = fc.oneof(pattern, fc.constantFrom('team.{team}', 'team.{team}.**', '{team}', 'shared.{team}.*'));
const policy: fc.Arbitrary<AccessPolicy> = fc.record({
  version: fc.constant(1 as const),
  without_namespaces: fc.array(pattern, { maxLength: 2 }),
  rules: fc.array(
    fc
      .record({
        roles: fc.option(names, { nil: undefined }),
        teams: fc.option(names, { nil: undefined }),
        namespaces: fc.array(teamPattern, { minLength: 1, maxLength: 3 }),
        rights: fc.subarray([...RIGHTS], { minLength: 1 }),
      })
      .map(({ roles, teams, ...rest }) => ({
        ...rest,
        ...(roles === undefined ? {} : { roles }),
        ...(teams === undefined ? {} : { teams }),
      })),
    { maxLength: 4 },
  ),
});
export const action = fc.constantFrom<Action>('read', 'write', 'forget', 'share');
const scopes = fc.subarray(['memory:read', 'memory:write', 'memory:forget', 'memory:share', 'memory:admin']);
export const who = fc.record({
  sub: fc.constantFrom('ann', 'bob'),
  scopes,
  namespaces: fc.option(fc.array(pattern, { maxLength: 3 }), { nil: undefined }),
  roles: names,
  teams: names,
  access: fc.oneof(policy, fc.constant(SHIPPED_ACCESS)),
});
export const reach: fc.Arbitrary<Reach> = fc.oneof(
  fc.constant<Reach>('default'),
  fc.constant<Reach>('granted'),
  fc.array(namespace, { maxLength: 3 }),
);
export const anyRecord: fc.Arbitrary<ScopedFields> = fc
  .record({
    tenant: fc.constantFrom('acme', 'other'),
    doc_type: fc.constant('memory' as const),
    namespace: fc.oneof(namespace, fc.constantFrom('user.ann', 'user.bob', 'shared.a')),
    owner: fc.constantFrom(principal({ sub: 'ann' }).owner, principal({ sub: 'bob' }).owner),
    visibility: fc.constantFrom('private' as const, 'shared' as const),
    status: fc.constantFrom(...STATUSES),
    expires_at: fc.option(fc.integer({ min: -2, max: 2 }), { nil: undefined }),
  })
  .map(({ expires_at, ...rest }) =>
    expires_at === undefined ? rest : { ...rest, expires_at: new Date(ACCESS_NOW + expires_at).toISOString() },
  );
