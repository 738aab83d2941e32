/** Seals anew, with the tenant's current key, what older keys sealed: heads and version copies alike; each document by compare-and-set, so that it can be stopped and run again. */
import type { estypes } from '@elastic/elasticsearch';
import type { MemoryRecord } from '../domain/memory.ts';
import type { Sealed, TenantKeys } from '../domain/ports.ts';
import { HindsightError } from '../errors.ts';
import { bulk } from '../elastic/bulk.ts';
import { isMissingIndex, mapStoreError, RETRY, type StoreClient } from '../elastic/client.ts';
import { placementOf } from '../elastic/placement.ts';
import { sealedAad } from '../keys/sealed-values.ts';

export interface ResealOptions {
  readonly client: StoreClient;
  readonly prefix: string;
  readonly keys: TenantKeys;
}

export interface ResealReport {
  readonly resealed: number;
  /** Changed by others at the same moment: another run takes them. */
  readonly moved: number;
  /** Their key was deleted, or they do not open. */
  readonly unreadable: number;
}

const PAGE = 200;

type SealedPart = Pick<MemoryRecord, 'memory_id' | 'sealed' | 'key_id'>;
type Hit = estypes.SearchHit<SealedPart>;

/** Every document of the tenant that carries a sealed value of another key than `currentKeyId`. Errors: ERR_STORE_*, ERR_KEYS_UNAVAILABLE. */
export async function reseal({ client, prefix, keys }: ResealOptions, tenant: string, currentKeyId: string): Promise<ResealReport> {
  const place = placementOf(prefix, tenant);
  const total = { resealed: 0, moved: 0, unreadable: 0 };
  for (const index of [place.memory, place.versions]) {
    let after: Hit['sort'];
    do {
      const hits = await page(client, index, currentKeyId, after);
      const lines: string[] = [];
      for (const hit of hits) {
        const again = await sealedAgain(keys, tenant, hit._source);
        if (again === undefined) total.unreadable += 1;
        else lines.push(updateLines(hit, again));
      }
      for (const { status, errorType } of lines.length > 0 ? await bulk(client, index, lines) : []) {
        if (status < 300) total.resealed += 1;
        else if (status === 409 || status === 404) total.moved += 1;
        else
          throw new HindsightError('ERR_STORE_REJECTED', { cause: new Error(`a resealed document was refused: ${errorType ?? status}`) });
      }
      after = hits.length < PAGE ? undefined : hits.at(-1)?.sort;
    } while (after !== undefined);
  }
  return total;
}

async function page(client: StoreClient, index: string, currentKeyId: string, after: Hit['sort']): Promise<readonly Hit[]> {
  try {
    if (after === undefined) await client.indices.refresh({ index }, RETRY);
    const answer = await client.search<SealedPart>(
      {
        index,
        size: PAGE,
        query: { bool: { filter: [{ exists: { field: 'key_id' } }], must_not: [{ term: { key_id: currentKeyId } }] } },
        sort: [{ memory_id: 'asc' }, { version: 'asc' }],
        _source: ['memory_id', 'sealed', 'key_id'],
        seq_no_primary_term: true,
        track_total_hits: false,
        allow_partial_search_results: false,
        ...(after === undefined ? {} : { search_after: after }),
      },
      RETRY,
    );
    return answer.hits.hits;
  } catch (error) {
    if (isMissingIndex(error)) return [];
    throw mapStoreError(error);
  }
}

async function sealedAgain(keys: TenantKeys, tenant: string, source: SealedPart | undefined): Promise<Sealed | undefined> {
  if (typeof source?.sealed !== 'string' || typeof source.key_id !== 'string') return undefined;
  const aad = sealedAad(source.memory_id);
  try {
    return await keys.seal(tenant, await keys.open(tenant, source.sealed, source.key_id, aad), aad);
  } catch (error) {
    if (error instanceof HindsightError && (error.code === 'ERR_KEY_DELETED' || error.code === 'ERR_SEAL_BROKEN')) return undefined;
    throw error;
  }
}

function updateLines({ _id, _seq_no, _primary_term }: Hit, { sealed, keyId }: Sealed): string {
  const action = { update: { _id, if_seq_no: _seq_no, if_primary_term: _primary_term } };
  return `${JSON.stringify(action)}\n${JSON.stringify({ doc: { sealed, key_id: keyId } })}\n`;
}
