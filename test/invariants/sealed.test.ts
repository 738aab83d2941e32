/** The sealed types: no method of the memory index or of working memory can be called with, or read without, what the guard makes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { MemoryRecord } from '../../src/domain/memory.ts';
import type { ListSpec, MemoryIndex, WorkingMemory } from '../../src/domain/ports.ts';
import type { SearchSpec } from '../../src/domain/ranking.ts';
import type { Scope } from '../../src/domain/scope.ts';
import type { Admitted, Scoped, Unscreened } from '../../src/domain/sealed.ts';

/**
 * Never called: the compiler is the test. Each line would compile, and its `@ts-expect-error` would then be an error, if a way around
 * the guard existed.
 */
export function wayAround(
  index: MemoryIndex,
  working: WorkingMemory,
  record: MemoryRecord,
  spec: SearchSpec,
  list: ListSpec,
  scope: Scope,
): unknown[] {
  return [
    // @ts-expect-error a bare record is not admitted
    index.create(record),
    // @ts-expect-error nor a list of them
    index.createMany([record]),
    // @ts-expect-error nor one in a replace
    index.replace(record, { seq_no: 1, primary_term: 1 }),
    // @ts-expect-error nor a version copy
    index.saveVersion(record),
    // @ts-expect-error a patch changes no text
    index.patchMany('t', [{ memoryId: 'x', patch: { content: 'other' }, at: { seq_no: 1, primary_term: 1 } }]),
    // @ts-expect-error nor who may read it
    index.patchMany('t', [{ memoryId: 'x', patch: { owner: 'other' }, at: { seq_no: 1, primary_term: 1 } }]),
    // @ts-expect-error nor its trust
    index.patchMany('t', [{ memoryId: 'x', patch: { trust_tier: 3 }, at: { seq_no: 1, primary_term: 1 } }]),
    // @ts-expect-error nor its status, unless to forget it
    index.patchMany('t', [{ memoryId: 'x', patch: { status: 'active' }, at: { seq_no: 1, primary_term: 1 } }]),
    // @ts-expect-error nor does a turn of a session get around it
    working.addTurn(record, 'user'),
    // @ts-expect-error nor its task state
    working.putState(record, 'merge', []),
    // @ts-expect-error nor what admission dropped
    working.noteDropped(record, 'small talk'),
    // @ts-expect-error a session is read by who is in its scope
    working.turns({ namespace: 'user.ann', session_id: 's1' }),
    // @ts-expect-error its state as well
    working.state({ namespace: 'user.ann', session_id: 's1' }),
    // @ts-expect-error and what was dropped
    working.dropped({ namespace: 'user.ann', session_id: 's1' }),
    // @ts-expect-error a search needs a scope
    index.search(spec),
    // @ts-expect-error so does a read by id
    index.get({ memoryIds: ['x'] }),
    // @ts-expect-error so does a list
    index.list(list),
    // @ts-expect-error so does a scan
    index.scan({ filter: {}, pageSize: 10 }),
    // @ts-expect-error so do versions
    index.versions({ memoryId: 'x' }),
    // @ts-expect-error so do holdings
    index.holdings({ key: 'x' }),
    // @ts-expect-error a look-alike has no box inside
    index.search({ kind: 'scoped', scope } satisfies Scoped<SearchSpec>),
    // @ts-expect-error the same for an admitted one
    index.create({ kind: 'admitted' } satisfies Admitted<MemoryRecord>),
    // @ts-expect-error an unscreened result shows nothing
    (result: Unscreened<MemoryRecord>) => result.content,
  ];
}

describe('sealed types', () => {
  const src = join(import.meta.dirname, '..', '..', 'src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.ts'));

  it('only guard/guard.ts names the functions that admit, scope and open', () => {
    const users = files.filter((file) => {
      const code = readFileSync(join(src, file), 'utf8');
      const clause = /import\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'[^']*domain\/sealed\.ts'/.exec(code)?.[1] ?? '';
      return /\b(?:admit|scoped|openUnscreened)\b/.test(clause);
    });
    expect(users).to.deep.equal(['guard/guard.ts']);
  });

  it('nobody imports the sealing module whole or re-exports it', () => {
    const users = files.filter((file) =>
      /import\s+\*\s+as\s+\w+\s+from\s+'[^']*sealed\.ts'|export\s+[^;]*from\s+'[^']*sealed\.ts'|import\('[^']*sealed\.ts'\)/.test(
        readFileSync(join(src, file), 'utf8'),
      ),
    );
    expect(users).to.deep.equal([]);
  });
});
