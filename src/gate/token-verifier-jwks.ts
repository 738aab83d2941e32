/** An issuer's published keys (RFC 7517), fetched, cached and bounded; token-verifier asks it for the key of each token. */
import { createLocalJWKSet, errors, type CryptoKey, type FlattenedJWSInput, type JSONWebKeySet, type JWTHeaderParameters } from 'jose';
import { readFile, stat } from 'node:fs/promises';
import { z } from 'zod';
import type { Clock } from '../domain/clock.ts';

/** A withdrawn key is refused at the latest after this time (plus the verifier's 30 s cache of good tokens). */
export const KEYS_MAX_AGE_MS = 600_000;
/** Older keys (than this share of their life) are fetched anew in the background, so that an issuer's short outage is not noticed. */
const REFRESH_AFTER_SHARE = 0.5;
/** One fetch in this time, however many tokens name unknown keys; a rotated-in key is known after it (jose's own default is 30 s). It holds without any keys too. */
export const KEYS_COOLDOWN_MS = 5_000;
const KEYS_TIMEOUT_MS = 5_000;
const KEYS_MAX_BYTES = 262_144;
const KEYS_MAX_COUNT = 100;

const keySetSchema = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(KEYS_MAX_COUNT) });

export type KeyLookup = (header: JWTHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

/** The keys cannot be read: says nothing about the token. `message` is for the log. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
  /** When the next attempt is due. */
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterMs: number, cause: unknown) {
    super(message, { cause });
    this.retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  }
}

/** Looks keys up in a fixed set. */
export function fixedKeys(jwks: JSONWebKeySet): KeyLookup {
  return createLocalJWKSet(jwks);
}

/**
 * Looks keys up in a set that `load` brings, from then on for `maxAgeMs` at most: a withdrawn key lives that long when the set cannot be
 * loaded anew, half as long in a busy service otherwise. Throws KeysUnavailable when there are no keys, and jose's own errors when the set
 * holds no such key.
 */
export function refreshedKeys(load: () => Promise<JSONWebKeySet>, clock: Clock, maxAgeMs: number): KeyLookup {
  let keys: KeyLookup | undefined;
  let fetchedAt = -Infinity;
  let attemptedAt = -Infinity;
  let failure: unknown;
  let pending: Promise<void> | undefined;

  const unavailable = (): KeysUnavailable =>
    new KeysUnavailable('the key set cannot be read', attemptedAt + KEYS_COOLDOWN_MS - clock(), failure);
  const refresh = (): Promise<void> =>
    (pending ??= (async () => {
      attemptedAt = clock();
      try {
        keys = createLocalJWKSet(await load());
        fetchedAt = clock();
        failure = undefined;
      } catch (error) {
        failure = error;
        throw unavailable();
      } finally {
        pending = undefined;
      }
    })());
  const coolingDown = (): boolean => pending === undefined && clock() - attemptedAt < KEYS_COOLDOWN_MS;

  return async (header, token) => {
    const age = clock() - fetchedAt;
    if (age >= maxAgeMs) {
      if (failure !== undefined && coolingDown()) throw unavailable();
      await refresh();
    } else if (age >= maxAgeMs * REFRESH_AFTER_SHARE && !coolingDown()) {
      refresh().catch(() => undefined); // the keys at hand are still good; a failure is met when they are not
    }
    if (keys === undefined) throw unavailable();
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      if (coolingDown()) throw failure === undefined ? error : unavailable();
      await refresh();
      return keys(header, token);
    }
  };
}

/** The set in a file. */
export async function readKeySet(file: string): Promise<JSONWebKeySet> {
  if ((await stat(file)).size > KEYS_MAX_BYTES) throw new Error(`larger than ${KEYS_MAX_BYTES} bytes`);
  return keySetSchema.parse(JSON.parse(await readFile(file, 'utf8')));
}

/** The set at a URL. No redirect is followed, at most 256 KB are read, in 5 s. */
export async function fetchKeySet(url: string): Promise<JSONWebKeySet> {
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
