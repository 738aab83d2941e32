import { expect } from 'chai';
import { HindsightError } from '../../../src/errors.ts';
import { queryVectors } from '../../../src/memory/query-vectors.ts';
import { unwrapped } from '../../../src/guard/envelope.ts';
import { createTestEmbedder, createWorld, vectorOf, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';
import { memoryRecord } from '../../support/records.ts';
import { rejection } from '../../support/rejection.ts';

const contents = async (world: World, input: Parameters<World['memory']['search']>[0], by = principal()) =>
  (await world.memory.search(input, world.call(by))).hits.map((hit) => hit.content);

describe('memory search', () => {
  it('finds at once what was just written, by words, while no vector is there yet', async () => {
    const world = createWorld();
    await world.memory.write({ content: 'Ann likes green tea' }, world.call());
    await world.memory.write({ content: '李明对花生过敏' }, world.call());
    expect(await contents(world, { query: 'which tea does Ann like' })).to.deep.equal(['Ann likes green tea']);
    expect(await contents(world, { query: '谁对花生过敏' })).to.deep.equal(['李明对花生过敏']);
    expect(world.index.calls.filter((c) => c === 'refresh')).to.have.length(1);
  });

  it('answers by words alone and says so while the model is away, refuses the text or hangs', async () => {
    const world = createWorld();
    await world.memory.write({ content: 'Ann likes green tea' }, world.call());
    for (const state of ['away', { refuses: 'tea' }] as const) {
      world.embedder.state = state;
      const answer = await world.memory.search({ query: 'green tea' }, world.call());
      expect(answer.hits).to.have.length(1);
      expect(answer.degraded).to.deep.equal(['vector']);
    }
    const embedder = createTestEmbedder();
    embedder.state = 'silent';
    const degraded: string[] = [];
    const deps = { embedder, onDegraded: (part: string) => void degraded.push(part) };
    expect(await queryVectors(deps, { query: 'tea', spaceNames: ['en'] }, new AbortController().signal, 20)).to.equal(undefined);
    expect(degraded).to.deep.equal(['vector']);
  });

  it('mixes the last sentence of a question of three or more into its vector', async () => {
    const embedder = createTestEmbedder();
    const signal = new AbortController().signal;
    const ask = async (query: string, name = 'en') =>
      (await queryVectors({ embedder }, { query, spaceNames: [name], lastSentence: 0.3 }, signal))?.[0];
    const long = 'I want to drink something. It is late. Which green tea does Ann like?';
    const [whole, last] = [vectorOf(long), vectorOf('Which green tea does Ann like?')];
    expect([...((await ask(long))?.vector ?? [])]).to.have.length(whole.length);
    expect((await ask(long))?.vector[0]).to.be.closeTo(0.7 * (whole[0] ?? 0) + 0.3 * (last[0] ?? 0), 1e-6);
    const two = 'It is late. Which green tea does Ann like?';
    expect((await ask(two))?.vector[0]).to.be.closeTo(vectorOf(two)[0] ?? 0, 1e-6);
  });

  it('stops with the caller’s reason when the caller goes away', async () => {
    const embedder = createTestEmbedder();
    embedder.state = 'silent';
    const abort = new AbortController();
    const work = queryVectors({ embedder }, { query: 'tea', spaceNames: ['en'] }, abort.signal);
    abort.abort(new HindsightError('ERR_BUSY'));
    expect((await rejection(work)).code).to.equal('ERR_BUSY');
  });

  it('asks the second space only where there is Chinese to find', async () => {
    const world = createWorld();
    const spaces = async () => {
      world.embedder.asked.length = 0;
      await world.memory.search({ query: 'green tea' }, world.call());
      return world.embedder.asked.map((a) => a.space);
    };
    await world.memory.write({ content: 'only English here' }, world.call());
    expect(await spaces()).to.deep.equal(['en']);
    await world.memory.write({ content: '绿茶' }, world.call());
    expect(await spaces()).to.deep.equal(['en', 'zh']);
  });

  it('cuts to top_k, honours filter and min_score, and says when nothing is relevant', async () => {
    const world = createWorld();
    for (let i = 0; i < 8; i += 1)
      world.index.plant(
        memoryRecord({
          content: `tea number ${i}`,
          lex_uni: 'tea number',
          fingerprint: `f${i}`,
          tags: i < 2 ? ['a'] : ['b'],
          vec_en: [...vectorOf('tea')],
        }),
      );
    expect(await contents(world, { query: 'tea' })).to.have.length(5);
    expect(await contents(world, { query: 'tea', top_k: 7 })).to.have.length(7);
    expect(await contents(world, { query: 'tea', filter: { tags: ['a'] } })).to.have.length(2);
    const strict = await world.memory.search({ query: 'tea', min_score: 1 }, world.call());
    expect(strict).to.include({ nothing_relevant: true });
    expect(strict.hits).to.deep.equal([]);
    expect((await world.memory.search({ query: 'tea' }, world.call())).nothing_relevant).to.equal(false);
  });

  it('comes back empty when nothing is relevant, but keeps what there is for an explanation or the caller’s own floor', async () => {
    const world = createWorld();
    world.index.plant(memoryRecord({ content: 'the kettle leaks', lex_uni: 'kettl leak', vec_en: [...vectorOf('tea')].map((x) => -x) }));
    const asked = { query: 'tea, coffee or kettles' };
    const answer = await world.memory.search(asked, world.call());
    expect(answer).to.deep.include({ hits: [], nothing_relevant: true });
    for (const more of [{ explain: true }, { min_score: 0 }])
      expect((await world.memory.search({ ...asked, ...more }, world.call())).hits, JSON.stringify(more)).to.have.length(1);
    expect((await world.memory.search({ ...asked, explain: true }, world.call())).nothing_relevant).to.equal(true);
  });

  it('searches active and conflict by default, what no longer holds only when asked, and what is held back never', async () => {
    const world = createWorld();
    const statuses = [
      'active',
      'conflict',
      'superseded',
      'archived',
      'candidate',
      'pending',
      'quarantined',
      'forgotten',
      'rejected',
    ] as const;
    for (const status of statuses) world.index.plant(memoryRecord({ content: status, lex_uni: 'tea', fingerprint: status, status }));
    expect(await contents(world, { query: 'tea', top_k: 20 })).to.have.members(['active', 'conflict']);
    expect(await contents(world, { query: 'tea', top_k: 20, include_superseded: true })).to.have.members([
      'active',
      'conflict',
      'superseded',
    ]);
    expect(await contents(world, { query: 'tea', top_k: 20, filter: { status: [...statuses] } })).to.have.members([
      'active',
      'conflict',
      'superseded',
      'archived',
    ]);
  });

  it('wraps what was not stated by a person and leaves out what is below the trust floor', async () => {
    const world = createWorld();
    for (const tier of [0, 2, 3])
      world.index.plant(memoryRecord({ content: `tier ${tier}`, lex_uni: 'tea', fingerprint: `f${tier}`, trust_tier: tier }));
    const { hits } = await world.memory.search({ query: 'tea' }, world.call());
    for (const hit of hits) {
      expect(hit.reference_only).to.equal(hit.trust.tier !== 'user_stated');
      expect(hit.content.startsWith('⟦ref ')).to.equal(hit.reference_only);
    }
    expect(hits).to.have.length(3);
    expect(await contents(world, { query: 'tea', trust_floor: 'user_stated' })).to.deep.equal(['tier 3']);
    expect(
      await contents(world, { query: 'tea', trust_floor: 'agent_inferred', filter: { trust: ['external', 'user_stated'] } }),
    ).to.deep.equal(['tier 3']);
  });

  it('never shows another tenant’s, another owner’s private or an expired memory', async () => {
    const world = createWorld();
    const bob = principal({ sub: 'bob' });
    world.index.plant(memoryRecord({ content: 'other tenant', lex_uni: 'tea', tenant: 'zeta', fingerprint: 'a' }));
    world.index.plant(memoryRecord({ content: 'bob’s own', lex_uni: 'tea', namespace: 'user.bob', owner: bob.owner, fingerprint: 'b' }));
    world.index.plant(
      memoryRecord({ content: 'private in shared', lex_uni: 'tea', namespace: 'shared.x', owner: bob.owner, fingerprint: 'c' }),
    );
    world.index.plant(
      memoryRecord({ content: 'shared', lex_uni: 'tea', namespace: 'shared.x', owner: bob.owner, visibility: 'shared', fingerprint: 'd' }),
    );
    world.index.plant(memoryRecord({ content: 'expired', lex_uni: 'tea', expires_at: '2026-03-01T11:59:59.000Z', fingerprint: 'e' }));
    const seen = await contents(world, { query: 'tea', top_k: 20 });
    expect(seen.map(unwrapped)).to.deep.equal(['shared']);
    expect(seen[0], 'another owner’s words').to.match(/^⟦ref /u);
    const forbidden = world.memory.search({ query: 'tea', namespaces: ['user.bob'] }, world.call());
    expect((await rejection(forbidden)).code).to.equal('ERR_NAMESPACE_FORBIDDEN');
  });

  it('explains each hit when asked, and not otherwise', async () => {
    const world = createWorld();
    await world.memory.write({ content: 'green tea' }, world.call());
    const explained = (await world.memory.search({ query: 'green tea', explain: true }, world.call())).hits[0];
    expect(explained?.explain?.signals.map((s) => s.signal)).to.include('lexical');
    expect(explained?.explain?.signals.every((s) => s.sentence.length > 0)).to.equal(true);
    expect((await world.memory.search({ query: 'green tea' }, world.call())).hits[0]).not.to.have.property('explain');
  });

  it('refuses unknown profiles and weights by pointer', async () => {
    const world = createWorld();
    const pointer = async (input: object) =>
      (await rejection(world.memory.search({ query: 'x', ...input }, world.call()))).faults[0]?.pointer;
    expect(await pointer({ profile: 'nope' })).to.equal('/profile');
    expect(await pointer({ weights: { nope: 1 } })).to.equal('/weights/nope');
  });

  it('counts what it returned as accessed, except to jobs', async () => {
    const world = createWorld();
    const { results } = await world.memory.write({ content: 'green tea' }, world.call());
    await world.memory.search({ query: 'green tea' }, world.call(principal({ actor: 'service' })));
    expect(world.accessed).to.deep.equal([]);
    await world.memory.search({ query: 'green tea' }, world.call());
    expect(world.accessed).to.deep.equal([results[0]?.memory_id]);
  });

  it('passes on that the store is away instead of answering an empty list', async () => {
    const world = createWorld();
    world.index.before = (method) => {
      if (method === 'search') throw new HindsightError('ERR_STORE_UNAVAILABLE');
    };
    expect((await rejection(world.memory.search({ query: 'tea' }, world.call()))).code).to.equal('ERR_STORE_UNAVAILABLE');
  });

  it('returns only confirmed memories and says so while a screening stage fails', async () => {
    const world = createWorld({
      guard: {
        screenStages: [
          {
            name: 'rules',
            keep: () => {
              throw new Error('no rules');
            },
          },
        ],
      },
    });
    for (const tier of [3, 4])
      world.index.plant(memoryRecord({ content: `tier ${tier}`, lex_uni: 'tea', fingerprint: `f${tier}`, trust_tier: tier }));
    const answer = await world.memory.search({ query: 'tea' }, world.call());
    expect(answer.hits.map((h) => h.content)).to.deep.equal(['tier 4']);
    expect(answer.degraded).to.deep.equal(['guard']);
  });
});
