import { expect } from 'chai';
import { tellDegraded } from '../../../src/compose/degraded.ts';

describe('a part that is missing', () => {
  const told = (part: string): { readonly counted: readonly string[]; readonly logged: readonly unknown[] } => {
    const counted: string[] = [];
    const logged: unknown[] = [];
    const tell = tellDegraded(
      { warn: (facts: unknown, message?: unknown) => void logged.push([facts, message]) },
      { searchDegraded: (name) => void counted.push(name) },
    );
    const error = new Error('away');
    tell(part, error);
    expect(logged).to.have.length(1);
    expect((logged[0] as [object])[0]).to.deep.equal({ part, err: error });
    return { counted, logged: logged.map((line) => (line as [object, string])[1]) };
  };

  it('of a search is counted and logged as such', () => {
    expect(told('vector')).to.deep.equal({ counted: ['vector'], logged: ['search is degraded'] });
  });

  it('of a write or a summary is no degraded search', () => {
    const marks = told('marks');
    expect(marks.counted).to.deep.equal([]);
    expect(marks.logged[0]).to.include('not marked yet').and.not.include('search is');
    expect(told('llm').logged[0]).to.include('without the language model');
  });
});
