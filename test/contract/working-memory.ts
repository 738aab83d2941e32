/** What memory relies on of a working memory, wherever it keeps the sessions. */
import { expect } from 'chai';
import type { MemoryRecord } from '../../src/domain/memory.ts';
import type { WorkingMemory } from '../../src/domain/ports.ts';
import type { Principal } from '../../src/domain/principal.ts';
import type { Admitted, Scoped, Unscreened } from '../../src/domain/sealed.ts';
import type { SessionKey, SessionQuery, WorkingLimits } from '../../src/domain/working.ts';
import type { Guard } from '../../src/guard/guard.ts';
import { principal } from '../support/principals.ts';
import { memoryRecord, testGuard } from '../support/records.ts';

export const LIMITS: WorkingLimits = {
  turns: 3,
  stateBytes: 200,
  slots: 4,
  ttlMs: 3_600_000,
  dropped: { entries: 3, chars: 10, ttlMs: 86_400_000 },
  returned: { fingerprints: 4, ttlMs: 86_400_000 },
  inProcess: { sessions: 100, bytes: 1_000_000 },
};
const MINUTE_MS = 60_000;

export interface WorkingUnderTest {
  readonly working: WorkingMemory;
  readonly time: { nowMs: number };
}

const guard: Guard = testGuard();

/** A record of this caller's session, let in by the guard. */
export async function sealedText(by: Principal, fields: Partial<MemoryRecord> = {}): Promise<Admitted<MemoryRecord>> {
  const session = { tenant: by.tenant, owner: by.owner, namespace: by.ownNamespace, session_id: 's1' };
  const { trust_tier: _tier, origin: _origin, guard: _mark, ...draft } = memoryRecord({ ...session, layer: 'working', ...fields });
  const { sealed } = await guard.admit(draft, { principal: by, parents: [] });
  if (sealed === undefined) throw new Error('the guard let nothing in');
  return sealed;
}

export function reading(by: Principal, query: Partial<SessionQuery> = {}): Scoped<SessionQuery> {
  const of = { namespace: by.ownNamespace, session_id: 's1', ...query };
  return guard.scope(of, { principal: by, action: 'read', reach: [of.namespace], nowMs: 0 });
}

/** Contents, by the guard's own screen; undefined while the store is away. */
export async function turnsOf(working: WorkingMemory, by: Principal, query: Partial<SessionQuery> = {}): Promise<string[] | undefined> {
  const of = reading(by, query);
  const box = await working.turns(of);
  return box === undefined ? undefined : opened(box).map(({ content, role }) => `${role}: ${content}`);
}

export async function stateOf(working: WorkingMemory, by: Principal): Promise<Record<string, unknown> | undefined> {
  const box = await working.state(reading(by));
  return box === undefined ? undefined : Object.fromEntries(opened(box).map(({ name, value }) => [name, value]));
}

export async function droppedOf(working: WorkingMemory, by: Principal): Promise<string[] | undefined> {
  const box = await working.dropped(reading(by));
  return box === undefined ? undefined : opened(box).map(({ content, reason }) => `${content} (${reason})`);
}

/** The value in a box: tests may look into what the product may not. */
function opened<T>(box: Unscreened<readonly T[]>): readonly T[] {
  const [inside] = Object.getOwnPropertySymbols(box);
  if (inside === undefined) throw new Error('there is nothing in the box');
  return (box as unknown as Record<symbol, readonly T[]>)[inside] ?? [];
}

