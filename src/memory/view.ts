/** Screened records as the wire shows them: hits, whole memories and versions; one mapper for all reads. */
import type { MemoryRecord } from '../domain/memory.ts';
import type { HitRecord, RankedHit } from '../domain/ranking.ts';
import { tierName } from '../domain/trust.ts';
import type { Hit, MemoryView, Neighbour } from '../domain/wire/read.ts';
import type { Standing } from '../guard/confirmation.ts';
import type { ScreenedItem } from '../guard/guard.ts';
import { signalsOf } from '../ranking/signal-ranks.ts';
import type { Given } from './budget.ts';
import { defined } from './canonical.ts';
import type { Held, Was } from './was.ts';

/** Tier by name, as it counts for the reader where that is known, who confirmed it, and the types of origin, each once. */
export function trustOf(record: Pick<HitRecord, 'trust_tier' | 'origin'>, standing?: Standing): Hit['trust'] {
  const { tier, confirmedBy }: Standing = standing ?? { tier: record.trust_tier };
  return {
    tier: tierName(tier),
    origins: [...new Set(record.origin.map((origin) => origin.type))],
    ...defined({ confirmed_by: confirmedBy }),
  };
}

/** What a hit shows when it is asked for or there. */
export interface HitExtras {
  /** The candidates it stood among, for an explanation; none without them. */
  readonly among?: readonly RankedHit[] | undefined;
  /** Since and until when it held, where that is shown. */
  readonly held?: Held | undefined;
  readonly was?: Was | undefined;
  readonly neighbours?: readonly Neighbour[] | undefined;
}

/** One hit as far as a token budget gives it: its text once, without the parts and predecessors that would cost more. */
export function givenView({ item, form, content, tokens }: Given, extras: HitExtras): Hit {
  const { summary: _summary, passage: _passage, was: _was, ...hit } = hitView(item, extras);
  return { ...hit, content, form, tokens };
}

/** One hit. */
export function hitView({ value, referenceOnly, trust }: ScreenedItem<RankedHit>, { among, held, was, neighbours }: HitExtras): Hit {
  const { record } = value;
  return {
    ...commonView(record, referenceOnly, trust),
    score: value.score,
    ...defined({
      was,
      doubt: (record.doubt ?? 0) > 0 ? record.doubt : undefined,
      conflict_with: record.status === 'conflict' && record.conflict_with !== undefined ? [...record.conflict_with] : undefined,
      valid_from: held?.from,
      valid_to: held?.to,
      superseded_by: held === undefined ? undefined : record.superseded_by,
      passage: value.passage,
      neighbours: neighbours === undefined ? undefined : [...neighbours],
      explain: among
        ? {
            engine_score: value.engineScore,
            signals: signalsOf(value, among),
            ...(value.wordings === undefined ? {} : { queries: value.wordings.map((words, i) => ({ query: i + 1, words })) }),
            ...(value.reranked === undefined ? {} : { reranked: { ...value.reranked } }),
          }
        : undefined,
    }),
  };
}

/** What a hit and a whole record both show. */
function commonView(record: HitRecord, referenceOnly: boolean, trust: Standing) {
  return {
    memory_id: record.memory_id,
    content: record.content,
    namespace: record.namespace,
    layer: record.layer,
    tags: [...(record.tags ?? [])],
    trust: trustOf(record, trust),
    reference_only: referenceOnly,
    created_at: record.created_at,
    version: record.version,
    status: record.status,
    ...defined({
      title: record.title,
      summary: record.summary,
      kind: record.kind,
      subject: record.subject,
      topic: record.topic,
      confidence: record.confidence,
      importance: record.importance,
      occurred_at: record.occurred_at,
    }),
  };
}

/** A whole record as its reader may see it. */
export function memoryView({ value: record, referenceOnly, trust }: ScreenedItem<MemoryRecord>): MemoryView {
  return {
    ...commonView(record, referenceOnly, trust),
    visibility: record.visibility,
    updated_at: record.updated_at,
    owner: record.owner,
    settled: (record.spaces_due ?? []).length === 0,
    guard: { verdict: record.guard.verdict, rule_ids: [...record.guard.rule_ids], policy_revision: record.guard.policy_revision },
    ...defined({
      metadata: record.metadata,
      pinned: record.pinned,
      session_id: record.session_id,
      task_id: record.task_id,
      task_type: record.task_type,
      turn: record.turn,
      expires_at: record.expires_at,
      reason: record.reason,
      supersedes: record.supersedes === undefined ? undefined : [...record.supersedes],
      superseded_by: record.superseded_by,
      conflict_with: record.conflict_with === undefined ? undefined : [...record.conflict_with],
    }),
  };
}
