/** The audit log as its readers have it: pages and the check of the chains, of the caller's own tenant alone. */
import { z } from 'zod';
import { canonicalJson } from '../domain/canonical-json.ts';
import type { AuditFilter, AuditLog, AuditPosition, AuditStore } from '../domain/audit.ts';
import type { Principal } from '../domain/principal.ts';
import { HindsightError } from '../errors.ts';
import type { AnchorKey } from '../telemetry/audit/anchor-key.ts';
import { verifyAudit } from '../telemetry/audit/verify.ts';
import { openToken, signToken } from './signed.ts';

export interface AuditLogParts {
  readonly store: Pick<AuditStore, 'page' | 'snapshot'>;
  readonly key: AnchorKey;
  readonly cursorKey: Uint8Array;
  /** Has this process's own records stored first; those of others come within their moment. */
  readonly flush?: () => Promise<void>;
}

const position = z.tuple([z.number(), z.string(), z.int()]);

/** Errors: ERR_CURSOR_INVALID for a cursor made for another caller or filter; ERR_STORE_*. */
export function createAuditLog({ store, key, cursorKey, flush }: AuditLogParts): AuditLog {
  return {
    async read(filter, limit, cursor, by) {
      const binding = bindingOf(by, filter);
      const after = cursor === undefined ? undefined : opened(cursor, cursorKey, binding);
      await flush?.();
      const { records, next } = await store.page(by.tenant, filter, { limit, after });
      return { records, next: next === undefined ? undefined : signToken(next, cursorKey, binding) };
    },
    async verify(by, signal) {
      await flush?.();
      const snapshot = await store.snapshot();
      try {
        return await verifyAudit(snapshot, key, by.tenant, signal);
      } finally {
        await snapshot.close();
      }
    },
  };
}

const bindingOf = (by: Principal, filter: AuditFilter): readonly string[] => [
  'audit-cursor',
  by.tenant,
  by.owner,
  by.actor,
  canonicalJson(filter),
];

function opened(cursor: string, key: Uint8Array, binding: readonly string[]): AuditPosition {
  const parsed = position.safeParse(openToken(cursor, key, binding));
  if (!parsed.success) throw new HindsightError('ERR_CURSOR_INVALID');
  return parsed.data;
}
