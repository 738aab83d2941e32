import { expect } from 'chai';
import type { HindsightError } from '../../src/errors.ts';
import { openMemoryService, type MemoryService } from '../support/memory-service.ts';
import { principal } from '../support/principals.ts';
import { rejection } from '../support/rejection.ts';

describe('memory service on a real engine with the local models', function () {
  this.timeout(120_000);
  let service: MemoryService;
  let tenants = 0;
  before(async function () {
    this.timeout(600_000);
    service = await openMemoryService();
  });
  after(() => service.close());

  /** A tenant of its own, so that no test sees another’s records. */
  const newUser = (more: Parameters<typeof principal>[0] = {}) => principal({ tenant: `t-${(tenants += 1)}`, ...more });

  it('finds what was written by its meaning, in both languages, once it is settled', async () => {
    const ann = newUser();
    const { results } = await service.memory.write(
      {
        items: [
          { content: 'Ana is allergic to peanuts and always carries medicine.' },
          { content: '李明周末喜欢去郊外爬山。' },
          { content: 'The deployment runs every Tuesday night.' },
          { content: '公司的年会定在十二月。' },
        ],
        wait: true,
      },
      service.call(ann),
    );
    expect(results.map((r) => [r.outcome, r.settled])).to.deep.equal(Array.from({ length: 4 }, () => ['stored', true]));
    const first = async (query: string) => {
      const answer = await service.memory.search({ query, explain: true }, service.call(ann));
      expect(answer.degraded).to.deep.equal([]);
      return answer.hits[0]?.content ?? '';
    };
    expect(await first('Which food must she avoid?')).to.include('peanuts');
    expect(await first('他在休息日会去登山吗？')).to.include('爬山');
    expect(await first('deployment 在哪天晚上运行？')).to.include('Tuesday');
  });

  it('shows each write to the very next search, long before its vectors', async () => {
    const ann = newUser();
    const facts: readonly (readonly [string, string])[] = [
      ['Ticket A-7001 was closed by Maria', 'who closed A-7001'],
      ['爷爷的生日是农历八月十五', '爷爷什么时候过生日'],
      ['The printer on floor three needs blue toner', 'which toner does the printer need'],
      ['王芳的车牌号是京A12345', '京A12345是谁的车'],
      ['Our cat Mitzi eats only tuna', 'what does Mitzi eat'],
      ['地下室的钥匙放在花盆下面', '地下室钥匙在哪里'],
      ['The wifi password hint is the name of the street', 'hint for the wifi'],
      ['周五下午三点开预算会议', '预算会议几点开'],
    ];
    for (const [content, query] of facts) {
      const { results } = await service.memory.write({ content }, service.call(ann));
      const { hits } = await service.memory.search({ query }, service.call(ann));
      expect(
        hits.map((h) => h.memory_id),
        content,
      ).to.include(results[0]?.memory_id);
    }
  });

  it('answers by words and says so while the model is away', async () => {
    const ann = newUser();
    service.model.away = true;
    try {
      await service.memory.write({ content: '张伟负责北京的项目' }, service.call(ann));
      const answer = await service.memory.search({ query: '北京项目谁负责' }, service.call(ann));
      expect(answer.hits.map((h) => h.content)).to.deep.equal(['张伟负责北京的项目']);
      expect(answer.degraded).to.deep.equal(['vector']);
    } finally {
      service.model.away = false;
    }
  });

  it('names the passage of a long memory that answers', async () => {
    const ann = newUser();
    const filler = Array.from({ length: 60 }, (_, i) => `Paragraph ${i} talks about gardens, rivers and the weather of the season.`).join(
      ' ',
    );
    const content = `${filler} The safe in the cellar opens with a brass key. ${filler}`;
    const { results } = await service.memory.write({ content, wait: true }, service.call(ann));
    expect(results[0]?.settled).to.equal(true);
    const { hits } = await service.memory.search({ query: 'How does one unlock the vault downstairs?', min_score: 0 }, service.call(ann));
    expect(hits[0]?.passage).to.include('brass key');
  });

  it('keeps tenants and owners apart, also for identical texts', async () => {
    const [ann, eve] = [newUser(), newUser()];
    const bob = principal({ tenant: ann.tenant, sub: 'bob', namespaces: ['**'] });
    await service.memory.write({ content: 'the launch code is green' }, service.call(ann));
    const { results } = await service.memory.write({ content: 'the launch code is green' }, service.call(eve));
    expect((await service.memory.search({ query: 'launch code' }, service.call(eve))).hits.map((h) => h.memory_id)).to.deep.equal([
      results[0]?.memory_id,
    ]);
    expect((await service.memory.search({ query: 'launch code', namespaces: ['user.ann'] }, service.call(bob))).hits).to.deep.equal([]);
    const id = results[0]?.memory_id ?? '';
    expect((await rejection(service.memory.get({ memory_id: id }, service.call(ann)))).code).to.equal('ERR_MEMORY_NOT_FOUND');
    expect((await rejection(service.memory.update({ memory_id: id, content: 'x' }, service.call(ann)))).code).to.equal(
      'ERR_MEMORY_NOT_FOUND',
    );
    expect((await rejection(service.memory.forget({ memory_id: id }, service.call(ann)))).code).to.equal('ERR_MEMORY_NOT_FOUND');
  });

  it('loses no version when many update one memory at the same time', async () => {
    const ann = newUser();
    const { results } = await service.memory.write({ content: 'start' }, service.call(ann));
    const memory_id = results[0]?.memory_id ?? '';
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        service.memory.update({ memory_id, content: `change ${i}` }, service.call(ann)).then(
          (answer) => answer.version,
          (error: unknown) => (error as HindsightError).code,
        ),
      ),
    );
    const versions = outcomes.filter((o): o is number => typeof o === 'number');
    expect(outcomes.filter((o) => typeof o === 'string').every((code) => code === 'ERR_VERSION_CONFLICT')).to.equal(true);
    expect(new Set(versions).size).to.equal(versions.length);
    const { versions: history } = await service.memory.history({ memory_id }, service.call(ann));
    expect(history.map((v) => v.version)).to.deep.equal(Array.from({ length: versions.length + 1 }, (_, i) => versions.length + 1 - i));
    expect(history.every((v, i) => i === history.length - 1 || v.changes.length > 0)).to.equal(true);
  });

  it('has one effect for an Idempotency-Key used many times at once', async () => {
    const ann = newUser();
    const write = () => service.memory.write({ content: 'only once' }, service.call(ann, { idempotencyKey: 'k' }));
    const settled = await Promise.allSettled(Array.from({ length: 8 }, write));
    const ids = settled.flatMap((s) => (s.status === 'fulfilled' ? [s.value.results[0]?.memory_id] : []));
    const codes = settled.flatMap((s) => (s.status === 'rejected' ? [(s.reason as HindsightError).code] : []));
    expect(new Set(ids).size).to.equal(1);
    expect(codes.every((code) => code === 'ERR_IDEMPOTENCY_IN_FLIGHT')).to.equal(true);
    expect((await write()).results[0]?.memory_id).to.equal(ids[0]);
    expect((await service.memory.list({}, service.call(ann))).items).to.have.length(1);
  });

  it('lists in pages, corrects, shows history, and forgets by plan', async () => {
    const ann = newUser();
    const items = Array.from({ length: 23 }, (_, i) => ({ content: `note ${i}`, tags: [i % 2 === 0 ? 'even' : 'odd'], admission: 'keep' }));
    const { results } = await service.memory.write({ items }, service.call(ann));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await service.memory.list({ limit: 10, ...(cursor === undefined ? {} : { cursor }) }, service.call(ann));
      seen.push(...page.items.map((item) => item.memory_id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).to.deep.equal(results.map((r) => r.memory_id).reverse());

    const id = results[0]?.memory_id ?? '';
    await service.memory.update({ memory_id: id, content: 'note zero', metadata: { a: { b: 1 } } }, service.call(ann));
    const view = await service.memory.get({ memory_id: id }, service.call(ann));
    expect(view).to.deep.include({ content: 'note zero', version: 2, metadata: { a: { b: 1 } } });
    expect((await service.memory.list({ filter: { metadata: { 'a.b': 1 } } }, service.call(ann))).items).to.have.length(1);

    const dry = await service.memory.forget({ filter: { tags: ['even'] }, dry_run: true }, service.call(ann));
    expect(dry.count).to.equal(12);
    const done = await service.memory.forget({ plan: dry.plan ?? '' }, service.call(ann));
    expect(done.forgotten).to.equal(12);
    expect((await service.memory.list({ limit: 200 }, service.call(ann))).items.map((i) => i.tags)).to.deep.equal(
      Array.from({ length: 11 }, () => ['odd']),
    );
    expect((await rejection(service.memory.get({ memory_id: id }, service.call(ann)))).code).to.equal('ERR_MEMORY_NOT_FOUND');
  });

  it('imports ready vectors settled, and finds by them', async () => {
    const admin = newUser({ scopes: ['memory:read', 'memory:write', 'memory:admin'] });
    const unit = (dims: number, at: number) => Array.from({ length: dims }, (_, i) => (i === at ? 2 : 0));
    const { results } = await service.memory.write(
      { content: 'kept as given', admission: 'keep', vectors: { en: unit(384, 3), zh: unit(512, 5) } },
      service.call(admin),
    );
    expect(results[0]).to.include({ outcome: 'stored', settled: true });
    expect(await service.memory.get({ memory_id: results[0]?.memory_id ?? '' }, service.call(admin))).to.include({ settled: true });
  });
});
