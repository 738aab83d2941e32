/** Trust tiers and verdicts: names on the wire, bytes in the index. */

export const TIER_NAMES = ['external', 'tool_output', 'agent_inferred', 'user_stated', 'user_confirmed', 'operator'] as const;
export type TierName = (typeof TIER_NAMES)[number];

/** Index = byte stored in `trust_tier`. */
export const TIER = { external: 0, tool_output: 1, agent_inferred: 2, user_stated: 3, user_confirmed: 4, operator: 5 } as const;

/** Wire name of a tier byte; anything unknown is the lowest. */
export function tierName(tier: number): TierName {
  return TIER_NAMES[tier] ?? 'external';
}

/** Hits below this tier come back as reference only, inside the envelope. */
export const INSTRUCTION_TIER: number = TIER.user_stated;

/** Ways in which a client brings the answer of the user whom it asked: in its session, or with the same call made once more. */
export type AnswerLeg = 'session' | 'retry';

export const VERDICTS = ['allow', 'mask', 'flag', 'candidate', 'confirm', 'quarantine', 'block'] as const;
export type Verdict = (typeof VERDICTS)[number];
