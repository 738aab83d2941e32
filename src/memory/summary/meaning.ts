/** How near memories are by their vectors, on the calibrated scale of their space; what is due yet tells nothing. Pure. */
import type { MemoryRecord } from '../../domain/memory.ts';
import type { VectorSpace } from '../../providers/embedding/provider.ts';
import type { MeaningOf } from './choose.ts';

type Space = Pick<VectorSpace, 'field' | 'calibration'>;

/** Of two memories by the first space that both are in; undefined for the same memory: its sentences share one vector. */
export function meaningOf(records: ReadonlyMap<string, MemoryRecord>, spaces: readonly Space[]): MeaningOf {
  return (a, b) => {
    const [one, other] = [records.get(a.memoryIds[0] ?? ''), records.get(b.memoryIds[0] ?? '')];
    if (one === undefined || other === undefined || one === other) return undefined;
    for (const { field, calibration } of spaces) {
      const [x, y] = [vectorIn(one, field), vectorIn(other, field)];
      if (x === undefined || y === undefined || x.length !== y.length) continue;
      const cosine = x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0);
      return Math.min(1, Math.max(0, (cosine - calibration.offset) / calibration.scale));
    }
    return undefined;
  };
}

function vectorIn(record: MemoryRecord, field: string): readonly number[] | undefined {
  return field.startsWith('vec_') ? record[field as `vec_${string}`] : undefined;
}
