/** The list cursor: where the next page starts, signed with tenant, subject, actor and filter, so that it serves nobody and nothing else. */
import { z } from 'zod';
import { canonicalJson } from '../domain/canonical-json.ts';
import type { Principal } from '../domain/principal.ts';
import { HindsightError } from '../errors.ts';
import { openToken, signToken } from './signed.ts';

/** Sort values after which the page starts: created_at in ms and memory_id. */
export type Position = readonly [number, string];

const payload = z.tuple([z.number(), z.string()]);

const bindingOf = (principal: Principal, filter: unknown): readonly string[] => [
  'cursor',
  principal.tenant,
  principal.owner,
  principal.actor,
  canonicalJson(filter),
];

/** `filter` is everything that decides which records are listed; the limit may change between pages. */
export function signCursor(position: Position, key: Uint8Array, principal: Principal, filter: unknown): string {
  return signToken(position, key, bindingOf(principal, filter));
}

/** ERR_CURSOR_INVALID unless it was made for this principal and filter. */
export function openCursor(cursor: string, key: Uint8Array, principal: Principal, filter: unknown): Position {
  const parsed = payload.safeParse(openToken(cursor, key, bindingOf(principal, filter)));
  if (!parsed.success) throw new HindsightError('ERR_CURSOR_INVALID');
  return parsed.data;
}
