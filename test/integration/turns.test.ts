/** Turns, proposals and versions on a real engine: crashes between any two of its calls, look-ups by reference, changes at the same time. */
import { expect } from 'chai';
import { STATUSES, type MemoryRecord } from '../../src/domain/memory.ts';
import type { MemoryIndex } from '../../src/domain/ports.ts';
import { admit, openUnscreened } from '../../src/domain/sealed.ts';
import { HindsightError } from '../../src/errors.ts';
import type { AdmissionStage } from '../../src/guard/admission.ts';
import { createEmbedJob } from '../../src/jobs/embed.ts';
import { createTurnRepair } from '../../src/jobs/turn-repair.ts';
import { createTurnLinks } from '../../src/memory/turn-links.ts';
import { createDetachedTurns } from '../../src/stores/detached-turns.ts';
import { createEmbedQueue } from '../../src/stores/embed-queue.ts';
import { createTestEmbedder, createWorld, vectorOf, type World } from '../support/memory-world.ts';
import { principal } from '../support/principals.ts';
import { memoryRecord } from '../support/records.ts';
import { bound, openStore, TEST_NOW, type TestStore } from '../support/store.ts';

const run = { nudged: true, signal: new AbortController().signal };
const SCOPES = ['memory:read', 'memory:write', 'memory:forget', 'memory:share'];

