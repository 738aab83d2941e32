/** Memory ids: UUIDv7, made by the write path. */
import type { Clock } from '../domain/clock.ts';
import { randomFew } from '../domain/random.ts';

const TAIL_BITS = 74n;
const TAIL_LIMIT = 1n << TAIL_BITS;
/** Largest step within one millisecond: 32 random bits keep ids unguessable and ordered (RFC 9562, 6.2, method 2). */
const STEP_BYTES = 4;

/**
 * Maker of UUIDv7 (RFC 9562, 5.7): 48 bits of ms since the epoch, then 74 random bits. Each id is greater than all before it, also within
 * a millisecond and when the clock goes back.
 */
export function createUuidV7(clock: Clock, random: (bytes: number) => Buffer = randomFew): () => string {
  let lastMs = -1;
  let tail = 0n;
  return () => {
    const nowMs = Math.floor(clock());
    if (nowMs > lastMs) {
      lastMs = nowMs;
      tail = toBigInt(random(10)) & (TAIL_LIMIT - 1n);
    } else {
      tail += 1n + toBigInt(random(STEP_BYTES));
      if (tail >= TAIL_LIMIT) {
        lastMs += 1;
        tail = toBigInt(random(10)) & ((TAIL_LIMIT >> 1n) - 1n);
      }
    }
    const randA = tail >> 62n;
    const randB = tail & ((1n << 62n) - 1n);
    const value = (BigInt(lastMs) << 80n) | (0x7n << 76n) | (randA << 64n) | (0b10n << 62n) | randB;
    const hex = value.toString(16).padStart(32, '0');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  };
}

function toBigInt(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`);
}
