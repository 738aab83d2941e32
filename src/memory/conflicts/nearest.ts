/** Memories whose vectors are nearest to those of records on their way: of the same namespace and view, near enough to be compared. */
import { DEFAULT_STATUSES, type MemoryRecord } from '../../domain/memory.ts';
import type { NearestSpec } from '../../domain/ports.ts';
import { systemPrincipal } from '../../gate/system-principal.ts';
import type { VectorSpace } from '../../providers/embedding/provider.ts';
import type { MemoryDeps } from '../deps.ts';
import type { RelationPolicy } from './relation-policy.ts';

/** A record with its own vector, of length 1, in the space it is compared in. */
export interface Placed {
  readonly record: MemoryRecord;
  readonly space: VectorSpace;
  readonly vector: Float32Array;
}

/** The cosine from which on two memories are compared: the policy's threshold, taken off the scale of the space. */
export function cosineOf({ name, calibration }: VectorSpace, { duplicates: { vector } }: RelationPolicy): number {
  const { offset, scale } = vector.spaces[name] ?? calibration;
  return Math.min(1, offset + scale * vector.near);
}

/** For each its nearest, itself left out, as the last refresh shows them: one request. Errors: ERR_STORE_*. */
export async function nearestOf(
  deps: Pick<MemoryDeps, 'index' | 'guard' | 'clock' | 'relations'>,
  placed: readonly Placed[],
): Promise<readonly (readonly MemoryRecord[])[]> {
  const looks = placed.map(({ record, space, vector }) => {
    const spec: NearestSpec = {
      links: {
        namespace: [record.namespace],
        generation: [record.generation],
        visibility: [record.visibility],
        ...(record.visibility === 'shared' ? {} : { owner: [record.owner] }),
      },
      field: space.field,
      vector,
      cosine: cosineOf(space, deps.relations),
      // it may find itself
      limit: deps.relations.duplicates.vector.neighbours + 1,
    };
    return deps.guard.scope(spec, {
      principal: systemPrincipal(record),
      action: 'read',
      reach: [record.namespace],
      statuses: DEFAULT_STATUSES,
      nowMs: deps.clock(),
    });
  });
  const pages = await deps.index.nearest(looks);
  return placed.map(({ record }, i) => {
    const [page, look] = [pages[i], looks[i]];
    const found = page === undefined || look === undefined ? [] : deps.guard.permitted(page, look);
    return found.filter((one) => one.memory_id !== record.memory_id);
  });
}
