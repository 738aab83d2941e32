/** Conditional requests and Idempotency-Key: HTTP headers that become input fields or call context. */
import { invalid } from '../operations/parse.ts';
import type { HttpContext } from './request-state.ts';

/** A version that no memory ever has: what an If-Match names that this service never gave out. */
const NO_VERSION = Number.MAX_SAFE_INTEGER;

/** Strong entity tag of a content version (RFC 9110, section 8.8.3). */
export function etagOf(version: number): string {
  return `"${version}"`;
}

/**
 * The version that If-Match asks for; undefined without the header and for `*`. A weak or foreign tag never matches strongly
 * (RFC 9110, section 13.1.1), so it becomes a version that cannot be. Lists are refused: a compare-and-set has one expectation.
 */
export function versionFromIfMatch(ctx: HttpContext): number | undefined {
  if (ctx.req.headers['if-match'] === undefined) return undefined;
  const header = ctx.get('if-match').trim();
  if (header === '*') return undefined;
  if (!/^(?:W\/)?"[\x21\x23-\x7e]*"$/.test(header)) throw invalid([{ pointer: '/version', message: 'If-Match takes one entity tag' }]);
  const version = /^"([1-9]\d{0,14})"$/.exec(header)?.[1];
  return version === undefined ? NO_VERSION : Number(version);
}

/**
 * Whether If-None-Match names the tag (weak comparison, RFC 9110, section 13.1.2). Not Koa's `fresh`: that one never answers 304 to a
 * request with `Cache-Control: no-cache`, which `fetch` adds to every request that brings If-None-Match itself.
 */
export function isKnownTag(ctx: HttpContext, etag: string): boolean {
  const given = ctx.get('if-none-match').trim();
  return given === '*' || given.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/** The Idempotency-Key header: 1 to 128 visible ASCII characters, sent once (draft-ietf-httpapi-idempotency-key-header-07). */
export function idempotencyKey(ctx: HttpContext): string | undefined {
  const given = ctx.req.headersDistinct['idempotency-key'];
  if (given === undefined) return undefined;
  const [key = ''] = given;
  if (given.length !== 1 || !/^[\x21-\x7e]{1,128}$/.test(key))
    throw invalid([{ pointer: '', message: 'comes with an Idempotency-Key that is not 1 to 128 visible ASCII characters, sent once' }]);
  return key;
}
