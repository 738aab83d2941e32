/** From a checked item to a record draft: identity, place, layer, times and derived fields; trust is left to the guard. */
import { isoTime } from '../domain/clock.ts';
import type { Layer, MemoryRecord } from '../domain/memory.ts';
import type { Principal } from '../domain/principal.ts';
import type { WriteItem } from '../domain/wire/write.ts';
import { HindsightError } from '../errors.ts';
import { mayShare } from '../gate/access-policy.ts';
import type { MemoryDraft } from '../guard/admission.ts';
import { normalise } from '../providers/embedding/provider.ts';
import { spacesOf } from '../providers/embedding/spaces-of.ts';
import { defined } from './canonical.ts';
import type { MemoryDeps } from './deps.ts';
import { defaultLayer, type LayerPolicy } from './layer-policy.ts';
import { textFields, type Texts } from './texts.ts';

const DAY_MS = 86_400_000;

export interface Place {
  readonly memoryId: string;
  readonly namespace: string;
  /** Generation of the namespace, from its record. */
  readonly generation: number;
  readonly principal: Principal;
  readonly nowMs: number;
}

/** ISO 8601 of any spelling as UTC with milliseconds, the index's one spelling. */
export function utc(dateTime: string): string {
  return isoTime(Date.parse(dateTime));
}

/** Who wrote a version: its creator in `created_by`; the owner stays who made the memory. */
export function writerOf(principal: Principal): MemoryRecord['created_by'] {
  return defined({ sub: principal.owner, client_id: principal.clientId, actor: principal.actor });
}

/** Writer of what the service decides by itself. */
export const SYSTEM_WRITER: MemoryRecord['created_by'] = Object.freeze({ sub: 'system', actor: 'service' });

/** The time that recency and dates are read from: when it happened, never later than when it was stored. */
export function eventAt(occurredAt: string | undefined, createdAt: string): string {
  return occurredAt !== undefined && Date.parse(occurredAt) < Date.parse(createdAt) ? occurredAt : createdAt;
}

/** Vectors due for a text: every space that routing names and that is not there yet. */
export function dueSpaces(deps: Pick<MemoryDeps, 'embedder'>, texts: Pick<Texts, 'content' | 'title'>): readonly string[] {
  return spacesOf(deps.embedder, texts);
}

/**
 * The draft of a new memory.
 * @throws ERR_REQUEST_INVALID for a layer this caller may not name, or vectors that do not fit their space; ERR_SCOPE_MISSING for a shared
 * one without memory:share, ERR_NAMESPACE_FORBIDDEN for one where the access policy grants no sharing.
 */
export function draftOf(item: WriteItem, place: Place, deps: Pick<MemoryDeps, 'layers' | 'embedder' | 'defaultTtlDays'>): MemoryDraft {
  const { principal, nowMs } = place;
  const createdAt = isoTime(nowMs);
  const occurredAt = item.occurred_at === undefined ? undefined : utc(item.occurred_at);
  const ttlMs = item.ttl_seconds === undefined ? deps.defaultTtlDays * DAY_MS : item.ttl_seconds * 1000;
  const texts = textFields(item);
  const vectors = vectorFields(item, principal, deps);
  const ready = Object.keys(item.vectors ?? {});
  // Given vectors cover the record itself; passages still need theirs.
  const due = dueSpaces(deps, item).filter((space) => !ready.includes(space) || texts.passages !== undefined);
  return {
    doc_type: 'memory',
    memory_id: place.memoryId,
    tenant: principal.tenant,
    namespace: place.namespace,
    generation: place.generation,
    owner: principal.owner,
    created_by: writerOf(principal),
    visibility: visibilityOf(item, place),
    layer: layerOf(item, principal, deps.layers),
    ...defined({
      kind: item.kind,
      subject: item.subject,
      topic: item.topic,
      task_type: item.task_type,
      session_id: item.session_id,
      task_id: item.task_id,
      turn: item.turn,
      title: item.title,
      summary: item.summary,
      tags: item.tags === undefined ? undefined : [...new Set(item.tags)],
      metadata: item.metadata,
      importance: item.importance,
      confidence: item.confidence,
      pinned: item.pinned,
      admission: item.admission === 'keep' ? ('keep' as const) : undefined,
      occurred_at: occurredAt,
      expires_at: ttlMs > 0 ? isoTime(nowMs + ttlMs) : undefined,
      spaces_ready: ready.length > 0 ? ready : undefined,
      spaces_due: due.length > 0 ? due : undefined,
    }),
    content: item.content,
    ...texts,
    ...vectors,
    created_at: createdAt,
    updated_at: createdAt,
    valid_from: createdAt,
    event_at: eventAt(occurredAt, createdAt),
    status: 'active',
    version: 1,
  };
}

