import { expect } from 'chai';
import { filter as filterSchema } from '../../../src/domain/wire/common.ts';
import { filterClauses, linkClauses } from '../../../src/elastic/filter.ts';
import { trustClause } from '../../../src/elastic/trust-filter.ts';
import { READER } from '../../support/search-specs.ts';

describe('elastic/filter', () => {
  it('turns an empty filter into no clause', () => {
    expect(filterClauses({}, READER)).to.deep.equal([]);
  });

  it('compiles every field of the wire schema', () => {
    const full = filterSchema.parse({
      layer: ['semantic'],
      kind: ['fact', 'rule'],
      tags: ['tea'],
      status: ['active'],
      trust: ['user_stated', 'operator'],
      source: ['web', 'email'],
      owner: 'o',
      subject: '李雷',
      topic: 't',
      task_type: 'tt',
      task_id: 'ti',
      session_id: 's',
      created: { gte: '2026-01-01T00:00:00Z', lt: '2026-02-01T00:00:00Z' },
      occurred: { lt: '2026-02-01T00:00:00Z' },
      metadata: { 'ticket.id': 7, urgent: true, lang: 'zh' },
    });
    expect(Object.keys(full).sort(), 'a field of the schema is not in this test').to.deep.equal(Object.keys(filterSchema.shape).sort());
    expect(filterClauses(full, READER)).to.deep.equal([
      { terms: { layer: ['semantic'] } },
      { terms: { kind: ['fact', 'rule'] } },
      { terms: { tags: ['tea'] } },
      { terms: { status: ['active'] } },
      { terms: { 'origin.type': ['web', 'email'] } },
      trustClause([3, 5], READER),
      { term: { owner: 'o' } },
      { term: { subject: '李雷' } },
      { term: { topic: 't' } },
      { term: { task_type: 'tt' } },
      { term: { task_id: 'ti' } },
      { term: { session_id: 's' } },
      { range: { created_at: { gte: '2026-01-01T00:00:00Z', lt: '2026-02-01T00:00:00Z' } } },
      { range: { occurred_at: { lt: '2026-02-01T00:00:00Z' } } },
      { term: { 'metadata.ticket.id': '7' } },
      { term: { 'metadata.urgent': 'true' } },
      { term: { 'metadata.lang': 'zh' } },
    ]);
  });

  it('adds a clause for every single field, so no condition is dropped in silence', () => {
    const samples: Record<string, unknown> = { trust: ['external'], created: {}, occurred: {}, metadata: { a: 'b' } };
    for (const name of Object.keys(filterSchema.shape)) {
      const shape = filterSchema.shape[name as keyof typeof filterSchema.shape];
      const value = samples[name] ?? (shape.safeParse(['x']).success ? ['x'] : shape.safeParse('x').success ? 'x' : undefined);
      const enums: Record<string, unknown> = { layer: ['semantic'], kind: ['fact'], status: ['active'], source: ['web'] };
      const parsed = filterSchema.parse({ [name]: value ?? enums[name] });
      expect(filterClauses(parsed, READER), name).to.have.length(1);
    }
  });

  it('lets an empty list select nothing', () => {
    expect(filterClauses({ tags: [] }, READER)).to.deep.equal([{ terms: { tags: [] } }]);
  });

  it('reads an open range as "has a value"', () => {
    expect(filterClauses({ occurred: {} }, READER)).to.deep.equal([{ exists: { field: 'occurred_at' } }]);
  });

  it('makes one terms clause of each reference the service looks up by', () => {
    expect(linkClauses({})).to.deep.equal([]);
    expect(linkClauses({ turn: [4, 6], prev_turn_id: ['a'], conflict_with: ['b', 'c'] })).to.deep.equal([
      { terms: { turn: [4, 6] } },
      { terms: { prev_turn_id: ['a'] } },
      { terms: { conflict_with: ['b', 'c'] } },
    ]);
  });
});
