/** Feedback in the stats sidecar of a real engine: no vote is lost among processes, nor to the access counters beside it. */
import { expect } from 'chai';
import type { KeptFeedback } from '../../src/domain/feedback.ts';
import { placementOf } from '../../src/elastic/placement.ts';
import { voted } from '../../src/memory/feedback/score.ts';
import { createFeedbackStore } from '../../src/stores/feedback.ts';
import { createAccessStats } from '../../src/stores/stats.ts';
import { nextId } from '../support/records.ts';
import { openStore, TEST_NOW, type TestStore } from '../support/store.ts';

describe('feedback store', function () {
  this.timeout(60_000);
  const tenant = 'acme';
  const clock = (): number => TEST_NOW;
  let store: TestStore;
  before(async function () {
    this.timeout(300_000);
    store = await openStore();
  });
  after(() => store.close());

  it('counts every principal once, whoever writes at the same time', async () => {
    const id = nextId();
    const [one, two] = [createFeedbackStore({ ...store, clock }), createFeedbackStore({ ...store, clock })];
    const stats = createAccessStats({ client: store.client, schema: store.schema, clock, flushIntervalMs: 3_600_000 });
    const cast = (by: string) => (kept: KeptFeedback | undefined) =>
      voted(kept, { by, below: false, verdict: 'useful', nowIso: new Date(TEST_NOW).toISOString(), note: `by ${by}` });
    await one.update(tenant, id, cast('first'));
    for (let round = 0; round < 4; round += 1) {
      stats.record(tenant, [id]);
      await Promise.all([one.update(tenant, id, cast(`a${round}`)), two.update(tenant, id, cast(`b${round}`)), stats.flush()]);
    }
    const kept = await two.update(tenant, id, cast('first'));
    expect(kept?.feedback).to.include({ useful: 9, wrong: 0 });
    expect(kept?.feedback.score).to.be.closeTo(9 / 11, 1e-6);
    expect(kept?.votes.map(({ by }) => by)).to.have.members(['first', ...[0, 1, 2, 3].flatMap((n) => [`a${n}`, `b${n}`])]);
    await stats.close();
    const { _source: document } = await store.client.get({ index: placementOf(store.prefix, tenant).stats, id });
    expect(document).to.include({ access_count: 4, memory_id: id });
  });

  it('leaves what is not changed, and what is not there, alone', async () => {
    const feedback = createFeedbackStore({ ...store, clock });
    const id = nextId();
    expect(await feedback.update(tenant, id, () => undefined)).to.equal(undefined);
    const found = await store.client.get({ index: placementOf(store.prefix, tenant).stats, id }, { ignore: [404] });
    expect(found.found).to.equal(false);
  });
});