/** What others see takes memory:share wherever it stands; without it a memory is its owner's alone (guard.md, N6). */
/** Who sees it: what the item says, else shared where the writer may share and the place is nobody's own. Errors as draftOf has. */
export function visibilityOf(
  item: Pick<WriteItem, 'visibility'>,
  { namespace, principal }: Pick<Place, 'namespace' | 'principal'>,
): MemoryRecord['visibility'] {
  const shares = mayShare(principal, namespace);
  if (item.visibility === undefined) return shares && namespace.split('.')[0] !== 'user' ? 'shared' : 'private';
  if (item.visibility === 'shared' && !shares && principal.scopes.has('memory:share'))
    throw new HindsightError('ERR_NAMESPACE_FORBIDDEN', { params: { action: 'share' } });
  if (item.visibility === 'shared' && !shares)
    throw new HindsightError('ERR_SCOPE_MISSING', {
      params: { scope: 'memory:share' },
      faults: [{ pointer: '/visibility', message: 'shared needs the scope memory:share' }],
    });
  return item.visibility;
}

function layerOf(item: WriteItem, principal: Principal, policy: LayerPolicy): MemoryRecord['layer'] {
  if (item.layer === undefined) return defaultLayer(policy, item);
  // working memory is no record: what is written to it goes to memory/working
  const writable: readonly Layer[] = policy.writable[principal.actor].filter((layer) => layer !== 'working');
  if (writable.includes(item.layer)) return item.layer;
  throw invalid('/layer', `is not written directly by this actor; give ${writable.join(' or ')}`);
}

/** Ready vectors, scaled to length 1, under the fields of their spaces. */
function vectorFields(
  item: WriteItem,
  principal: Principal,
  deps: Pick<MemoryDeps, 'embedder'>,
): Readonly<Record<`vec_${string}`, readonly number[]>> {
  const fields: Record<`vec_${string}`, readonly number[]> = {};
  if (item.vectors === undefined) return fields;
  if (!principal.scopes.has('memory:admin')) throw invalid('/vectors', 'needs the scope memory:admin');
  const { spaces } = deps.embedder;
  for (const [name, given] of Object.entries(item.vectors)) {
    const space = spaces.find((s) => s.name === name);
    if (space === undefined) throw invalid(`/vectors/${name}`, 'is not a vector space of this service');
    if (given.length !== space.dims) throw invalid(`/vectors/${name}`, `has not the dimension ${space.dims}`);
    const unit = isUnit(given) ? given : normalise(Float32Array.from(given));
    if (unit === undefined) throw invalid(`/vectors/${name}`, 'has no direction');
    fields[`vec_${space.field.slice('vec_'.length)}`] = Array.isArray(unit) ? unit : Array.from(unit);
  }
  return fields;
}

/** Length 1 within what float32 can tell: such a vector is kept as given, which spares an import two copies of it. */
function isUnit(vector: readonly number[]): boolean {
  let squares = 0;
  for (const x of vector) squares += x * x;
  return Math.abs(squares - 1) < 1e-6;
}

/** One fault of a request, by pointer relative to the item. */
export function invalid(pointer: string, message: string): HindsightError {
  return new HindsightError('ERR_REQUEST_INVALID', { params: { detail: `${pointer} ${message}` }, faults: [{ pointer, message }] });
}
