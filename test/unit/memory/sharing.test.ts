/** Who may make a memory visible to others: the same at its writing and later, in every namespace. */
import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';
import { rejection } from '../../support/rejection.ts';

const scopes = ['memory:read', 'memory:write'];
const plain = principal({ namespaces: ['**'], scopes });
const sharer = principal({ namespaces: ['**'], scopes: [...scopes, 'memory:share'] });
const PLACES = ['user.ann', 'user.bob', 'team.x', 'project'];

const only = (world: World): MemoryRecord | undefined => [...world.index.heads.values()][0]?.record;

describe('sharing a memory', () => {
  it('takes memory:share at the write, whatever the namespace, and stores nothing without it', async () => {
    for (const namespace of PLACES) {
      const world = createWorld();
      const item = { content: 'x', namespace, visibility: 'shared' as const };
      expect((await rejection(world.memory.write(item, world.call(plain)))).code, namespace).to.equal('ERR_SCOPE_MISSING');
      expect(only(world)).to.equal(undefined);
      expect(await world.deps.namespaces.get('acme', namespace), 'no namespace is made either').to.equal(undefined);
      await world.memory.write(item, world.call(sharer));
      expect(only(world)).to.include({ visibility: 'shared' });
    }
  });

  it('takes it at an update of the visibility alike', async () => {
    for (const namespace of PLACES) {
      const world = createWorld();
      const { results } = await world.memory.write({ content: 'x', namespace, visibility: 'private' }, world.call(plain));
      const input = { memory_id: results[0]?.memory_id ?? '', visibility: 'shared' as const };
      expect((await rejection(world.memory.update(input, world.call(plain)))).code, namespace).to.equal('ERR_SCOPE_MISSING');
      expect((await world.memory.update(input, world.call(sharer))).outcome).to.equal('updated');
    }
  });

  it('is the default outside of people’s own namespaces for those who may, and nobody’s without memory:share', async () => {
    for (const [by, wanted] of [
      [plain, ['private', 'private', 'private', 'private']],
      [sharer, ['private', 'private', 'shared', 'shared']],
    ] as const) {
      const stored = await Promise.all(
        PLACES.map(async (namespace) => {
          const world = createWorld();
          await world.memory.write({ content: 'x', namespace }, world.call(by));
          return only(world)?.visibility;
        }),
      );
      expect(stored).to.deep.equal(wanted);
    }
  });

  it('costs a batch only the item that asks for it', async () => {
    const world = createWorld();
    const items = [{ content: 'a' }, { content: 'b', visibility: 'shared' }, { content: 'c' }];
    const { results } = await world.memory.write({ items }, world.call(plain));
    expect(results.map((r) => r.outcome)).to.deep.equal(['stored', 'invalid', 'stored']);
    expect(results[1]?.errors?.[0]?.pointer).to.equal('/items/1/visibility');
  });
});
