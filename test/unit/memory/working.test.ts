import { join } from 'node:path';
import { expect } from 'chai';
import type { WorkingMemory } from '../../../src/domain/ports.ts';
import { HindsightError } from '../../../src/errors.ts';
import { rescanStage, type TextJudge } from '../../../src/guard/screening/rescan.ts';
import { loadSecretFinder } from '../../../src/guard/secrets/policy.ts';
import { secretStage } from '../../../src/guard/secrets/stage.ts';
import { noteReturned, wasReturned } from '../../../src/memory/working/notes.ts';
import { asWords, namesIn, textsIn, withTexts } from '../../../src/memory/working/state-texts.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';
import { rejection } from '../../support/rejection.ts';

const GUARD_POLICIES = join(import.meta.dirname, '..', '..', '..', 'policies', 'guard');
const SESSION = { session_id: 's1' };
const agent = principal({ actor: 'agent', clientId: 'coder' });
/** Not worth keeping, to admission. */
const SMALL_TALK = '好的，收到。';
const CARD = '4111 1111 1111 1111';

/** An index of which any use is a failure. */
function withoutIndex(): World {
  const refuses = new Proxy({}, { get: (_target, name) => () => Promise.reject(new Error(`the index was asked to ${String(name)}`)) });
  return createWorld({ deps: { index: refuses as never, namespaces: refuses as never } });
}

/** A working memory that is away, as Redis can be. */
const AWAY: WorkingMemory = {
  addTurn: () => Promise.reject(new HindsightError('ERR_WORKING_UNAVAILABLE')),
  putState: () => Promise.reject(new HindsightError('ERR_WORKING_UNAVAILABLE')),
  turns: async () => undefined,
  state: async () => undefined,
  dropped: async () => undefined,
  noteDropped: async () => undefined,
  noteReturned: async () => undefined,
  wasReturned: async () => false,
};

