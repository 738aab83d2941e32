/** Superseding: two writers that see each other's memory first leave one of the two. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { MemoryRecord } from '../../../../src/domain/memory.ts';
import { superseded, type HeadChange } from '../../../../src/memory/conflicts/head-change.ts';
import { memoryRecord } from '../../../support/records.ts';

describe('superseding', () => {
  const by = { sub: 'ann', actor: 'user' };
  let heads: Map<string, MemoryRecord>;
  let onWritten: (id: string) => void;
  const change: HeadChange = async (ref, _by, to) => {
    const head = heads.get(ref.memory_id);
    const fields = head === undefined ? undefined : to(head);
    if (head === undefined || fields === undefined) return undefined;
    const next = JSON.parse(JSON.stringify({ ...head, ...fields, version: head.version + 1 })) as MemoryRecord;
    heads.set(ref.memory_id, next);
    onWritten(ref.memory_id);
    return next;
  };
  const head = (id: string): MemoryRecord => heads.get(id) as MemoryRecord;
  const mark = (id: string, other: string): Promise<unknown> => superseded(change, head(id), other, by);
  beforeEach(() => {
    onWritten = () => undefined;
    heads = new Map(['a', 'b'].map((id) => [id, memoryRecord({ memory_id: id, status: 'active' })]));
  });

  it('ends the one and leaves the other', async () => {
    await mark('a', 'b');
    expect([head('a').status, head('a').superseded_by, head('b').status]).to.deep.equal(['superseded', 'b', 'active']);
  });

  it('leaves a memory to whose place the other one has given way', async () => {
    await mark('a', 'b');
    await mark('b', 'a');
    expect([head('a').status, head('b').status]).to.deep.equal(['superseded', 'active']);
  });

  it('brings the later one back when both had given way and nobody came to look', async () => {
    heads.set('a', { ...head('a'), status: 'superseded', superseded_by: 'b' });
    heads.set('b', { ...head('b'), status: 'superseded', superseded_by: 'a' });
    await mark('a', 'b');
    expect([head('a').status, head('b').status]).to.deep.equal(['superseded', 'active']);
  });

  it('brings the later one back when both gave way at once', async () => {
    onWritten = (id) => {
      if (id !== 'a') return;
      onWritten = () => undefined;
      // another process, which had looked before this mark
      heads.set('b', { ...head('b'), status: 'superseded', superseded_by: 'a' });
    };
    await mark('a', 'b');
    expect([head('a').status, head('b').status]).to.deep.equal(['superseded', 'active']);
    expect(head('b')).not.to.have.property('superseded_by');
  });

  it('leaves one of two in whatever order two writers come', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        heads = new Map(['a', 'b'].map((id) => [id, memoryRecord({ memory_id: id, status: 'active' })]));
        const turn = scheduler.scheduleFunction(async () => undefined);
        // read, then written where nobody wrote in between
        const raced: HeadChange = async (ref, _by, to) => {
          for (;;) {
            await turn();
            const before = head(ref.memory_id);
            const fields = to(before);
            if (fields === undefined) return undefined;
            await turn();
            if (heads.get(ref.memory_id) !== before) continue;
            const next = JSON.parse(JSON.stringify({ ...before, ...fields })) as MemoryRecord;
            heads.set(ref.memory_id, next);
            return next;
          }
        };
        const both = [superseded(raced, head('a'), 'b', by), superseded(raced, head('b'), 'a', by)];
        await scheduler.waitFor(Promise.all(both));
        expect([head('a').status, head('b').status].sort()).to.deep.equal(['active', 'superseded']);
      }),
      { numRuns: 500 },
    );
  });
});
