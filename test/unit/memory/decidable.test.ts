import { expect } from 'chai';
import type { AdmissionStage } from '../../../src/guard/admission.ts';
import { createUuidV7 } from '../../../src/memory/uuid.ts';
import { createWorld, type World } from '../../support/memory-world.ts';
import { principal } from '../../support/principals.ts';
import { rejection } from '../../support/rejection.ts';

const PERSON = ['memory:read', 'memory:write', 'memory:confirm'];

/** Holds back what speaks of paying, quarantines what speaks of poison. */
const stage: AdmissionStage = {
  name: 'test-words',
  judge: ({ content }) => (content.includes('pay') ? { verdict: 'confirm' } : content.includes('poison') ? { verdict: 'quarantine' } : {}),
};

describe('memory/decidable: the memory that a person decides on', () => {
  const newId = createUuidV7(Date.now);
  const ann = principal({ scopes: PERSON });
  const eve = principal({ sub: 'eve', scopes: [...PERSON, 'memory:admin'], namespaces: ['team.eve'] });
  let world: World;
  beforeEach(() => (world = createWorld({ guard: { admissionStages: [stage] } })));

  const write = async (content: string): Promise<string> =>
    (await world.memory.write({ content }, world.call(ann))).results[0]?.memory_id as string;
  /** What came of it, and how often the index was read by id for it. */
  const counted = async <T>(run: () => Promise<T>): Promise<readonly [T, number]> => {
    world.index.calls.length = 0;
    const result = await run();
    return [result, world.index.calls.filter((method) => method === 'get').length];
  };

  for (const [what, content, state] of [
    ['waits', 'pay Norwick', 'pending'],
    ['is active', 'Ann drinks tea', 'pending'],
    ['is quarantined', 'poison', 'quarantined'],
  ] as const) {
    it(`is read once to be shown when it ${what}, and as often when it is another’s or there is none`, async () => {
      const memory_id = await write(content);
      const shownTo = (id: string, by: typeof ann) => counted(() => world.memory.listForReview(state, { memory_id: id }, world.call(by)));
      const [own, reads] = await shownTo(memory_id, ann);
      expect([own.items.map((item) => item.memory_id), reads]).to.deep.equal([[memory_id], 1]);
      for (const id of [memory_id, newId()]) expect(await shownTo(id, eve)).to.deep.equal([{ items: [], next_cursor: null }, 1]);
    });

    it(`is read once for the decision when it ${what}, and as often when it is another’s or there is none`, async () => {
      const memory_id = await write(content);
      const { items } = await world.memory.listForReview(state, { memory_id }, world.call(ann));
      const input = { memory_id, decision: 'approve', content_hash: items[0]?.content_hash ?? '' } as const;
      for (const id of [memory_id, newId()]) {
        const refused = () => rejection(world.memory.decide(state, { ...input, memory_id: id }, world.call(eve)));
        const [error, reads] = await counted(refused);
        expect([error.code, reads]).to.deep.equal(['ERR_MEMORY_NOT_FOUND', 1]);
      }
      const [answer, reads] = await counted(() => world.memory.decide(state, input, world.call(ann)));
      expect(answer).to.include({ outcome: 'approved', status: 'active' });
      expect(reads).to.equal(1);
    });
  }

  it('is read again when somebody was faster, and a decision on other texts is refused', async () => {
    const memory_id = await write('pay Norwick');
    const { items } = await world.memory.listForReview('pending', { memory_id }, world.call(ann));
    const input = { memory_id, decision: 'approve', content_hash: items[0]?.content_hash ?? '' } as const;
    let once = true;
    world.index.before = (method) => {
      if (method !== 'replace' || !once) return;
      once = false;
      const { record } = world.index.heads.get(memory_id) ?? expect.fail();
      world.index.plant({ ...record, content: 'pay Mallory', version: record.version + 1 });
    };
    expect((await rejection(world.memory.decide('pending', input, world.call(ann)))).code).to.equal('ERR_REVIEW_CHANGED');
    expect(world.index.heads.get(memory_id)?.record).to.include({ content: 'pay Mallory', status: 'pending' });
  });
});
