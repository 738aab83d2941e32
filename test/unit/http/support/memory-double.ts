/** A memory gateway for tests of the front end: notes every call, answers what the schemas allow; it stores nothing. */
import type { CallContext, MemoryGateway } from '../../../../src/memory/gateway.ts';
import type { MemoryView } from '../../../../src/domain/wire/read.ts';

export const MEMORY_ID = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
export const TRUST = { tier: 'user_stated' as const, origins: ['user'] };
export const GUARD = { verdict: 'allow', rule_ids: [], policy_revision: 'r1' };

export interface NotedCall {
  readonly method: keyof MemoryGateway;
  readonly input: Record<string, unknown>;
  readonly call: CallContext;
}

export interface MemoryDouble extends MemoryGateway {
  readonly calls: NotedCall[];
  /** Runs instead of the usual answer, after the call was noted. */
  intercept: ((noted: NotedCall) => Promise<unknown>) | undefined;
}

export const VIEW: MemoryView = {
  memory_id: MEMORY_ID,
  namespace: 'user.ann',
  content: 'Ann drinks tea.',
  layer: 'semantic',
  kind: 'preference',
  tags: [],
  visibility: 'private',
  created_at: '2026-05-04T09:30:00.000Z',
  updated_at: '2026-05-04T09:30:00.000Z',
  owner: '0'.repeat(32),
  trust: TRUST,
  reference_only: false,
  status: 'active',
  version: 3,
  settled: true,
  guard: GUARD,
};

const ANSWERS: Record<keyof MemoryGateway, unknown> = {
  write: { results: [{ memory_id: MEMORY_ID, outcome: 'stored', version: 1, settled: false, replaced: [], masked: [], guard: GUARD }] },
  search: { hits: [], nothing_relevant: true, degraded: [], took_ms: 1 },
  context: { context: '', items: [], tokens: 0, nothing_relevant: true, degraded: [], took_ms: 1 },
  get: VIEW,
  list: { items: [VIEW], next_cursor: null },
  update: { memory_id: MEMORY_ID, outcome: 'updated', version: 4 },
  history: { memory_id: MEMORY_ID, versions: [] },
  restore: { memory_id: MEMORY_ID, outcome: 'restored', version: 4, restored_version: 1 },
  feedback: { results: [{ memory_id: MEMORY_ID, counted: true }] },
  forget: { forgotten: 1, memory_ids: [MEMORY_ID] },
  plannedCount: 2,
  reveal: { memory_id: MEMORY_ID, version: 3, values: [] },
  deleteKeys: { tenant: 'acme', keys_deleted: 0, purged: true },
  recallTrace: { recalls: [] },
  summarize: { summary: '', sentences: [], method: 'extractive', memories: 0, truncated: false, degraded: [] },
  readNamespace: { namespace: 'user.ann', collect: 'on' },
  switchCollect: { namespace: 'user.ann', collect: 'off' },
  listForReview: { items: [], next_cursor: null },
  heldBack: undefined,
  believes: true,
  acknowledge: { memory_id: MEMORY_ID, outcome: 'approved', status: 'active', version: 2, trust: TRUST },
  decide: { memory_id: MEMORY_ID, outcome: 'approved', status: 'active', version: 2, trust: TRUST },
  stats: {
    service: { url: 'http://t', version: '1.2.3', uptime_seconds: 1, engine: 'e', embedding: 'm', redis: 'off' },
    tenant: 'acme',
    memories: 0,
    namespaces: [],
    embedding_queue: { due: 0, dead: 0 },
    degraded: [],
  },
  exportLines: [],
  importItems: { results: [], verified: false },
  addTurn: { outcome: 'stored', reason: 'kept', masked: [], guard: GUARD, expires_at: null, turns: 1 },
  turns: { turns: [], expires_at: null, degraded: [] },
  setState: { outcome: 'stored', reason: 'kept', masked: [], guard: GUARD, expires_at: null },
  state: { state: {}, slots: [], expires_at: null, degraded: [] },
};

export function memoryDouble(): MemoryDouble {
  const calls: NotedCall[] = [];
  const answer =
    (method: keyof MemoryGateway) =>
    async (input: unknown, call: CallContext): Promise<never> => {
      const noted: NotedCall = { method, input: input as Record<string, unknown>, call };
      calls.push(noted);
      return (double.intercept === undefined ? ANSWERS[method] : await double.intercept(noted)) as never;
    };
  const double: MemoryDouble = {
    calls,
    intercept: undefined,
    write: answer('write'),
    search: answer('search'),
    context: answer('context'),
    get: answer('get'),
    list: answer('list'),
    update: answer('update'),
    history: answer('history'),
    restore: answer('restore'),
    feedback: answer('feedback'),
    forget: answer('forget'),
    plannedCount: () => 2,
    listForReview: (_state, input, call) => answer('listForReview')(input, call),
    heldBack: (memoryId, call) => answer('heldBack')({ memory_id: memoryId }, call),
    believes: () => true,
    acknowledge: answer('acknowledge'),
    decide: (_state, input, call) => answer('decide')(input, call),
    reveal: answer('reveal'),
    recallTrace: answer('recallTrace'),
    summarize: answer('summarize'),
    deleteKeys: answer('deleteKeys'),
    readNamespace: answer('readNamespace'),
    switchCollect: answer('switchCollect'),
    stats: answer('stats'),
    exportLines: answer('exportLines'),
    importItems: answer('importItems'),
    addTurn: answer('addTurn'),
    turns: answer('turns'),
    setState: answer('setState'),
    state: answer('state'),
  };
  return double;
}
