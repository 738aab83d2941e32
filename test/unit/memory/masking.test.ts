/** Masking in the service: what is stored, indexed, embedded and answered of texts that hold secrets or personal data. */
import { expect } from 'chai';
import { openValues } from '../../../src/keys/sealed-values.ts';
import { principal } from '../../support/principals.ts';
import { createWorld } from '../../support/memory-world.ts';

const TOKEN = `gh${'p_'}0123456789abcdefghijABCDEFGHIJ012345`;
const PHONE = '13912345678';

describe('memory/masking', () => {
  const written = async (world: ReturnType<typeof createWorld>, item: object, by = principal()) => {
    const { results } = await world.memory.write(item, world.call(by));
    const [result] = results;
    if (typeof result?.memory_id !== 'string') throw new Error(JSON.stringify(result));
    const record = world.index.heads.get(result.memory_id)?.record;
    if (record === undefined) throw new Error('not stored');
    return { result, record };
  };

  it('drops a credential and keeps its kind, its keyed fingerprint and the verdict mask', async () => {
    const world = createWorld();
    const { result, record } = await written(world, {
      content: `部署用的令牌是 ${TOKEN}，周五轮换`,
      title: `key ${TOKEN}`,
      tags: [TOKEN],
      metadata: { note: TOKEN },
    });
    expect(JSON.stringify(record)).not.to.include(TOKEN);
    expect(record.content).to.equal('部署用的令牌是 [masked:api_key]，周五轮换');
    expect(record.masked).to.have.length(1);
    expect(record.masked?.[0]).to.match(/^api_key:[\w-]{20,}$/);
    expect(record.sealed).to.equal(undefined);
    expect(record.sensitivity).to.equal('secret');
    expect(result.masked).to.deep.equal(['api_key']);
    expect(result.outcome).to.equal('stored');
  });

  it('keeps personal data sealed, for its reveal, and masked in every text', async () => {
    const world = createWorld();
    const { record } = await written(world, { content: `我的手机号是${PHONE}，邮箱 li.na@example.org` });
    expect(record.content).to.equal('我的手机号是[masked:phone ..78]，邮箱 [masked:email ..rg]');
    expect(JSON.stringify(record)).not.to.include(PHONE).and.not.to.include('li.na');
    expect(await openValues(world.deps.tenantKeys, record)).to.deep.equal([
      { field: 'content', kind: 'phone', value: PHONE },
      { field: 'content', kind: 'email', value: 'li.na@example.org' },
    ]);
  });

  it('seals a credential when a person asks for it, and for nobody else', async () => {
    const world = createWorld();
    const { record } = await written(world, { content: 'the guest network password is Tulip#20481', secrets: 'seal' });
    expect(record.content).to.equal('the guest network password is [masked:password ..81]');
    expect(await openValues(world.deps.tenantKeys, record)).to.deep.equal([{ field: 'content', kind: 'password', value: 'Tulip#20481' }]);
    const agent = principal({ actor: 'agent' });
    const refused = await world.memory.write({ content: 'a', secrets: 'seal' }, world.call(agent)).catch((error: unknown) => error);
    expect(refused).to.include({ code: 'ERR_REQUEST_INVALID' });
  });

  it('masks a query as it masks a memory, so that a search for a value tells nothing of it to the embedder or the index', async () => {
    const world = createWorld();
    await written(world, { content: `call the plumber at ${PHONE}` });
    const { hits } = await world.memory.search({ query: `whose number is ${PHONE}` }, world.call());
    expect(hits.map((hit) => hit.content)).to.deep.equal(['call the plumber at [masked:phone ..78]']);
    expect(JSON.stringify(world.embedder.asked)).not.to.include(PHONE);
  });

  it('finds a session again by the id it was given, although the id is masked', async () => {
    const world = createWorld();
    await written(world, { content: 'first', session_id: PHONE, admission: 'keep' });
    await written(world, { content: 'second', session_id: '13987654321', admission: 'keep' });
    const { items } = await world.memory.list({ filter: { session_id: PHONE } }, world.call());
    expect(items.map((item) => item.content)).to.deep.equal(['first']);
    expect(items[0]?.session_id).to.match(/^masked-phone-/);
  });

  it('masks an update, keeps what is still marked, and lets go of what is not', async () => {
    const world = createWorld();
    const { record } = await written(world, { content: `mobile ${PHONE}`, summary: 'mail li.na@example.org' });
    await world.memory.update({ memory_id: record.memory_id, content: `mobile [masked:phone ..78], token ${TOKEN}` }, world.call());
    const after = world.index.heads.get(record.memory_id)?.record;
    expect(after?.content).to.equal('mobile [masked:phone ..78], token [masked:api_key]');
    expect((await openValues(world.deps.tenantKeys, after as never)).map(({ kind }) => kind).sort()).to.deep.equal(['email', 'phone']);
    await world.memory.update({ memory_id: record.memory_id, content: 'no number any more', summary: null }, world.call());
    const last = world.index.heads.get(record.memory_id)?.record;
    expect([last?.masked, last?.sealed, last?.sensitivity]).to.deep.equal([undefined, undefined, undefined]);
  });

  it('is unchanged by an update with the same texts, and not by one with another value of the same mark', async () => {
    const world = createWorld();
    const { record } = await written(world, { content: `mobile ${PHONE}` });
    const same = await world.memory.update({ memory_id: record.memory_id, content: `mobile ${PHONE}` }, world.call());
    expect(same.outcome).to.equal('unchanged');
    const other = await world.memory.update({ memory_id: record.memory_id, content: 'mobile 13800001178' }, world.call());
    expect(other.outcome).to.equal('updated');
    const after = world.index.heads.get(record.memory_id)?.record;
    expect((await openValues(world.deps.tenantKeys, after as never)).map(({ value }) => value)).to.deep.equal(['13800001178']);
  });

  it('masks a value that is split over title and content', async () => {
    const world = createWorld();
    const { record } = await written(world, { title: `deploy ${TOKEN.slice(0, 20)}`, content: `${TOKEN.slice(20)} is the rest` });
    expect(record.title + record.content)
      .not.to.include(TOKEN.slice(8, 20))
      .and.not.to.include(TOKEN.slice(24));
  });

  it('keeps a value that was split and sealed on request through a change of something else', async () => {
    const world = createWorld();
    const { record } = await written(world, {
      title: `deploy ${TOKEN.slice(0, 20)}`,
      content: `${TOKEN.slice(20)} is the rest`,
      secrets: 'seal',
    });
    const kept = [{ field: 'title', kind: 'api_key', value: TOKEN }];
    expect(await openValues(world.deps.tenantKeys, record)).to.deep.equal(kept);
    await world.memory.update({ memory_id: record.memory_id, tags: ['ops'] }, world.call());
    const after = world.index.heads.get(record.memory_id)?.record;
    expect(after?.tags).to.deep.equal(['ops']);
    expect(await openValues(world.deps.tenantKeys, after as never)).to.deep.equal(kept);
  });

  it('leaves look-alikes byte for byte', async () => {
    const world = createWorld();
    const content =
      'commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b, order 202597593155631399, 7b2a2e59-baf2-4460-99ec-ea719dc621df, v2.14.3-rc.1';
    const { record, result } = await written(world, { content });
    expect(record.content).to.equal(content);
    expect(result.masked).to.deep.equal([]);
  });
});
