/** What memory_audit makes of records that were put into the log by somebody else. */
import { expect } from 'chai';
import type { AuditRecord } from '../../../src/domain/audit.ts';
import { memoryAudit } from '../../../src/operations/memory-audit.ts';
import { principal } from '../../support/principals.ts';

const RECORD: AuditRecord = {
  record_type: 'operation',
  tenant: 'acme',
  chain: 'c',
  seq: 1,
  at: '2026-05-01T00:00:00.000Z',
  policy_revision: 'r1',
  prev_hash: 'p',
  hash: 'h',
};

describe('operations/memory_audit', () => {
  it('answers with the records that have the form of one, whatever else stands in the index', async () => {
    const odd = [{ seq: 5.5 }, { seq: '5' }, { hash: null }, { chain: ['c'] }, { verdict: 'allow' }, { record_type: 'x' }];
    const records = [
      RECORD,
      ...odd.map((part) => ({ ...RECORD, ...part }) as unknown as AuditRecord),
      { ...RECORD, seq: 2, signature: 's' },
    ];
    const context = { audit: { read: async () => ({ records, next: undefined }) }, principal: principal(), traceId: 't' };
    const answer = memoryAudit.output.parse(await memoryAudit.handle({}, context as never));
    expect(answer.records.map(({ seq }) => seq)).to.deep.equal([1, 2]);
    expect(JSON.stringify(answer)).not.to.include('signature');
  });
});
