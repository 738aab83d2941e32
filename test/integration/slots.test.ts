/** Claims on a real engine: the store's contract, and two services at once that write one slot or one text. */
import { expect } from 'chai';
import type { SlotStore } from '../../src/domain/ports.ts';
import type { HeldSlot, SlotClaim } from '../../src/domain/slots.ts';
import { createClient } from '../../src/elastic/client.ts';
import { createSlotStore } from '../../src/stores/slots.ts';
import { startHashedService, type HashedService } from '../support/service.ts';
import { createTestSlots } from '../support/slots.ts';
import { openStore, TEST_NOW, type TestStore } from '../support/store.ts';
import { joinService, type JoinedService } from '../support/joined-service.ts';

const claim = (id: string, memory_id: string, more: Partial<SlotClaim['document']> = {}): SlotClaim => ({
  id,
  document: {
    slot_type: 'slot',
    tenant: 'acme',
    namespace: 'user.ann',
    generation: 1,
    owner: 'o',
    subject: 'ann',
    topic: 'residence',
    memory_id,
    created_at: '2026-03-01T12:00:00.000Z',
    updated_at: '2026-03-01T12:00:00.000Z',
    lease_until: '2026-03-01T11:59:00.000Z',
    ...more,
  },
});
const holder = (held: HeldSlot | 'conflict' | undefined): string | undefined =>
  held === undefined || held === 'conflict' ? held : held.document.memory_id;

describe('slot store', function () {
  this.timeout(60_000);
  let store: TestStore;
  const open: Readonly<Record<string, () => SlotStore>> = {
    'on Elasticsearch': () => createSlotStore({ client: store.client, schema: store.schema, clock: () => TEST_NOW }),
    'in process': () => createTestSlots(() => TEST_NOW),
  };
  before(async () => (store = await openStore()));
  after(() => store.close());

  for (const [name, create] of Object.entries(open)) {
    describe(name, () => {
      let slots: SlotStore;
      before(() => (slots = create()));

      it('gives a claim to the first who asks and shows it to the others', async () => {
        const [first] = await slots.claim('acme', [claim('a', 'm1')]);
        const again = await slots.claim('acme', [claim('a', 'm2'), claim('b', 'm2')]);
        expect(holder(first)).to.equal('m1');
        expect(again.map(holder)).to.deep.equal(['m1', 'm2']);
        expect((await slots.read('acme', ['b', 'nothing', 'a'])).map(holder).sort()).to.deep.equal(['m1', 'm2']);
        expect(await slots.read('nobody', ['a'])).to.deep.equal([]);
      });

      it('moves a claim once from where it stood', async () => {
        const [held] = await slots.claim('acme', [claim('c', 'm1')]);
        if (held === undefined) throw new Error('no claim');
        const [moved] = await slots.move('acme', [{ ...held, document: { ...held.document, memory_id: 'm2' } }]);
        const [late] = await slots.move('acme', [{ ...held, document: { ...held.document, memory_id: 'm3' } }]);
        expect([holder(moved), holder(late)]).to.deep.equal(['m2', 'conflict']);
        if (moved === undefined || moved === 'conflict') throw new Error('not moved');
        const [on] = await slots.move('acme', [{ ...moved, document: { ...moved.document, memory_id: 'm4' } }]);
        expect(holder(on)).to.equal('m4');
      });

      it('releases what still names the memory, and nothing that moved on or is on its way', async () => {
        await slots.claim('acme', [claim('d', 'm1'), claim('e', 'm2'), claim('f', 'm1', { previous_id: 'm0' })]);
        await slots.release(
          'acme',
          ['d', 'e', 'f', 'gone'].map((id) => ({ id, memoryId: 'm1' })),
        );
        expect((await slots.read('acme', ['d', 'e', 'f'])).map(({ id }) => id)).to.deep.equal(['e', 'f']);
        await slots.release('acme', [{ id: 'd', memoryId: 'm1' }]);
        const [again] = await slots.claim('acme', [claim('d', 'm5')]);
        expect(holder(again)).to.equal('m5');
      });

      it('names tenants with moves that nobody ended in time, and finds those of one, the oldest lease first', async () => {
        await slots.claim('globex', [
          claim('g', 'm2', { tenant: 'globex', previous_id: 'm1' }),
          claim('h', 'm2', { tenant: 'globex', previous_id: 'm1', lease_until: '2026-03-01T12:00:05.000Z' }),
          claim('i', 'm2', { tenant: 'globex', previous_id: 'm1', lease_until: '2026-03-01T11:58:00.000Z' }),
        ]);
        if (name === 'on Elasticsearch') await store.client.indices.refresh({ index: `${store.prefix}-*` });
        expect(await slots.dueTenants()).to.deep.include({ tenant: 'globex', count: 2 });
        expect((await slots.unfinished('globex', 10)).map(({ id }) => id)).to.deep.equal(['i', 'g']);
        expect((await slots.unfinished('globex', 1)).map(({ id }) => id)).to.deep.equal(['i']);
        expect(await slots.unfinished('nobody', 10)).to.deep.equal([]);
      });
    });
  }
});

