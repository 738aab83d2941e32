/** What is held back or confirmed, as a person is shown it, and the hash that binds their decision to the very texts. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../domain/canonical-json.ts';
import { isoTime } from '../domain/clock.ts';
import { PENDING_LIFE_MS, type MemoryRecord } from '../domain/memory.ts';
import type { ReviewItem } from '../domain/wire/review.ts';
import type { Standing } from '../guard/confirmation.ts';
import { sealedTextsOf } from '../guard/sealed-texts.ts';
import { spelledOut } from '../text/spelled-out.ts';
import { defined } from './canonical.ts';
import { trustOf } from './view.ts';

/** Undefined: what is quarantined stays until somebody decides, and what is active waits for nobody. */
export function waitsUntil(record: Pick<MemoryRecord, 'status' | 'created_at'>): string | undefined {
  return record.status === 'pending' ? isoTime(Date.parse(record.created_at) + PENDING_LIFE_MS) : undefined;
}

/** `trust`: how far it is trusted for the person who is asked. */
export function reviewItemOf(record: MemoryRecord, trust: Standing): ReviewItem {
  const texts = sealedTextsOf(record);
  return {
    memory_id: record.memory_id,
    namespace: record.namespace,
    owner: record.owner,
    status: record.status,
    texts: Object.fromEntries(Object.entries(texts).map(([field, text]) => [field, spelledOut(text)])),
    content_hash: contentHash(record),
    trust: trustOf(record, trust),
    guard: { verdict: record.guard.verdict, rule_ids: [...record.guard.rule_ids], policy_revision: record.guard.policy_revision },
    created_at: record.created_at,
    ...defined({ expires_at: waitsUntil(record) }),
  };
}

/** SHA-256 over every text and the memory's id, base64url. */
export function contentHash(record: MemoryRecord): string {
  return createHash('sha256')
    .update(canonicalJson([record.memory_id, sealedTextsOf(record)]))
    .digest('base64url');
}