describe('turns, proposals and versions on a real engine', function () {
  this.timeout(120_000);
  const embedder = createTestEmbedder();
  let store: TestStore;
  let now = TEST_NOW;
  let tenants = 0;
  /** Called before each call to the index. */
  let entered: ((method: string) => void) | undefined;

  before(async () => {
    store = await openStore(embedder.spaces, () => now);
  });
  afterEach(() => {
    entered = undefined;
  });
  after(() => store.close());

  type Place = Pick<World, 'memory' | 'deps' | 'call'> & { readonly tenant: string };

  /** The gateway over the engine, in a tenant of its own. */
  const open = (): Place => {
    const index = new Proxy(store.index, {
      get: (target, name: keyof MemoryIndex) => {
        return (...args: never[]): unknown => {
          entered?.(name);
          return (target[name] as (...given: never[]) => unknown)(...args);
        };
      },
    });
    const holds: AdmissionStage = {
      name: 'test',
      judge: ({ content }) => (content.startsWith('held') ? { verdict: 'confirm' } : {}),
    };
    const world = createWorld({ guard: { admissionStages: [holds] }, deps: { index, embedder, clock: () => now } });
    const tenant = `turns-${(tenants += 1)}`;
    return { memory: world.memory, deps: world.deps, tenant, call: (by = principal(), more) => world.call({ ...by, tenant }, more) };
  };
  const head = async ({ tenant }: Place, id: string): Promise<MemoryRecord> => {
    const [found] = openUnscreened(await store.index.get(bound({ memoryIds: [id] }, { tenant, statuses: STATUSES })));
    if (found === undefined) throw new Error('no such head');
    return found.record;
  };
  const write = async (
    place: Place,
    session_id: string,
    turn: number,
    content: string,
    by?: ReturnType<typeof principal>,
  ): Promise<string> =>
    (await place.memory.write({ content, session_id, turn, admission: 'keep' }, place.call(by))).results[0]?.memory_id ?? '';
  const embedAll = async ({ tenant, deps }: Place): Promise<void> => {
    const spaces = () => embedder.spaces.map((space) => space.name);
    const queue = createEmbedQueue({ client: store.client, prefix: store.prefix, clock: () => now, spaces });
    await store.index.refresh(tenant);
    const job = createEmbedJob({ index: store.index, queue, guard: deps.guard, embedder, clock: () => now, by: 'test' });
    while ((await job.run(tenant, run)) === 'more');
  };
  const repairAll = async ({ tenant, deps }: Place): Promise<void> => {
    await store.index.refresh(tenant);
    const turns = createDetachedTurns({ client: store.client, prefix: store.prefix, clock: () => now });
    await createTurnRepair({ turns, repair: (turn) => createTurnLinks(deps).repair(turn) }).run('*', run);
  };
  const expectVector = (record: MemoryRecord, text: string, note: string): void => {
    const wanted = vectorOf(text);
    const given = record.vec_en ?? [];
    expect(given.length, note).to.equal(wanted.length);
    given.forEach((x, i) => expect(x, note).to.be.closeTo(wanted[i] ?? NaN, 1e-6));
  };

  const changes = {
    'a correction': (place: Place, memory_id: string) => place.memory.update({ memory_id, content: 'public' }, place.call()),
    forgetting: (place: Place, memory_id: string) => place.memory.forget({ memory_id }, place.call()),
  };
  for (const [name, change] of Object.entries(changes)) {
    it(`leaves the turn after no old word, in field or vector, wherever ${name} is cut off; jobs make it whole`, async () => {
      const place = open();
      let points = 0;
      for (let finished = false; !finished; points += 1) {
        expect(points, 'crash points').to.be.below(60);
        const session = `s${points}`;
        const [first, second] = [await write(place, session, 1, 'confidential'), await write(place, session, 2, 'yes')];
        await embedAll(place);
        expectVector(await head(place, second), 'confidential\nyes', 'before');
        let calls = 0;
        entered = () => {
          calls += 1;
          if (calls > points) throw new HindsightError('ERR_STORE_UNAVAILABLE');
        };
        await change(place, first).catch(() => undefined);
        finished = calls <= points;
        entered = undefined;
        const note = `crash at call ${points + 1}`;
        const changed = (await head(place, first)).version > 1;
        const left = await head(place, second);
        if (changed) {
          expect(left.lex_context ?? '', note).not.to.include('confidenti');
          if (left.vec_en !== undefined) expectVector(left, 'yes', note);
        }
        now += 61_000;
        await repairAll(place);
        await embedAll(place);
        const lender = await head(place, first);
        const words = lender.version === 1 ? 'confidential' : lender.status === 'active' ? 'public' : undefined;
        const whole = await head(place, second);
        expectVector(whole, words === undefined ? 'yes' : `${words}\nyes`, note);
        expect(whole.prev_turn_id, note).to.equal(words === undefined ? undefined : first);
        expect(whole.spaces_due, note).to.deep.equal([]);
      }
      expect(points).to.be.greaterThan(5);
    });
  }

  it('finds the turns after one by reference, whatever their status, visibility and number', async () => {
    const place = open();
    const first = await write(place, 's', 1, 'confidential');
    const after = STATUSES.map((status) =>
      memoryRecord({
        tenant: place.tenant,
        status,
        session_id: 's',
        turn: 2,
        content: 'yes',
        lex_context: 'confidenti ye',
        prev_turn_id: first,
      }),
    );
    await store.index.createMany(after.map(admit));
    await place.deps.dirty.mark(place.tenant);
    await place.memory.forget({ memory_id: first }, place.call());
    for (const { memory_id, status } of after) {
      const record = await head(place, memory_id);
      expect(record.lex_context, status).to.equal('ye');
      expect(record, status).not.to.have.property('prev_turn_id');
    }
  });

  it('lends the words of a turn that waited for a person once they let it in, in field and vector', async () => {
    const place = open();
    const person = principal({ scopes: [...SCOPES, 'memory:confirm'] });
    const [first, second] = [await write(place, 's', 1, 'held confidential'), await write(place, 's', 2, 'yes')];
    await embedAll(place);
    expectVector(await head(place, second), 'yes', 'before');
    const { items } = await place.memory.listForReview('pending', {}, place.call(person));
    const content_hash = items[0]?.content_hash ?? '';
    await place.memory.decide('pending', { memory_id: first, decision: 'approve', content_hash }, place.call(person));
    await embedAll(place);
    expect(await head(place, second)).to.include({ prev_turn_id: first });
    expectVector(await head(place, second), 'held confidential\nyes', 'after');
    expectVector(await head(place, first), 'held confidential', 'its own');
  });

  it('links a later turn when the earlier one comes after it, in any process', async () => {
    const place = open();
    const fifth = await write(place, 's', 5, 'five');
    const fourth = await write(place, 's', 4, 'four');
    expect(await head(place, fifth)).to.include({ prev_turn_id: fourth, lex_context: 'four five' });
    const other = { ...open(), tenant: place.tenant, call: place.call };
    const third = await write(other, 's', 3, 'three');
    expect(await head(place, fourth)).to.include({ prev_turn_id: third, lex_context: 'three four' });
  });

  it('keeps a repeated proposal once, and ends it with its head', async () => {
    const place = open();
    const ann = principal({ namespaces: ['team.x'], scopes: SCOPES });
    const bob = principal({ sub: 'bob', namespaces: ['team.x'] });
    const { results } = await place.memory.write({ content: 'Invoices go to NL-77', namespace: 'team.x' }, place.call(ann));
    const memory_id = results[0]?.memory_id ?? '';
    const propose = () => place.memory.update({ memory_id, content: 'Invoices go to XX-99' }, place.call(bob));
    const answers = await Promise.all([propose(), propose(), propose()]);
    expect(answers.map((a) => a.outcome).sort()).to.deep.equal(['conflict', 'duplicate', 'duplicate']);
    const listed = () =>
      place.memory.list({ namespaces: ['team.x'], filter: { status: ['candidate'] } }, place.call(ann)).then(({ items }) => items);
    expect((await listed()).map((item) => item.memory_id)).to.deep.equal([answers[0]?.candidate_id]);
    expect(await head(place, memory_id)).to.include({ content: 'Invoices go to NL-77', version: 1, trust_tier: 3 });
    await place.memory.forget({ memory_id }, place.call(ann));
    expect(await listed()).to.deep.equal([]);
    expect((await head(place, answers[0]?.candidate_id ?? '')).status).to.equal('forgotten');
  });

  it('lets one of two changes of the same version win, and keeps every version with no gap in time', async () => {
    const place = open();
    const { results } = await place.memory.write({ content: 'start' }, place.call());
    const memory_id = results[0]?.memory_id ?? '';
    const clash = (version: number) =>
      Promise.all(
        ['left', 'right'].map((side) =>
          place.memory.update({ memory_id, version, content: `${side} ${version}` }, place.call()).then(
            (answer) => answer.outcome,
            (error: unknown) => (error as HindsightError).code,
          ),
        ),
      );
    for (let version = 1; version <= 8; version += 1) {
      now += 1_000;
      expect((await clash(version)).sort(), `version ${version}`).to.deep.equal(['ERR_PRECONDITION_FAILED', 'updated']);
      // one that fails after its copy was made
      now += 1_000;
      entered = (method) => {
        if (method === 'replace') throw new HindsightError('ERR_STORE_UNAVAILABLE');
      };
      await place.memory.update({ memory_id, content: 'never' }, place.call()).catch(() => undefined);
      entered = undefined;
    }
    const { versions } = await place.memory.history({ memory_id }, place.call());
    expect(versions.map((v) => v.version)).to.deep.equal([9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(versions.map((v) => v.content)).not.to.include('never');
    expect(versions.slice(1).map((v) => v.valid_to)).to.deep.equal(versions.slice(0, -1).map((v) => v.valid_from));
  });
});