/** 1,000 by `TEST_RACES=1000`; each is two writes at once by two processes' worth of service. */
const RACES = Number(process.env['TEST_RACES'] ?? 40);
const AT_ONCE = 8;

describe('two services on one engine', function () {
  this.timeout(120_000 + RACES * 1_000);
  let one: HashedService;
  let two: JoinedService;
  let token: string;
  let engine: ReturnType<typeof createClient>;
  before(async () => {
    one = await startHashedService({ RATE_LIMIT_PROFILE: 'bench' });
    engine = createClient({ url: one.engineUrl });
    two = await joinService(one);
    token = await one.mint();
  });
  after(async () => {
    await engine.close();
    await two.close();
    await one.close();
  });

  const eachRace = async (race: (n: number) => Promise<void>): Promise<void> => {
    let next = 0;
    const runner = async (): Promise<void> => {
      while (next < RACES) await race((next += 1));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, runner));
  };
  const both = async (n: number, bodies: readonly [object, object]) => {
    const [a, b] = await Promise.all([
      one.call('POST', '/v1/memories', token, bodies[n % 2]),
      two.call('POST', '/v1/memories', token, bodies[(n + 1) % 2]),
    ]);
    expect([a.status, b.status], JSON.stringify([a.body, b.body])).to.deep.equal([200, 200]);
    return [a.body.results[0], b.body.results[0]] as const;
  };
  /** As it stands for everybody: without Redis a service hears of the other's writes with the next refresh of the index. */
  const held = async (subject: string): Promise<readonly { status: string; content: string; memory_id: string }[]> => {
    await engine.indices.refresh({ index: `${one.prefix}-mem-*` });
    const query = new URLSearchParams({ subject, status: 'active,superseded,conflict' });
    const answer = await one.call('GET', `/v1/memories?${query.toString()}`, token);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.items;
  };

  it(`leaves one active memory in a slot that both write at once (${RACES} races)`, async () => {
    await eachRace(async (n) => {
      const subject = `parcel ${n}`;
      const write = (shelf: string): object => ({
        content: `The ${subject} is kept in ${shelf}`,
        kind: 'fact',
        subject,
        topic: 'address',
        layer: 'semantic',
      });
      const results = await both(n, [write('Paris'), write('Rome')]);
      const items = await held(subject);
      expect(items.map(({ status }) => status).sort(), JSON.stringify([results, items])).to.deep.equal(['active', 'superseded']);
      expect(results.map(({ outcome }) => outcome as string).sort()).to.deep.equal(['replaced', 'stored']);
    });
  });

  it('answers every one of many writes of one slot at once', async () => {
    const write = (n: number): object => ({
      content: `The parcel of Omar is kept in shelf ${'ABCDEFGHIJKL'.charAt(n)}`,
      kind: 'fact',
      subject: 'parcel of Omar',
      topic: 'address',
      layer: 'semantic',
    });
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => one.call('POST', '/v1/memories', token, write(n))));
    expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
    expect((await held('parcel of Omar')).filter(({ status }) => status !== 'superseded')).to.have.length(1);
  });

  it(`stores a text once that both write at once (${RACES} races)`, async () => {
    await eachRace(async (n) => {
      const subject = `door ${n}`;
      const body = { content: `The ${subject} opens with the brass key`, kind: 'fact', subject, layer: 'semantic' };
      const results = await both(n, [body, body]);
      expect(results.map(({ outcome }) => outcome as string).sort()).to.deep.equal(['duplicate', 'stored']);
      expect(results[0].memory_id).to.equal(results[1].memory_id);
      expect(await held(subject)).to.have.length(1);
    });
  });
});
