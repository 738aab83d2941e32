/** What the namespaces in scope hold (languages, passages, summaries): decides which extra clauses a search carries; cached, and asked by existence only. */
import type { Client, estypes } from '@elastic/elasticsearch';
import type { Clock } from '../domain/clock.ts';
import { LANGUAGES } from '../domain/memory.ts';
import type { MemoryIndex, NamespaceContents } from '../domain/ports.ts';
import type { Scope } from '../domain/scope.ts';
import { openScoped } from '../domain/sealed.ts';
import { HindsightError } from '../errors.ts';
import { isAway, RETRY } from './client.ts';
import { boundQuery, ifIndexExists } from './memory-reads.ts';
import { placementOf } from './placement.ts';

export type Holdings = Pick<MemoryIndex, 'holdings' | 'noteWritten'>;

/**
 * A "no" is never believed after a write that this process heard of: its own, and, through the dirty mark, those of other replicas (a
 * search that finds a foreign mark refreshes, and the refresh says so here). The time bounds what nobody tells: a write whose
 * acknowledgement was lost, and a "yes" whose record is gone, which costs a clause that finds nothing. It is no longer than a dirty mark
 * lives (60 s), so a mark that ran out unseen is older than every entry it could have made doubtful.
 */
const CACHE_MS = 60_000;
const ENTRIES_KEPT = 10_000;

interface Entry extends NamespaceContents {
  readonly readAt: number;
  /** Writes heard of, of all tenants, when the question was sent: what the entry lacks must be asked again after a later one. */
  readonly writesBefore: number;
}

export function createHoldings(client: Client, prefix: string, clock: Clock): Holdings {
  const entries = new Map<string, Map<string, Entry>>();
  /** Number of the last write heard of, by tenant; a tenant that is not in it has none after `forgotten`. */
  const lastWrite = new Map<string, number>();
  let writes = 0;
  let forgotten = 0;

  return {
    async holdings(box) {
      const { key } = openScoped(box);
      const { tenant } = box.scope;
      const known = entries.get(tenant)?.get(key);
      const fresh = known !== undefined && clock() - known.readAt < CACHE_MS;
      if (fresh && known.writesBefore >= (lastWrite.get(tenant) ?? forgotten)) return known;
      // numbered before the question: a write during it makes the answer doubtful, not the next one
      const writesBefore = writes;
      const entry = { ...(await ask(client, prefix, box.scope, fresh ? known : undefined, clock)), writesBefore };
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
      if (lastWrite.size >= ENTRIES_KEPT && !lastWrite.has(tenant)) {
        lastWrite.clear();
        forgotten = writes;
      }
      lastWrite.set(tenant, (writes += 1));
    },
  };
}

/**
 * Asks for each language, for passages and for summaries whether one record exists; what a still fresh entry already has is not asked again. Each
 * question ends at its first hit (terminate_after), or at once where the term is absent: an aggregation would read every record.
 */
async function ask(
  client: Client,
  prefix: string,
  scope: Scope,
  known: Entry | undefined,
  clock: Clock,
): Promise<Omit<Entry, 'writesBefore'>> {
  const readAt = known?.readAt ?? clock();
  const languages = LANGUAGES.filter((language) => known?.languages.has(language) !== true);
  const questions: { readonly name: string; readonly clause: estypes.QueryDslQueryContainer }[] = languages.map((language) => ({
    name: language,
    clause: { term: { language } },
  }));
  if (known?.passages !== true) {
    questions.push({ name: 'passages', clause: { nested: { path: 'passages', query: { exists: { field: 'passages.start' } } } } });
  }
  if (known?.summaries !== true) questions.push({ name: 'summaries', clause: { exists: { field: 'lex_summary' } } });
  const found = await exists(client, placementOf(prefix, scope.tenant).memory, scope, questions);
  return {
    languages: new Set([...(known?.languages ?? []), ...languages.filter((language) => found.has(language))]),
    passages: known?.passages === true || found.has('passages'),
    summaries: known?.summaries === true || found.has('summaries'),
    readAt,
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
