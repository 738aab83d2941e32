/** The signals' formulas: known values, bounds, order, and that the engine's clause and the service use one value. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { HitRecord } from '../../../src/domain/ranking.ts';
import { isShortChinese, rankContext } from '../../../src/ranking/context.ts';
import { SIGNALS, WEIGHT_NAMES, engineFunctions, engineTotal } from '../../../src/ranking/signals/catalogue.ts';
import type { Evidence, Signal } from '../../../src/ranking/signals/signal.ts';
import { withWeights } from '../../../src/ranking/profile.ts';
import { recordOf } from '../../support/hits.ts';
import { ASKED_AT_MS, ASSISTANT, PROFILES, SPECS, en, specOf, zh } from '../../support/search-specs.ts';

const DAY_MS = 86_400_000;
const CONTEXT = rankContext(specOf({ query: 'tea', vectors: [en(), zh()], passages: true, taskId: 't', taskType: 'y' }));

const signal = (name: string): Signal => {
  const found = SIGNALS.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(name);
  return found;
};
const evidence = (over: Partial<Evidence> = {}, record: Partial<HitRecord> = {}): Evidence => ({
  record: recordOf({ memory_id: 'm', ...record }),
  engineScore: 0,
  lexical: null,
  speaker: false,
  date: null,
  exact: null,
  cosine: null,
  otherCosine: null,
  passageCosine: null,
  rescued: false,
  withoutVector: false,
  ...over,
});
const normalised = (name: string, given: Evidence): number | null => {
  const raw = signal(name).raw(given, CONTEXT);
  return raw === null || raw === undefined ? null : signal(name).normalise(raw, CONTEXT);
};
const daysAgo = (days: number): Partial<HitRecord> => ({ event_at: new Date(ASKED_AT_MS - days * DAY_MS).toISOString() });

describe('ranking signals', () => {
  it('calibrate a cosine by its own space', () => {
    expect(normalised('vector', evidence({ cosine: 0.79 }))).to.be.closeTo(0.5, 1e-9);
    expect(normalised('vector', evidence({ cosine: 0.5 }))).to.equal(0);
    expect(normalised('vector', evidence({ cosine: 1 }))).to.equal(1);
    expect(normalised('vector_other', evidence({ otherCosine: 0.425 }))).to.be.closeTo(0.5, 1e-9);
    expect(normalised('passage', evidence({ passageCosine: 0.79 }))).to.be.closeTo(0.5, 1e-9);
  });

  it('count a record that holds the very code as at least .7 similar, only where the question has one', () => {
    const asked = rankContext(specOf({ query: 'Where is A-8841?', vectors: [en()] }));
    const raw = (given: Evidence, context = asked): number | null | undefined => signal('rescue').raw(given, context);
    expect(raw(evidence({ rescued: true }))).to.equal(0.7);
    expect(raw(evidence())).to.equal(null);
    expect(raw(evidence(), CONTEXT)).to.equal(undefined);
    expect(signal('exact').raw(evidence({ exact: 0.5 }), asked)).to.equal(0.5);
    expect(signal('exact').raw(evidence(), CONTEXT)).to.equal(undefined);
    expect(signal('exact').sentence(0.5, 0.5, 'zh')).to.equal('含有问题中 50% 的编号、引用的原文或罕见名称');
  });

  it('saturate words at lex / (lex + 24)', () => {
    expect(normalised('lexical', evidence({ lexical: 24 }))).to.equal(0.5);
    expect(normalised('lexical', evidence({ lexical: 8 }))).to.equal(0.25);
    expect(normalised('lexical', evidence())).to.equal(null);
  });

  it('halve recency each half-life, before and after the time of asking alike', () => {
    expect(normalised('recency', evidence({}, daysAgo(0)))).to.equal(1);
    expect(normalised('recency', evidence({}, daysAgo(30)))).to.be.closeTo(0.5, 1e-12);
    expect(normalised('recency', evidence({}, daysAgo(-60)))).to.be.closeTo(0.25, 1e-12);
  });

  it('take unknown importance and confidence for the middle, and absent access for none', () => {
    expect(normalised('importance', evidence())).to.equal(0.5);
    expect(normalised('confidence', evidence({}, { confidence: 0 }))).to.equal(0);
    expect(normalised('access', evidence())).to.equal(0);
    expect(normalised('access', evidence({}, { access_level: 5 }))).to.equal(0.5);
    expect(normalised('trust', evidence({}, { trust_tier: 4 }))).to.be.closeTo(0.8, 1e-12);
  });

  it('give the same task 1, the same type of task 0.5, another one nothing', () => {
    expect(normalised('task', evidence({}, { task_id: 't', task_type: 'y' }))).to.equal(1);
    expect(normalised('task', evidence({}, { task_id: 'u', task_type: 'y' }))).to.equal(0.5);
    expect(normalised('task', evidence({}, { task_id: 'u', task_type: 'z' }))).to.equal(null);
    expect(signal('task').raw(evidence(), rankContext(specOf({ query: 'tea' }))), 'no task asked').to.equal(undefined);
  });

  it('stay within 0 and 1 for any raw value, and never fall as it becomes better', () => {
    for (const one of SIGNALS) {
      const better = one.name === 'recency' ? -1 : 1;
      fc.assert(
        fc.property(fc.double({ min: -2, max: 1e4, noNaN: true }), fc.double({ min: 0, max: 1e4, noNaN: true }), (raw, more) => {
          const low = one.normalise(raw, CONTEXT);
          const high = one.normalise(raw + more, CONTEXT);
          expect(low, one.name).to.be.within(0, 1);
          expect((high - low) * better, one.name).to.be.at.least(0);
        }),
      );
    }
  });

  it('have a formula, a source and a sentence in both languages', () => {
    for (const one of SIGNALS) {
      expect(one.formula, one.name).to.not.equal('');
      expect(one.source, one.name).to.not.equal('');
      expect(one.sentence(1, 1, 'en'), one.name).to.match(/^[A-Z0-9].*[a-z)\d%]$/);
      expect(one.sentence(1, 1, 'zh'), one.name).to.match(/\p{Script=Han}/u);
    }
    expect(new Set(SIGNALS.map(({ name }) => name)).size).to.equal(SIGNALS.length);
  });

  it('are the only names that profiles weigh', () => {
    for (const profile of PROFILES.values()) expect(WEIGHT_NAMES).to.include.members(Object.keys(profile.weights));
  });

  it('add to the engine what their functions say, computed here from the clauses themselves', () => {
    const number = fc.double({ min: 0, max: 1, noNaN: true });
    const record = fc.record(
      {
        importance: number,
        confidence: number,
        access_level: fc.integer({ min: 0, max: 30 }),
        task_id: fc.constantFrom('ticket-7', 'other'),
        task_type: fc.constantFrom('shipping', 'other'),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        record,
        fc.integer({ min: 0, max: 5 }),
        fc.double({ min: -400, max: 4_000, noNaN: true }),
        fc.constantFrom(...Object.values(SPECS)),
        (fields, tier, days, spec) => {
          const given = recordOf({ memory_id: 'm', ...fields, trust_tier: tier, ...daysAgo(days) });
          const context = rankContext(spec);
          const functions = engineFunctions(context) as unknown as EngineFunction[];
          const added = functions.reduce((sum, f) => sum + simulate(f, given), 0);
          expect(engineTotal(given, context)).to.be.closeTo(added, 1e-6);
          const unmatched = functions.length > 0 && functions.every((f) => f.filter !== undefined && simulate(f, given) === 0);
          expect(unmatched, 'a record no function matches gets 1 from Elasticsearch').to.equal(false);
        },
      ),
    );
  });

  it('count a Chinese question as short up to four letters or digits', () => {
    for (const query of ['茶', '绿茶？', '小明 电话', '5G套餐']) expect(isShortChinese(query), query).to.equal(true);
    for (const query of ['小明的电话', 'tea', 'WiFi密码', '']) expect(isShortChinese(query), query).to.equal(false);
    const { weights } = rankContext(SPECS.short);
    expect(weights).to.deep.include({ vector: 0.15, lexical: 0.85, speaker: 0.1 });
  });

  it('lay a second space on the first one’s scale, without a negative constant', () => {
    const share = fc.double({ min: 0.05, max: 0.9, noNaN: true });
    fc.assert(
      fc.property(share, share, share, share, (offset, scale, otherOffset, otherScale) => {
        const first = { ...en(), calibration: { offset, scale } };
        const second = { ...zh(), calibration: { offset: otherOffset, scale: otherScale } };
        const { similarity } = rankContext(specOf({ query: 'tea', vectors: [first, second] }));
        const { primary, other } = similarity as Required<NonNullable<typeof similarity>>;
        if (other === undefined) throw new Error('no second clause');
        const zero = (primary.boost * (1 + offset)) / 2;
        expect(other.constant).to.be.at.least(0);
        expect(other.constant + (other.boost * (1 + otherOffset)) / 2, 'calibrated 0 of both').to.be.closeTo(zero, 0.01);
        const one = (primary.boost * (1 + offset + scale)) / 2;
        expect(other.constant + (other.boost * (1 + otherOffset + otherScale)) / 2, 'calibrated 1').to.be.at.most(one + 0.01);
      }),
    );
  });

  it('leave vectors out when the caller gives them no weight', () => {
    const spec = specOf({ query: 'tea', vectors: [en()], profile: withWeights(ASSISTANT, { vector: 0 }) });
    expect(rankContext(spec).similarity).to.equal(undefined);
  });
});

interface EngineFunction {
  readonly weight: number;
  readonly filter?: {
    readonly term?: Record<string, unknown>;
    readonly bool?: { filter: { term: Record<string, unknown> }[]; must_not: { term: Record<string, unknown> }[] };
  };
  readonly exp?: { readonly event_at: { readonly origin: string; readonly scale: string; readonly decay: number } };
  readonly field_value_factor?: { readonly field: keyof HitRecord; readonly factor: number; readonly missing: number };
}

/** function_score's own arithmetic for the three kinds of function in use (Elasticsearch reference, function score query). */
function simulate({ weight, filter, exp, field_value_factor: factor }: EngineFunction, record: HitRecord): number {
  const has = (term: Record<string, unknown>): boolean =>
    Object.entries(term).every(([field, value]) => record[field as keyof HitRecord] === value);
  if (filter?.term !== undefined && !has(filter.term)) return 0;
  if (
    filter?.bool !== undefined &&
    !(filter.bool.filter.every(({ term }) => has(term)) && !filter.bool.must_not.some(({ term }) => has(term)))
  )
    return 0;
  if (exp !== undefined) {
    const { origin, scale, decay } = exp.event_at;
    const lambda = Math.log(decay) / Number.parseInt(scale, 10);
    return weight * Math.exp(lambda * Math.abs(Date.parse(record.event_at) - Date.parse(origin)));
  }
  if (factor !== undefined) return weight * factor.factor * ((record[factor.field] as number | undefined) ?? factor.missing);
  return weight;
}
