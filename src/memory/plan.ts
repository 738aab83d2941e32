/** The forget plan: what a dry run found, signed, so that the second call does exactly that and nothing that came later. */
import { z } from 'zod';
import type { Clock } from '../domain/clock.ts';
import type { Principal } from '../domain/principal.ts';
import { filter, memoryId } from '../domain/wire/common.ts';
import { HindsightError } from '../errors.ts';
import { openToken, signToken } from './signed.ts';

export const PLAN_LIFE_MS = 10 * 60_000;
/** Longest plan the wire takes (wire/forget). */
const MAX_PLAN_CHARS = 16_384;

const payload = z.strictObject({
  /** Canonical form of what the dry run was asked; a second call that names it again must name the same. */
  target: z.string(),
  /** The ids to forget; absent when there were too many, then `filter` binds. */
  ids: z.array(memoryId).optional(),
  /** Of each of the ids the version that the dry run saw. */
  versions: z.array(z.int()).optional(),
  filter: filter.optional(),
  namespaces: z.array(z.string()).optional(),
  /** Records created from this time on (ms) are not in the plan. */
  before_ms: z.number(),
  /** How many the dry run counted: more than this is another state of things. */
  count: z.int().min(0),
  expires_ms: z.number(),
});
export type ForgetPlan = z.output<typeof payload>;

/** The same client of the same actor: what a person counted is not their agent's to carry out, nor one agent's another's. */
const bindingOf = ({ tenant, owner, actor, clientId }: Principal): readonly string[] => ['forget', tenant, owner, actor, clientId ?? ''];

/** Undefined when it would be longer than the wire takes: the target must then be narrower. */
export function signPlan(plan: ForgetPlan, key: Uint8Array, principal: Principal): string | undefined {
  const token = signToken(plan, key, bindingOf(principal));
  return token.length <= MAX_PLAN_CHARS ? token : undefined;
}

/** @throws ERR_PLAN_INVALID when it is not ours, not this caller's, or has expired. */
export function openPlan(token: string, key: Uint8Array, principal: Principal, clock: Clock): ForgetPlan {
  const parsed = payload.safeParse(openToken(token, key, bindingOf(principal)));
  if (!parsed.success || parsed.data.expires_ms <= clock()) throw new HindsightError('ERR_PLAN_INVALID');
  return parsed.data;
}
