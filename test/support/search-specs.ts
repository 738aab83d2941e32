/** Search specifications that the query builder's unit tests pin down and the integration test runs on a real engine. */
import type { QueryVector, SearchSpec } from '../../src/domain/ranking.ts';
import type { QueryClause } from '../../src/domain/scope.ts';
import { loadProfiles, withWeights } from '../../src/ranking/profile.ts';

export const PROFILES = loadProfiles(new URL('../../policies/ranking', import.meta.url).pathname);
export const ASSISTANT = profile('assistant');
/** Sunday 2024-05-05, 09:00 UTC. */
export const ASKED_AT_MS = Date.UTC(2024, 4, 5, 9);

export function profile(name: string): SearchSpec['profile'] {
  const found = PROFILES.get(name);
  if (found === undefined) throw new Error(`no profile ${name}`);
  return found;
}

/** Who asks. */
export const READER = 'ann';

export const scopeOf = (namespaces: readonly string[]): QueryClause[] => [
  { term: { tenant: 'acme' } },
  { terms: { namespace: namespaces } },
  { term: { doc_type: 'memory' } },
  { terms: { status: ['active', 'conflict'] } },
];

export const zh = (vector: readonly number[] = [1, 0, 0, 0]): QueryVector => ({
  space: 'zh',
  field: 'vec_zh',
  vector,
  boost: 400,
  calibration: { offset: 0.2, scale: 0.45 },
});
export const en = (vector: readonly number[] = [0, 1, 0, 0]): QueryVector => ({
  space: 'en',
  field: 'vec_en',
  vector,
  boost: 950,
  calibration: { offset: 0.64, scale: 0.3 },
});

export function specOf(over: Partial<SearchSpec> & { readonly query: string }): SearchSpec {
  return {
    vectors: [],
    filter: {},
    profile: ASSISTANT,
    topK: 5,
    askedAtMs: ASKED_AT_MS,
    taskId: undefined,
    taskType: undefined,
    passages: false,
    ...over,
  };
}

export const SPECS = {
  chinese: specOf({ query: '小明喜欢喝哪种绿茶', vectors: [zh()] }),
  mixed: specOf({ query: 'Which green tea does Caroline like?', vectors: [en(), zh()] }),
  dated: specOf({ query: 'What did Caroline buy on 2 May 2024?', vectors: [en()] }),
  datedChinese: specOf({ query: '上个月买了什么茶', vectors: [zh()] }),
  latest: specOf({ query: 'What is her latest order?', vectors: [en()] }),
  task: specOf({ query: 'Where is order A-8841?', vectors: [en()], taskId: 'ticket-7', taskType: 'shipping' }),
  taskType: specOf({ query: 'Where is order A-8841?', vectors: [en()], taskType: 'shipping' }),
  codes: specOf({ query: '“订单已经发货”说的是 A-8841 还是 v2.3.1？', vectors: [zh()] }),
  twoWordings: specOf({
    query: 'And did she get A-8841 on 2 May 2024?',
    also: 'Did Caroline receive the order A-8841, "green tea set"?',
    vectors: [en()],
  }),
  twoLanguages: specOf({ query: '她喜欢喝哪种绿茶', also: 'Which green tea does Caroline like?', vectors: [en(), zh()] }),
  codesDegraded: specOf({ query: 'Was A-8841 "shipped to Caroline"?' }),
  codesMixed: specOf({ query: 'Was A-8841 "shipped to Caroline"?', vectors: [en(), zh()], passages: true }),
  withoutExact: specOf({ query: 'Where is order A-8841?', vectors: [en()], profile: withWeights(ASSISTANT, { exact: 0 }) }),
  degraded: specOf({ query: 'Which green tea does Caroline like?' }),
  short: specOf({ query: '绿茶？', vectors: [zh()] }),
  passages: specOf({ query: '说明书里怎么泡绿茶', vectors: [zh()], passages: true }),
  mixedPassages: specOf({ query: 'how to brew green tea', vectors: [en(), zh()], passages: true }),
  filtered: specOf({ query: 'green tea', vectors: [en()], filter: { kind: ['preference'], trust: ['user_stated'] }, topK: 20 }),
  onlyTask: specOf({
    query: 'green tea',
    vectors: [en()],
    taskId: 'ticket-7',
    profile: withWeights(ASSISTANT, { recency: 0, importance: 0, confidence: 0, access: 0, trust: 0 }),
  }),
  wordless: specOf({ query: '?!', vectors: [] }),
  onlyWords: specOf({ query: 'green tea', vectors: [en()], profile: withWeights(ASSISTANT, { vector: 0, lexical: 0.6 }) }),
  seedStrategy: specOf({ query: 'green tea', vectors: [en()], profile: profile('seed-strategy') }),
} satisfies Record<string, SearchSpec>;
