/** Signed session ids: whoever holds the key can bring a session back to life, so a restart or another replica costs a client nothing. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../domain/clock.ts';
import type { Principal } from '../domain/principal.ts';

/** What is known of a client since its initialize: all that a session has to remember. */
export interface SessionClient {
  readonly protocolVersion: string;
  /** Ways in which the client can be asked something. */
  readonly elicitation: { readonly form: boolean; readonly url: boolean };
  readonly name: string;
  readonly version: string;
}

export interface OpenedSession extends SessionClient {
  /** Names the session in the revocation set. */
  readonly nonce: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface SessionIds {
  /** About 250 visible ASCII characters (MCP 2025-11-25, transports: session management). */
  mint(principal: Principal, client: SessionClient): string;
  /** Undefined for an id that is not ours, has ended, or belongs to another person, tenant, actor or client. */
  open(sessionId: string, principal: Principal): OpenedSession | undefined;
}

export interface SessionIdOptions {
  readonly key: Buffer;
  readonly clock: Clock;
  readonly ttlMs: number;
}

const MAX_CHARS = 1_024;
/** Six bytes each at worst, in JSON: the id stays below MAX_CHARS whatever a client calls itself. */
const MAX_LABEL_CHARS = 32;
const NONCE_BYTES = 12;
const OWNER_BYTES = 16;
/** Issued by another replica whose clock runs ahead. */
const CLOCK_SKEW_MS = 60_000;

type Claims = readonly [owner: string, version: string, form: 0 | 1, url: 0 | 1, name: string, release: string, nonce: string, at: number];

/**
 * The id is bound to the person (tenant, issuer and sub), the actor and the client, not to the bytes of a token: a refreshed token keeps its
 * session, and what asks for a person's answer is no other client's. It gives no right: every request is judged by the token that comes
 * with it.
 */
export function createSessionIds({ key, clock, ttlMs }: SessionIdOptions): SessionIds {
  const mac = (purpose: string, text: string): Buffer => createHmac('sha256', key).update(`mcp-session-${purpose}\0${text}`).digest();
  const ownerMark = ({ tenant, owner, actor, clientId }: Principal): string =>
    mac('owner', JSON.stringify([tenant, owner, actor, clientId ?? null]))
      .subarray(0, OWNER_BYTES)
      .toString('base64url');

  return {
    mint: (principal, { protocolVersion, elicitation, name, version }) => {
      const nonce = randomBytes(NONCE_BYTES).toString('base64url');
      const { form, url } = elicitation;
      const labels = [name, version].map((label) => label.slice(0, MAX_LABEL_CHARS)) as [string, string];
      const claims: Claims = [ownerMark(principal), protocolVersion, form ? 1 : 0, url ? 1 : 0, ...labels, nonce, clock()];
      const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
      return `${payload}.${mac('id', payload).toString('base64url')}`;
    },
    open: (sessionId, principal) => {
      if (sessionId.length > MAX_CHARS) return undefined;
      const [payload, signature, ...rest] = sessionId.split('.');
      if (payload === undefined || signature === undefined || rest.length > 0) return undefined;
      const given = Buffer.from(signature, 'base64url');
      const wanted = mac('id', payload);
      // one spelling of an id only: base64url decoding forgives what encoding never makes
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted) || signature !== wanted.toString('base64url')) return undefined;
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims;
      const [owner, protocolVersion, form, url, name, version, nonce, issuedAt] = claims;
      const expiresAt = issuedAt + ttlMs;
      const now = clock();
      if (owner !== ownerMark(principal) || now >= expiresAt || issuedAt > now + CLOCK_SKEW_MS) return undefined;
      if (!SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion)) return undefined;
      return { protocolVersion, elicitation: { form: form === 1, url: url === 1 }, name, version, nonce, expiresAt };
    },
  };
}
