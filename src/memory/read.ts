/** memory_get, memory_list and memory_history: reads by id and in pages, each through the guard's screen. */
import { mapUnscreened } from '../domain/sealed.ts';
import type { GetInput, HistoryAnswer, HistoryInput, ListAnswer, ListInput, MemoryView } from '../domain/wire/read.ts';
import { HindsightError } from '../errors.ts';
import type { AccessRequest } from '../gate/access-policy.ts';
import { defined } from './canonical.ts';
import { openCursor, signCursor } from './cursor.ts';
import type { MemoryDeps } from './deps.ts';
import { changedFields } from './diff.ts';
import type { CallContext } from './gateway.ts';
import { maskedQuery } from './masking.ts';
import { makeVisible } from './visible.ts';
import { listStatuses, shownStatuses, VERSION_STATUSES } from './statuses.ts';
import { withIntervals } from './versions.ts';
import { memoryView, trustOf } from './view.ts';

const DEFAULT_LIMIT = 50;

/** @throws ERR_MEMORY_NOT_FOUND for what is absent and for what may not be seen; ERR_ACTOR_FORBIDDEN for `raw` by an agent. */
export async function get(deps: MemoryDeps, input: GetInput, call: CallContext): Promise<MemoryView> {
  const raw = input.raw === true;
  if (raw && call.principal.actor !== 'user') throw new HindsightError('ERR_ACTOR_FORBIDDEN');
  const by = deps.guard.scope({ memoryIds: [input.memory_id] }, byId(deps, call));
  const records = mapUnscreened(await deps.index.get(by), (stored) => stored.map(({ record }) => record));
  const [item] = (await deps.guard.screenRecords(records, by, { raw })).items;
  if (item === undefined) throw new HindsightError('ERR_MEMORY_NOT_FOUND');
  return memoryView(item);
}

/** Newest first. @throws ERR_CURSOR_INVALID for a cursor of another caller or filter. */
export async function list(deps: MemoryDeps, given: ListInput, call: CallContext): Promise<Omit<ListAnswer, 'trace_id'>> {
  const { principal } = call;
  const input = maskedQuery(deps, principal.tenant, given);
  const { status, ...filter } = input.filter ?? {};
  const statuses = listStatuses(principal, status);
  const bound = { filter, statuses, namespaces: input.namespaces === undefined ? null : [...input.namespaces].sort() };
  const after = input.cursor === undefined ? undefined : openCursor(input.cursor, deps.keys.cursor, principal, bound);
  const by = deps.guard.scope(
    { filter, limit: input.limit ?? DEFAULT_LIMIT, after },
    { principal, action: 'read', reach: input.namespaces ?? 'default', statuses, nowMs: deps.clock() },
  );
  await makeVisible(deps, principal.tenant);
  const { items, next } = await deps.guard.screenList(await deps.index.list(by), by);
  return {
    items: items.map(memoryView),
    next_cursor: next === undefined ? null : signCursor(next, deps.keys.cursor, principal, bound),
  };
}

/**
 * Versions newest first, each with what changed against the one before. A copy is shown to who may see the head and may see the copy
 * as it was (a version that was private stays private).
 * @throws ERR_MEMORY_NOT_FOUND as get does.
 */
export async function history(deps: MemoryDeps, input: HistoryInput, call: CallContext): Promise<Omit<HistoryAnswer, 'trace_id'>> {
  const byHead = deps.guard.scope({ memoryIds: [input.memory_id] }, byId(deps, call));
  const head = mapUnscreened(await deps.index.get(byHead), (stored) => stored.map(({ record }) => record));
  if (deps.guard.permitted(head, byHead).length === 0) throw new HindsightError('ERR_MEMORY_NOT_FOUND');
  const byCopies = deps.guard.scope({ memoryId: input.memory_id }, { ...byId(deps, call), statuses: VERSION_STATUSES });
  const [now] = deps.guard.permitted(head, byHead);
  // A version that may not be seen still tells when the one before it ended.
  const copies = mapUnscreened(await deps.index.versions(byCopies), (found) =>
    withIntervals([...(now === undefined ? [] : [now]), ...found]).filter((record) => record !== now),
  );
  // Compared as stored, shown as screened: two envelopes of equal texts may differ.
  const stored = [...deps.guard.permitted(head, byHead), ...deps.guard.permitted(copies, byCopies)];
  const { items: shownHead } = await deps.guard.screenRecords(head, byHead);
  if (shownHead.length === 0) throw new HindsightError('ERR_MEMORY_NOT_FOUND');
  const shown = [...shownHead, ...(await deps.guard.screenRecords(copies, byCopies)).items];
  const storedAt = new Map(stored.map((record) => [record.version, record]));
  return {
    memory_id: input.memory_id,
    versions: shown.map(({ value: record, referenceOnly, trust }, i) => {
      const before = shown[i + 1]?.value;
      const [storedNow, storedBefore] = [storedAt.get(record.version), before && storedAt.get(before.version)];
      const fields = storedNow === undefined || storedBefore === undefined ? [] : changedFields(storedBefore, storedNow);
      return {
        version: record.version,
        content: record.content,
        status: record.status,
        valid_from: record.valid_from,
        ...defined({ valid_to: record.valid_to }),
        changed_by: defined({ actor: record.created_by.actor, client_id: record.created_by.client_id }),
        trust: trustOf(record, trust),
        reference_only: referenceOnly,
        changes: fields.map((field) => ({ field, ...defined({ before: before?.[field], after: record[field] }) })),
      };
    }),
  };
}

function byId(deps: MemoryDeps, call: CallContext): AccessRequest {
  return {
    principal: call.principal,
    action: 'read',
    reach: 'granted',
    statuses: shownStatuses(call.principal),
    nowMs: deps.clock(),
  };
}
