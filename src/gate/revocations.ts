/** Tokens that ended before their time: asked for on every call and about every open stream; the token verifier holds the list. */
import type { Principal } from '../domain/principal.ts';

export const REVOCABLE = ['jti', 'sub', 'sid'] as const;

/** What a revocation names: one token, everything of a subject, or one session; the same name at another issuer is somebody else. */
export interface RevocationMark {
  readonly kind: (typeof REVOCABLE)[number];
  readonly issuer: string;
  readonly id: string;
}

/** A place where revocations stand: a file, or Redis. */
export interface RevocationSource {
  /**
   * For each mark, in order: undefined where nothing is revoked, else the time (seconds since the epoch) before which tokens must have
   * been issued to be refused; Infinity refuses all. Throws when that cannot be told.
   */
  find(marks: readonly RevocationMark[]): Promise<readonly (number | undefined)[]>;
}

export interface Revocations {
  /** Whether the credential behind this principal has been revoked. Throws what a source throws: the caller must then refuse. */
  revoked(principal: Principal): Promise<boolean>;
}

/** All sources together: one of them is enough. */
export function createRevocations(sources: readonly RevocationSource[]): Revocations {
  return {
    async revoked(principal) {
      const { credential } = principal;
      // nothing in it can be named: a job's principal
      if (credential === undefined || sources.length === 0) return false;
      const marks = marksOf(principal);
      for (const source of sources)
        if ((await source.find(marks)).some((before) => before !== undefined && credential.issuedAt < before)) return true;
      return false;
    },
  };
}

function marksOf({ issuer, sub, credential }: Principal): readonly RevocationMark[] {
  const ids = { jti: credential?.jti, sub, sid: credential?.sid };
  return REVOCABLE.flatMap((kind) => {
    const id = ids[kind];
    return id === undefined ? [] : [{ kind, issuer, id }];
  });
}
