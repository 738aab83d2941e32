/** memory_export: everything the caller may see as signed lines, streamed from one point in time; nothing is kept on the server. */
import { createHash } from 'node:crypto';
import { isoTime } from '../domain/clock.ts';
import type { MemoryRecord } from '../domain/memory.ts';
import { tierName } from '../domain/trust.ts';
import { EXPORT_FORMAT, type ExportInput, type TransferItem } from '../domain/wire/transfer.ts';
import { HindsightError } from '../errors.ts';
import { defined } from './canonical.ts';
import type { MemoryDeps } from './deps.ts';
import type { CallContext } from './gateway.ts';
import { maskedQuery } from './masking.ts';
import { makeVisible } from './visible.ts';
import { listStatuses } from './statuses.ts';
import { keyIdOf, lineSignature, signManifest } from './transfer-seal.ts';

const PAGE = 500;

/**
 * The lines of the file, each with its line end: a head, a record each, the manifest. Texts are without the envelope, so the caller must be
 * a person; each record passes the guard's screen. What breaks in between ends the iteration with its error, before the manifest.
 * @throws ERR_ACTOR_FORBIDDEN for agents and services, ERR_NAMESPACE_FORBIDDEN, ERR_STORE_UNAVAILABLE; all before the first line.
 */
export async function exportLines(deps: MemoryDeps, given: ExportInput, call: CallContext): Promise<AsyncIterable<string>> {
  const { principal } = call;
  if (principal.actor !== 'user') throw new HindsightError('ERR_ACTOR_FORBIDDEN');
  const input = maskedQuery(deps, principal.tenant, given);
  const { status, ...filter } = input.filter ?? {};
  const by = deps.guard.scope(
    { filter, pageSize: PAGE },
    { principal, action: 'read', reach: input.namespaces ?? 'granted', statuses: listStatuses(principal, status), nowMs: deps.clock() },
  );
  await makeVisible(deps, principal.tenant);
  const { tenant } = principal;
  const key = deps.keys.transfer;
  const exportId = deps.newId();

  async function* lines(): AsyncGenerator<string> {
    const digest = createHash('sha256');
    const sealed = (value: object): string => {
      const line = `${JSON.stringify(value)}\n`;
      digest.update(line);
      return line;
    };
    const head = { format: EXPORT_FORMAT, export_id: exportId, tenant, created_at: isoTime(deps.clock()), key_id: keyIdOf(key) };
    yield sealed({ hindsight_export: head });
    let count = 0;
    for await (const page of deps.index.scan(by)) {
      call.signal.throwIfAborted();
      const { items, degraded } = await deps.guard.screenRecords(page, by, { raw: true });
      // a screen that had to leave records out must not end in a manifest that says all are here
      if (degraded) throw new HindsightError('ERR_GUARD_UNAVAILABLE');
      for (const { value } of items) {
        const item = itemOf(value);
        count += 1;
        yield sealed({ ...item, sig: lineSignature(item, exportId, tenant, key) });
      }
    }
    const facts = { format: EXPORT_FORMAT, export_id: exportId, tenant, count, created_at: isoTime(deps.clock()) } as const;
    yield `${JSON.stringify({ hindsight_manifest: signManifest({ ...facts, sha256: digest.digest('hex') }, key) })}\n`;
  }
  return lines();
}

/** Vectors, lexical fields and counters are made anew where it is imported. */
function itemOf(record: MemoryRecord): TransferItem {
  // as JSON reads it back: the signature is over what the file holds
  return JSON.parse(
    JSON.stringify({
      memory_id: record.memory_id,
      namespace: record.namespace,
      content: record.content,
      ...defined({
        title: record.title,
        summary: record.summary,
        kind: record.kind,
        subject: record.subject,
        topic: record.topic,
        tags: record.tags,
        importance: record.importance,
        confidence: record.confidence,
        session_id: record.session_id,
        task_id: record.task_id,
        task_type: record.task_type,
        turn: record.turn,
        pinned: record.pinned,
        metadata: record.metadata,
        occurred_at: record.occurred_at,
        expires_at: record.expires_at,
        supersedes: record.supersedes,
        superseded_by: record.superseded_by,
      }),
      layer: record.layer,
      visibility: record.visibility,
      created_at: record.created_at,
      updated_at: record.updated_at,
      status: record.status,
      trust: { tier: tierName(record.trust_tier), origin: record.origin, ...defined({ taint: record.taint, parents: record.parents }) },
    }),
  ) as TransferItem;
}
