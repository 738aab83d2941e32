/** Whole memory records for tests, so that a case names only what it is about. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { MemoryRecord } from '../../src/domain/memory.ts';
import { createGuard, type Guard, type GuardOptions } from '../../src/guard/guard.ts';
import { trustPolicySchema, type TrustPolicy } from '../../src/guard/policy.ts';
import { principal } from './principals.ts';

const policies = join(import.meta.dirname, '..', '..', 'policies');
export const trustPolicy: TrustPolicy = trustPolicySchema.parse(parse(readFileSync(join(policies, 'trust.yaml'), 'utf8')));

let counter = 0;

/** A new UUIDv7-shaped id, different on each call. */
export function nextId(): string {
  counter += 1;
  return `0197a1b2-c3d4-7000-8000-${counter.toString(16).padStart(12, '0')}`;
}

/** An active, user-stated record of `ann` in her own namespace. */
export function memoryRecord(fields: Partial<MemoryRecord> = {}): MemoryRecord {
  const { owner } = principal();
  return {
    doc_type: 'memory',
    memory_id: nextId(),
    tenant: 'acme',
    namespace: 'user.ann',
    generation: 1,
    owner,
    created_by: { sub: owner, actor: 'user' },
    visibility: 'private',
    layer: 'semantic',
    content: 'Ann likes green tea',
    language: 'en',
    created_at: '2026-03-01T10:00:00.000Z',
    updated_at: '2026-03-01T10:00:00.000Z',
    valid_from: '2026-03-01T10:00:00.000Z',
    event_at: '2026-03-01T10:00:00.000Z',
    trust_tier: 3,
    origin: [{ type: 'user', principal: owner, ts: '2026-03-01T10:00:00.000Z' }],
    guard: { verdict: 'allow', rule_ids: [], policy_revision: 'r1' },
    status: 'active',
    version: 1,
    fingerprint: 'f',
    ...fields,
  };
}

/** The real guard over the real trust policy. */
export function testGuard(options: Partial<GuardOptions> = {}): Guard {
  return createGuard({
    trust: trustPolicy,
    policyRevision: 'r1',
    clock: () => Date.parse('2026-03-01T12:00:00.000Z'),
    ...options,
  });
}