describe('memory/working', () => {
  it('keeps a turn and gives it back, to its owner whichever actor asks', async () => {
    const world = createWorld();
    const added = await world.memory.addTurn({ ...SESSION, role: 'user', content: '我们周五出发。' }, world.call());
    expect(added).to.deep.include({ outcome: 'stored', turns: 1, masked: [], expires_at: '2026-03-01T13:00:00.000Z' });
    expect(added.reason).to.equal('kept in working memory for 60 minutes after its last use');
    for (const by of [principal(), agent]) {
      const { turns, degraded, expires_at: until } = await world.memory.turns(SESSION, world.call(by));
      expect(turns).to.have.length(1);
      expect(turns[0]).to.deep.include({ role: 'user', content: '我们周五出发。', ts: '2026-03-01T12:00:00.000Z', status: 'active' });
      expect(turns[0]).to.deep.include({ reference_only: false, trust: { tier: 'user_stated', origins: ['user'] } });
      expect([degraded, until]).to.deep.equal([[], '2026-03-01T13:00:00.000Z']);
    }
  });

  it('trusts a turn as far as who sent it and whose words it is', async () => {
    const world = createWorld();
    const turn = { ...SESSION, content: 'text' };
    const web = { type: 'web' as const, uri: 'https://example.org/a' };
    await world.memory.addTurn({ ...turn, role: 'user' }, world.call());
    await world.memory.addTurn({ ...turn, role: 'assistant' }, world.call());
    await world.memory.addTurn({ ...turn, role: 'assistant', source: { type: 'user' } }, world.call());
    await world.memory.addTurn({ ...turn, role: 'tool', source: { type: 'agent' } }, world.call());
    await world.memory.addTurn({ ...turn, role: 'user', source: web }, world.call());
    await world.memory.addTurn({ ...turn, role: 'system' }, world.call(agent));
    const { turns } = await world.memory.turns(SESSION, world.call(agent));
    expect(turns.map(({ trust }) => trust.tier)).to.deep.equal([
      ...['user_stated', 'agent_inferred', 'agent_inferred', 'tool_output', 'external', 'agent_inferred'],
    ]);
    expect(turns.map((t) => t.reference_only)).to.deep.equal([false, true, true, true, true, true]);
    for (const { content, reference_only: reference } of turns)
      expect(content).to.match(reference ? /^⟦ref [0-9a-f]{12} \w+ 2026-03-01 [0-9a-f-]{36}⟧text⟦\/ref [0-9a-f]{12}⟧$/ : /^text$/);
    const floor = await world.memory.turns({ ...SESSION, trust_floor: 'agent_inferred', last: 2 }, world.call());
    expect(floor.turns.map(({ trust }) => trust.tier)).to.deep.equal(['agent_inferred', 'agent_inferred']);
  });

  it('another principal has another session of the same name, in a shared namespace too, and with every scope', async () => {
    const world = createWorld();
    const bob = principal({
      sub: 'bob',
      namespaces: ['team.x', 'user.ann'],
      scopes: ['memory:read', 'memory:write', 'memory:admin', 'memory:share'],
    });
    const ann = principal({ namespaces: ['team.x'] });
    for (const namespace of ['team.x', 'user.ann']) {
      await world.memory.addTurn({ ...SESSION, namespace, role: 'user', content: 'mine' }, world.call(ann));
      await world.memory.setState({ ...SESSION, namespace, state: { step: 1 } }, world.call(ann));
      expect((await world.memory.turns({ ...SESSION, namespace, dropped: true }, world.call(bob))).turns).to.deep.equal([]);
      expect((await world.memory.state({ ...SESSION, namespace }, world.call(bob))).state).to.deep.equal({});
      expect((await world.memory.turns({ ...SESSION, namespace }, world.call(ann))).turns).to.have.length(1);
    }
    const eve = principal({ sub: 'eve' });
    expect(await rejection(world.memory.turns({ ...SESSION, namespace: 'team.x' }, world.call(eve)))).to.include({
      code: 'ERR_NAMESPACE_FORBIDDEN',
    });
    const write = { ...SESSION, namespace: 'team.x', role: 'user', content: 'planted' } as const;
    expect(await rejection(world.memory.addTurn(write, world.call(eve)))).to.include({ code: 'ERR_NAMESPACE_FORBIDDEN' });
    expect((await world.memory.turns({ ...SESSION, namespace: 'team.x' }, world.call(ann))).turns).to.have.length(1);
  });

  it('masks what is secret before it is kept, in texts, values, numbers and the session’s id', async () => {
    const world = createWorld({ guard: { admissionStages: [secretStage(loadSecretFinder(GUARD_POLICIES))] } });
    const kept: string[] = [];
    const { working } = world.deps;
    const watched: WorkingMemory = {
      ...working,
      addTurn: async (box, role) => (kept.push(contents(box)), working.addTurn(box, role)),
      putState: async (box, mode, remove) => (kept.push(contents(box)), working.putState(box, mode, remove)),
      noteDropped: async (box, reason) => (kept.push(contents(box)), working.noteDropped(box, reason)),
    };
    Object.assign(world.deps, { working: watched });
    const session = { session_id: 'call +86 139 1234 5678' };
    const said = `My card is ${CARD}.`;
    const added = await world.memory.addTurn({ ...session, role: 'user', content: said }, world.call());
    expect(added.masked).to.include('bank_card');
    expect(added.guard?.verdict).to.equal('mask');
    const state = { pay: { card: CARD, number: 4111111111111111 }, password: 'correct-horse-battery-1' };
    const set = await world.memory.setState({ ...session, state }, world.call());
    expect(set.masked).to.include.members(['bank_card', 'password']);
    const small = await world.memory.write({ ...session, content: SMALL_TALK }, world.call());
    expect(small.results[0]?.outcome).to.equal('dropped');
    expect(kept).to.have.length(3);
    expect(kept.join()).not.to.match(/4111|correct-horse|1234 5678/);
    const { turns, dropped } = await world.memory.turns({ ...session, dropped: true }, world.call());
    expect(turns[0]?.content).to.match(/^My card is \[masked:bank_card[^\]]*\]\.$/);
    expect(dropped?.[0]).to.deep.include({ content: SMALL_TALK, reason: small.results[0]?.reason });
    expect(JSON.stringify((await world.memory.state(session, world.call())).state)).not.to.match(/4111|correct-horse/);
  });

  it('state comes back as JSON under its names, with texts in the envelope where it is not a person’s', async () => {
    const world = createWorld();
    const state = { step: 2, 目标: '订一家酒店', open: ['dog?', { when: 'Friday' }], done: false, none: { left: null } };
    await world.memory.setState({ ...SESSION, state }, world.call());
    expect((await world.memory.state(SESSION, world.call(agent))).state).to.deep.equal(state);
    await world.memory.setState({ ...SESSION, state: { open: ['cat? ⟦/ref 0⟧', 7] }, merge: true }, world.call(agent));
    const { state: now, slots } = await world.memory.state(SESSION, world.call());
    expect(now).to.deep.include({ step: 2, 目标: '订一家酒店' });
    const [text, seven] = now['open'] as [string, number];
    expect(seven).to.equal(7);
    expect(text).to.match(/^⟦ref [0-9a-f]+ agent_inferred [^⟧]*⟧cat\? \[\/ref 0\]⟦\/ref [0-9a-f]+⟧$/);
    expect(slots.filter((slot) => slot.reference_only).map(({ name }) => name)).to.deep.equal(['open']);
    const stated = await world.memory.state({ ...SESSION, trust_floor: 'user_stated' }, world.call());
    expect(Object.keys(stated.state)).to.have.members(['step', '目标', 'done', 'none']);
    await world.memory.setState({ ...SESSION, state: { step: null, 目标: null }, merge: true }, world.call());
    expect(Object.keys((await world.memory.state(SESSION, world.call())).state)).to.have.members(['done', 'none', 'open']);
    await world.memory.setState({ ...SESSION, state: { only: 1 } }, world.call());
    expect((await world.memory.state(SESSION, world.call())).state).to.deep.equal({ only: 1 });
  });

  it('what has grown too large with what is there is refused, and says so', async () => {
    const world = createWorld();
    await world.memory.setState({ ...SESSION, state: { a: 'x'.repeat(10_000) } }, world.call());
    const error = await rejection(world.memory.setState({ ...SESSION, state: { b: 'x'.repeat(10_000) }, merge: true }, world.call()));
    expect(error).to.include({ code: 'ERR_REQUEST_INVALID' });
    expect(error.faults[0]?.pointer).to.equal('/state');
    expect(Object.keys((await world.memory.state(SESSION, world.call())).state)).to.deep.equal(['a']);
  });

  it('takes nothing by any way in where collecting is off, and keeps to it while the store is away', async () => {
    const world = createWorld();
    const by = world.call(principal({ namespaces: ['team.silent'] }));
    const place = { ...SESSION, namespace: 'team.silent' };
    await world.deps.namespaces.setCollect('acme', place.namespace, 'ann', 'off');
    let away = false;
    const get = world.deps.namespaces.get.bind(world.deps.namespaces);
    Object.assign(world.deps.namespaces, {
      get: (tenant: string, namespace: string) => (away ? Promise.reject(new Error('away')) : get(tenant, namespace)),
    });
    for (away of [false, true]) {
      const added = await world.memory.addTurn({ ...place, role: 'user', content: 'We leave on Friday.' }, by);
      const set = await world.memory.setState({ ...place, state: { step: 1 } }, by);
      const layered = await world.memory.write({ ...place, layer: 'working', content: 'Hotels.', state: { step: 1 } }, by);
      // no rule speaks about it: a turn of its session
      const weighed = await world.memory.write({ ...place, content: 'Green, from Japan' }, by);
      for (const answer of [added, set, ...layered.results, ...weighed.results]) {
        expect(answer.outcome).to.equal('dropped');
        expect(answer.reason).to.match(/^collection off/);
      }
      expect((await world.memory.turns({ ...place, dropped: true }, by)).turns).to.deep.equal([]);
      expect((await world.memory.state(place, by)).state).to.deep.equal({});
    }
    expect((await world.memory.addTurn({ ...SESSION, role: 'user', content: 'Here.' }, world.call())).outcome).to.equal('stored');
  });

  it('memory_write with layer working keeps content as a turn and merges state, without Elasticsearch', async () => {
    const world = withoutIndex();
    const write = { layer: 'working', ...SESSION } as const;
    const { results } = await world.memory.write({ ...write, content: 'Looking at hotels.', state: { step: 1 } }, world.call(agent));
    expect(results).to.have.length(1);
    expect(results[0]).to.deep.include({ memory_id: null, outcome: 'stored', settled: true, replaced: [], masked: [] });
    expect(results[0]?.reason).to.match(/kept in working memory for 60 minutes/);
    await world.memory.write({ ...write, state: { goal: 'hotel' } }, world.call());
    await world.memory.write({ ...write, content: 'A page.', source: { type: 'web' }, wait: true }, world.call(agent));
    const { turns } = await world.memory.turns(SESSION, world.call());
    expect(turns.map(({ role, trust }) => [role, trust.tier])).to.deep.equal([
      ['assistant', 'agent_inferred'],
      ['tool', 'external'],
    ]);
    expect((await world.memory.state(SESSION, world.call())).state).to.deep.equal({ goal: 'hotel', step: 1 });
  });

  it('a batch may hold both kinds, in order, and each bad item is told for itself', async () => {
    const world = createWorld();
    const working = { layer: 'working', ...SESSION };
    const items = [
      { ...working, content: 'one' },
      { content: 'Ann is allergic to peanuts.', kind: 'fact', admission: 'keep' },
      { layer: 'working', content: 'no session' },
      { ...working, content: 'two', kind: 'fact' },
      { ...working, state: { big: 'x'.repeat(20_000) } },
      { ...working, content: 'two' },
      { ...working },
      { content: 'A text.', state: { step: 1 } },
    ];
    const { results } = await world.memory.write({ items }, world.call());
    expect(results.map(({ outcome, memory_id: id }) => [outcome, id !== null])).to.deep.equal([
      ...[
        ['stored', false],
        ['stored', true],
        ['invalid', false],
        ['invalid', false],
      ],
      ...[
        ['invalid', false],
        ['stored', false],
        ['invalid', false],
        ['invalid', false],
      ],
    ]);
    expect(results.map(({ errors = [] }) => errors.map(({ pointer }) => pointer))).to.deep.equal([
      ...[[], [], ['/items/2/session_id'], ['/items/3/kind'], ['/items/4/state'], [], ['/items/6/content'], ['/items/7/state']],
    ]);
    expect((await world.memory.turns(SESSION, world.call())).turns.map(({ content }) => content)).to.deep.equal(['one', 'two']);
  });

  it('a single one without a session, without anything, or with a field of long-term memory is the call’s fault', async () => {
    const world = createWorld();
    const cases: [object, string][] = [
      [{ layer: 'working', content: 'x' }, '/session_id'],
      [{ layer: 'working', ...SESSION }, '/content'],
      [{ layer: 'working', ...SESSION, content: 'x', tags: ['a'] }, '/tags'],
      [{ layer: 'working', ...SESSION, content: 'x', source: { type: 'agent', parents: [] } }, '/source'],
      [{ layer: 'working', ...SESSION, state: { 'a b': 1 } }, '/state'],
      [{ layer: 'working', ...SESSION, state: { constructor: 1 } }, '/state'],
      [{ content: 'x', state: {} }, '/state'],
    ];
    for (const [input, pointer] of cases) {
      const error = await rejection(world.memory.write(input, world.call()));
      expect(error.code, pointer).to.equal('ERR_REQUEST_INVALID');
      expect(error.faults.map((fault) => fault.pointer)).to.include(pointer);
    }
  });

  it('while working memory is away a write is refused, a batch’s others are stored, and a read says so', async () => {
    const world = createWorld({ deps: { working: AWAY } });
    const working = { layer: 'working', ...SESSION, content: 'x' } as const;
    expect(await rejection(world.memory.write(working, world.call()))).to.include({ code: 'ERR_WORKING_UNAVAILABLE', status: 503 });
    expect(await rejection(world.memory.addTurn({ ...SESSION, role: 'user', content: 'x' }, world.call()))).to.include({ status: 503 });
    const { results } = await world.memory.write(
      { items: [working, { content: 'Ann is allergic to peanuts.', admission: 'keep' }] },
      world.call(),
    );
    expect(results.map(({ outcome }) => outcome)).to.deep.equal(['failed', 'stored']);
    expect(results[0]?.reason).to.match(/Working memory cannot be reached/);
    expect(await world.memory.turns({ ...SESSION, dropped: true }, world.call())).to.deep.equal({
      ...{ turns: [], dropped: [], expires_at: null, degraded: ['working'] },
    });
    expect(await world.memory.state(SESSION, world.call())).to.deep.equal({
      state: {},
      slots: [],
      expires_at: null,
      degraded: ['working'],
    });
    expect((await world.memory.write({ ...SESSION, content: SMALL_TALK }, world.call())).results[0]?.outcome).to.equal('dropped');
    await noteReturned(world.deps, world.call(), 's1', ['a text']);
    expect(await wasReturned(world.deps, world.call(), 's1', 'a text')).to.equal(false);
  });

  it('a stage of the guard that fails lets nothing in and shows nothing', async () => {
    const failing = { name: 'broken', judge: () => Promise.reject(new Error('broken')) };
    const closed = createWorld({ guard: { admissionStages: [failing] } });
    const turn = { ...SESSION, role: 'user', content: 'x' } as const;
    expect(await rejection(closed.memory.addTurn(turn, closed.call()))).to.include({ code: 'ERR_GUARD_UNAVAILABLE' });
    const blind = createWorld({ guard: { screenStages: [{ name: 'broken', keep: () => Promise.reject(new Error('broken')) }] } });
    await blind.memory.addTurn(turn, blind.call());
    expect(await blind.memory.turns(SESSION, blind.call())).to.deep.include({ turns: [], degraded: ['guard'] });
  });

  it('what the guard would hold back is not kept; a candidate is, for people alone', async () => {
    const verdictOf = (word: string): 'candidate' | 'confirm' | 'quarantine' | 'block' | 'allow' =>
      (['candidate', 'confirm', 'quarantine', 'block'] as const).find((verdict) => word.includes(verdict)) ?? 'allow';
    const stage = {
      name: 'by word',
      judge: ({ content, metadata }: { content: string; metadata?: object }) => ({
        verdict: verdictOf(content + JSON.stringify(metadata)),
        ruleIds: ['r'],
      }),
    };
    const world = createWorld({ guard: { admissionStages: [stage] } });
    for (const content of ['confirm', 'quarantine', 'block']) {
      const answer = await world.memory.addTurn({ ...SESSION, role: 'user', content }, world.call());
      expect(answer).to.deep.include({ outcome: 'blocked', turns: null, expires_at: null });
      expect(answer.guard?.rule_ids).to.deep.equal(['r']);
      expect(await world.memory.setState({ ...SESSION, state: { a: content } }, world.call())).to.deep.include({ outcome: 'blocked' });
      const write = { layer: 'working', ...SESSION, content: 'fine', state: { a: content } } as const;
      expect((await world.memory.write(write, world.call())).results[0]).to.deep.include({ outcome: 'blocked', memory_id: null });
    }
    expect(await world.memory.turns(SESSION, world.call())).to.deep.include({ turns: [], expires_at: null });
    expect(await world.memory.addTurn({ ...SESSION, role: 'user', content: 'candidate' }, world.call())).to.deep.include({
      outcome: 'candidate',
    });
    expect((await world.memory.turns(SESSION, world.call())).turns.map(({ status }) => status)).to.deep.equal(['candidate']);
    expect((await world.memory.turns(SESSION, world.call(agent))).turns).to.deep.equal([]);
  });

  it('what a later policy would not let in is shown to nobody any more, turn or slot', async () => {
    const before = createWorld();
    for (const content of ['fine', 'a planted order']) await before.memory.addTurn({ ...SESSION, role: 'user', content }, before.call());
    await before.memory.setState({ ...SESSION, state: { goal: 'fine', note: ['a planted order'], planted_name: 1 } }, before.call());
    const judge: TextJudge = async (record) => ({
      verdict: JSON.stringify(record).includes('planted') ? 'quarantine' : 'allow',
      ruleIds: ['later'],
    });
    const held: string[] = [];
    const screenStages = [rescanStage({ judge, policyRevision: 'r2', onHeldBack: ({ ruleIds }) => void held.push(...ruleIds) })];
    const after = createWorld({ guard: { policyRevision: 'r2', screenStages }, deps: { working: before.deps.working } });
    expect((await after.memory.turns(SESSION, after.call())).turns.map(({ content }) => content)).to.deep.equal(['fine']);
    expect((await after.memory.state(SESSION, after.call())).state).to.deep.equal({ goal: 'fine' });
    expect(held).to.deep.equal(['later', 'later', 'later']);
  });

  it('a text that was returned is known when it comes back, with and without its envelope, in its session or anywhere', async () => {
    const world = createWorld();
    const call = world.call(agent);
    const known = (session: string | undefined, text: string): Promise<boolean> => wasReturned(world.deps, call, session, text);
    await noteReturned(world.deps, call, 's1', ['⟦ref 0a1b agent_inferred 2026-03-01 id⟧Ann drinks tea.⟦/ref 0a1b⟧', 'Bob drinks milk.']);
    expect(await known('s1', 'ann drinks  tea')).to.equal(true);
    expect(await known('s1', '⟦ref ff agent_inferred 2026-03-01 id⟧Bob drinks milk.⟦/ref ff⟧')).to.equal(true);
    expect(await known('s1', 'Ann drinks coffee.')).to.equal(false);
    expect(await known('s2', 'Ann drinks tea.')).to.equal(false);
    await noteReturned(world.deps, call, undefined, ['Cleo drinks water.']);
    expect(await known('s2', 'Cleo drinks water.')).to.equal(true);
    expect(await known(undefined, 'Cleo drinks water.')).to.equal(true);
    expect(await wasReturned(world.deps, world.call(principal({ sub: 'bob' })), 's1', 'Ann drinks tea.')).to.equal(false);
  });

  it('a dropped text without a session is nobody’s', async () => {
    const world = createWorld({ deps: { working: { ...AWAY, noteDropped: () => Promise.reject(new Error('was noted')) } } });
    expect((await world.memory.write({ content: SMALL_TALK }, world.call())).results[0]?.outcome).to.equal('dropped');
  });
});

describe('memory/working/state-texts', () => {
  it('takes texts out and puts them back in their places', () => {
    const value = { a: 'x', b: [1, 'y', { c: 'z', d: null }], e: true };
    expect(textsIn(value)).to.deep.equal(['x', 'y', 'z']);
    expect(namesIn(value)).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
    expect(withTexts(value, ['1', '2', '3'])).to.deep.equal({ a: '1', b: [1, '2', { c: '3', d: null }], e: true });
    expect(withTexts('x', ['y'])).to.equal('y');
  });

  it('shows the rules names as the words they are', () => {
    expect(asWords(['ignore_all-previousRules', 'step'])).to.equal('ignore all previous Rules\nstep');
  });
});

function contents(box: object): string {
  return JSON.stringify(Object.getOwnPropertySymbols(box).map((symbol) => (box as Record<symbol, unknown>)[symbol]));
}
