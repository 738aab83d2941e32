/** Namespace grammar and patterns: parsed by allow-list, never normalised into validity. */

const SEGMENT = '[a-z0-9][a-z0-9_-]{0,63}';
const NAMESPACE = new RegExp(`^${SEGMENT}(?:\\.${SEGMENT}){0,5}$`);
const PATTERN = new RegExp(`^(?:\\*\\*|(?:${SEGMENT}|\\*)(?:\\.(?:${SEGMENT}|\\*)){0,5}(?:\\.\\*\\*)?)$`);
export const NAMESPACE_MAX_CHARS = 200;

export function isNamespace(value: unknown): value is string {
  return typeof value === 'string' && value.length <= NAMESPACE_MAX_CHARS && NAMESPACE.test(value);
}

/** `*` is one segment, a closing `**` the rest (one segment or more); `**` alone is every namespace. */
export function isNamespacePattern(value: unknown): value is string {
  return typeof value === 'string' && value.length <= NAMESPACE_MAX_CHARS && PATTERN.test(value);
}

/** Whether a namespace lies under a pattern; prefixes end at a separator, so `acme.**` never covers `acme-evil`. */
export function matchesPattern(namespace: string, pattern: string): boolean {
  if (pattern === '**') return true;
  const want = pattern.split('.');
  const have = namespace.split('.');
  const open = want.at(-1) === '**';
  if (open) want.pop();
  if (open ? have.length <= want.length : have.length !== want.length) return false;
  return want.every((segment, i) => segment === '*' || segment === have[i]);
}

/** True for namespaces that many principals share by name: `shared` and everything below it. */
export function isSharedNamespace(namespace: string): boolean {
  return namespace === 'shared' || namespace.startsWith('shared.');
}

/** Elasticsearch clause on the keyword field `namespace` that selects what the pattern covers; null = everything. */
export function patternClause(pattern: string): Record<string, unknown> | null {
  if (pattern === '**') return null;
  if (!pattern.includes('*')) return { term: { namespace: pattern } };
  const open = pattern.endsWith('.**');
  const body = open ? pattern.slice(0, -3) : pattern;
  if (!body.includes('*')) return { prefix: { namespace: { value: `${body}.` } } };
  // Lucene regexp; the grammar admits only [a-z0-9_-.*], and `.` and `-` are escaped here.
  const regexp = body.replace(/[.-]/g, '\\$&').replaceAll('*', '[^.]+') + (open ? '\\..+' : '');
  return { regexp: { namespace: { value: regexp, flags: 'NONE' } } };
}
