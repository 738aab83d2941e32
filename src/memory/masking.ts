/** Masking in the service: texts are masked before anything else sees them, and what is kept of them becomes fields of the record. */
import type { MemoryRecord } from '../domain/memory.ts';
import type { Principal } from '../domain/principal.ts';
import type { MemoryDraft } from '../guard/admission.ts';
import { isCredential } from '../guard/secrets/finding.ts';
import { markOf, type FoundSecret, type Keep } from '../guard/secrets/mask.ts';
import { maskFields, type Masked } from '../guard/secrets/mask-fields.ts';
import { openValues, sealValues } from '../keys/sealed-values.ts';
import { HindsightError } from '../errors.ts';
import { fingerprint } from '../text/clean.ts';
import { defined } from './canonical.ts';
import type { MemoryDeps } from './deps.ts';
import { invalid } from './record.ts';
import { keyedHash } from './signed.ts';

type Deps = Pick<MemoryDeps, 'findSecrets' | 'tenantKeys'>;
type Finder = Pick<MemoryDeps, 'findSecrets' | 'keys'>;
type Place = Pick<MemoryRecord, 'tenant' | 'memory_id'>;
type MaskFields = Pick<MemoryRecord, 'masked' | 'sealed' | 'key_id' | 'sensitivity'>;

/** Fields that tell conversations and tasks apart: two masked ids stay two. */
const ID_FIELDS = ['session_id', 'task_id'] as const;
const ID_CHARS = 16;

/** An item, an update or a query with its texts masked; the same object when there is nothing to mask. */
export function masked<T extends object>(deps: Finder, tenant: string, value: T, keep: Keep = 'personal'): Masked<T> {
  const result = maskFields(deps.findSecrets, value, keep);
  if (result.found.length === 0) return result;
  const given = value as Readonly<Record<string, unknown>>;
  const ids = ID_FIELDS.flatMap((field) => {
    const id = given[field];
    const [first] = result.found.filter((secret) => secret.field === field);
    if (typeof id !== 'string' || first === undefined) return [];
    return [
      [field, `masked-${first.kind}-${keyedHash(deps.keys.idempotency, ['masked id', tenant, field, id]).slice(0, ID_CHARS)}`] as const,
    ];
  });
  return { value: { ...result.value, ...Object.fromEntries(ids) }, found: result.found };
}

/** A search or a filter as the index knows its words: a value that is masked there is asked for by its mark, so no search tells it. */
export function maskedQuery<T extends { readonly filter?: object | undefined }>(deps: Finder, tenant: string, input: T): T {
  const { value } = masked(deps, tenant, input);
  if (value.filter === undefined) return value;
  const filter = masked(deps, tenant, value.filter).value;
  return filter === value.filter ? value : { ...value, filter };
}

/** Record fields for what was taken out of its texts. Errors: as TenantKeys; nothing is asked of them for nothing found. */
export async function maskFieldsOf(deps: Deps, place: Place, found: readonly FoundSecret[]): Promise<MaskFields> {
  if (found.length === 0) return {};
  const marks = await Promise.all(
    found.map(async ({ kind, value }) => `${kind}:${await deps.tenantKeys.fingerprint(place.tenant, kind, plain(value))}`),
  );
  const kept = found.filter((secret) => secret.kept).map(({ field, kind, value }) => ({ field, kind, value }));
  return {
    masked: [...new Set(marks)].sort(),
    sensitivity: found.some(({ kind }) => isCredential(kind)) ? 'secret' : 'personal',
    ...(await sealValues(deps.tenantKeys, place, kept)),
  };
}

/** Without the separators and the invisible characters that one value is written with and another is not. */
const plain = (value: string): string =>
  value
    .normalize('NFKC')
    .replace(/[\s\p{Cf}\-‐–()·.]/gu, '')
    .toLowerCase();

/** Two texts that differ in masked values alone are two texts. */
export function maskedFingerprint(content: string, { masked: marks }: MaskFields): Partial<Pick<MemoryRecord, 'fingerprint'>> {
  return marks === undefined ? {} : { fingerprint: fingerprint(`${content}\n${marks.join(' ')}`) };
}

/**
 * A changed record with the mask fields of its new texts: what was found in them, and of what was kept before (by the memory, or by the
 * proposal that the change comes from) the values whose mark still stands. A tenant whose key is gone loses what cannot be opened any more.
 */
