/** What really stands in the engine under a test service's prefix, read past the service: the proof that a call changed nothing. */
import { createHash } from 'node:crypto';
import type { TestService } from './service.ts';

interface EngineHit {
  readonly _index: string;
  readonly _id: string;
  readonly _source: Readonly<Record<string, unknown>>;
}

/** What reads and the embed job change by themselves. */
const BY_ITSELF = ['access_level', 'last_access_day', 'spaces_*', 'vec_*', 'passages.vec_*', 'lease_*', 'embed_*', 'next_turn_id'];

/**
 * Every document as `index/id hash`, sorted: equal lists mean that nothing was added, changed or taken away. Access counters and what
 * the embed job adds are left out, and so are the audit log and the recall traces, which grow by every call and a moment later; `namespaces` narrows to records of these, in all tenants or in one.
 */
export async function storedState(service: TestService, namespaces?: readonly string[], tenant?: string): Promise<string[]> {
  const within = namespaces === undefined ? [] : [{ terms: { namespace: namespaces } }];
  const query = { bool: { filter: tenant === undefined ? within : [...within, { term: { tenant } }] } };
  const hits = await engineSearch(
    service,
    `${service.prefix}-*,-${service.prefix}-*-stats,-${service.prefix}-*-recall,-${service.prefix}-audit`,
    {
      query,
      _source: { excludes: BY_ITSELF },
    },
  );
  return hits.map(({ _index, _id, _source }) => `${_index}/${_id} ${hashOf(_source)}`).sort();
}

function hashOf(source: unknown): string {
  return createHash('sha256').update(JSON.stringify(source)).digest('hex').slice(0, 16);
}

/** Records as the engine holds them, whoever owns them. */
export async function storedRecords(service: TestService, namespace: string): Promise<Readonly<Record<string, unknown>>[]> {
  const hits = await engineSearch(service, `${service.prefix}-mem-*-g1`, { query: { term: { namespace } } });
  return hits.map((hit) => hit._source);
}

/** The mappings of all indices, sorted by index, as one text. */
export async function storedMappings(service: TestService): Promise<string> {
  const answer = await fetch(`${service.engineUrl}/${service.prefix}-*/_mapping`);
  const mappings = (await answer.json()) as Readonly<Record<string, unknown>>;
  return JSON.stringify(Object.entries(mappings).sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function engineSearch(service: TestService, index: string, body: object): Promise<readonly EngineHit[]> {
  const ask = async (path: string, request?: object): Promise<unknown> => {
    const answer = await fetch(`${service.engineUrl}/${index}/${path}`, {
      method: 'POST',
      ...(request === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(request) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  await ask('_refresh');
  const found = (await ask('_search', { size: 10_000, ...body })) as { hits: { hits: EngineHit[] } };
  return found.hits.hits;
}
