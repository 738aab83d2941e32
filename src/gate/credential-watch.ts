/** Open responses and the tokens they were opened with: a stream ends when its token does, or when that is revoked. */
import type { Clock } from '../domain/clock.ts';
import type { Principal } from '../domain/principal.ts';
import type { Revocations } from './revocations.ts';

/** A stream outlives its token by this at most. */
export const WATCH_EVERY_MS = 2_000;

export interface CredentialWatch {
  /** Calls `end` once the token is no longer good, again at every sweep until the answered function is called. */
  hold(principal: Principal, end: () => void): () => void;
  sweep(): Promise<void>;
  readonly size: number;
}

interface Held {
  readonly principal: Principal;
  readonly end: () => void;
}

/**
 * `onUndecided` is told when revocations cannot be read; the streams then stay, because every call on them is refused until they can, and
 * they carry nothing but answers to calls that were checked.
 */
export function createCredentialWatch(parts: {
  readonly clock: Clock;
  readonly revocations: Revocations;
  readonly onUndecided: (error: unknown) => void;
}): CredentialWatch {
  const held = new Set<Held>();

  const isOver = async (principal: Principal): Promise<boolean> => {
    if (principal.expiresAt !== 0 && principal.expiresAt * 1_000 <= parts.clock()) return true;
    return parts.revocations.revoked(principal);
  };

  return {
    hold(principal, end) {
      const entry = { principal, end };
      held.add(entry);
      return () => void held.delete(entry);
    },
    async sweep() {
      // one question for each token, however many streams it has
      const byPrincipal = new Map<Principal, Held[]>();
      for (const entry of held) byPrincipal.set(entry.principal, [...(byPrincipal.get(entry.principal) ?? []), entry]);
      for (const [principal, entries] of byPrincipal) {
        const over = await isOver(principal).catch((error: unknown) => {
          parts.onUndecided(error);
          return false;
        });
        if (over) for (const { end } of entries) end();
      }
    },
    get size() {
      return held.size;
    },
  };
}
