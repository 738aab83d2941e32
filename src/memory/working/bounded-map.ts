/** A map whose values end by the clock and which never holds more than so many entries and bytes; what was used least lately goes first. */
import type { Clock } from '../../domain/clock.ts';

export interface BoundedMap<V> {
  /** What is there and has not ended; counts as a use. */
  get(key: string): V | undefined;
  /** A value larger than the whole map takes the others with it and stays alone. */
  set(key: string, value: V, bytes: number, lifeMs: number): void;
  readonly size: number;
}

interface Entry<V> {
  readonly value: V;
  readonly bytes: number;
  readonly untilMs: number;
}

export function createBoundedMap<V>(bounds: { readonly clock: Clock; readonly entries: number; readonly bytes: number }): BoundedMap<V> {
  const { clock } = bounds;
  // the order of a Map is the order of use
  const entries = new Map<string, Entry<V>>();
  let bytes = 0;
  const remove = (key: string): void => {
    bytes -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  };
  const put = (key: string, entry: Entry<V>): void => {
    remove(key);
    entries.set(key, entry);
    bytes += entry.bytes;
  };
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (entry.untilMs <= clock()) {
        remove(key);
        return undefined;
      }
      put(key, entry);
      return entry.value;
    },
    set(key, value, size, lifeMs) {
      put(key, { value, bytes: size, untilMs: clock() + lifeMs });
      for (const oldest of entries.keys()) {
        if (oldest === key || (entries.size <= bounds.entries && bytes <= bounds.bytes)) break;
        remove(oldest);
      }
    },
    get size() {
      return entries.size;
    },
  };
}
