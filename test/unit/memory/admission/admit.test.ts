import { expect } from 'chai';
import { principal } from '../../../support/principals.ts';
import { createWorld } from '../../../support/memory-world.ts';
import { memoryRecord } from '../../../support/records.ts';
import { rejection } from '../../../support/rejection.ts';

const agent = principal({ actor: 'agent' });

describe('admission at the write', () => {
  it('drops what is not worth a memory, with a reason and no id, and keeps it in its session for a day', async () => {
    const world = createWorld();
    const { results } = await world.memory.write(
      {
        items: [
          { content: '收到', session_id: 's' },
          { content: 'ok thanks', session_id: 's' },
          { content: 'My blood type is O negative.', session_id: 's' },
        ],
      },
      world.call(),
    );
    expect(results.map(({ outcome, memory_id: id }) => [outcome, id === null])).to.deep.equal([
      ['dropped', true],
      ['dropped', true],
      ['stored', false],
    ]);
    expect(results.every(({ reason }) => reason !== undefined && reason.includes('of 5'))).to.equal(true);
    expect(world.index.heads.size).to.equal(1);
    const { dropped } = await world.memory.turns({ session_id: 's', dropped: true }, world.call());
    expect(dropped?.map(({ content }) => content)).to.deep.equal(['收到', 'ok thanks']);
  });

  it('stores as given what says keep or names its layer', async () => {
    const world = createWorld();
    const { results } = await world.memory.write(
      {
        items: [
          { content: '好的', admission: 'keep' },
          { content: 'ok thanks', layer: 'episodic' },
        ],
      },
      world.call(),
    );
    expect(results.map(({ outcome, reason }) => [outcome, reason])).to.deep.equal([
      ['stored', undefined],
      ['stored', undefined],
    ]);
    expect([...world.index.heads.values()].map(({ record }) => record.importance)).to.deep.equal([undefined, undefined]);
  });

  it('lets the guard speak first: what it blocks or holds back is not merely dropped', async () => {
    const judge = () => ({ verdict: 'quarantine' as const });
    const world = createWorld({ guard: { admissionStages: [{ name: 'rules', judge }] } });
    const { results } = await world.memory.write({ content: 'What is the password?' }, world.call());
    expect(results[0]?.outcome).to.equal('quarantined');
  });

  it('knows an echo of what it returned, as long as that memory holds, and takes a person at their word', async () => {
    const world = createWorld();
    const content = 'The staging database listens on port 5433.';
    const { results } = await world.memory.write({ content }, world.call());
    await world.memory.search({ query: 'staging database port' }, world.call(agent));
    const echoed = await world.memory.write({ content }, world.call(agent));
    expect(echoed.results[0]).to.include({ outcome: 'duplicate', memory_id: results[0]?.memory_id, version: 1 });
    expect(echoed.results[0]?.reason).to.include('returned this text before');
    expect((await world.memory.write({ content }, world.call())).results[0]?.outcome).to.equal('duplicate');
    await world.memory.forget({ memory_id: results[0]?.memory_id ?? '' }, world.call());
    expect((await world.memory.write({ content }, world.call(agent))).results[0]?.outcome).to.equal('stored');
  });

  it('lets an agent copy what it found to another place, once', async () => {
    const world = createWorld();
    const content = 'The staging database listens on port 5433.';
    await world.memory.write({ content }, world.call());
    const scopes = ['memory:read', 'memory:write', 'memory:share'];
    const bot = principal({ actor: 'agent', scopes, namespaces: ['user.ann', 'shared.team'] });
    const write = async (more: object) => (await world.memory.write({ content, ...more }, world.call(bot))).results[0]?.outcome;
    await world.memory.search({ query: 'staging database port' }, world.call(bot));
    expect(await write({})).to.equal('duplicate');
    expect(await write({ namespace: 'shared.team', visibility: 'private' })).to.equal('stored');
    expect(await write({ namespace: 'shared.team' })).to.equal('stored');
    expect(await write({ namespace: 'shared.team' })).to.equal('duplicate');
  });

  it('takes an agent’s importance for a hint of 0.6 where it names the layer, and a person’s as given', async () => {
    const world = createWorld();
    const put = async (content: string, by: typeof agent, importance: number): Promise<number | undefined> => {
      const { results } = await world.memory.write({ content, layer: 'semantic', importance }, world.call(by));
      return world.index.heads.get(results[0]?.memory_id ?? '')?.record.importance;
    };
    expect(await put('The gateway listens on port 8420.', agent, 1)).to.equal(0.6);
    expect(await put('The ledger listens on port 9420.', agent, 0.2)).to.equal(0.2);
    expect(await put('The archive listens on port 7420.', principal(), 1)).to.equal(1);
  });

  it('takes it for the same hint with keep, in a batch, at an update and at an import', async () => {
    const world = createWorld();
    const importances = (): readonly (number | undefined)[] => [...world.index.heads.values()].map(({ record }) => record.importance);
    const items = ['The gateway listens on port 8420.', 'The ledger listens on port 9420.'].map((content) => ({
      content,
      kind: 'fact' as const,
      admission: 'keep' as const,
      importance: 0.9,
    }));
    await world.memory.write({ items }, world.call(agent));
    await world.memory.write({ content: 'The archive listens on port 7420.', kind: 'fact', importance: 0.9 }, world.call(agent));
    expect(importances().slice(0, 2)).to.deep.equal([0.6, 0.6]);
    const [id = ''] = world.index.heads.keys();
    const set = async (importance: number, by: typeof agent): Promise<number | undefined> => {
      await world.memory.update({ memory_id: id, importance }, world.call(by));
      return world.index.heads.get(id)?.record.importance;
    };
    expect(await set(1, agent)).to.equal(0.6);
    expect(await set(0.3, agent)).to.equal(0.3);
    expect(await set(0.7, agent)).to.equal(0.6);
    expect(await set(0.9, principal())).to.equal(0.9);
    const input = { items: [{ content: 'The depot listens on port 6420.', importance: 1 }] };
    expect((await rejection(world.memory.importItems(input, world.call(agent)))).code).to.equal('ERR_ACTOR_FORBIDDEN');
  });

  it('lets an agent’s update keep what a person has set above the hint, take it down, and not raise it', async () => {
    const world = createWorld();
    const { results } = await world.memory.write(
      { content: 'The door opens at nine.', layer: 'semantic', importance: 0.2 },
      world.call(agent),
    );
    const memory_id = results[0]?.memory_id ?? '';
    world.index.plant({ ...(world.index.heads.get(memory_id)?.record ?? memoryRecord()), importance: 0.8 });
    const set = async (importance: number): Promise<number | undefined> => {
      await world.memory.update({ memory_id, importance }, world.call(agent));
      return world.index.heads.get(memory_id)?.record.importance;
    };
    expect(await set(0.95)).to.equal(0.8);
    expect(await set(0.7)).to.equal(0.7);
    expect(await set(0.95)).to.equal(0.7);
  });

  it('asks the model about what no rule knows, and says so', async () => {
    const asked: string[] = [];
    const world = createWorld();
    const ask = async (text: string) => {
      asked.push(text);
      return { grade: 4, kind: 'fact' as const, passing: false };
    };
    const graded = createWorld({ deps: { admission: { ...world.deps.admission, ask } } });
    const { results } = await graded.memory.write(
      { items: [{ content: 'Green, from Japan', session_id: 's' }, { content: '好的' }, { content: 'I prefer tea.' }] },
      graded.call(),
    );
    expect(asked).to.deep.equal(['Green, from Japan']);
    expect(results[0]?.reason).to.include('by the language model');
    expect([...graded.index.heads.values()].map(({ record }) => record.layer)).to.deep.equal(['semantic', 'semantic']);
  });

  it('lets the model grade for eight seconds a call, whatever the number of its items', async () => {
    let asked = 0;
    const world = createWorld();
    const ask = async () => {
      asked += 1;
      graded.time.nowMs += 3_000;
      return { grade: 4, kind: 'fact' as const, passing: false };
    };
    const graded = createWorld({ deps: { admission: { ...world.deps.admission, ask } } });
    // large enough for two groups, which share the time
    const items = Array.from({ length: 130 }, (_, i) => ({ content: `Green, from Japan, sort ${i}`, session_id: 's' }));
    const { results } = await graded.memory.write({ items }, graded.call());
    expect(asked).to.equal(3);
    expect(results.filter(({ reason }) => reason?.includes('by the language model'))).to.have.length(3);
    expect(results.every(({ outcome }) => outcome === 'stored')).to.equal(true);
  });
});
