import { expect } from 'chai';
import type { MemoryRecord } from '../../../src/domain/memory.ts';
import { HindsightError } from '../../../src/errors.ts';
import { promptTokens } from '../../../src/memory/context/tokens.ts';
import { memorySearch } from '../../../src/operations/memory-search.ts';
import { unwrapped } from '../../../src/guard/envelope.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';
import { memoryRecord } from '../../support/records.ts';

function say(world: World, turn: number, content: string, fields: Partial<MemoryRecord> = {}): MemoryRecord {
  const record = memoryRecord({ content, fingerprint: `${turn} ${content}`, session_id: 's1', turn, ...fields });
  world.index.plant(record);
  return record;
}

/** Five turns of a session, of which the third is found. */
function talk(): { readonly world: World; readonly turns: readonly MemoryRecord[] } {
  const world = createWorld();
  const turns = ['Hello', 'What would you like?', 'Green tea', 'With sugar?', 'No, thanks'].map((text, i) =>
    say(world, i, text, i === 2 ? { lex_uni: 'green tea' } : {}),
  );
  return { world, turns };
}
const hitsOf = async (world: World, input: object, by = principal()) =>
  (await world.memory.search({ query: 'green tea', ...input }, world.call(by))).hits;
const around = async (world: World, input: object = { neighbours: 2 }, by = principal()) =>
  (await hitsOf(world, input, by))[0]?.neighbours?.map(({ content }) => content);

