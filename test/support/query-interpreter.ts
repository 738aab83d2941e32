/** Evaluates the small part of Query DSL that filters are made of, so that tests can compare a filter with a decision. */
type Doc = Readonly<Record<string, unknown>>;
type Clause = Readonly<Record<string, unknown>>;

/** Does the document match the clause? Throws on any clause type it does not know. */
export function matches(clause: Clause, doc: Doc): boolean {
  const [entry, ...rest] = Object.entries(clause);
  if (entry === undefined || rest.length > 0) throw new Error(`a clause has one key: ${JSON.stringify(clause)}`);
  const [type, body] = entry as [string, Record<string, never>];
  switch (type) {
    case 'match_none':
      return false;
    case 'term': {
      const [field, value] = only<unknown>(body);
      return valuesOf(doc, field).some((have) => sameKeyword(have, value));
    }
    case 'terms': {
      const [field, values] = only<readonly unknown[]>(body);
      return valuesOf(doc, field).some((have) => values.some((value) => sameKeyword(have, value)));
    }
    case 'prefix': {
      const [field, { value }] = only<{ value: string }>(body);
      return valuesOf(doc, field).some((have) => String(have).startsWith(value));
    }
    case 'regexp': {
      const [field, { value }] = only<{ value: string }>(body);
      return valuesOf(doc, field).some((have) => new RegExp(`^(?:${value})$`).test(String(have)));
    }
    case 'exists':
      return valuesOf(doc, String((body as Record<string, unknown>)['field'])).length > 0;
    case 'range': {
      const [field, bounds] = only<Record<string, string>>(body);
      return valuesOf(doc, field).some((have) => inRange(Date.parse(String(have)), bounds));
    }
    case 'bool':
      return matchesBool(body, doc);
    default:
      throw new Error(`the interpreter does not know ${type}`);
  }
}

function matchesBool(body: Record<string, unknown>, doc: Doc): boolean {
  const list = (name: string): readonly Clause[] => (body[name] ?? []) as readonly Clause[];
  for (const key of Object.keys(body))
    if (!['filter', 'must', 'must_not', 'should', 'minimum_should_match'].includes(key)) throw new Error(`unknown bool part ${key}`);
  const should = list('should');
  const needed = Number(body['minimum_should_match'] ?? (should.length > 0 && list('filter').length + list('must').length === 0 ? 1 : 0));
  return (
    [...list('filter'), ...list('must')].every((c) => matches(c, doc)) &&
    !list('must_not').some((c) => matches(c, doc)) &&
    should.filter((c) => matches(c, doc)).length >= needed
  );
}

function only<T>(body: Record<string, unknown>): [string, T] {
  const entries = Object.entries(body);
  if (entries.length !== 1) throw new Error(`one field expected: ${JSON.stringify(body)}`);
  return entries[0] as [string, T];
}

/** Values under a dotted path, arrays flattened; null and missing are no value. */
function valuesOf(doc: unknown, path: string): unknown[] {
  let nodes: unknown[] = [doc];
  for (const key of path.split('.')) {
    nodes = nodes.flatMap((node) => (Array.isArray(node) ? (node as unknown[]) : [node]));
    nodes = nodes.map((node) => (typeof node === 'object' && node !== null ? (node as Record<string, unknown>)[key] : undefined));
  }
  return nodes
    .flatMap((node) => (Array.isArray(node) ? (node as unknown[]) : [node]))
    .filter((node) => node !== undefined && node !== null);
}

const sameKeyword = (have: unknown, want: unknown): boolean => String(have) === String(want);

function inRange(ms: number, bounds: Record<string, string>): boolean {
  return Object.entries(bounds).every(([op, bound]) => {
    const at = Date.parse(bound);
    if (op === 'gt') return ms > at;
    if (op === 'gte') return ms >= at;
    if (op === 'lt') return ms < at;
    if (op === 'lte') return ms <= at;
    throw new Error(`unknown range bound ${op}`);
  });
}