export async function remasked(
  deps: Deps,
  head: MemoryRecord,
  changed: MemoryRecord,
  found: readonly FoundSecret[],
  proposal?: MemoryRecord,
): Promise<MemoryRecord> {
  // a proposal brings every text of the memory as it is to be, with all that is masked there; two values may have one mark
  const source = proposal ?? head;
  if (found.length === 0 && wordsOf(changed) === wordsOf(head) && marksOf(source) === marksOf(head)) return changed;
  const { masked: _masked, sealed: _sealed, key_id: _key, sensitivity: _sensitivity, ...bare } = changed;
  const words = wordsOf(changed);
  if (!words.includes('[masked:')) return bare;
  const kept = await openValues(deps.tenantKeys, source).catch(noneOfDeletedKey);
  // a mark stands for what was found now first, for what was kept before if there are more of it
  const left = (mark: string, now = 0): boolean => occurrences(words, mark) > now;
  const marksNow = counted(found.map(markOf));
  const kindsNow = counted(found.map((one) => one.kind));
  const still = kept.flatMap(({ field, kind, value }) => {
    const secret = { field, kind: kind as FoundSecret['kind'], value, kept: true };
    const mark = markOf(secret);
    return left(mark, marksNow.get(mark)) ? [secret] : [];
  });
  const fields = await maskFieldsOf(deps, changed, distinct([...found, ...still]));
  const standing = (source.masked ?? []).filter((entry) => {
    const kind = entry.split(':', 1)[0] ?? '';
    return left(`[masked:${kind}`, kindsNow.get(kind));
  });
  const marks = [...new Set([...standing, ...(fields.masked ?? [])])].sort();
  if (wordsOf(head) === words && marks.join() === marksOf(head)) return changed;
  const sensitivity = [head.sensitivity, proposal?.sensitivity, fields.sensitivity].includes('secret') ? 'secret' : 'personal';
  return { ...bare, ...fields, masked: marks, sensitivity, ...maskedFingerprint(changed.content, { masked: marks }) };
}

/** The same values under the id of a proposal, which opens nothing of the memory's. */
export async function resealed(
  deps: Pick<Deps, 'tenantKeys'>,
  record: MemoryRecord,
  memoryId: string,
): Promise<Pick<MemoryRecord, 'sealed' | 'key_id'>> {
  if (record.sealed === undefined) return {};
  return sealValues(deps.tenantKeys, { tenant: record.tenant, memory_id: memoryId }, await openValues(deps.tenantKeys, record));
}

/** How often each value comes. */
function counted(values: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

const marksOf = ({ masked: marks }: Pick<MemoryRecord, 'masked'>): string => [...(marks ?? [])].sort().join();

const occurrences = (text: string, part: string): number => text.split(part).length - 1;

const wordsOf = ({ title, content, summary, subject, topic, tags, metadata }: MemoryRecord): string =>
  JSON.stringify([title, content, summary, subject, topic, tags, metadata]);

function distinct(secrets: readonly FoundSecret[]): readonly FoundSecret[] {
  const seen = new Set<string>();
  return secrets.filter(({ field, kind, value }) => {
    const key = JSON.stringify([field, kind, value]);
    return !seen.has(key) && seen.add(key) !== undefined;
  });
}

function noneOfDeletedKey(error: unknown): readonly [] {
  if (error instanceof HindsightError && error.code === 'ERR_KEY_DELETED') return [];
  throw error;
}

/** What the item asks to keep: credentials too, when a person says so (guard.md: sealed on request). @throws ERR_REQUEST_INVALID for anyone else. */
export function keepOf({ secrets }: { readonly secrets?: 'drop' | 'seal' | undefined }, { actor }: Pick<Principal, 'actor'>): Keep {
  if (secrets !== 'seal') return 'personal';
  if (actor !== 'user') throw invalid('/secrets', 'is sealed for a person who asks for it, not for an agent or a service');
  return 'all';
}

/** Texts as they were given, for the guard's rules alone. */
export function textsOf(item: Readonly<Partial<Record<(typeof GIVEN)[number], unknown>>>): Partial<MemoryDraft> {
  return defined(Object.fromEntries(GIVEN.map((field) => [field, item[field]])));
}

const GIVEN = ['title', 'content', 'summary', 'subject', 'topic', 'task_type', 'session_id', 'task_id', 'tags', 'metadata'] as const;
