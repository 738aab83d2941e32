/** Vector near-duplicates as the embed job sees them: the own vectors of a batch, shown to whoever compares memories (memory/conflicts/meet-nearest). */
import type { EmbeddedRecord } from '../domain/near-duplicates.ts';
import type { Embedded, EmbedWork } from './embed-batch.ts';

/** Records that got a vector, with those of their passages left out. */
export function embeddedRecords(results: ReadonlyMap<EmbedWork, Embedded>): readonly EmbeddedRecord[] {
  return [...results].flatMap(([{ stored }, { vectors }]) => {
    const own = [...vectors].flatMap(([space, [vector]]): [string, Float32Array][] => (vector === undefined ? [] : [[space, vector]]));
    return own.length === 0 ? [] : [{ record: stored.record, vectors: new Map(own) }];
  });
}