describe('the turns around a hit', () => {
  it('come in their order, as many on either side as were asked for', async () => {
    const { world, turns } = talk();
    expect(await around(world, { neighbours: 1 })).to.deep.equal(['What would you like?', 'With sugar?']);
    expect(await around(world)).to.deep.equal(['Hello', 'What would you like?', 'With sugar?', 'No, thanks']);
    const [hit] = await hitsOf(world, { neighbours: 1 });
    expect(hit?.neighbours?.[0]).to.include({ memory_id: turns[1]?.memory_id, turn: 1, status: 'active', reference_only: false });
  });

  it('cost no look-up where none are asked for, or where the hits are of no session', async () => {
    const { world } = talk();
    for (const input of [{}, { neighbours: 0 }]) expect(await around(world, input)).to.equal(undefined);
    const other = createWorld();
    other.index.plant(memoryRecord({ content: 'Green tea', lex_uni: 'green tea' }));
    expect(await around(other)).to.equal(undefined);
    expect([...world.index.calls, ...other.index.calls]).not.to.include('list');
  });

  it('are looked up once for each session', async () => {
    const { world } = talk();
    say(world, 7, 'Green tea again', { lex_uni: 'green tea' });
    say(world, 4, 'Green tea elsewhere', { lex_uni: 'green tea', session_id: 's2' });
    await hitsOf(world, { neighbours: 1 });
    expect(world.index.calls.filter((call) => call === 'list')).to.have.length(2);
  });

  it('stand in an answer once, and never beside themselves as a hit', async () => {
    const { world } = talk();
    say(world, 4, 'Green tea it is', { lex_uni: 'green tea' });
    const hits = await hitsOf(world, { neighbours: 2 });
    const texts = hits.flatMap(({ neighbours = [] }) => neighbours.map(({ content }) => content));
    expect(hits).to.have.length(2);
    expect(new Set(texts).size).to.equal(texts.length);
    for (const { content } of hits) expect(texts).not.to.include(content);
  });

  it('are of the hit’s own session: not of another owner, namespace or session of that name', async () => {
    const { world } = talk();
    say(world, 1, 'a stranger’s', { owner: 'stranger', visibility: 'shared', created_at: '2026-01-01T00:00:00.000Z' });
    say(world, 1, 'of another place', { namespace: 'shared.team', visibility: 'shared' });
    say(world, 1, 'of another session', { session_id: 's2' });
    expect(await around(world, { neighbours: 1, namespaces: ['user.ann', 'shared.team'] })).to.deep.equal([
      'What would you like?',
      'With sugar?',
    ]);
  });

  it('are left out where the caller may not read them, or where they are held back, expired or no longer searched', async () => {
    for (const gone of [
      { visibility: 'private', owner: 'stranger' },
      { status: 'quarantined' },
      { status: 'superseded' },
      { status: 'forgotten' },
      { expires_at: '2026-03-01T11:00:00.000Z' },
      { tenant: 'other' },
    ] as const) {
      const { world, turns } = talk();
      world.index.plant({ ...(turns[3] as MemoryRecord), ...gone });
      expect(await around(world, { neighbours: 1 }), JSON.stringify(gone)).to.deep.equal(['What would you like?']);
    }
  });

  it('of a shared session are shown to a reader as far as they are shared', async () => {
    const world = createWorld();
    const shared = { namespace: 'shared.team', visibility: 'shared' } as const;
    say(world, 1, 'shared question', shared);
    say(world, 2, 'Green tea', { ...shared, lex_uni: 'green tea' });
    say(world, 3, 'private note', { namespace: 'shared.team' });
    const bob = principal({ sub: 'bob' });
    const seen = await around(world, { neighbours: 1, namespaces: ['shared.team'] }, bob);
    expect(seen?.map(unwrapped)).to.deep.equal(['shared question']);
    expect(seen?.[0], 'another one’s words').to.match(/^⟦ref /u);
    expect(await around(world, { neighbours: 1, namespaces: ['shared.team'] })).to.have.members(['shared question', 'private note']);
  });

  it('wear the envelope of the answer, and keep to the trust floor', async () => {
    const { world, turns } = talk();
    world.index.plant({ ...(turns[3] as MemoryRecord), trust_tier: 0, content: 'With sugar, from a page' });
    const [hit] = await hitsOf(world, { neighbours: 1 });
    const [, page] = hit?.neighbours ?? [];
    expect(page?.reference_only).to.equal(true);
    expect(page?.content).to.match(/^⟦ref \S+ .*⟧With sugar, from a page⟦\/ref \S+⟧$/);
    expect(await around(world, { neighbours: 1, trust_floor: 'agent_inferred' })).to.deep.equal(['What would you like?']);
    expect(await around(world, { neighbours: 1, influence_only: true })).to.equal(undefined);
  });

  it('of a hit in the envelope are found by the session as it is stored', async () => {
    const world = createWorld();
    say(world, 1, 'Green tea', { lex_uni: 'green tea', trust_tier: 0 });
    say(world, 2, 'With sugar?');
    expect(await around(world, { neighbours: 1 })).to.deep.equal(['With sugar?']);
  });

  it('take what the hits leave of a token budget', async () => {
    const { world } = talk();
    const all = (await hitsOf(world, { neighbours: 2 }))[0]?.neighbours ?? [];
    for (const { content, tokens } of all) expect(tokens).to.equal(promptTokens(content));
    const long = 'long words of no use '.repeat(40);
    say(world, 9, 'Green tea at last', { lex_uni: 'green tea' });
    say(world, 10, long);
    const hits = await hitsOf(world, { neighbours: 2, token_budget: 100 });
    const texts = hits.flatMap(({ neighbours = [] }) => neighbours);
    const hitTokens = hits.reduce((sum, { tokens = 0 }) => sum + tokens, 0);
    expect(texts.map(({ content }) => content)).not.to.include(long);
    expect(hitTokens + texts.reduce((sum, { tokens }) => sum + tokens, 0)).to.be.within(1, 100);
  });

  it('that cannot be looked up are no reason not to answer', async () => {
    const { world } = talk();
    world.index.before = (method) => {
      if (method === 'list') throw new HindsightError('ERR_STORE_UNAVAILABLE');
    };
    const answer = await world.memory.search({ query: 'green tea', neighbours: 1 }, world.call());
    expect(answer.hits).to.have.length(1);
    expect(answer.degraded).to.include('neighbours');
  });

  it('are not told of a time in the past', () => {
    const parsed = memorySearch.input.safeParse({ query: 'tea', neighbours: 1, as_of: '2026-01-01T00:00:00Z' });
    expect(parsed.error?.issues.map(({ path }) => path)).to.deep.equal([['neighbours']]);
    expect(memorySearch.input.safeParse({ query: 'tea', neighbours: 3 }).success).to.equal(false);
    expect(memorySearch.extraCost?.({ query: 'tea', neighbours: 2 })).to.equal(1);
  });
});
