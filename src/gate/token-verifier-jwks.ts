/** An issuer's published keys (RFC 7517), fetched, cached and bounded; token-verifier asks it for the key of each token. */
import { createLocalJWKSet, errors, type CryptoKey, type FlattenedJWSInput, type JSONWebKeySet, type JWTHeaderParameters } from 'jose';
import { z } from 'zod';
import type { Clock } from '../domain/clock.ts';

/** A withdrawn key is refused at the latest after this time (plus the verifier's 30 s cache of good tokens). */
export const KEYS_MAX_AGE_MS = 600_000;
/** Older keys are fetched anew in the background, so that an issuer's outage of five minutes is not noticed. */
const KEYS_REFRESH_AFTER_MS = 300_000;
/** One fetch in this time, however many tokens name unknown keys; a rotated-in key is known after it (jose's own default is 30 s). */
export const KEYS_COOLDOWN_MS = 5_000;
/** Shorter after a failure without any keys, so that a start before the issuer's is soon over. */
const KEYS_RETRY_MS = 1_000;
const KEYS_TIMEOUT_MS = 5_000;
const KEYS_MAX_BYTES = 262_144;
const KEYS_MAX_COUNT = 100;

const keySetSchema = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(KEYS_MAX_COUNT) });

export type KeyLookup = (header: JWTHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

/** The keys cannot be read: says nothing about the token. `message` is for the log. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
}

/** Looks keys up in a fixed set. */
export function fixedKeys(jwks: JSONWebKeySet): KeyLookup {
  return createLocalJWKSet(jwks);
}

/**
 * Looks keys up at `url`. No redirect is followed, at most 256 KB are read, in 5 s. Throws KeysUnavailable when they cannot
 * be read, and jose's own errors when the set holds no such key.
 */
export function remoteKeys(url: string, clock: Clock): KeyLookup {
  let keys: KeyLookup | undefined;
  let fetchedAt = -Infinity;
  let attemptedAt = -Infinity;
  let failure: unknown;
  let pending: Promise<void> | undefined;

  const refresh = (): Promise<void> =>
    (pending ??= (async () => {
      attemptedAt = clock();
      try {
        keys = createLocalJWKSet(await fetchKeySet(url));
        fetchedAt = clock();
        failure = undefined;
      } catch (error) {
        failure = error;
        throw new KeysUnavailable('the key set cannot be read', { cause: error });
      } finally {
        pending = undefined;
      }
    })());
  const coolingDown = (ms: number): boolean => pending === undefined && clock() - attemptedAt < ms;
  const unavailable = (): KeysUnavailable => new KeysUnavailable('the key set could not be read a moment ago', { cause: failure });

  return async (header, token) => {
    const age = clock() - fetchedAt;
    if (age >= KEYS_MAX_AGE_MS) {
      if (failure !== undefined && coolingDown(KEYS_RETRY_MS)) throw unavailable();
      await refresh();
    } else if (age >= KEYS_REFRESH_AFTER_MS && !coolingDown(KEYS_COOLDOWN_MS)) {
      refresh().catch(() => undefined); // the keys at hand are still good; a failure is met when they are not
    }
    if (keys === undefined) throw unavailable();
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      if (coolingDown(KEYS_COOLDOWN_MS)) throw failure === undefined ? error : unavailable();
      await refresh();
      return keys(header, token);
    }
  };
}

async function fetchKeySet(url: string): Promise<JSONWebKeySet> {
  const response = await fetch(url, {
    redirect: 'error',
    signal: AbortSignal.timeout(KEYS_TIMEOUT_MS),
    headers: { accept: 'application/jwk-set+json, application/json' },
  });
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > KEYS_MAX_BYTES) throw new Error(`larger than ${KEYS_MAX_BYTES} bytes`); // leaving the loop cancels the body
    chunks.push(chunk);
  }
  return keySetSchema.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')));
}
