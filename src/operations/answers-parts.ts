/** Values that the example answers share, so that an id or a trace is the same wherever it stands. */

export const ID = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
export const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
export const AT = '2026-05-04T09:30:05.123Z';
export const LATER = '2026-05-06T16:02:41.870Z';
export const TRUST = { tier: 'user_stated', origins: ['user'] };
export const GUARD = {
  verdict: 'allow',
  rule_ids: [],
  policy_revision: '9ca3b8bf66b53da2055b478143e62877db28566a3b7c0e09f136e5f980171bde',
};

/** What the example memories have in common, beside what each says. */
export const MEMORY = {
  namespace: 'user.alice',
  visibility: 'private',
  created_at: AT,
  updated_at: AT,
  owner: 'ef22a34b47d0ac68ba4c0bfddd8512f3',
  trust: TRUST,
  reference_only: false,
  status: 'active',
  version: 1,
  settled: true,
  guard: GUARD,
};
