import { expect } from 'chai';
import { HindsightError, type FieldFault } from '../../../src/errors.ts';
import { parseQuery, queryParameters, toParameterFaults } from '../../../src/http/query.ts';
import { memoryForget } from '../../../src/operations/memory-forget.ts';
import { memoryGet } from '../../../src/operations/memory-get.ts';
import { memoryList } from '../../../src/operations/memory-list.ts';

const LIST = queryParameters(memoryList, undefined, []);

function faults(query: string): readonly FieldFault[] {
  try {
    parseQuery(query, LIST);
  } catch (error) {
    if (error instanceof HindsightError && error.code === 'ERR_REQUEST_INVALID') return error.faults;
    throw error;
  }
  throw new Error('it was taken');
}

describe('http/query', () => {
  it('lays the filter flat and leaves free keys out', () => {
    expect(LIST.map(({ name }) => name)).to.have.members([
      'namespaces',
      'limit',
      'cursor',
      'layer',
      'kind',
      'tags',
      'status',
      'trust',
      'source',
      'owner',
      'subject',
      'topic',
      'task_type',
      'task_id',
      'session_id',
      'created_gte',
      'created_lt',
      'occurred_gte',
      'occurred_lt',
    ]);
  });

  it('leaves out what stands in the path and what the binding does not take', () => {
    expect(queryParameters(memoryGet, undefined, ['memory_id']).map(({ name }) => name)).to.deep.equal(['raw', 'history']);
    const binding = memoryForget.http.find(({ method }) => method === 'DELETE');
    expect(queryParameters(memoryForget, binding?.fields, ['memory_id']).map(({ name }) => name)).to.deep.equal([
      'version',
      'mode',
      'dry_run',
    ]);
  });

  it('puts values where the schema wants them', () => {
    const query =
      'namespaces=user.ann,shared.team&namespaces=agent.a&kind=fact&created_gte=2026-01-01T00:00:00Z&limit=5&subject=%E6%9D%8E+%E6%98%8E';
    expect(parseQuery(query, LIST)).to.deep.equal({
      namespaces: ['user.ann', 'shared.team', 'agent.a'],
      filter: { kind: ['fact'], created: { gte: '2026-01-01T00:00:00Z' }, subject: '李 明' },
      limit: 5,
    });
  });

  it('keeps a comma in free text', () => {
    expect(parseQuery('tags=a,b&tags=c', LIST)).to.deep.equal({ filter: { tags: ['a,b', 'c'] } });
  });

  it('leaves what does not look like its type for the schema to refuse', () => {
    expect(parseQuery('limit=1e9', LIST)).to.deep.equal({ limit: '1e9' });
    expect(parseQuery('limit=', LIST)).to.deep.equal({ limit: '' });
    expect(parseQuery('raw=yes', queryParameters(memoryGet, undefined, ['memory_id']))).to.deep.equal({ raw: 'yes' });
    expect(parseQuery('raw=true', queryParameters(memoryGet, undefined, ['memory_id']))).to.deep.equal({ raw: true });
  });

  it('refuses a single value that comes twice', () => {
    expect(faults('limit=1&limit=2')).to.deep.equal([{ pointer: '/limit', message: 'is given more than once' }]);
  });

  it('refuses unknown names without repeating them', () => {
    for (const query of ['namespace=a', '__proto__=1', 'access_token=x', 'filter[kind]=fact', 'KIND=fact', '=1'])
      expect(faults(query)).to.deep.equal([{ pointer: '', message: 'has a query parameter that is not known' }]);
  });

  it('refuses broken percent-encoding', () => {
    for (const value of ['%', '%zz', '%ff', '%c0%af']) expect(faults(`subject=${value}`)[0]?.pointer).to.equal('/subject');
  });

  it('names faults of the input by their parameter', () => {
    const message = 'm';
    expect(
      toParameterFaults(
        [
          { pointer: '/filter/created/gte', message },
          { pointer: '/filter/kind/0', message },
          { pointer: '/namespaces/1', message },
          { pointer: '', message },
        ],
        LIST,
      ).map(({ pointer }) => pointer),
    ).to.deep.equal(['/created_gte', '/kind/0', '/namespaces/1', '']);
  });
});
