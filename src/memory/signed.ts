/** Signed tokens that travel through the client and come back unchanged: the base of cursors and forget plans. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** What a token opens to at most: bounds a crafted one (it is checked only after the signature, so this is a second wall). */
const MAX_PAYLOAD_BYTES = 262_144;

/** `payload.signature`, both base64url. `binding` names whose and what for it is: it is signed, not contained. */
export function signToken(payload: unknown, key: Uint8Array, binding: readonly string[]): string {
  const body = deflateRawSync(Buffer.from(JSON.stringify(payload))).toString('base64url');
  return `${body}.${signature(body, key, binding)}`;
}

/** The payload; undefined when the token is not ours, was changed, or was made for another binding. */
export function openToken(token: string, key: Uint8Array, binding: readonly string[]): unknown {
  const [body, given, ...rest] = token.split('.');
  if (body === undefined || given === undefined || rest.length > 0) return undefined;
  const expected = Buffer.from(signature(body, key, binding));
  const actual = Buffer.from(given);
  if (expected.length !== actual.length || !timingSafeEqual(expected, actual)) return undefined;
  const json = inflateRawSync(Buffer.from(body, 'base64url'), { maxOutputLength: MAX_PAYLOAD_BYTES });
  return JSON.parse(json.toString('utf8')) as unknown;
}

/** HMAC-SHA256 over length-prefixed parts, so that no two bindings share an input. */
export function keyedHash(key: Uint8Array, parts: readonly string[]): string {
  const hmac = createHmac('sha256', key);
  for (const part of parts) hmac.update(`${Buffer.byteLength(part)}:`).update(part);
  return hmac.digest('base64url');
}

const signature = (body: string, key: Uint8Array, binding: readonly string[]): string => keyedHash(key, [...binding, body]);
