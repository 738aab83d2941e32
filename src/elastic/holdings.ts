/** What the namespaces in scope hold (languages, passages): decides which extra clauses a search carries; cached, and asked by existence only. */
import type { Client, estypes } from '@elastic/elasticsearch';
import type { Clock } from '../domain/clock.ts';
import { LANGUAGES } from '../domain/memory.ts';
import type { MemoryIndex } from '../domain/ports.ts';
import type { Scope } from '../domain/scope.ts';
import { openScoped } from '../domain/sealed.ts';
import { HindsightError } from '../errors.ts';
import { isAway, RETRY } from './client.ts';
import { boundQuery, ifIndexExists } from './memory-reads.ts';
import { placementOf } from './placement.ts';

export type Holdings = Pick<MemoryIndex, 'holdings' | 'noteWritten'>;

const CACHE_MS = 60_000;
const ENTRIES_KEPT = 10_000;

interface Entry {
  readonly languages: ReadonlySet<string>;
  readonly passages: boolean;
  readonly readAt: number;
  /** A write came after this was read: what it lacks must be asked again. */
  stale: boolean;
}

export function createHoldings(client: Client, prefix: string, clock: Clock): Holdings {
  const entries = new Map<string, Map<string, Entry>>();

  return {
    async holdings(box) {
      const { key } = openScoped(box);
      const { tenant } = box.scope;
      const known = entries.get(tenant)?.get(key);
      const fresh = known !== undefined && clock() - known.readAt < CACHE_MS;
      if (fresh && !known.stale) return known;
      const entry = await ask(client, prefix, box.scope, fresh ? known : undefined, clock);
      let ofTenant = entries.get(tenant);
      if (ofTenant === undefined || ofTenant.size >= ENTRIES_KEPT) {
        if (entries.size >= ENTRIES_KEPT) entries.clear();
        ofTenant = new Map();
        entries.set(tenant, ofTenant);
      }
      ofTenant.set(key, entry);
      return entry;
    },

    // A cached key stands for several namespaces: a write to any namespace of the tenant makes all its entries doubtful.
    noteWritten(tenant) {
      for (const entry of entries.get(tenant)?.values() ?? []) entry.stale = true;
    },
  };
}

/**
 * Asks for each language and for passages whether one record exists; what a still fresh entry already has is not asked again. Each
 * question ends at its first hit (terminate_after), or at once where the term is absent: an aggregation would read every record.
 */
async function ask(client: Client, prefix: string, scope: Scope, known: Entry | undefined, clock: Clock): Promise<Entry> {
  const readAt = known?.readAt ?? clock();
  const languages = LANGUAGES.filter((language) => known?.languages.has(language) !== true);
  const questions: { readonly name: string; readonly clause: estypes.QueryDslQueryContainer }[] = languages.map((language) => ({
    name: language,
    clause: { term: { language } },
  }));
  if (known?.passages !== true) {
    questions.push({ name: 'passages', clause: { nested: { path: 'passages', query: { exists: { field: 'passages.start' } } } } });
  }
  const found = await exists(client, placementOf(prefix, scope.tenant).memory, scope, questions);
  return {
    languages: new Set([...(known?.languages ?? []), ...languages.filter((language) => found.has(language))]),
    passages: known?.passages === true || found.has('passages'),
    readAt,
    stale: false,
  };
}

async function exists(
  client: Client,
  index: string,
  scope: Scope,
  questions: readonly { readonly name: string; readonly clause: estypes.QueryDslQueryContainer }[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  if (questions.length === 0) return found;
  const searches = questions.flatMap(({ clause }) => [
    {},
    {
      query: { bool: { filter: [boundQuery(scope, {}), clause] } },
      size: 0,
      terminate_after: 1,
      track_total_hits: 1,
    },
  ]);
  const answer = await ifIndexExists(() => client.msearch({ index, searches }, RETRY));
  for (const [i, response] of (answer?.responses ?? []).entries()) {
    const name = questions[i]?.name;
    if ('error' in response) {
      if (response.error.type === 'index_not_found_exception') continue;
      const code = isAway(response.status, response.error.type) ? 'ERR_STORE_UNAVAILABLE' : 'ERR_STORE_REJECTED';
      throw new HindsightError(code, { cause: new Error(`msearch: ${response.error.type}`) });
    }
    const { total } = response.hits;
    const count = typeof total === 'number' ? total : (total?.value ?? 0);
    if (name !== undefined && count > 0) found.add(name);
  }
  return found;
}
