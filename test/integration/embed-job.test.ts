import { expect } from 'chai';
import { eventually, openMemoryService, type MemoryService } from '../support/memory-service.ts';
import { principal } from '../support/principals.ts';

describe('embed job on a real engine with the local models', function () {
  this.timeout(120_000);
  let service: MemoryService;
  let tenants = 0;
  before(async function () {
    this.timeout(600_000);
    service = await openMemoryService();
  });
  after(() => service.close());

  const newUser = () => principal({ tenant: `e-${(tenants += 1)}` });
  const openOf = async (by: ReturnType<typeof principal>): Promise<number> =>
    (await service.memory.list({ limit: 200 }, service.call(by))).items.filter((item) => !item.settled).length;

  it('settles a batch, each text embedded once, though two workers compete', async () => {
    const ann = newUser();
    const second = service.newWorker('worker-2');
    service.model.texts.length = 0;
    const items = Array.from({ length: 60 }, (_, i) => ({ content: `第${i}条记录说的是茶` }));
    await service.memory.write({ items }, service.call(ann));
    second.nudge(ann.tenant);
    await eventually(
      () => openOf(ann),
      (open) => open === 0,
      60_000,
    );
    expect(service.model.texts.filter((text) => text.startsWith('zh: 第'))).to.have.length(60);
    expect(new Set(service.model.texts).size).to.equal(service.model.texts.length);
    await second.stop();
  });

  it('catches up by itself after an outage of the model, without a try consumed', async () => {
    const ann = newUser();
    service.model.away = true;
    const { results } = await service.memory.write({ content: 'written in the dark' }, service.call(ann));
    const failures: unknown[] = [];
    const watcher = service.newWorker('worker-3', (error) => failures.push(error));
    await eventually(
      async () => failures.length,
      (count) => count > 0,
    );
    expect(await openOf(ann)).to.equal(1);
    service.model.away = false;
    await eventually(
      () => openOf(ann),
      (open) => open === 0,
      60_000,
    );
    const answer = await service.memory.search({ query: 'noted without light' }, service.call(ann));
    expect(answer.hits.map((h) => h.memory_id)).to.deep.equal([results[0]?.memory_id]);
    expect((await service.queue.depth()).dead).to.equal(0);
    await watcher.stop();
  });

  it('embeds a turn with the one before it, so that an answer is found by its question', async () => {
    const ann = newUser();
    const turns = ['Which instrument does your daughter play?', 'The cello, since she was six.', 'Nice! And what is for dinner?', 'Pasta.'];
    for (const [turn, content] of turns.entries())
      await service.memory.write(
        { content, session_id: 's1', admission: 'keep', turn: turn + 1, wait: turn === turns.length - 1 },
        service.call(ann),
      );
    await eventually(
      () => openOf(ann),
      (open) => open === 0,
    );
    const { hits } = await service.memory.search({ query: 'musical instrument of the daughter', top_k: 2 }, service.call(ann));
    expect(hits.map((h) => h.content)).to.have.members(turns.slice(0, 2));
  });

  it('does not touch a forgotten turn’s words any more', async () => {
    const ann = newUser();
    const write = async (turn: number, content: string) =>
      (await service.memory.write({ content, session_id: 's', turn, admission: 'keep', wait: true }, service.call(ann))).results[0]
        ?.memory_id ?? '';
    const first = await write(1, 'My therapist is called Doctor Quill');
    await write(2, 'Yes, on Mondays');
    service.model.texts.length = 0;
    await service.memory.forget({ memory_id: first }, service.call(ann));
    await eventually(
      () => openOf(ann),
      (open) => open === 0,
    );
    expect(service.model.texts).to.have.members(['zh: Yes, on Mondays', 'en: Yes, on Mondays']);
    expect((await service.memory.search({ query: 'therapist Quill' }, service.call(ann))).hits.map((h) => h.content)).not.to.include(
      'My therapist is called Doctor Quill',
    );
  });
});