export function workingMemoryContract(make: () => WorkingUnderTest): void {
  const ann = principal();
  const say = async (working: WorkingMemory, content: string, fields: Partial<MemoryRecord> = {}): Promise<number> =>
    working.addTurn(await sealedText(ann, { content, ...fields }), 'user');
  const put = async (
    working: WorkingMemory,
    metadata: Record<string, unknown>,
    mode: 'merge' | 'replace' = 'merge',
    remove: string[] = [],
  ): Promise<string> => working.putState(await sealedText(ann, { metadata }), mode, remove);

  it('a session that nobody wrote to is empty', async () => {
    const { working } = make();
    expect(await turnsOf(working, ann)).to.deep.equal([]);
    expect(await stateOf(working, ann)).to.deep.equal({});
    expect(await droppedOf(working, ann)).to.deep.equal([]);
  });

  it('gives turns back in order, word for word, with what the guard said of them', async () => {
    const { working } = make();
    const texts = ['First.', '第二句：订“平江客栈”。', 'Third \u{1F98A} {"a": [1]} | \n end'];
    for (const [i, text] of texts.entries()) expect(await say(working, text)).to.equal(i + 1);
    expect(await turnsOf(working, ann)).to.deep.equal(texts.map((text) => `user: ${text}`));
    const box = await working.turns(reading(ann));
    const [first] = box === undefined ? [] : opened(box);
    expect(first).to.include({ status: 'active', trust_tier: 3, content: 'First.', role: 'user' });
    expect(first?.guard).to.deep.equal({ verdict: 'allow', rule_ids: [], policy_revision: 'r1' });
    expect(first?.origin).to.have.length(1);
  });

  it('keeps the last turns and lets the oldest go', async () => {
    const { working } = make();
    for (let i = 1; i <= 5; i += 1) expect(await say(working, `turn ${i}`)).to.equal(Math.min(i, LIMITS.turns));
    expect(await turnsOf(working, ann)).to.deep.equal(['user: turn 3', 'user: turn 4', 'user: turn 5']);
  });

  it('a session is its owner’s, its namespace’s and its tenant’s, whatever the names look like', async () => {
    const { working } = make();
    await say(working, 'mine');
    await put(working, { step: 1 });
    await working.noteDropped(await sealedText(ann, { content: 'ok' }), 'small talk');
    const others = [
      principal({ sub: 'bob' }),
      principal({ tenant: 'acme2' }),
      principal({ sub: 'ann:s1' }),
      principal({ tenant: 'acme|' }),
    ];
    for (const other of others) {
      expect(await turnsOf(working, other, { namespace: ann.ownNamespace }).catch(() => []), other.owner).to.deep.equal([]);
      expect(await turnsOf(working, other)).to.deep.equal([]);
      expect(await stateOf(working, other)).to.deep.equal({});
      expect(await droppedOf(working, other)).to.deep.equal([]);
    }
    const shared = principal({ namespaces: ['team.x'] });
    expect(await turnsOf(working, shared, { namespace: 'team.x' })).to.deep.equal([]);
    for (const session_id of ['s', 's2', 's1 ', 'S1', '*', 's1\r\nDEL x'])
      expect(await turnsOf(working, ann, { session_id })).to.deep.equal([]);
    expect(await turnsOf(working, ann)).to.deep.equal(['user: mine']);
  });

  it('merges slots and takes away those that are named, or puts new ones in their place', async () => {
    const { working } = make();
    expect(await put(working, { step: 1, goal: { city: '苏州' } })).to.equal('kept');
    expect(await put(working, { step: 2, open: ['dog?'] })).to.equal('kept');
    expect(await stateOf(working, ann)).to.deep.equal({ goal: { city: '苏州' }, open: ['dog?'], step: 2 });
    expect(await put(working, {}, 'merge', ['goal', 'never there'])).to.equal('kept');
    expect(await stateOf(working, ann)).to.deep.equal({ open: ['dog?'], step: 2 });
    expect(await put(working, { other: false }, 'replace')).to.equal('kept');
    expect(await stateOf(working, ann)).to.deep.equal({ other: false });
    expect(await put(working, {}, 'replace')).to.equal('kept');
    expect(await stateOf(working, ann)).to.deep.equal({});
  });

  it('a state that would be too large leaves the one there is', async () => {
    const { working } = make();
    expect(await put(working, { a: 'x'.repeat(100) })).to.equal('kept');
    expect(await put(working, { b: 'x'.repeat(100) })).to.equal('too_large');
    expect(await put(working, { b: '好'.repeat(70) }, 'replace'), 'bytes, not characters').to.equal('too_large');
    expect(await put(working, { b: 1, c: 1, d: 1, e: 1 })).to.equal('too_large');
    expect(await stateOf(working, ann)).to.deep.equal({ a: 'x'.repeat(100) });
    expect(await put(working, { a: 1, b: 1, c: 1, d: 1 })).to.equal('kept');
    expect(await put(working, { b: 'x'.repeat(100) }, 'replace')).to.equal('kept');
  });

  it('names of slots are no names of anything else', async () => {
    const { working } = make();
    const state = { constructor: 1, length: 2, 名字: 3 };
    expect(await put(working, state)).to.equal('kept');
    expect(await stateOf(working, ann)).to.deep.equal(state);
  });

  it('twenty writers at once lose no slot and no turn', async () => {
    const { working } = make();
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => put(working, { [name]: name })));
    expect(await stateOf(working, ann)).to.deep.equal({ a: 'a', b: 'b', c: 'c', d: 'd' });
    const counts = await Promise.all(['1', '2', '3'].map((text) => say(working, text)));
    expect(counts.sort()).to.deep.equal([1, 2, 3]);
  });

  it('a session ends an hour after it was last written or read, turns and state together', async () => {
    const { working, time } = make();
    await say(working, 'turn');
    await put(working, { step: 1 });
    for (const use of [
      () => say(working, 'again'),
      () => put(working, { step: 2 }),
      () => turnsOf(working, ann),
      () => stateOf(working, ann),
    ]) {
      time.nowMs += 59 * MINUTE_MS;
      await use();
    }
    time.nowMs += 59 * MINUTE_MS;
    expect(await turnsOf(working, ann)).to.deep.equal(['user: turn', 'user: again']);
    time.nowMs += LIMITS.ttlMs;
    expect(await turnsOf(working, ann)).to.deep.equal([]);
    expect(await stateOf(working, ann)).to.deep.equal({});
    expect(await say(working, 'new'), 'what is over does not come back').to.equal(1);
    expect(await put(working, { b: 1 })).to.equal('kept');
    expect(await stateOf(working, ann)).to.deep.equal({ b: 1 });
  });

  it('what was dropped stays a day, the last of it, by its beginning', async () => {
    const { working, time } = make();
    for (const [i, content] of ['ok', '好的', 'a'.repeat(9) + '\u{1F98A}', 'thanks'].entries()) {
      await working.noteDropped(await sealedText(ann, { content }), `reason ${i}`);
      time.nowMs += 8 * 60 * MINUTE_MS;
    }
    time.nowMs -= 8 * 60 * MINUTE_MS;
    // the fourth took the place of the first; half a fox is none
    expect(await droppedOf(working, ann)).to.deep.equal(['好的 (reason 1)', 'aaaaaaaaa (reason 2)', 'thanks (reason 3)']);
    time.nowMs += 8 * 60 * MINUTE_MS;
    expect(await droppedOf(working, ann)).to.deep.equal(['aaaaaaaaa (reason 2)', 'thanks (reason 3)']);
    time.nowMs += LIMITS.dropped.ttlMs;
    expect(await droppedOf(working, ann)).to.deep.equal([]);
    expect(await turnsOf(working, ann)).to.deep.equal([]);
  });

  it('knows for a day which texts were returned to a session, the last of them', async () => {
    const { working, time } = make();
    const session: SessionKey = { tenant: ann.tenant, owner: ann.owner, namespace: ann.ownNamespace, session_id: 's1' };
    const known = async (fingerprint: string, of = session): Promise<boolean> => working.wasReturned(of, fingerprint);
    await working.noteReturned(session, []);
    expect(await known('f1')).to.equal(false);
    await working.noteReturned(session, ['f1', 'f2']);
    expect(await known('f1')).to.equal(true);
    for (const other of ['tenant', 'owner', 'namespace', 'session_id'] as const)
      expect(await known('f1', { ...session, [other]: 'x' })).to.equal(false);
    time.nowMs += 20 * 60 * MINUTE_MS;
    await working.noteReturned(session, ['f2', 'f3']);
    time.nowMs += 4 * 60 * MINUTE_MS;
    expect(await known('f1')).to.equal(false);
    expect(await known('f2'), 'returned again').to.equal(true);
    await working.noteReturned(session, ['f4', 'f5', 'f6']);
    expect(await Promise.all(['f3', 'f4', 'f5', 'f6'].map((f) => known(f)))).to.include.members([true]);
    expect((await Promise.all(['f2', 'f3', 'f4', 'f5', 'f6'].map((f) => known(f)))).filter(Boolean)).to.have.length(4);
    expect(await known('f6')).to.equal(true);
  });
}
