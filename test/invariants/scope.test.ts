/** Whatever a caller sends, every query that reaches the index carries the whole mandatory filter of that caller's tenant and grant. */
import { expect } from 'chai';
import fc from 'fast-check';
import { LAYERS, KINDS, STATUSES } from '../../src/domain/memory.ts';
import type { Scope } from '../../src/domain/scope.ts';
import type { Scoped } from '../../src/domain/sealed.ts';
import { TIER_NAMES } from '../../src/domain/trust.ts';
import type { Filter } from '../../src/domain/wire/common.ts';
import { HindsightError } from '../../src/errors.ts';
import { createWorld, type World } from '../support/memory-world.ts';
import { principal } from '../support/principals.ts';
import { matches } from '../support/query-interpreter.ts';
import { memoryRecord } from '../support/records.ts';

const namespace = fc.constantFrom('user.ann', 'user.bob', 'shared.a', 'team.x', 'team.x.y', 'acme', 'acme-evil');
const someOf = <T>(values: readonly T[]) => fc.subarray([...values]);
const filter: fc.Arbitrary<Filter> = fc.record(
  {
    layer: someOf(LAYERS),
    kind: someOf(KINDS),
    status: someOf(STATUSES),
    trust: someOf(TIER_NAMES),
    tags: fc.array(fc.constantFrom('a', '*', 'tenant'), { maxLength: 2 }),
    owner: fc.constantFrom('bob', principal({ sub: 'bob' }).owner),
    subject: fc.string({ minLength: 1, maxLength: 8 }),
    session_id: fc.constantFrom('s', 'user.bob'),
    created: fc.record({ gte: fc.constant('1970-01-01T00:00:00Z') }),
    metadata: fc.dictionary(fc.constantFrom('tenant', 'a', 'namespace'), fc.constantFrom('zeta', 'user.bob')),
  },
  { requiredKeys: [] },
);
const caller = fc.record({
  sub: fc.constantFrom('ann', 'bob'),
  actor: fc.constantFrom('user' as const, 'agent' as const),
  scopes: someOf(['memory:read', 'memory:write', 'memory:forget', 'memory:share', 'memory:admin']),
  namespaces: fc.option(someOf(['**', 'team.**', 'team.x', 'shared.*', '*.ann', 'acme']), { nil: undefined }),
});
const reads = fc.record({
  namespaces: fc.option(fc.array(namespace, { minLength: 1, maxLength: 3 }), { nil: undefined }),
  filter: fc.option(filter, { nil: undefined }),
});

/** Every scope under which the index was asked. */
function watched(): { readonly world: World; readonly scopes: Scope[] } {
  const world = createWorld();
  const scopes: Scope[] = [];
  const watch = <B extends Scoped<unknown>, R>(method: (box: B) => R): ((box: B) => R) => {
    return (box) => {
      scopes.push(box.scope);
      return method(box);
    };
  };
  const { index } = world;
  index.search = watch(index.search.bind(index));
  index.list = watch(index.list.bind(index));
  index.scan = watch(index.scan.bind(index));
  index.get = watch(index.get.bind(index));
  index.versions = watch(index.versions.bind(index));
  index.holdings = watch(index.holdings.bind(index));
  return { world, scopes };
}

describe('the mandatory filter', () => {
  it('is in every query, for any caller, filter and namespaces', async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(caller, reads, async (who, input) => {
        const { world, scopes } = watched();
        const by = principal(who);
        const call = world.call(by);
        const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as typeof input & object;
        const work = [
          () => world.memory.search({ query: 'tea', ...(given as object) }, call),
          () => world.memory.list(given, call),
          () => world.memory.forget({ filter: { tags: ['a'] }, ...(given as object), dry_run: true }, call),
          () => world.memory.get({ memory_id: memoryRecord().memory_id }, call),
        ];
        for (const step of work) {
          await step().then(
            () => (answered += 1),
            (error: unknown) => expect(error).to.be.instanceOf(HindsightError),
          );
        }
        for (const scope of scopes) {
          expect(scope.tenant).to.equal(by.tenant);
          const [tenant, docType, within, ownership, status, expiry, ...more] = scope.filter;
          expect(more).to.deep.equal([]);
          expect(tenant).to.deep.equal({ term: { tenant: by.tenant } });
          expect(docType).to.deep.equal({ term: { doc_type: 'memory' } });
          expect(Object.keys(within ?? {})).to.have.length(1);
          expect(JSON.stringify(ownership)).to.include(by.owner);
          expect(status).to.deep.equal({ terms: { status: [...scope.statuses] } });
          expect(JSON.stringify(expiry)).to.include('2026-03-01T12:00:00.000Z');
          expect(Object.isFrozen(scope) && Object.isFrozen(scope.filter)).to.equal(true);
        }
      }),
      { numRuns: 150 },
    );
    expect(answered, 'no call was ever answered').to.be.greaterThan(50);
  });

  it('brings nothing to a caller that the decision on the record would refuse', async () => {
    const docs = ['user.ann', 'user.bob', 'shared.a', 'team.x', 'acme', 'acme-evil'].flatMap((ns) =>
      ['ann', 'bob'].flatMap((sub) =>
        (['private', 'shared'] as const).flatMap((visibility) =>
          ['acme', 'zeta'].map((tenant) =>
            memoryRecord({
              namespace: ns,
              owner: principal({ sub }).owner,
              visibility,
              tenant,
              lex_uni: 'tea',
              fingerprint: `${ns}${sub}${visibility}`,
            }),
          ),
        ),
      ),
    );
    let seen = 0;
    await fc.assert(
      fc.asyncProperty(caller, reads, async (who, input) => {
        const { world, scopes } = watched();
        docs.forEach((doc) => world.index.plant(doc));
        const call = world.call(principal(who));
        const { namespaces } = input;
        const { items } = await world.memory
          .list({ limit: 200, ...(namespaces === undefined ? {} : { namespaces }) }, call)
          .catch(() => ({ items: [] as { memory_id: string }[] }));
        const [scope] = scopes;
        for (const { memory_id } of items) {
          const doc = docs.find((d) => d.memory_id === memory_id);
          expect(doc !== undefined && scope?.permits(doc)).to.equal(true);
          expect(doc?.tenant).to.equal('acme');
          expect(doc?.visibility === 'shared' || doc?.owner === principal(who).owner).to.equal(true);
          seen += 1;
        }
        const allowed = docs.filter((d) => scope?.permits(d) === true);
        expect(items).to.have.length(allowed.length);
        for (const doc of docs)
          if (scope !== undefined)
            expect(scope.filter.every((clause) => matches(clause, doc as unknown as Record<string, unknown>))).to.equal(scope.permits(doc));
      }),
      { numRuns: 150 },
    );
    expect(seen, 'nothing was ever listed').to.be.greaterThan(20);
  });
});
